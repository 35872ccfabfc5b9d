//! A session as a Markdown document. Used by `export`. It is for files, not for terminals: control
//! characters are escaped all the same, as somebody will `cat` it.

use super::escape::{one_line, visible};
use proto::content::{ContentBlock, MessageBlock, plain_text};
use proto::event::{AnyEvent, Event, Role};
use proto::session::SessionInfo;

/// The document's head.
pub fn head(session: &SessionInfo) -> String {
    format!(
        "# {}\n\n- session: `{}`\n- folder: `{}`\n- model: `{}`\n- created: {}\n",
        one_line(&session.title),
        session.id,
        one_line(&session.cwd),
        one_line(&session.model),
        session.created_at
    )
}

/// What an event adds; nothing for most.
pub fn event(event: &AnyEvent) -> String {
    let AnyEvent::Durable(event) = event else { return String::new() };
    match event {
        Event::TurnStarted { prompt: Some(prompt), .. } => {
            format!("\n## Prompt\n\n{}\n", quoted(&prompt.plain_text()))
        }
        Event::MessageCompleted { role: Role::Assistant, content, .. } => content.iter().map(block).collect(),
        Event::ToolQueued { tool, input, .. } => {
            let input = serde_json::to_string_pretty(input).unwrap_or_default();
            format!("\n**{}**\n\n{}", one_line(tool), fenced("json", &input))
        }
        Event::ToolEnded { summary, content, .. } => {
            format!("\n{}\n\n{}", one_line(summary), result(content))
        }
        Event::FileChanged { path, diff, .. } => {
            format!("\nChanged `{}`:\n\n{}", one_line(path), fenced("diff", diff))
        }
        Event::Notice { text, .. } => format!("\n> {}\n", one_line(text)),
        Event::ContextCompacted { summary, .. } => format!("\n> The past was summed up:\n>\n{}\n", quoted(summary)),
        Event::TurnEnded { error: Some(error), .. } => format!("\n> {}\n", one_line(&error.message)),
        _ => String::new(),
    }
}

fn block(block: &MessageBlock) -> String {
    match block {
        MessageBlock::Text { text } if !text.trim().is_empty() => format!("\n{}\n", visible(text.trim_end())),
        _ => String::new(),
    }
}

fn result(content: &[ContentBlock]) -> String {
    let text = plain_text(content);
    if text.is_empty() { String::new() } else { fenced("", &text) }
}

fn quoted(text: &str) -> String {
    let lines: Vec<String> = visible(text).lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// A code block whose fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("", "plain\n"), "```\nplain\n```\n");
        assert_eq!(fenced("md", "```` x"), "`````md\n```` x\n`````\n");
    }

    #[test]
    fn a_prompt_is_quoted() {
        assert_eq!(quoted("a\n\nb\u{1b}"), "> a\n>\n> b^[");
    }
}
