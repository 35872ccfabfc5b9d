//! A permission request as a person sees it. Used by `ask`, by `pending` and by the transcript.

use super::diff;
use super::escape::{one_line, visible_strict};
use super::style::Style;
use proto::permission::{PermissionRequest, Preview};

/// Lines of a preview that are shown.
const PREVIEW_LINES: usize = 200;

/// The whole question: title, reason, and exactly what would run or change.
pub fn lines(request: &PermissionRequest, style: Style) -> Vec<String> {
    let about = match request.preview {
        Some(Preview::Command { .. }) => one_line(&request.tool), // the command follows, whole
        Some(Preview::Diff { .. } | Preview::Plan { .. }) | None => headline(request),
    };
    let mut out = vec![format!("{} {}", style.yellow("?"), style.bold(&about))];
    out.push(style.dim(&format!("  {}", one_line(&request.reason.detail))));
    match &request.preview {
        Some(Preview::Diff { diff }) => out.extend(diff::lines(diff, style, PREVIEW_LINES, true)),
        Some(Preview::Command { command, parts }) => {
            out.extend(visible_strict(command).lines().map(|line| format!("  {line}")));
            if parts.len() > 1 {
                out.extend(parts.iter().map(|part| {
                    let why = format!("{}: {}", one_line(&part.class), one_line(&part.why));
                    format!("    {}  {}", one_line(&part.text), style.dim(&why))
                }));
            }
        }
        Some(Preview::Plan { plan }) => {
            out.extend(visible_strict(plan).lines().take(PREVIEW_LINES).map(|line| format!("  {line}")));
        }
        None => out.extend(input_lines(request)),
    }
    out
}

/// `Bash: cargo test`, or the title alone if it names the tool itself.
pub fn headline(request: &PermissionRequest) -> String {
    let (tool, title) = (one_line(&request.tool), one_line(&request.title));
    if title.starts_with(&tool) { title } else { format!("{tool}: {title}") }
}

fn input_lines(request: &PermissionRequest) -> Vec<String> {
    let text = serde_json::to_string_pretty(&request.input).unwrap_or_default();
    visible_strict(&text).lines().take(PREVIEW_LINES).map(|line| format!("  {line}")).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proto::permission::{CommandPart, DecisionReason, ReasonType};

    /// A question about a shell command.
    pub fn request(title: &str, preview: Option<Preview>) -> PermissionRequest {
        PermissionRequest {
            request_id: "req-1".into(),
            session_id: "s".into(),
            turn_id: "t".into(),
            tool_call_id: "c".into(),
            tool: "Bash".to_owned(),
            input: serde_json::json!({"command": "make"}),
            cwd: "/w".to_owned(),
            title: title.to_owned(),
            notes: Vec::new(),
            reason: DecisionReason {
                kind: ReasonType::Mode,
                layer: 9,
                detail: "the default mode asks".to_owned(),
                rule: None,
                source: None,
            },
            suggestions: Vec::new(),
            preview,
        }
    }

    #[test]
    fn a_command_is_shown_with_all_that_it_hides() {
        let command = "make\u{200b} all\r && \u{1b}[8mrm -rf x\ntrue".to_owned();
        let shown = lines(&request("make", Some(Preview::Command { command, parts: Vec::new() })), Style::PLAIN);
        assert_eq!(shown, ["? Bash", "  the default mode asks", "  make<U+200B> all^M && ^[[8mrm -rf x", "  true"]);
    }

    #[test]
    fn the_parts_of_a_compound_command_are_explained() {
        let part = |text: &str, class: &str| CommandPart {
            text: text.to_owned(),
            class: class.to_owned(),
            why: "it says so".to_owned(),
        };
        let parts = vec![part("ls", "readonly"), part("rm x", "ask")];
        let preview = Preview::Command { command: "ls && rm x".to_owned(), parts };
        let shown = lines(&request("Bash ls", Some(preview)), Style::PLAIN);
        assert_eq!(shown.get(3..).unwrap(), ["    ls  readonly: it says so", "    rm x  ask: it says so"]);
    }

    #[test]
    fn without_a_preview_the_input_is_shown() {
        let shown = lines(&request("Bash make", None), Style::PLAIN);
        assert_eq!(shown.first().map(String::as_str), Some("? Bash make"));
        assert!(shown.iter().any(|line| line.contains("\"command\": \"make\"")));
    }
}
