//! The slash commands of `chat`.

use super::{Chatter, Next};
use crate::commands::{ls, model_name};
use crate::environment;
use crate::failure::Failure;
use crate::follow;
use crate::live;
use crate::render::escape::one_line;
use crate::slash::Slash;
use proto::methods::{
    CancelReason, Method, ModelList, ModelListParams, SessionGet, SessionList, SessionListParams, SessionParams,
    SessionUpdate, SessionUpdateParams, TurnCancel, TurnCancelParams, TurnResume,
};
use proto::session::{Mode, SessionInfo};
use serde_json::Value;

/// What `/help` shows, and what Tab completes.
pub const HELP: [(&str, &str); 13] = [
    ("/help", "this list"),
    ("/status", "how the session is"),
    ("/sessions", "the newest sessions"),
    ("/model [MODEL]", "which model answers, or the one for the next turn"),
    ("/mode [MODE]", "when you are asked, or how it is from now on"),
    ("/permissions", "which rules count, from which files, and which questions wait"),
    ("/explain CMD", "what would be decided about a command, and why"),
    ("/trust [no]", "let this folder's own settings run and allow things"),
    ("/cancel", "cancel the running turn and all that wait"),
    ("/resume", "go on with a turn that a restart cut"),
    ("/rewind [N]", "list the turns, or take back N of them; N files: files too"),
    ("/fork [TITLE]", "go on in a new session that shares this one's past"),
    ("/quit", "leave; the session stays (Ctrl-D does the same)"),
];
/// What else `/help` tells.
const KEYS: [&str; 4] = [
    "While a turn runs: Ctrl-C cancels, Ctrl-C twice or Ctrl-D leaves.",
    "What you type while it runs waits for its end; `agentctl send` can join it.",
    "At a question: d, q or Ctrl-D leaves; the turn stays and the question waits.",
    "A line that ends with \\ goes on in the next one.",
];
/// Sessions that `/sessions` shows.
const SESSIONS: u64 = 10;

impl Chatter {
    /// Runs a slash command.
    pub(super) async fn command(&mut self, command: Slash<'_>) -> Result<Next, Failure> {
        match (command.name, command.argument) {
            ("quit" | "exit", _) => return Ok(Next::Leave),
            ("help", _) => self.help()?,
            ("status", _) => self.status().await?,
            ("sessions", _) => self.sessions().await?,
            ("model", None) => self.models().await?,
            ("model", Some(model)) => {
                let model = model_name(model).map_err(Failure::new)?;
                self.update(Some(model), None).await?;
            }
            ("mode", None) => self.modes().await?,
            ("mode", Some(name)) => {
                let mode =
                    Mode::parse(name).ok_or_else(|| Failure::new(format!("no mode {name}; /mode lists them")))?;
                self.update(None, Some(mode)).await?;
            }
            ("permissions", _) => self.permissions().await?,
            ("explain", argument) => self.explain(argument).await?,
            ("trust", argument) => self.trust(argument).await?,
            ("cancel", _) => self.cancel().await?,
            ("resume", _) => {
                let interrupts = follow::interrupts()?;
                let resumed = self.ask_for::<TurnResume>(self.this()).await?;
                return self.follow(resumed.turn_id, false, interrupts).await;
            }
            ("rewind", argument) => self.rewind(argument).await?,
            ("fork", title) => self.fork(title).await?,
            (name, _) => return Err(Failure::new(format!("there is no /{name}; /help lists what there is"))),
        }
        Ok(Next::Go)
    }

    pub(super) async fn ask_for<M: Method>(&self, params: M::Params) -> Result<M::Result, Failure> {
        self.live.call::<M>(params).await.map_err(|error| live::failure(&error))
    }

    pub(super) fn this(&self) -> SessionParams {
        SessionParams { session_id: self.session.id.clone() }
    }

    fn help(&mut self) -> Result<(), Failure> {
        for (usage, what) in HELP {
            self.transcript.line(&format!("  {usage:<16}{what}"))?;
        }
        for line in KEYS {
            self.transcript.line(&format!("  {line}"))?;
        }
        Ok(())
    }

    async fn status(&mut self) -> Result<(), Failure> {
        self.session = self.ask_for::<SessionGet>(self.this()).await?.session;
        for line in about(&self.session) {
            self.transcript.line(&format!("  {line}"))?;
        }
        Ok(())
    }

    async fn sessions(&mut self) -> Result<(), Failure> {
        let params = SessionListParams { limit: Some(SESSIONS), ..SessionListParams::default() };
        let sessions = self.ask_for::<SessionList>(params).await?.sessions;
        for line in ls::table(&sessions, environment::now()) {
            self.transcript.line(&format!("  {line}"))?;
        }
        Ok(())
    }

    async fn models(&mut self) -> Result<(), Failure> {
        for model in self.ask_for::<ModelList>(ModelListParams::default()).await?.models {
            let sign = if model.id == self.session.model { "●" } else { " " };
            self.transcript.line(&format!("  {sign} {}", one_line(&model.id)))?;
        }
        Ok(())
    }

    async fn modes(&mut self) -> Result<(), Failure> {
        self.session = self.ask_for::<SessionGet>(self.this()).await?.session;
        for mode in Mode::ALL {
            let sign = if mode == self.session.mode { "●" } else { " " };
            self.transcript.line(&format!("  {sign} {:<18}{}", mode.name(), meaning(mode)))?;
        }
        Ok(())
    }

    async fn update(&mut self, model: Option<String>, mode: Option<Mode>) -> Result<(), Failure> {
        let changed = [("model", model.clone()), ("mode", mode.map(|mode| mode.name().to_owned()))];
        let changed = changed.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::String(value?))));
        let own = changed.collect();
        let params = SessionUpdateParams {
            session_id: self.session.id.clone(),
            title: None,
            model,
            mode,
            additional_directories: None,
            metadata: None,
        };
        self.session = self.ask_for::<SessionUpdate>(params).await?.session;
        self.transcript.own_update(own);
        let session = &self.session;
        let now = format!("· {} · {} mode", one_line(&session.model), session.mode.name());
        Ok(self.transcript.line(&now)?)
    }

    async fn cancel(&mut self) -> Result<(), Failure> {
        let session_id = self.session.id.clone();
        let params = TurnCancelParams { session_id, turn_id: None, reason: CancelReason::UserAbort, tasks: false };
        let result = self.ask_for::<TurnCancel>(params).await?;
        let said = match result.cancelled.len() {
            0 => "· nothing runs".to_owned(),
            1 => "· cancelled one turn".to_owned(),
            more => format!("· cancelled {more} turns"),
        };
        Ok(self.transcript.line(&said)?)
    }
}

fn about(session: &SessionInfo) -> Vec<String> {
    let usage = session.usage;
    let mut lines = vec![
        format!("session   {}  {}", session.id, one_line(&session.title)),
        format!("status    {}", ls::status(session)),
        format!("model     {}", one_line(&session.model)),
        format!("mode      {}", session.mode.name()),
        format!("folder    {}", one_line(&session.cwd)),
        format!("turns     {}", session.turn_count),
        format!("tokens    {} in, {} out", usage.input_tokens + usage.cache_read_tokens, usage.output_tokens),
    ];
    if let Some(percent) = (usage.context_tokens * 100).checked_div(usage.context_window) {
        lines.push(format!("context   {} of {} tokens ({percent} %)", usage.context_tokens, usage.context_window));
    }
    lines
}

fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "reading runs, everything else asks",
        Mode::AcceptEdits => "file edits run too",
        Mode::Plan => "reading only, until you approve a plan",
        Mode::Auto => "a classifier decides in place of questions",
        Mode::DontAsk => "what would ask is denied",
        Mode::BypassPermissions => "nothing asks, but for what no mode can skip",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_a_plain_terminal() {
        let lines = HELP.iter().map(|(usage, what)| format!("  {usage:<16}{what}"));
        for line in lines.chain(KEYS.iter().map(|line| format!("  {line}"))) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
