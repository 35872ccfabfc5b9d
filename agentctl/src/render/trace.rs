//! How permission decides about a call, layer by layer. Used by `agentctl explain`, by `/explain` and at a question.

use super::escape::one_line;
use super::request::source_of;
use super::style::Style;
use proto::methods::{PermissionExplainResult, TraceStep, Verdict};

/// The decision, its reason, and the layers as a table.
pub fn lines(explained: &PermissionExplainResult, style: Style) -> Vec<String> {
    let (word, meaning) = match explained.decision {
        Verdict::Allow => (style.green("allow"), "it would run unasked"),
        Verdict::Ask => (style.yellow("ask"), "a person would be asked"),
        Verdict::Deny => (style.red("deny"), "it would not run"),
    };
    let mut out = vec![format!("{word}  {meaning}: {}", one_line(&explained.reason.detail))];
    if explained.reason.rule.is_some() {
        out.push(style.dim(&format!("  {}", source_of(&explained.reason))));
    }
    out.extend(explained.trace.iter().map(|step| step_line(step, style)));
    out
}

fn step_line(step: &TraceStep, style: Style) -> String {
    let word = format!("{:<6}", one_line(&step.outcome));
    let word = match step.outcome.as_str() {
        "allow" => style.green(&word),
        "ask" => style.yellow(&word),
        "deny" => style.red(&word),
        _ => style.dim(&word),
    };
    format!("  {:>2}  {word}  {}", step.layer, one_line(&step.detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_layer_has_a_line() {
        let explained = serde_json::from_value(json!({
            "decision": "ask",
            "reason": {"type": "rule", "layer": 2, "detail": "a rule asks", "rule": "Bash(rm *)", "source": "user"},
            "trace": [
                {"layer": 1, "outcome": "pass", "detail": "no deny rule matches"},
                {"layer": 2, "outcome": "ask", "detail": "Bash(rm *)\u{202e}"}
            ]
        }));
        let expected = [
            "ask  a person would be asked: a rule asks",
            "  layer 2 · rule Bash(rm *) · from user",
            "   1  pass    no deny rule matches",
            "   2  ask     Bash(rm *)<U+202E>",
        ];
        assert_eq!(lines(&explained.unwrap(), Style::PLAIN), expected);
    }
}
