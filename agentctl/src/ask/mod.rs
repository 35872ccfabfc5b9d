//! Permission questions, one at a time, answered by a key, and between them the prompts that are typed while a turn
//! runs. Driven by `follow`, which sends the answers and the prompts; it never calls the daemon itself.

mod input;
mod remember;
mod typed;

use crate::render::{Transcript, escape::one_line, request};
use crate::terminal::{self, Keys};
use input::Draft;
use proto::ids::{RequestId, ToolCallId};
use proto::methods::PermissionRespondParams;
use proto::permission::{PermissionDecision, PermissionRequest, Preview, Remember, RuleScope};
use remember::{Choice, Chosen};
pub use remember::{distinct, remember, rules_of};
use serde_json::Value;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use tokio::time::Instant;
use typed::{Step, Typed};

/// After a key of a prompt, the next one is taken to belong to it too.
const TYPING: Duration = Duration::from_millis(700);

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
    /// The prompt that is being typed, where one can be.
    prompt: Option<Typed>,
    /// When the last key of a prompt was pressed.
    last_key: Option<Instant>,
    stage: Stage,
    /// The input that is to run in place of the one that was asked about.
    edited: Option<Value>,
    /// Lines of the question that are not shown yet.
    rest: Vec<String>,
    /// Questions that were answered here, and with which input, until the daemon has taken the answer.
    answered: Vec<(PermissionRequest, Option<Value>)>,
}

/// What the keys are about.
#[derive(Default)]
enum Stage {
    /// The question itself.
    #[default]
    Question,
    /// Still the prompt that was being typed when the question came.
    Prompt,
    /// Why not.
    Reason(Typed),
    /// What to remember.
    Remember(Choice),
    /// The input, where there is no editor.
    Input(Draft, Typed),
}

/// A call that is asked about.
pub struct Asked {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
}

/// What is to be done after a key press.
#[derive(Debug, PartialEq)]
pub enum Pressed {
    /// The answer is to be sent.
    Answer(Box<PermissionRespondParams>),
    /// The decision is to be explained.
    Explain,
    /// The rest of a long question is to be shown.
    ShowRest,
    /// The input is to be edited.
    Edit,
    /// An input was edited.
    Edited(Draft),
    /// Prompts were typed: one, or as many as came at once.
    Said(Vec<String>),
}

impl Ask {
    /// Takes prompts while no question is open. `begun` is one that was being typed before.
    pub fn take_prompts(&mut self, begun: &str) -> io::Result<()> {
        self.prompt = Some(Typed::of(begun));
        self.take_keys()
    }

    /// Puts a prompt back, as it could not be sent.
    pub fn type_again(&mut self, text: &str) {
        if let Some(prompt) = self.prompt.as_mut().filter(|prompt| prompt.is_empty()) {
            *prompt = Typed::of(text);
        }
    }

    /// What was typed and not sent.
    pub fn unsent(&mut self) -> String {
        self.prompt.take().map(|prompt| prompt.text()).unwrap_or_default()
    }

    /// Whether a question stands on the screen.
    pub fn is_open(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes in a question; shows it if no other one is open.
    pub fn open(&mut self, request: PermissionRequest, transcript: &mut Transcript) -> io::Result<()> {
        self.queue.push_back(request);
        if self.queue.len() == 1 { self.show(transcript) } else { Ok(()) }
    }

    /// Notes an answer that is on its way; shows the next question.
    pub fn answered(&mut self, answer: &PermissionRespondParams, transcript: &mut Transcript) -> io::Result<()> {
        let id = &answer.request_id;
        let request = self.queue.iter().find(|request| request.request_id == *id).cloned();
        self.answered.extend(request.map(|request| (request, answer.updated_input.clone())));
        self.take_away(id, &said(answer), transcript)
    }

    /// Notes that a question was answered, here or by another client; shows the next one.
    pub fn resolved(&mut self, id: &RequestId, transcript: &mut Transcript) -> io::Result<()> {
        self.answered.retain(|(request, _)| request.request_id != *id);
        self.take_away(id, "", transcript)
    }

    /// Asks again what was answered here, as the answer could not be taken.
    pub fn ask_again(&mut self, id: &RequestId, transcript: &mut Transcript) -> io::Result<()> {
        let Some(at) = self.answered.iter().position(|(request, _)| request.request_id == *id) else { return Ok(()) };
        let (request, edited) = self.answered.remove(at);
        self.open(request, transcript)?;
        match edited {
            // What was edited is kept. Behind another question it could not be seen, so there it is left out.
            Some(input) if self.shown().is_some_and(|shown| shown.request_id == *id) => {
                self.replace_input(input, transcript)?;
                self.redraw(transcript)
            }
            _ => Ok(()),
        }
    }

    fn take_away(&mut self, id: &RequestId, said: &str, transcript: &mut Transcript) -> io::Result<()> {
        let was_shown = self.queue.front().is_some_and(|request| request.request_id == *id);
        self.queue.retain(|request| request.request_id != *id);
        if !was_shown {
            return Ok(());
        }
        self.leave_keys(transcript)?;
        if !said.is_empty() {
            transcript.line(&format!("  › {said}"))?;
        }
        if self.is_open() { self.show(transcript) } else { Ok(()) }
    }

    /// Forgets all questions: the turn is over.
    pub fn close(&mut self, transcript: &mut Transcript) -> io::Result<()> {
        self.queue.clear();
        self.leave_keys(transcript)
    }

    fn leave_keys(&mut self, transcript: &mut Transcript) -> io::Result<()> {
        self.stage = Stage::Question;
        self.edited = None;
        self.rest.clear();
        if self.prompt.is_none() {
            self.keys = None;
        }
        transcript.paused = false;
        transcript.screen.erase()
    }

    /// Draws the keys again below what was written since.
    pub fn redraw(&mut self, transcript: &mut Transcript) -> io::Result<()> {
        if self.is_open() {
            let lines = self.key_lines(transcript);
            return transcript.screen.draw(&lines);
        }
        let Some(prompt) = &self.prompt else { return Ok(()) };
        let typed = (!prompt.is_empty()).then(|| prompt_line(prompt, transcript));
        if typed.is_none() && transcript.typed.is_none() {
            return Ok(());
        }
        transcript.typed = typed;
        transcript.draw()
    }

    /// The next key press; never, while no question is open.
    pub async fn key(&mut self) -> io::Result<String> {
        match &mut self.keys {
            Some(keys) => keys.next().await,
            None => std::future::pending().await,
        }
    }

    fn shown(&self) -> Option<&PermissionRequest> {
        self.queue.front()
    }

    /// The question on the screen, if its offers fit what would run: they are about the call as it was asked, but for a
    /// plan, where they are about what follows.
    fn offers(&self) -> Option<&PermissionRequest> {
        let is_plan = |request: &&PermissionRequest| matches!(request.preview, Some(Preview::Plan { .. }));
        self.shown().filter(|request| self.edited.is_none() || is_plan(request))
    }

    fn input(&self) -> Option<&Value> {
        self.edited.as_ref().or_else(|| self.shown().map(|request| &request.input))
    }

    /// The call on the screen, as it would run.
    pub fn asked(&self) -> Option<Asked> {
        Some(Asked { tool: self.shown()?.tool.clone(), input: self.input()?.clone() })
    }

    /// The call that is asked about, if what it would change stands on the screen.
    pub fn shown_change(&self) -> Option<ToolCallId> {
        let request = self.shown().filter(|_| self.edited.is_none())?;
        matches!(request.preview, Some(Preview::Diff { .. })).then(|| request.tool_call_id.clone())
    }

    /// Whether a key press leaves, while the question waits: d, q or Ctrl-D. In a text, only Ctrl-D does.
    pub fn leaves(&self, pressed: &str) -> bool {
        let at_question = self.is_open() && matches!(self.stage, Stage::Question);
        let letter = at_question && matches!(pressed, "d" | "D" | "q" | "Q");
        let idle = self.prompt.as_ref().is_some_and(Typed::is_empty);
        self.can_leave && (letter || (pressed == "\u{4}" && (self.is_open() || idle)))
    }

    /// What a key press comes to.
    pub fn press(&mut self, pressed: &str) -> Option<Pressed> {
        if !self.is_open() || matches!(self.stage, Stage::Prompt) {
            return self.press_at_prompt(pressed);
        }
        let id = self.shown()?.request_id.clone();
        match &mut self.stage {
            Stage::Prompt => None,
            Stage::Question => self.press_at_question(&id, pressed),
            Stage::Reason(reason) => match reason.press(pressed) {
                Step::More => None,
                Step::Back => self.back(),
                Step::Done(reason) => Some(answer(deny_because(&id, reason.trim()))),
            },
            Stage::Remember(choice) => match choice.press(pressed) {
                Chosen::More => None,
                Chosen::Back => self.back(),
                Chosen::Done(rule) => Some(answer(self.yes(&id, Some(rule)))),
            },
            Stage::Input(draft, text) => match text.press(pressed) {
                Step::More => None,
                Step::Back => self.back(),
                Step::Done(text) => {
                    let draft = draft.with(&text);
                    self.stage = Stage::Question;
                    Some(Pressed::Edited(draft))
                }
            },
        }
    }

    fn press_at_prompt(&mut self, pressed: &str) -> Option<Pressed> {
        let prompt = self.prompt.as_mut()?;
        self.last_key = Some(Instant::now());
        let (mut said, mut rest) = (Vec::new(), pressed);
        loop {
            let (step, further) = prompt.press_line(rest);
            match step {
                Step::More => break,
                Step::Back => {}
                Step::Done(text) => said.push(text),
            }
            *prompt = Typed::default();
            if further.is_empty() {
                self.stage = Stage::Question;
                break;
            }
            rest = further;
        }
        (!said.is_empty()).then_some(Pressed::Said(said))
    }

    /// Whether a person is in the middle of a prompt, so that the next key is not meant for a question.
    fn is_typing(&self) -> bool {
        let has_begun = self.prompt.as_ref().is_some_and(|prompt| !prompt.is_empty());
        has_begun || self.last_key.is_some_and(|pressed| pressed.elapsed() < TYPING)
    }

    fn press_at_question(&mut self, id: &RequestId, pressed: &str) -> Option<Pressed> {
        match pressed {
            "y" | "Y" => return Some(answer(self.yes(id, None))),
            "n" | "N" => return Some(answer(deny(id))),
            "i" | "I" => return Some(Pressed::Edit),
            "x" | "X" => return Some(Pressed::Explain),
            "v" | "V" if !self.rest.is_empty() => return Some(Pressed::ShowRest),
            "e" | "E" => self.stage = Stage::Reason(Typed::default()),
            "a" | "A" => {
                let choice = self.offers().and_then(Choice::of);
                self.stage = choice.map_or(Stage::Question, Stage::Remember);
            }
            _ => {}
        }
        None
    }

    fn back(&mut self) -> Option<Pressed> {
        self.stage = Stage::Question;
        None
    }

    fn yes(&self, id: &RequestId, remember: Option<Remember>) -> PermissionRespondParams {
        PermissionRespondParams { updated_input: self.edited.clone(), ..allow(id, remember) }
    }

    /// The input as a text to edit.
    pub fn draft(&self) -> Option<Draft> {
        Some(Draft::of(&self.shown()?.tool, self.input()?))
    }

    /// Edits a text on the line, as there is no editor.
    pub fn edit_here(&mut self, draft: Draft) {
        let text = Typed::of(&draft.text);
        self.stage = Stage::Input(draft, text);
    }

    /// Takes in an edited text, and shows what has changed.
    pub fn edited(&mut self, draft: &Draft, transcript: &mut Transcript) -> io::Result<()> {
        let Some(request) = self.queue.front() else { return Ok(()) };
        let style = transcript.screen.style();
        match draft.input(&request.input) {
            Err(problem) => transcript.line(&style.red(&format!("  ✗ {}", one_line(&problem)))),
            Ok(input) if input == request.input => {
                self.edited = None;
                transcript.line(&style.dim("  · nothing is changed"))
            }
            Ok(input) => self.replace_input(input, transcript),
        }
    }

    /// Has another input run in place of the one that was asked about, and shows what differs.
    fn replace_input(&mut self, input: Value, transcript: &mut Transcript) -> io::Result<()> {
        let Some(request) = self.shown() else { return Ok(()) };
        let style = transcript.screen.style();
        let changed = input::changed(request, &input, style);
        transcript.line(&style.dim("  · this would run instead:"))?;
        changed.iter().try_for_each(|line| transcript.line(line))?;
        self.edited = Some(input);
        Ok(())
    }

    /// Shows the rest of a long question.
    pub fn show_rest(&mut self, transcript: &mut Transcript) -> io::Result<()> {
        std::mem::take(&mut self.rest).iter().try_for_each(|line| transcript.line(line))
    }

    /// Gives the terminal to another program.
    pub fn lend_keys(&mut self, transcript: &mut Transcript) -> io::Result<()> {
        self.keys = None;
        transcript.screen.erase()
    }

    /// Takes the terminal back.
    pub fn take_keys(&mut self) -> io::Result<()> {
        self.keys = Some(Keys::open()?);
        Ok(())
    }

    fn show(&mut self, transcript: &mut Transcript) -> io::Result<()> {
        let Some(request) = self.queue.front() else { return Ok(()) };
        transcript.paused = true;
        let question = request::question(request, &transcript.folder, transcript.screen.style());
        question.lines.iter().try_for_each(|line| transcript.line(line))?;
        self.rest = question.rest;
        self.stage = if self.is_typing() { Stage::Prompt } else { Stage::Question };
        if !transcript.screen.is_live() {
            self.key_lines(transcript).iter().try_for_each(|line| transcript.line(line))?;
        }
        if self.keys.is_none() {
            self.take_keys()?;
        }
        if let (Stage::Question, Some(keys)) = (&self.stage, &self.keys) {
            keys.discard();
        }
        self.redraw(transcript)
    }

    fn key_lines(&self, transcript: &Transcript) -> Vec<String> {
        let (style, width) = (transcript.screen.style(), terminal::width());
        match &self.stage {
            Stage::Question => self.question_keys(),
            Stage::Prompt => {
                let prompt = self.prompt.as_ref().map(|prompt| prompt_line(prompt, transcript)).unwrap_or_default();
                vec![prompt, "  [Enter] it waits for the turn's end, and on to the question   [Esc] drop it".to_owned()]
            }
            Stage::Reason(reason) => {
                let prompt = "  what should it do instead? ";
                vec![format!("{prompt}{}", reason.shown(style, width.saturating_sub(prompt.len())))]
            }
            Stage::Remember(choice) => choice.lines(style, width),
            Stage::Input(_, text) => vec![
                format!("  {}", text.shown(style, width.saturating_sub(2))),
                "  [Enter] done   [Alt-Enter] a new line   [Esc] leave it as it was".to_owned(),
            ],
        }
    }

    fn question_keys(&self) -> Vec<String> {
        let yes = if self.edited.is_some() { "[y] as edited" } else { "[y] yes" };
        let always = match self.offers().filter(|request| !request.suggestions.is_empty()) {
            None => "",
            Some(PermissionRequest { preview: Some(Preview::Plan { .. }), .. }) => "   [a] and accept edits",
            Some(_) => "   [a] yes, always",
        };
        let rest = if self.rest.is_empty() { "" } else { "   [v] show all" };
        let leave = if self.can_leave { "   [d] leave, it waits" } else { "" };
        vec![
            format!("  {yes}{always}   [n] no, stop   [e] no, and say why"),
            format!("  [i] edit it   [x] explain{rest}{leave}"),
        ]
    }
}

fn prompt_line(prompt: &Typed, transcript: &Transcript) -> String {
    let style = transcript.screen.style();
    format!("{} {}", style.cyan("›"), prompt.shown(style, terminal::width().saturating_sub(3)))
}

fn answer(params: PermissionRespondParams) -> Pressed {
    Pressed::Answer(Box::new(params))
}

/// The rules of the first suggestion, to be remembered in a scope; none if nothing is suggested.
pub fn suggested(request: &PermissionRequest, scope: RuleScope) -> Option<Remember> {
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

/// A no that the model reads, and goes on with; a plain one if there is nothing to read.
fn deny_because(request: &RequestId, reason: &str) -> PermissionRespondParams {
    let message = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
    PermissionRespondParams { stop: message.as_ref().map(|_| false), message, ..deny(request) }
}

/// An answer in words, as it stays on the screen.
fn said(answer: &PermissionRespondParams) -> String {
    match (answer.decision, &answer.remember, &answer.message) {
        (PermissionDecision::Allow, None, _) if answer.updated_input.is_some() => "yes, as edited".to_owned(),
        (PermissionDecision::Allow, None, _) => "yes".to_owned(),
        (PermissionDecision::Allow, Some(remember), _) => {
            format!("yes, and always: {}", one_line(&remember.all().join(", ")))
        }
        (PermissionDecision::Deny, _, None) => "no".to_owned(),
        (PermissionDecision::Deny, _, Some(why)) => format!("no: {}", one_line(why)),
    }
}

#[cfg(test)]
mod tests;
