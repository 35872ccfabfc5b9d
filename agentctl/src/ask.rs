//! Permission questions, one at a time, answered by a key. Driven by `follow`, which sends the answers;
//! it never calls the daemon itself.

use crate::render::{Transcript, escape::one_line, request};
use crate::terminal::Keys;
use proto::ids::{RequestId, ToolCallId};
use proto::methods::PermissionRespondParams;
use proto::permission::{PermissionDecision, PermissionRequest, Preview, Remember, RuleScope};
use std::collections::VecDeque;
use std::io;

/// What the model is told where nobody can be asked.
pub const NOBODY_TO_ASK: &str = "Nobody is there to ask, since agentctl runs without a terminal. Go on without it, or tell the user \
     what you wanted to do. They can allow it with a rule in their settings, with --mode acceptEdits, or \
     answer from another terminal with --on-ask wait.";

/// The questions that are open here.
#[derive(Default)]
pub struct Ask {
    queue: VecDeque<PermissionRequest>,
    /// Whether a key leaves without an answer.
    pub can_leave: bool,
    keys: Option<Keys>,
    /// The reason that is being typed.
    typing: Option<String>,
}

impl Ask {
    /// Whether a question stands on the screen.
    pub fn is_open(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes in a question; shows it if no other one is open.
    pub fn open(&mut self, request: PermissionRequest, transcript: &mut Transcript) -> io::Result<()> {
        self.queue.push_back(request);
        if self.queue.len() == 1 { self.show(transcript) } else { Ok(()) }
    }

    /// Notes that a question was answered, here with `said` or by another client; shows the next one.
    pub fn resolved(&mut self, id: &RequestId, said: &str, transcript: &mut Transcript) -> io::Result<()> {
        let was_shown = self.queue.front().is_some_and(|request| request.request_id == *id);
        self.queue.retain(|request| request.request_id != *id);
        if !was_shown {
            return Ok(());
        }
        self.typing = None;
        self.keys = None;
        transcript.paused = false;
        transcript.screen.erase()?;
        if !said.is_empty() {
            transcript.line(&format!("  › {said}"))?;
        }
        if self.is_open() { self.show(transcript) } else { Ok(()) }
    }

    /// Forgets all questions: the turn is over.
    pub fn close(&mut self, transcript: &mut Transcript) -> io::Result<()> {
        self.queue.clear();
        self.typing = None;
        self.keys = None;
        transcript.paused = false;
        transcript.screen.erase()
    }

    /// Draws the keys again below what was written since.
    pub fn redraw(&mut self, transcript: &mut Transcript) -> io::Result<()> {
        let Some(request) = self.queue.front() else { return Ok(()) };
        match &self.typing {
            Some(reason) => transcript.screen.draw(&[format!("  what should it do instead? {}", one_line(reason))]),
            None => transcript.screen.draw(&keys_lines(request, self.can_leave)),
        }
    }

    /// The next key press; never, while no question is open.
    pub async fn key(&mut self) -> io::Result<String> {
        match &mut self.keys {
            Some(keys) => keys.next().await,
            None => std::future::pending().await,
        }
    }

    /// The call that is asked about, if what it would change stands on the screen.
    pub fn shown_change(&self) -> Option<ToolCallId> {
        let request = self.queue.front()?;
        matches!(request.preview, Some(Preview::Diff { .. })).then(|| request.tool_call_id.clone())
    }

    /// Whether a key press leaves, while the question waits: d, q or Ctrl-D. In a reason, only Ctrl-D does.
    pub fn leaves(&self, pressed: &str) -> bool {
        let letter = self.typing.is_none() && matches!(pressed, "d" | "D" | "q" | "Q");
        self.can_leave && self.is_open() && (letter || pressed == "\u{4}")
    }

    /// What a key press comes to.
    pub fn press(&mut self, pressed: &str) -> Option<PermissionRespondParams> {
        let request = self.queue.front()?;
        if let Some(reason) = &mut self.typing {
            return match type_on(reason, pressed) {
                Typed::More => None,
                Typed::Back => {
                    self.typing = None;
                    None
                }
                Typed::Done => {
                    let message = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
                    Some(PermissionRespondParams {
                        stop: message.as_ref().map(|_| false),
                        message,
                        ..deny(&request.request_id)
                    })
                }
            };
        }
        match pressed {
            "y" | "Y" => Some(allow(&request.request_id, None)),
            "a" | "A" => remember(request, RuleScope::Session).map(|rule| allow(&request.request_id, Some(rule))),
            "n" | "N" => Some(deny(&request.request_id)),
            "e" | "E" => {
                self.typing = Some(String::new());
                None
            }
            _ => None,
        }
    }

    fn show(&mut self, transcript: &mut Transcript) -> io::Result<()> {
        let Some(request) = self.queue.front() else { return Ok(()) };
        let style = transcript.screen.style();
        transcript.paused = true;
        for line in request::lines(request, style) {
            transcript.line(&line)?;
        }
        if !transcript.screen.is_live() {
            keys_lines(request, self.can_leave).iter().try_for_each(|line| transcript.line(line))?;
        }
        match &self.keys {
            Some(keys) => keys.discard(),
            None => self.keys = Some(Keys::open()?),
        }
        self.redraw(transcript)
    }
}

fn keys_lines(request: &PermissionRequest, can_leave: bool) -> Vec<String> {
    let leave = if can_leave { "   [d] leave, it waits" } else { "" };
    let mut lines = vec![format!("  [y] yes   [n] no, stop   [e] no, and say why{leave}")];
    if let Some(suggestion) = request.suggestions.first() {
        lines.push(format!("  [a] yes, and from now on in this session: {}", one_line(&suggestion.label)));
    }
    lines
}

/// The rule of the first suggestion, to be remembered in a scope; none if nothing is suggested.
pub fn remember(request: &PermissionRequest, scope: RuleScope) -> Option<Remember> {
    request.suggestions.first().map(|suggestion| Remember::suggested(suggestion, scope))
}

/// A yes.
pub fn allow(request: &RequestId, remember: Option<Remember>) -> PermissionRespondParams {
    PermissionRespondParams { decision: PermissionDecision::Allow, remember, ..deny(request) }
}

/// A plain no.
pub fn deny(request: &RequestId) -> PermissionRespondParams {
    PermissionRespondParams {
        request_id: request.clone(),
        decision: PermissionDecision::Deny,
        remember: None,
        updated_input: None,
        message: None,
        content: Vec::new(),
        stop: None,
    }
}

/// An answer in words, as it stays on the screen.
pub fn said(answer: &PermissionRespondParams) -> String {
    match (answer.decision, &answer.remember, &answer.message) {
        (PermissionDecision::Allow, None, _) => "yes".to_owned(),
        (PermissionDecision::Allow, Some(remember), _) => format!("yes, and always: {}", one_line(&remember.rule)),
        (PermissionDecision::Deny, _, None) => "no".to_owned(),
        (PermissionDecision::Deny, _, Some(why)) => format!("no: {}", one_line(why)),
    }
}

enum Typed {
    More,
    Back,
    Done,
}

fn type_on(reason: &mut String, pressed: &str) -> Typed {
    if pressed == "\u{1b}" {
        return Typed::Back;
    }
    if pressed.starts_with('\u{1b}') {
        return Typed::More; // an arrow or function key
    }
    for c in pressed.chars() {
        match c {
            '\r' | '\n' => return Typed::Done,
            '\u{7f}' | '\u{8}' => {
                reason.pop();
            }
            '\u{15}' => reason.clear(),
            c if c.is_control() => {}
            c => reason.push(c),
        }
    }
    Typed::More
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::request::tests::request;
    use proto::permission::Suggestion;

    fn asking() -> Ask {
        let mut request = request("make", None);
        request.suggestions = vec![Suggestion::one("Bash", "Bash(make:*)", RuleScope::Local)];
        Ask { queue: VecDeque::from([request]), can_leave: true, keys: None, typing: None }
    }

    #[test]
    fn a_key_is_an_answer() {
        let yes = asking().press("y").unwrap();
        assert_eq!((yes.decision, yes.remember), (PermissionDecision::Allow, None));
        let always = asking().press("a").unwrap();
        let rule = Remember::one(RuleScope::Session, "Bash(make:*)");
        assert_eq!((always.decision, always.remember), (PermissionDecision::Allow, Some(rule)));
        let no = asking().press("n").unwrap();
        assert_eq!((no.decision, no.message, no.stop), (PermissionDecision::Deny, None, None));
    }

    #[test]
    fn neither_a_paste_nor_another_key_is_an_answer() {
        for pressed in ["yes please", "yy", "\n", "\u{1b}[A", " ", "d", "q", "\u{4}", ""] {
            assert_eq!(asking().press(pressed), None, "{pressed:?}");
        }
    }

    #[test]
    fn leaving_is_no_answer() {
        let mut ask = asking();
        for (pressed, leaves) in [("d", true), ("q", true), ("\u{4}", true), ("dd", false), ("y", false), ("", false)] {
            assert_eq!(ask.leaves(pressed), leaves, "{pressed:?}");
        }
        ask.press("e");
        assert!(!ask.leaves("d"), "a letter of the reason");
        assert!(ask.leaves("\u{4}"));
        ask.can_leave = false;
        assert!(!ask.leaves("\u{4}"));
    }

    #[test]
    fn always_needs_a_rule_to_remember() {
        let mut ask = asking();
        ask.queue.front_mut().unwrap().suggestions.clear();
        assert_eq!(ask.press("a"), None);
    }

    #[test]
    fn a_reason_goes_to_the_model_and_the_turn_goes_on() {
        let mut ask = asking();
        assert_eq!(ask.press("e"), None);
        for pressed in ["usx", "\u{7f}", "e b", "\u{1b}[D", "un"] {
            assert_eq!(ask.press(pressed), None);
        }
        let answer = ask.press("\n").unwrap();
        assert_eq!((answer.decision, answer.stop), (PermissionDecision::Deny, Some(false)));
        assert_eq!(answer.message.as_deref(), Some("use bun"));
    }

    #[test]
    fn escape_goes_back_to_the_keys() {
        let mut ask = asking();
        ask.press("e");
        ask.press("y");
        ask.press("\u{1b}");
        assert_eq!(ask.press("y").unwrap().decision, PermissionDecision::Allow);
    }
}
