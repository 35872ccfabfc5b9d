//! A session as running text: each event becomes what a person should see of it. Fed by `follow`, `attach`
//! and `logs` with events in order; it never asks and never answers.

use super::diff;
use super::escape::{one_line, visible};
use super::reading_order::ReadingOrder;
use super::replaced;
use super::request;
use super::screen::Screen;
use super::tool::{ToolCall, ToolEnd};
use crate::duration;
use proto::content::{MessageBlock, Prompt};
use proto::event::{AnyEvent, DeltaKind, EndReason, Ephemeral, Event, NoticeLevel, Role, TurnError};
use proto::ids::{MessageId, RequestId, SessionId, ToolCallId, TurnId};
use proto::permission::{DecisionReason, PermissionDecision, ReasonType};
use proto::session::Usage;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

/// Lines of a diff that are shown in the flow.
const DIFF_LINES: usize = 40;

/// What is shown beside the model's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// Prompts: where several clients talk, or the past is read.
    pub prompts: bool,
    /// What the model thinks aloud.
    pub thinking: bool,
    /// Questions, with the command that answers them: where nobody is asked here.
    pub questions: bool,
    /// Tokens and time at the end of a turn.
    pub totals: bool,
}

/// Of a message under way: bytes shown of each of its blocks.
#[derive(Default)]
struct Message {
    text: BTreeMap<u64, u64>,
    thinking: BTreeMap<u64, u64>,
}

/// The renderer.
pub struct Transcript {
    /// Where it writes. `ask` writes there too.
    pub screen: Screen,
    /// The session's folder, where it is known.
    pub folder: String,
    order: ReadingOrder,
    detail: Detail,
    messages: HashMap<MessageId, Message>,
    tools: HashMap<ToolCallId, ToolCall>,
    /// Calls that run, in the order in which they started.
    running: Vec<ToolCallId>,
    /// The call whose headline is the last thing written.
    last_headline: Option<ToolCallId>,
    /// What the open line of text is a part of.
    open: Option<(DeltaKind, u64)>,
    /// The turn that started last.
    turn: Option<TurnId>,
    /// Turns whose prompt stands on the screen already.
    own_turns: HashSet<TurnId>,
    /// The turn whose prompt is the last thing written.
    fresh_prompt: Option<TurnId>,
    /// Requests that were answered here.
    own_answers: HashSet<RequestId>,
    /// Calls whose change was shown and approved here.
    own_diffs: HashSet<ToolCallId>,
    /// Turns that were taken back here.
    own_rewinds: HashSet<TurnId>,
    /// Changes of the session that were made and confirmed here, and whose events have not come.
    own_updates: Vec<Map<String, Value>>,
    /// Requests that were shown but not answered, and not told how to answer.
    unanswered: Vec<RequestId>,
    /// The session that a cut turn is told to go on with.
    resumable: Option<SessionId>,
    /// Whether live lines stay hidden, as something else stands there.
    pub paused: bool,
    /// Seconds without news, to be shown where nothing else lives.
    quiet_seconds: u64,
    /// What is being typed, to be shown below everything.
    pub typed: Option<String>,
}

/// Seconds without news after which a person is told that work goes on.
const QUIET_SECONDS: u64 = 2;

impl Transcript {
    /// A renderer that has shown nothing.
    pub fn new(screen: Screen, detail: Detail) -> Self {
        Self {
            screen,
            folder: String::new(),
            order: ReadingOrder::default(),
            detail,
            messages: HashMap::new(),
            tools: HashMap::new(),
            running: Vec::new(),
            last_headline: None,
            open: None,
            turn: None,
            own_turns: HashSet::new(),
            fresh_prompt: None,
            own_answers: HashSet::new(),
            own_diffs: HashSet::new(),
            own_rewinds: HashSet::new(),
            own_updates: Vec::new(),
            unanswered: Vec::new(),
            resumable: None,
            paused: false,
            quiet_seconds: 0,
            typed: None,
        }
    }

    /// Notes a turn of our own: its prompt is not shown again.
    pub fn own_turn(&mut self, turn: TurnId) {
        self.own_turns.insert(turn);
    }

    /// Notes an answer of our own: it is not told as somebody else's.
    pub fn own_answer(&mut self, request: RequestId) {
        self.own_answers.insert(request);
    }

    /// Takes that back: the answer could not be taken.
    pub fn foreign_answer(&mut self, request: &RequestId) {
        self.own_answers.remove(request);
    }

    /// Notes that a change was shown in a question and approved here.
    pub fn own_diff(&mut self, call: ToolCallId) {
        self.own_diffs.insert(call);
    }

    /// Notes a change of our own to the session: it is not told again.
    pub fn own_update(&mut self, changed: Map<String, Value>) {
        self.own_updates.push(changed);
    }

    /// Whether a change was made here; each is swallowed once.
    fn is_own_update(&mut self, changed: &Map<String, Value>) -> bool {
        let at = self.own_updates.iter().position(|own| own == changed);
        at.map(|at| self.own_updates.remove(at)).is_some()
    }

    /// What is told of a change of the session: nothing of one that was made here. None if the event is no such change.
    pub fn update(&mut self, event: &AnyEvent) -> Option<Option<String>> {
        let AnyEvent::Durable(event @ Event::SessionUpdated { changed }) = event else { return None };
        let own = self.is_own_update(changed);
        Some(other_note(event).filter(|_| !own).map(|text| format!("· {text}")))
    }

    /// Notes a turn that was taken back here: it is not told again.
    pub fn own_rewind(&mut self, turn: TurnId) {
        self.own_rewinds.insert(turn);
    }

    /// Has a turn that a restart cut tell the command that goes on with it.
    pub fn tell_resume(&mut self, session: SessionId) {
        self.resumable = Some(session);
    }

    /// Tells that nothing has happened for so long.
    pub fn quiet(&mut self, seconds: u64) -> io::Result<()> {
        self.quiet_seconds = seconds;
        self.draw()
    }

    /// Shows an event of the past, in reading order: some wait for the message that they belong to.
    pub fn past(&mut self, event: &AnyEvent) -> io::Result<()> {
        let ready = self.order.push(event);
        ready.iter().try_for_each(|event| self.show(event))
    }

    /// Ends the past: shows what still waits.
    pub fn end_past(&mut self) -> io::Result<()> {
        let rest = self.order.rest();
        rest.iter().try_for_each(|event| self.show(event))?;
        self.tell_answers()
    }

    /// Tells how to answer what is open; of a question of the past that is known only at the past's end.
    fn tell_answers(&mut self) -> io::Result<()> {
        let style = self.screen.style();
        for id in std::mem::take(&mut self.unanswered) {
            self.line(&style.dim(&format!("  answer it with: agentctl allow {id}, or: agentctl deny {id}")))?;
        }
        Ok(())
    }

    /// Shows an event that happens now.
    pub fn event(&mut self, event: &AnyEvent) -> io::Result<()> {
        self.end_past()?;
        self.show(event)?;
        self.tell_answers()
    }

    fn show(&mut self, event: &AnyEvent) -> io::Result<()> {
        self.quiet_seconds = 0;
        match event {
            AnyEvent::Durable(event) => self.durable(event)?,
            AnyEvent::Ephemeral(event) => self.ephemeral(event)?,
            AnyEvent::Unknown(_) => {}
        }
        self.draw()
    }

    /// Writes a line of the command's own.
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        self.close_text()?;
        self.last_headline = None;
        self.fresh_prompt = None;
        self.screen.line(line)
    }

    /// Draws the live lines again.
    pub fn draw(&mut self) -> io::Result<()> {
        if self.paused || !self.screen.is_live() {
            return Ok(());
        }
        let style = self.screen.style();
        let mut lines: Vec<String> =
            self.running.iter().filter_map(|id| self.tools.get(id)).flat_map(|call| call.live_lines(style)).collect();
        if self.quiet_seconds >= QUIET_SECONDS {
            lines.push(style.dim(&format!("  … {} s (Ctrl-C cancels)", self.quiet_seconds)));
        }
        lines.extend(self.typed.iter().cloned());
        self.screen.draw(&lines)
    }

    fn ephemeral(&mut self, event: &Ephemeral) -> io::Result<()> {
        match event {
            Ephemeral::MessageDelta { .. } if !self.screen.streams() => Ok(()),
            Ephemeral::MessageDelta { message_id, block, kind, offset, text } => {
                let message = self.messages.entry(message_id.clone()).or_default();
                let blocks = match kind {
                    DeltaKind::Text => &mut message.text,
                    DeltaKind::Thinking => &mut message.thinking,
                    DeltaKind::ToolInput => return Ok(()),
                };
                let shown = blocks.entry(*block).or_default();
                let end = offset + text.len() as u64;
                // what a second attach repeats is known; what was dropped before this comes with the whole message
                if end <= *shown || *offset > *shown {
                    return Ok(());
                }
                let known = usize::try_from(*shown - offset).unwrap_or(usize::MAX);
                *shown = end;
                let new = text.get(known..).unwrap_or_default();
                self.stream(*kind, *block, new)
            }
            Ephemeral::ToolProgress { tool_call_id, offset, text, .. } => {
                if let Some(call) = self.tools.get_mut(tool_call_id) {
                    call.output(*offset, text);
                }
                Ok(())
            }
            Ephemeral::UsageUpdated { .. } | Ephemeral::QueueLagged { .. } => Ok(()),
        }
    }

    fn stream(&mut self, kind: DeltaKind, block: u64, text: &str) -> io::Result<()> {
        if kind == DeltaKind::Thinking && !self.detail.thinking {
            return Ok(());
        }
        if self.open.is_some_and(|open| open != (kind, block)) {
            self.close_text()?;
        }
        self.open = Some((kind, block));
        self.last_headline = None;
        self.fresh_prompt = None;
        let shown = visible(text);
        match kind {
            DeltaKind::Thinking => self.screen.text(&self.screen.style().dim(&shown)),
            DeltaKind::Text | DeltaKind::ToolInput => self.screen.text(&shown),
        }
    }

    fn close_text(&mut self) -> io::Result<()> {
        self.open = None;
        self.screen.end_text()
    }

    fn durable(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::TurnQueued { turn_id, prompt, interrupts, .. } => {
                let state = if *interrupts { "ends the turn: " } else { "queued: " };
                self.prompt(turn_id, Some(prompt), state)?;
                self.fresh_prompt = Some(turn_id.clone());
                Ok(())
            }
            Event::TurnStarted { turn_id, prompt, .. } => {
                self.turn = Some(turn_id.clone());
                self.prompt(turn_id, prompt.as_ref(), "")
            }
            Event::TurnSteered { prompt, .. } if self.detail.prompts => self.prompt_line(prompt, "joins the turn: "),
            Event::TurnEnded { turn_id, .. } if self.turn.as_ref().is_some_and(|running| running != turn_id) => {
                self.note("a prompt that waited was taken back")
            }
            Event::TurnEnded { reason, error, usage, cost, duration_ms, .. } => {
                self.turn_ended(*reason, error.as_ref())?;
                let cost = cost.map(|cost| format!(" · ${:.4}", cost.usd)).unwrap_or_default();
                self.totals(usage, &cost, *duration_ms)
            }
            Event::MessageCompleted { message_id, role: Role::Assistant, content, .. } => {
                self.message_completed(message_id, content)
            }
            Event::MessageTombstoned { message_id, reason } => {
                let shown = self.messages.remove(message_id).is_some_and(|message| !message.text.is_empty());
                let note = format!("! the answer above is void: {}", one_line(reason));
                if shown { self.line(&self.screen.style().yellow(&note)) } else { Ok(()) }
            }
            Event::ToolQueued { .. } | Event::ToolStarted { .. } | Event::ToolEnded { .. } => self.tool(event),
            Event::PermissionRequested { request } if self.detail.questions => {
                let style = self.screen.style();
                let lines = request::lines(request, &self.folder, style);
                lines.iter().try_for_each(|line| self.line(line))?;
                self.unanswered.push(request.request_id.clone());
                Ok(())
            }
            Event::PermissionResolved { request_id, decision, by, reason, .. } => {
                self.unanswered.retain(|id| id != request_id);
                let own = self.own_answers.contains(request_id);
                told_answer(*decision, by, reason, own).map_or(Ok(()), |text| self.note(&text))
            }
            Event::SessionUpdated { changed } if self.is_own_update(changed) => Ok(()),
            Event::SessionRewound { to_turn_id, .. } if self.own_rewinds.remove(to_turn_id) => Ok(()),
            Event::FileChanged { path, tool_call_id, diff, .. } => self.file_changed(path, tool_call_id, diff),
            Event::Notice { level, text } => self.notice(*level, text),
            other => other_note(other).map_or(Ok(()), |text| self.note(&text)),
        }
    }

    fn prompt(&mut self, turn: &TurnId, prompt: Option<&Prompt>, state: &str) -> io::Result<()> {
        self.last_headline = None;
        let known = self.own_turns.contains(turn) || self.fresh_prompt.as_ref() == Some(turn);
        if !self.detail.prompts || known {
            return Ok(());
        }
        match prompt {
            Some(prompt) => self.prompt_line(prompt, state),
            None => self.note("the turn goes on"),
        }
    }

    fn prompt_line(&mut self, prompt: &Prompt, state: &str) -> io::Result<()> {
        self.last_headline = None;
        let style = self.screen.style();
        let text = prompt.plain_text();
        let shown = visible(text.trim_end()).replace('\n', "\n  ");
        self.line(&format!("{} {state}{}", style.cyan("›"), style.bold(&shown)))
    }

    fn message_completed(&mut self, id: &MessageId, content: &[MessageBlock]) -> io::Result<()> {
        let message = self.messages.remove(id).unwrap_or_default();
        let (mut texts, mut thoughts) = (message.text.into_iter(), message.thinking.into_iter());
        for (at, block) in (0_u64..).zip(content) {
            // a block's number on the wire may count blocks that were left out, so they are paired in order
            let (kind, text, shown) = match block {
                MessageBlock::Text { text } => (DeltaKind::Text, text, texts.next()),
                MessageBlock::Thinking { thinking, .. } => (DeltaKind::Thinking, thinking, thoughts.next()),
                _ => continue,
            };
            let (number, shown) = shown.unwrap_or((u64::MAX - at, 0));
            let shown = usize::try_from(shown).unwrap_or(usize::MAX);
            if let Some(rest) = text.get(shown..).filter(|rest| !rest.is_empty()) {
                self.stream(kind, number, rest)?;
            }
        }
        self.close_text()
    }

    fn tool(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::ToolQueued { tool_call_id, tool, title, input, .. } => {
                self.tools.insert(tool_call_id.clone(), ToolCall::new(tool, title, input));
                Ok(())
            }
            Event::ToolStarted { tool_call_id, input, decision } => {
                if let Some(call) = self.tools.get_mut(tool_call_id) {
                    call.starts(input, decision);
                }
                self.tool_started(tool_call_id)
            }
            Event::ToolEnded { tool_call_id, status, is_error, content, summary, duration_ms, cause, .. } => {
                self.running.retain(|id| id != tool_call_id);
                let Some(mut call) = self.tools.remove(tool_call_id) else { return Ok(()) };
                self.headline(tool_call_id, &mut call)?;
                let name_it = self.last_headline.as_ref() != Some(tool_call_id);
                let (status, is_error, duration_ms, cause) = (*status, *is_error, *duration_ms, *cause);
                let end = ToolEnd { status, is_error, content, summary, duration_ms, cause, name_it };
                let lines = call.result_lines(&end, self.screen.style());
                lines.iter().try_for_each(|line| self.line(line))
            }
            _ => Ok(()),
        }
    }

    fn tool_started(&mut self, id: &ToolCallId) -> io::Result<()> {
        let Some(mut call) = self.tools.remove(id) else { return Ok(()) };
        self.running.push(id.clone());
        if self.screen.is_live() {
            self.close_text()?; // a live line stands in for the headline until the call ends
        } else {
            self.headline(id, &mut call)?;
        }
        self.tools.insert(id.clone(), call);
        Ok(())
    }

    fn headline(&mut self, id: &ToolCallId, call: &mut ToolCall) -> io::Result<()> {
        if !call.announced {
            call.announced = true;
            self.line(&call.headline(self.screen.style()))?;
            self.last_headline = Some(id.clone());
        }
        Ok(())
    }

    /// A change belongs between its call's headline and result. One that was approved here is known.
    fn file_changed(&mut self, path: &str, id: &ToolCallId, diff: &str) -> io::Result<()> {
        let known = self.own_diffs.remove(id);
        match self.tools.remove(id) {
            Some(mut call) => {
                self.headline(id, &mut call)?;
                self.tools.insert(id.clone(), call);
            }
            None => self.note(&format!("changed {}", one_line(path)))?,
        }
        if !known {
            let headline = self.last_headline.take();
            let style = self.screen.style();
            diff::lines(diff, style, DIFF_LINES).iter().try_for_each(|line| self.line(line))?;
            self.last_headline = headline;
        }
        Ok(())
    }

    fn turn_ended(&mut self, reason: EndReason, error: Option<&TurnError>) -> io::Result<()> {
        self.close_text()?;
        self.messages.clear();
        self.running.clear();
        self.tools.clear();
        let style = self.screen.style();
        let said = error.map(|error| format!(": {}", one_line(&error.message))).unwrap_or_default();
        match reason {
            EndReason::Completed => Ok(()),
            EndReason::AbortedStreaming | EndReason::AbortedTools => self.line(&style.yellow("⊘ cancelled")),
            EndReason::Interrupted => {
                let hint = self.resumable.as_ref().map(|id| format!("; go on with: agentctl resume {id}"));
                let hint = hint.unwrap_or_default();
                let why = error.map_or("by a restart of agentd".to_owned(), |_| format!("off{said}"));
                self.line(&style.yellow(&format!("⊘ cut {why}{hint}")))
            }
            EndReason::MaxTurns => self.line(&style.yellow(&format!("⊘ the limit of tool rounds is reached{said}"))),
            EndReason::ModelError => self.line(&style.red(&format!("✗ the model failed{said}"))),
            EndReason::PromptTooLong => {
                self.line(&style.red(&format!("✗ the conversation is too long for the model{said}")))
            }
            EndReason::StopHookPrevented | EndReason::HookStopped => {
                self.line(&style.yellow(&format!("⊘ stopped by a hook{said}")))
            }
            EndReason::TokenBudget => self.line(&style.yellow(&format!("⊘ the token budget is used up{said}"))),
        }
    }

    fn totals(&mut self, usage: &Usage, cost: &str, duration_ms: u64) -> io::Result<()> {
        if !self.detail.totals {
            return Ok(());
        }
        let read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
        let took = duration::show(duration_ms);
        self.note(&format!("{took} · {read} tokens in, {} out{cost}", usage.output_tokens))
    }

    fn notice(&mut self, level: NoticeLevel, text: &str) -> io::Result<()> {
        let (style, text) = (self.screen.style(), visible(text).into_owned());
        match level {
            NoticeLevel::Info => self.note(&text),
            NoticeLevel::Warning => self.line(&style.yellow(&format!("! {text}"))),
            NoticeLevel::Error => self.line(&style.red(&format!("✗ {text}"))),
        }
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        let style = self.screen.style();
        self.line(&style.dim(&format!("· {text}")))
    }
}

/// What is told of an answer: who gave it, unless it was given here, and what is remembered.
fn told_answer(decision: PermissionDecision, by: &str, reason: &DecisionReason, own: bool) -> Option<String> {
    let word = match decision {
        PermissionDecision::Allow => "allowed",
        PermissionDecision::Deny => "denied",
    };
    let changed = if replaced::is_by_person(reason) { ", who changed the input" } else { "" };
    match (own, remembered(reason)) {
        (true, remembered) => remembered,
        (false, None) => Some(format!("{word} by {}{changed}", one_line(by))),
        (false, Some(remembered)) => Some(format!("{word} by {}{changed}, {remembered}", one_line(by))),
    }
}

/// Where a person's answer was written down, and as which rule.
fn remembered(reason: &DecisionReason) -> Option<String> {
    let rule = reason.rule.as_ref().filter(|_| reason.kind == ReasonType::User)?;
    let place = match reason.source.as_deref() {
        None | Some("session") => "for this session".to_owned(),
        Some(source) => format!("in {}", one_line(source)),
    };
    Some(format!("remembered {place}: {}", one_line(rule)))
}

/// A line about the rarer events; none for those that say nothing to a person.
fn other_note(event: &Event) -> Option<String> {
    match event {
        Event::SessionUpdated { changed } => {
            let field = |(name, value): (&String, &Value)| match (name.as_str(), value) {
                ("shellCwd", Value::String(folder)) => format!("the shell is in {folder} now"),
                ("trusted", Value::Bool(true)) => "this folder is trusted now".to_owned(),
                ("trusted", Value::Bool(false)) => "this folder is not trusted any more".to_owned(),
                (name, Value::String(value)) => format!("{name} is now {value}"),
                (name, value) => format!("{name} is now {value}"),
            };
            let fields: Vec<String> = changed.iter().map(field).collect();
            Some(one_line(&fields.join(", "))).filter(|text| !text.is_empty())
        }
        Event::SessionRewound { to_turn_id, .. } => {
            Some(format!("the session went back: {to_turn_id} and all after it are no part of it any more"))
        }
        Event::SessionClosed {} => Some("the session is closed".to_owned()),
        Event::QuestionRequested { request_id, .. } => {
            Some(format!("a question waits that this version cannot answer: {request_id}"))
        }
        Event::TaskStarted { task } => Some(format!("task {} started: {}", task.task_id, one_line(&task.title))),
        Event::TaskEnded { task } => Some(format!("task {} {}: {}", task.task_id, task.state, one_line(&task.title))),
        Event::HookRan { name, message: Some(message), .. } => {
            Some(format!("hook {}: {}", one_line(name), one_line(message)))
        }
        Event::ContextCompacted { before_tokens, after_tokens, .. } => {
            Some(format!("the past was summed up: {before_tokens} tokens became {after_tokens}"))
        }
        Event::ModelSwitched { from, to, reason } => {
            Some(format!("{} takes over from {}: {}", one_line(to), one_line(from), one_line(reason)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
