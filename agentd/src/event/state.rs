//! The state of a session as its durable events give it: what lists show, what is open, what waits.
//! The actor folds each event right after it is appended; a restart folds the journal.

use super::marks::TurnMark;
use super::transcript::{Transcript, text_of};
use crate::base::text;
use proto::content::{ContentBlock, MessageBlock, Prompt};
use proto::event::{ContinueReason, EndReason, Event, Role, TurnOptions};
use proto::ids::{RequestId, Timestamp, ToolCallId, TurnId};
use proto::methods::SystemPrompt;
use proto::permission::{PermissionDecision, PermissionRequest, ReasonType};
use proto::session::{Cost, Mode, SessionInfo, SessionStatus, Usage};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// Characters of a prompt that become the title.
const TITLE_CHARS: usize = 60;
/// Prompts that the classifier is shown, and characters of each.
const KEPT_PROMPTS: usize = 30;
const KEPT_CHARS: usize = 2_000;

/// A session's state.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionState {
    /// What lists show.
    pub info: SessionInfo,
    /// A change of the system prompt.
    pub system_prompt: Option<SystemPrompt>,
    /// What the model is to be told.
    pub transcript: Transcript,
    /// The turns of the conversation, oldest first.
    pub turns: Vec<TurnMark>,
    /// The turn that runs, or ran when agentd stopped.
    pub turn: Option<OpenTurn>,
    /// The last turn, if a restart cut it and nothing came after.
    pub interrupted: Option<CutTurn>,
    /// Prompts that wait.
    pub queue: VecDeque<QueuedTurn>,
    /// Open permission requests, oldest first.
    pub permissions: Vec<OpenRequest>,
    /// Who answered the others.
    pub resolved: HashMap<RequestId, String>,
    /// Rules that answers added.
    pub session_rules: Vec<String>,
    /// The last prompts of people, for the classifier of mode `auto`: each cut, oldest first.
    pub prompts: VecDeque<Arc<str>>,
    /// Denials by that classifier: since the last call that ran, and in all (rows P10, P12).
    pub denials: (u32, u32),
    /// The mode before the session was to plan: what it goes back to once a plan is approved.
    pub mode_before_plan: Option<Mode>,
    /// What was sent with a client's key.
    pub idempotency: HashMap<String, SentPrompt>,
    /// Deferred tools that were searched for and found: the model is told of them (row T09).
    pub discovered: BTreeSet<String>,
}

/// A turn that a restart cut.
#[derive(Debug, Clone, PartialEq)]
pub struct CutTurn {
    /// The turn.
    pub id: TurnId,
    /// How it was to run, and goes on.
    pub options: TurnOptions,
}

/// A prompt that was sent with a client's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentPrompt {
    /// The turn that it started, waits for or joined.
    pub turn: TurnId,
    /// Whether it joined a turn.
    pub steered: bool,
}

/// A permission request that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRequest {
    /// The event that asked.
    pub seq: u64,
    /// When it asked.
    pub at: Timestamp,
    /// The request.
    pub request: PermissionRequest,
}

/// A turn that has started and not ended.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenTurn {
    /// Its id.
    pub id: TurnId,
    /// How it is to run.
    pub options: TurnOptions,
    /// Its tokens so far.
    pub usage: Usage,
    /// The text of its last message.
    pub text: String,
    /// Its cost so far.
    pub cost: Option<Cost>,
    /// Tool rounds that are complete.
    pub rounds: u64,
    /// Whether the round under way has tool calls.
    pub round_has_tools: bool,
    /// The model of the last switch while it ran: the fallback, if that is what the turn goes on with.
    pub switched_to: Option<String>,
    /// Prompts that are to join it after the tools that run now.
    pub steering: Vec<Steering>,
    /// Calls that were queued and have not ended, in call order.
    pub calls: Vec<OpenCall>,
    /// Blocks of calls whose message is not complete yet, for a restart to write it.
    pub loose: Vec<MessageBlock>,
}

/// A prompt that is to join a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Steering {
    /// The prompt.
    pub prompt: Prompt,
    /// What its files held.
    pub attachments: Vec<ContentBlock>,
    /// Who sent it.
    pub client: Option<String>,
}

/// A tool call that has not ended.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    /// Its id.
    pub id: ToolCallId,
    /// Its tool.
    pub tool: String,
    /// The model's input.
    pub input: Value,
    /// Whether it may run beside others.
    pub concurrency_safe: bool,
    /// Whether it was started.
    pub started: bool,
}

/// A prompt that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedTurn {
    /// The turn that it will start.
    pub id: TurnId,
    /// The prompt.
    pub prompt: Prompt,
    /// What its files held.
    pub attachments: Vec<ContentBlock>,
    /// Who sent it.
    pub client: Option<String>,
    /// How the turn is to run.
    pub options: TurnOptions,
    /// Whether it goes before those that only wait: it was to join or to end the turn that ran.
    pub goes_first: bool,
}

impl SessionState {
    /// The state after `session.created`, which is always the first event; `None` for any other.
    #[must_use]
    pub fn from_first(event: &Event) -> Option<Self> {
        let Event::SessionCreated { session, system_prompt } = event else { return None };
        Some(Self {
            info: session.clone(),
            system_prompt: system_prompt.clone(),
            transcript: Transcript::default(),
            turns: Vec::new(),
            turn: None,
            interrupted: None,
            queue: VecDeque::new(),
            permissions: Vec::new(),
            resolved: HashMap::new(),
            session_rules: Vec::new(),
            mode_before_plan: None,
            prompts: VecDeque::new(),
            denials: (0, 0),
            idempotency: HashMap::new(),
            discovered: BTreeSet::new(),
        })
    }

    /// Folds one event with its number and moment.
    pub fn apply(&mut self, seq: u64, at: &str, event: &Event) {
        self.transcript.apply(event);
        match event {
            Event::SessionUpdated { changed } => self.update_info(changed),
            Event::SessionRewound { to_turn_id, .. } => self.rewind(to_turn_id),
            Event::SessionClosed {} => self.info.status = SessionStatus::Closed,
            Event::PermissionRequested { request } => {
                self.permissions.push(OpenRequest { seq, at: at.to_owned(), request: request.clone() });
            }
            Event::PermissionResolved { request_id, by, session_rule, further_session_rules, .. } => {
                let asked = self.permissions.extract_if(.., |open| open.request.request_id == *request_id).next();
                // Of the session that this one was forked from come its questions, which are answered there,
                // and its rules, which were given to it alone.
                if asked.is_none_or(|open| open.request.session_id == self.info.id) {
                    self.resolved.insert(request_id.clone(), by.clone());
                    self.session_rules.extend(session_rule.iter().chain(further_session_rules).cloned());
                }
            }
            Event::ToolEnded { details, .. } => {
                self.discovered.extend(details.discovered.iter().cloned());
                self.apply_tool(event);
            }
            _ => self.apply_turn(event),
        }
        // After a turn's start is marked: what a rewind brings back is from before its prompt.
        self.watch_for_classifier(event);
        self.info.last_seq = seq;
        if at > self.info.updated_at.as_str() {
            // What a fork has from its parent is older than the fork.
            at.clone_into(&mut self.info.updated_at);
        }
        self.refresh_status();
    }

    /// What the classifier is to know, and how often it has said no.
    fn watch_for_classifier(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { prompt: Some(prompt), .. } | Event::TurnSteered { prompt, .. } => {
                if self.prompts.len() >= KEPT_PROMPTS {
                    self.prompts.pop_front();
                }
                self.prompts.push_back(text::head(&prompt.plain_text(), KEPT_CHARS).into());
            }
            Event::ToolStarted { .. } => self.denials.0 = 0,
            Event::PermissionResolved { decision: PermissionDecision::Deny, reason, .. }
                if reason.kind == ReasonType::Classifier =>
            {
                self.denials = (self.denials.0.saturating_add(1), self.denials.1.saturating_add(1));
            }
            _ => {}
        }
    }

    fn apply_turn(&mut self, event: &Event) {
        match event {
            Event::TurnQueued { turn_id, prompt, attachments, client, options, was_steering, interrupts } => {
                self.remember_key(options.idempotency_key.as_ref(), turn_id);
                if let Some(turn) = self.turn.as_mut().filter(|_| *was_steering) {
                    turn.steering.clear();
                }
                let queued = QueuedTurn {
                    id: turn_id.clone(),
                    prompt: prompt.clone(),
                    attachments: attachments.clone(),
                    client: client.clone(),
                    options: options.clone(),
                    goes_first: *was_steering || *interrupts,
                };
                self.enqueue(queued);
            }
            Event::TurnSteered { turn_id, prompt, attachments, client, idempotency_key } => {
                if let Some(key) = idempotency_key {
                    let sent = SentPrompt { turn: turn_id.clone(), steered: true };
                    self.idempotency.insert(key.clone(), sent);
                }
                if let Some(turn) = &mut self.turn {
                    turn.steering.push(Steering {
                        prompt: prompt.clone(),
                        attachments: attachments.clone(),
                        client: client.clone(),
                    });
                }
            }
            Event::TurnStarted { turn_id, prompt, options, .. } => self.start_turn(turn_id, prompt.as_ref(), options),
            Event::TurnEnded { turn_id, reason, .. } => {
                self.queue.retain(|queued| queued.id != *turn_id);
                if let Some(ended) = self.turn.take_if(|turn| turn.id == *turn_id) {
                    let cut = CutTurn { id: ended.id, options: ended.options };
                    self.interrupted = (*reason == EndReason::Interrupted).then_some(cut);
                }
            }
            _ => self.apply_answer(event),
        }
    }

    fn enqueue(&mut self, turn: QueuedTurn) {
        let waits = |before: &QueuedTurn| turn.goes_first && !before.goes_first;
        let at = self.queue.iter().position(waits).unwrap_or(self.queue.len());
        self.queue.insert(at, turn);
    }

    fn apply_answer(&mut self, event: &Event) {
        match event {
            Event::MessageCompleted { role: Role::Assistant, content, usage, cost, .. } => {
                self.info.usage.add(usage);
                self.info.cost = Cost::sum(self.info.cost, *cost);
                if let Some(turn) = &mut self.turn {
                    turn.usage.add(usage);
                    turn.cost = Cost::sum(turn.cost, *cost);
                    turn.loose.clear();
                    let text = text_of(content);
                    if !text.is_empty() {
                        turn.text = text;
                    }
                }
            }
            Event::MessageTombstoned { .. } => {
                if let Some(turn) = &mut self.turn {
                    turn.loose.clear();
                    turn.round_has_tools = false;
                }
            }
            Event::ModelSwitched { to, .. } => {
                if let Some(turn) = &mut self.turn {
                    turn.switched_to = Some(to.clone());
                }
            }
            Event::TurnContinued { reason, .. } => {
                if let Some(turn) = &mut self.turn {
                    // The fallback is the turn's model from here on, also if a restart comes in between.
                    if let Some(fallback) = turn.switched_to.take_if(|_| *reason == ContinueReason::ModelFallback) {
                        turn.options.model = Some(fallback);
                    }
                    turn.rounds += u64::from(std::mem::take(&mut turn.round_has_tools));
                    turn.steering.clear();
                }
            }
            _ => self.apply_tool(event),
        }
    }

    fn apply_tool(&mut self, event: &Event) {
        let Some(turn) = &mut self.turn else { return };
        match event {
            Event::ToolQueued { tool_call_id, tool, input, concurrency_safe, .. } => {
                turn.round_has_tools = true;
                turn.loose.push(MessageBlock::ToolUse {
                    id: tool_call_id.as_str().to_owned(),
                    name: tool.clone(),
                    input: input.clone(),
                });
                turn.calls.push(OpenCall {
                    id: tool_call_id.clone(),
                    tool: tool.clone(),
                    input: input.clone(),
                    concurrency_safe: *concurrency_safe,
                    started: false,
                });
            }
            Event::ToolStarted { tool_call_id, .. } => {
                if let Some(call) = turn.calls.iter_mut().find(|call| call.id == *tool_call_id) {
                    call.started = true;
                }
            }
            Event::ToolEnded { tool_call_id, .. } => turn.calls.retain(|call| call.id != *tool_call_id),
            _ => {}
        }
    }

    fn start_turn(&mut self, id: &TurnId, prompt: Option<&Prompt>, options: &TurnOptions) {
        self.remember_key(options.idempotency_key.as_ref(), id);
        self.queue.retain(|queued| queued.id != *id);
        let untitled = prompt.filter(|_| self.info.title.is_empty());
        let title = untitled.map(|prompt| text::one_line(&prompt.plain_text(), TITLE_CHARS));
        self.mark_turn(id, title.clone());
        self.info.turn_count += 1;
        self.info.title = title.unwrap_or_else(|| std::mem::take(&mut self.info.title));
        self.turn = Some(OpenTurn {
            id: id.clone(),
            options: options.clone(),
            usage: Usage::default(),
            text: String::new(),
            cost: None,
            rounds: 0,
            round_has_tools: false,
            switched_to: None,
            steering: Vec::new(),
            calls: Vec::new(),
            loose: Vec::new(),
        });
    }

    fn remember_key(&mut self, key: Option<&String>, id: &TurnId) {
        if let Some(key) = key {
            self.idempotency.insert(key.clone(), SentPrompt { turn: id.clone(), steered: false });
        }
    }

    /// Lays changed fields over the session's info; fields that don't fit are left as they were.
    fn update_info(&mut self, changed: &Map<String, Value>) {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(&self.info) else { return };
        fields.extend(changed.clone());
        let Ok(info) = serde_json::from_value::<SessionInfo>(Value::Object(fields)) else { return };
        if info.mode == Mode::Plan && self.info.mode != Mode::Plan {
            self.mode_before_plan = Some(self.info.mode);
        }
        self.info = info;
    }

    fn refresh_status(&mut self) {
        self.info.pending.permissions = self.permissions.len() as u64;
        self.info.queue = self.queue.iter().map(|queued| queued.id.clone()).collect();
        if self.info.status == SessionStatus::Closed {
            return;
        }
        self.info.status = match (&self.turn, &self.interrupted) {
            (Some(_), _) if !self.permissions.is_empty() => SessionStatus::Waiting,
            (Some(_), _) => SessionStatus::Running,
            (None, Some(_)) => SessionStatus::Interrupted,
            (None, None) => SessionStatus::Idle,
        };
    }
}
