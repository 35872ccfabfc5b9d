//! A permission request as a person sees it. Used by `ask`, by `pending` and by the transcript.

use super::escape::one_line;
use super::style::Style;
use super::{diff, exact, plan};
use proto::permission::{CommandPart, DecisionReason, PermissionRequest, Preview};

/// Lines of a preview that are shown at first.
const PREVIEW_LINES: usize = 200;

/// A question in lines.
pub struct Question {
    /// Title, reason, and exactly what would run or change.
    pub lines: Vec<String>,
    /// The further lines of what would run or change, if it is long.
    pub rest: Vec<String>,
}

/// A question for the screen. `folder` is the session's own, which needs no word.
pub fn question(request: &PermissionRequest, folder: &str, style: Style) -> Question {
    let mut preview = preview_lines(request, style);
    let rest = preview.split_off(preview.len().min(PREVIEW_LINES));
    if !rest.is_empty() {
        preview.push(style.yellow(&format!("  … {} more lines, not shown yet", rest.len())));
    }
    Question { lines: around(request, folder, preview, style), rest }
}

/// The whole question, however long it is.
pub fn lines(request: &PermissionRequest, folder: &str, style: Style) -> Vec<String> {
    around(request, folder, preview_lines(request, style), style)
}

fn around(request: &PermissionRequest, folder: &str, preview: Vec<String>, style: Style) -> Vec<String> {
    let about = match request.preview {
        Some(Preview::Command { .. }) => one_line(&request.tool), // the command follows, whole
        Some(Preview::Plan { .. }) => "A plan to approve".to_owned(),
        Some(Preview::Diff { .. }) | None => headline(request),
    };
    let mut lines = vec![format!("{} {}", style.yellow("?"), style.bold(&about))];
    let source = source_of(&request.reason);
    lines.push(style.dim(&format!("  {} ({source})", one_line(&request.reason.detail))));
    if !request.cwd.is_empty() && request.cwd != folder {
        lines.push(style.yellow(&format!("  in {}", one_line(&request.cwd))));
    }
    lines.extend(preview);
    if let Some(Preview::Command { parts, .. }) = &request.preview {
        lines.extend(part_lines(parts, &request.reason, style));
    }
    lines.extend(request.notes.iter().map(|note| style.yellow(&format!("  ! {}", one_line(note)))));
    lines
}

/// `Bash: cargo test`, or the title alone if it names the tool itself.
pub fn headline(request: &PermissionRequest) -> String {
    let (tool, title) = (one_line(&request.tool), one_line(&request.title));
    if title.starts_with(&tool) { title } else { format!("{tool}: {title}") }
}

/// Where a decision comes from: the layer, and the rule with its source.
pub fn source_of(reason: &DecisionReason) -> String {
    let mut out = format!("layer {}", reason.layer);
    if let Some(rule) = &reason.rule {
        out.push_str(&format!(" · rule {}", one_line(rule)));
    }
    if let Some(source) = &reason.source {
        out.push_str(&format!(" · from {}", one_line(source)));
    }
    out
}

fn preview_lines(request: &PermissionRequest, style: Style) -> Vec<String> {
    match &request.preview {
        Some(Preview::Diff { diff }) => diff::exact_lines(diff, style),
        Some(Preview::Command { command, .. }) => exact::block(command, style),
        Some(Preview::Plan { plan }) => plan::lines(plan, style),
        None => exact::block(&serde_json::to_string_pretty(&request.input).unwrap_or_default(), style),
    }
}

/// The parts of a command, each with its class and why; none where the reason says it all.
fn part_lines(parts: &[CommandPart], reason: &DecisionReason, style: Style) -> Vec<String> {
    let says_no_more = parts.len() < 2 && parts.iter().all(|part| part.why == reason.detail);
    let parts = parts.iter().filter(|_| !says_no_more);
    parts.map(|part| part_line(part, style)).collect()
}

fn part_line(part: &CommandPart, style: Style) -> String {
    let class = format!("{:<8}", one_line(&part.class));
    let class = match part.class.as_str() {
        "readonly" => style.green(&class),
        "edits" => style.cyan(&class),
        "deny" => style.red(&class),
        _ => style.yellow(&class),
    };
    let text = part.text.replace('\n', "⏎");
    format!("    {class}  {}  {}", exact::line(&text, style), style.dim(&one_line(&part.why)))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proto::permission::ReasonType;

    /// A question about a shell command.
    pub fn request(title: &str, preview: Option<Preview>) -> PermissionRequest {
        PermissionRequest {
            request_id: "req-1".into(),
            session_id: "s".into(),
            turn_id: "t".into(),
            tool_call_id: "c".into(),
            tool: "Bash".to_owned(),
            input: serde_json::json!({"command": "make"}),
            title: title.to_owned(),
            reason: DecisionReason {
                kind: ReasonType::Mode,
                layer: 9,
                detail: "the default mode asks".to_owned(),
                rule: None,
                source: None,
            },
            suggestions: Vec::new(),
            scopes: Vec::new(),
            preview,
            cwd: "/w".to_owned(),
            notes: Vec::new(),
        }
    }

    fn lines(request: &PermissionRequest) -> Vec<String> {
        super::lines(request, "/w", Style::PLAIN)
    }

    #[test]
    fn a_command_is_shown_with_all_that_it_hides() {
        let command = "make\u{200b} all\r && \u{1b}[8mrm -rf x\ntrue".to_owned();
        let shown = lines(&request("make", Some(Preview::Command { command, parts: Vec::new() })));
        let expected =
            ["? Bash", "  the default mode asks (layer 9)", "  1 │ make<U+200B> all^M && ^[[8mrm -rf x", "  2 │ true"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_parts_of_a_compound_command_are_explained() {
        let part = |text: &str, class: &str| CommandPart {
            text: text.to_owned(),
            class: class.to_owned(),
            why: "it says so".to_owned(),
        };
        let parts = vec![part("ls", "readonly"), part("rm\tx", "ask")];
        let mut asked = request("Bash ls", Some(Preview::Command { command: "ls && rm\tx".to_owned(), parts }));
        asked.cwd = "/other\u{202e}".to_owned();
        asked.notes = vec!["the first part is a function".to_owned()];
        let expected = [
            "  in /other<U+202E>",
            "  ls && rm→   x",
            "    readonly  ls  it says so",
            "    ask       rm→   x  it says so",
            "  ! the first part is a function",
        ];
        assert_eq!(lines(&asked).get(2..).unwrap(), expected);
    }

    #[test]
    fn the_rule_that_asks_is_named_with_its_source() {
        let mut asked = request("make", None);
        asked.reason.rule = Some("Bash(make *)".to_owned());
        asked.reason.source = Some("/w/.claude/settings.json".to_owned());
        let expected = "  the default mode asks (layer 9 · rule Bash(make *) · from /w/.claude/settings.json)";
        assert_eq!(lines(&asked).get(1).map(String::as_str), Some(expected));
    }

    #[test]
    fn without_a_preview_the_whole_input_is_there() {
        let mut asked = request("Bash make", None);
        asked.input = serde_json::json!((0..500).collect::<Vec<_>>());
        let question = question(&asked, "/w", Style::PLAIN);
        assert_eq!(question.lines.first().map(String::as_str), Some("? Bash make"));
        assert_eq!(question.lines.last().map(String::as_str), Some("  … 302 more lines, not shown yet"));
        assert_eq!(question.rest.last().map(String::as_str), Some("  502 │ ]"));
    }

    #[test]
    fn a_plan_is_shown_as_one() {
        let preview = Preview::Plan { plan: "# Move it\n- first `a`".to_owned() };
        let shown = lines(&request("Plan", Some(preview)));
        assert_eq!(shown.first().map(String::as_str), Some("? A plan to approve"));
        assert_eq!(shown.get(2..).unwrap(), ["  Move it", "  • first a"]);
    }
}
