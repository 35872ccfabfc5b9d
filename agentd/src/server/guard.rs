//! What a tool may not ask of the daemon that runs it: to answer its own question, to trust a folder, to change a
//! mode or a setting, to send prompts. Called before each method. Decides by the method and by where the peer's process
//! comes from, never by what it says of itself.
//!
//! Code of the same user that makes somebody else start it is not known as a tool's: this slows it, a sandbox stops it.

use super::peer::Origin;
use proto::methods as wire;
use proto::methods::Method;
use proto::{ErrorKind, RpcError};
use serde_json::Value;

/// What only looks. A method that is not here is for people, so that a new one is guarded until somebody thinks of it.
const FOR_TOOLS: &[&str] = &[
    wire::Initialize::NAME,
    wire::DaemonStatus::NAME,
    wire::SessionList::NAME,
    wire::SessionGet::NAME,
    wire::SessionAttach::NAME,
    wire::SessionDetach::NAME,
    wire::SessionEvents::NAME,
    wire::SessionSearch::NAME,
    wire::TurnWait::NAME,
    wire::PermissionList::NAME,
    wire::PermissionExplain::NAME,
    wire::TaskList::NAME,
    wire::TaskOutput::NAME,
    wire::ProcessList::NAME,
    wire::ToolList::NAME,
    wire::ModelList::NAME,
    wire::McpList::NAME,
    wire::TrustGet::NAME,
    wire::CommandList::NAME,
    wire::AgentList::NAME,
    wire::SkillList::NAME,
    wire::HookList::NAME,
    wire::PathComplete::NAME,
    wire::ConfigGet::NAME,
];

/// Whether a peer may call a method.
///
/// # Errors
/// `NotAllowed`, for a tool and for a peer that was gone before it could be told from one.
pub fn check(method: &str, params: Option<&str>, origin: Origin) -> Result<(), RpcError> {
    let why = match origin {
        Origin::Elsewhere => return Ok(()),
        _ if FOR_TOOLS.contains(&method) => return Ok(()),
        _ if method == wire::SessionCreate::NAME && widens_nothing(params) => return Ok(()),
        Origin::Tool => "it comes from a tool of this agentd, and a tool can't answer for the person who is asked",
        Origin::Unknown => "the process that connected has ended, so it can't be told from a tool's: connect anew",
    };
    Err(RpcError::new(ErrorKind::NotAllowed, format!("{method} is refused: {why}")).with("method", method))
}

/// Whether a new session would ask as much as one with no wishes of its own.
fn widens_nothing(params: Option<&str>) -> bool {
    let Ok(params) = serde_json::from_str::<Value>(params.unwrap_or("{}")) else { return false };
    let is_absent = |field: &str| params.get(field).is_none_or(Value::is_null);
    let mode = params.get("mode").and_then(Value::as_str);
    (is_absent("mode") || mode.is_some_and(|mode| matches!(mode, "default" | "plan" | "dontAsk")))
        && ["additionalDirectories", "mcpServers", "record"].into_iter().all(is_absent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::methods::METHOD_NAMES;

    #[test]
    fn a_tool_may_look_and_nothing_else() {
        for method in METHOD_NAMES {
            assert_eq!(check(method, None, Origin::Elsewhere), Ok(()));
            let allowed = check(method, None, Origin::Tool).is_ok();
            assert_eq!(allowed, check(method, None, Origin::Unknown).is_ok(), "{method}");
            let changes = [
                "respond",
                "set",
                "start",
                "cancel",
                "resume",
                "shutdown",
                "update",
                "delete",
                "rewind",
                "fork",
                "compact",
                "close",
                "stop",
                "background",
                "reload",
            ];
            if changes.iter().any(|verb| method.ends_with(&format!("/{verb}"))) {
                assert!(!allowed, "{method}");
            }
        }
        let refused = check("permission/respond", None, Origin::Tool).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::NotAllowed);
        assert!(check("permission/list", None, Origin::Tool).is_ok());
        assert!(check("turn/invented", None, Origin::Tool).is_err(), "a new method is guarded");
    }

    #[test]
    fn a_tool_s_session_asks_as_any() {
        let create = |params: &str| check("session/create", Some(params), Origin::Tool).is_ok();
        assert!(create(r#"{"cwd": "/"}"#) && create(r#"{"cwd": "/", "mode": "default"}"#));
        assert!(create(r#"{"mode": "plan"}"#) && create(r#"{"mode": "dontAsk"}"#) && create(r#"{"mode": null}"#));
        assert!(!create(r#"{"mcpServers": {"x": {"command": "x"}}}"#) && !create(r#"{"record": "/x"}"#));
        for mode in ["acceptEdits", "auto", "bypassPermissions", "unheard of"] {
            assert!(!create(&format!(r#"{{"cwd": "/", "mode": "{mode}"}}"#)), "{mode}");
        }
        assert!(
            !create(r#"{"cwd": "/", "additionalDirectories": ["/etc"]}"#) && !create("[") && !create(r#"{"mode": 7}"#)
        );
    }
}
