//! `/permissions`, `/explain` and `/trust`: the slash commands of `chat` about what may run.

use super::Chatter;
use crate::commands::{config, explain, trust};
use crate::failure::Failure;
use crate::live;
use crate::render::escape::one_line;
use crate::render::request::headline;
use crate::render::trace;
use proto::ErrorKind;
use proto::methods::{
    ConfigGet, ConfigGetParams, MaybeSessionParams, PermissionExplain, PermissionExplainParams, PermissionList,
    SessionGet, TrustGet, TrustGetParams, TrustSet, TrustSetParams,
};
use serde_json::Value;

/// The lists of rules, in the order in which they are asked.
const RULES: [(&str, &str); 3] =
    [("permissions.deny", "never run"), ("permissions.ask", "always ask"), ("permissions.allow", "run unasked")];

impl Chatter {
    /// Says what is ignored of a folder that is not trusted; nothing where there is nothing to ignore.
    pub(super) async fn warn_of_trust(&mut self) -> Result<(), Failure> {
        let params = TrustGetParams { path: self.session.cwd.clone() };
        match self.live.call::<TrustGet>(params).await {
            Ok(result) => match trust::warning(&result) {
                Some(warning) => Ok(self.transcript.line(&self.transcript.screen.style().yellow(&warning))?),
                None => Ok(()),
            },
            // an older agentd, which trusts no folder
            Err(error) if live::kind(&error).as_deref() == Some(ErrorKind::MethodNotFound.word()) => Ok(()),
            Err(error) => Err(live::failure(&error)),
        }
    }

    /// Trusts the session's folder, or trusts it no more.
    pub(super) async fn trust(&mut self, argument: Option<&str>) -> Result<(), Failure> {
        let path = self.session.cwd.clone();
        self.session = self.ask_for::<SessionGet>(self.this()).await?.session;
        let before = self.session.trusted;
        let result = match argument {
            None | Some("yes") => self.ask_for::<TrustSet>(TrustSetParams { path, trusted: true }).await?,
            Some("no") => self.ask_for::<TrustSet>(TrustSetParams { path, trusted: false }).await?,
            Some("?") => self.ask_for::<TrustGet>(TrustGetParams { path }).await?,
            Some(_) => return Err(Failure::new("say /trust, /trust no, or /trust ? to see how it is")),
        };
        // no event comes of what was so before
        if result.trusted != before {
            self.transcript.own_update([("trusted".to_owned(), Value::Bool(result.trusted))].into_iter().collect());
        }
        trust::told(&result).iter().try_for_each(|line| self.transcript.line(&format!("  {line}")))?;
        Ok(())
    }

    /// Lists the rules that count with the files that they come from, and the questions that wait.
    pub(super) async fn permissions(&mut self) -> Result<(), Failure> {
        self.session = self.ask_for::<SessionGet>(self.this()).await?.session; // a plan's approval changes the mode
        self.transcript.line(&format!("  mode {}; /mode lists them", self.session.mode.name()))?;
        for (key, meaning) in RULES {
            let params = ConfigGetParams { cwd: Some(self.session.cwd.clone()), key: key.to_owned() };
            let found = self.ask_for::<ConfigGet>(params).await?;
            let rules = found.value.as_array().map(Vec::as_slice).unwrap_or_default();
            let from = if rules.is_empty() { "no rule".to_owned() } else { config::files(&found).join(", ") };
            let style = self.transcript.screen.style();
            self.transcript.line(&format!("  {meaning}  {}", style.dim(&one_line(&from))))?;
            for rule in rules {
                let rule = rule.as_str().map_or_else(|| rule.to_string(), str::to_owned);
                self.transcript.line(&format!("    {}", one_line(&rule)))?;
            }
        }
        let params = MaybeSessionParams { session_id: Some(self.session.id.clone()) };
        for request in self.ask_for::<PermissionList>(params).await?.requests {
            self.transcript.line(&format!("  waits: {}  {}", request.request_id, headline(&request)))?;
        }
        Ok(())
    }

    /// Tells what would be decided about a command, or about another tool's call.
    pub(super) async fn explain(&mut self, argument: Option<&str>) -> Result<(), Failure> {
        let (tool, input) = call(argument.unwrap_or_default())?;
        let session_id = Some(self.session.id.clone());
        let params = PermissionExplainParams { session_id, cwd: None, mode: None, tool, input };
        let explained = self.ask_for::<PermissionExplain>(params).await?;
        let style = self.transcript.screen.style();
        let lines = trace::lines(&explained, style);
        Ok(lines.iter().try_for_each(|line| self.transcript.line(&format!("  {line}")))?)
    }
}

/// The call that is meant: a tool's if the text begins with one, else the command of Bash.
fn call(argument: &str) -> Result<(String, Value), Failure> {
    let (first, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let (tool, typed) =
        if explain::is_tool(first) && !rest.trim().is_empty() { (first, rest) } else { ("Bash", argument) };
    let input = explain::input(tool, typed)
        .map_err(|_| Failure::new("say what to explain, as in /explain git push, or /explain Edit src/main.rs"))?;
    Ok((tool.to_owned(), input))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_command_is_explained_or_a_tool_that_is_named() {
        let table = [
            ("git push; rm x", "Bash", json!({"command": "git push; rm x"})),
            ("Bash ls", "Bash", json!({"command": "ls"})),
            ("Read a b", "Read", json!({"file_path": "a b"})),
            ("mcp__s__t {\"a\": 1}", "mcp__s__t", json!({"a": 1})),
        ];
        for (argument, tool, input) in table {
            assert_eq!(call(argument).unwrap(), (tool.to_owned(), input), "{argument}");
        }
        assert!(call("").unwrap_err().message.contains("/explain git push"));
    }
}
