//! The effects of the turn machine, done on the doors: one match, no decisions.

use super::actor::Actor;
use super::classifier::Case;
use super::explain::Standing;
use super::log::{Log, Room};
use super::pipeline::{self, CallJob, Round, ToolMessage};
use super::toolset::Toolset;
use super::toolset::next_toolset;
use super::turns::{RunningCall, RunningTurn};
use crate::base::environment::Environment;
use crate::event::{Message, SessionState};
use crate::model::{Model, ModelRequest, ModelStream};
use crate::policy::Policy;
use crate::store::{CHECKPOINTS_DIR, OUTPUTS_DIR, SessionSnapshot};
use crate::tools::{Hidden, Progress, ToolContext};
use crate::turn::model_event::{BlockKind, ModelEvent};
use crate::turn::{CancelKind, Effect, Input, is_abort};
use futures::StreamExt;
use proto::content::{ContentBlock, MessageBlock};
use proto::event::{EndReason, Ephemeral, Event, TurnError};
use proto::ids::ToolCallId;
use proto::session::Mode;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Calls that the classifier is shown, and characters of each.
const CALLS_SHOWN: usize = 40;
const CALL_CHARS: usize = 1_000;

impl Actor {
    /// Gives the machine an input and does what it says.
    pub(super) fn step(&mut self, input: Input) {
        let Some(turn) = &mut self.running else { return };
        let effects = turn.machine.step(input, turn.tools.as_ref());
        let healthy = turn.storage_error.is_none();
        for effect in effects {
            self.perform(effect);
        }
        let broke = self.running.as_ref().is_some_and(|turn| turn.storage_error.is_some());
        if healthy && broke {
            self.step(Input::Cancel(CancelKind::StorageFailed));
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Append(event) => self.append_in_turn(&event),
            Effect::Announce(event) => self.log.ephemeral(&event),
            Effect::CallModel { after_ms, escalation } => self.call_model(after_ms, escalation),
            Effect::SwitchModel { model } => self.switch_model(&model),
            Effect::Compact => self.compact(),
            Effect::RunStopHooks { active } => self.run_stop_hooks(active),
            Effect::StopModel => {
                if let Some(turn) = &mut self.running {
                    turn.stream = None;
                }
            }
            Effect::StartTool { id, tool, input } => self.start_tool(id, tool, input),
            Effect::StopTool { id, cause } => {
                if let Some(call) = self.running.as_ref().and_then(|turn| turn.calls.get(&id)) {
                    // The first cause is the true one.
                    let _ = call.cause.set(cause);
                    call.cancel.cancel();
                }
            }
            Effect::End { reason, error, structured_output } => self.end_turn(reason, error, structured_output),
        }
    }

    /// Appends an event of the running turn. The first failure marks the turn, whose further events then
    /// take the log's reserve.
    pub(super) fn append_in_turn(&mut self, event: &Event) {
        let Some(turn) = &mut self.running else { return };
        if turn.storage_error.is_none() {
            let Err(error) = self.log.append(event, Room::Normal) else { return };
            turn.storage_error = Some(error.to_string());
        }
        // Of a turn that can't be kept, only what ends something is; a large result not even in the reserve.
        let short = match event {
            Event::ToolEnded { .. } => shortened(event.clone()),
            Event::MessageCompleted { .. } | Event::PermissionResolved { .. } => event.clone(),
            _ => return,
        };
        let kept = self.log.append(event, Room::Reserve).or_else(|_| self.log.append(&short, Room::Reserve));
        if let Err(error) = kept {
            tracing::error!(session = %self.log.state().info.id, %error, "an event was lost: the disk is full");
        }
    }

    /// Tells a tool that the model has begun to write a call of it.
    pub(super) fn expect_tool(&self, event: &ModelEvent) {
        let ModelEvent::BlockStarted { kind: BlockKind::ToolUse { id, name }, .. } = event else { return };
        if let Some(tool) = self.running.as_ref().and_then(|turn| turn.tools.get(name)) {
            tool.expect(&self.tool_context(&ToolCallId::from(id.as_str())));
        }
    }

    fn call_model(&mut self, after_ms: u64, escalation: u32) {
        let Some(turn) = &mut self.running else { return };
        turn.round = Arc::new(Round::new(turn.settings.tools.batch_result_chars));
        let request = request(&self.log, turn, escalation);
        turn.stream = Some(match after_ms {
            0 => turn.model.stream(request),
            _ => later(Arc::clone(&turn.model), request, jitter(after_ms)),
        });
    }

    /// The fallback takes over for the rest of the turn.
    fn switch_model(&mut self, name: &str) {
        let model = self.resolve_model(name).unwrap_or_else(|message| crate::model::unavailable(name, message));
        if let Some(turn) = &mut self.running {
            turn.stream = None;
            turn.model = model;
        }
    }

    /// Nothing makes the context smaller yet, and the machine is told so at the start of each turn.
    fn compact(&mut self) {
        let message = "The conversation does not fit the model's context: rewind, or start a new session.";
        self.step(Input::Compacted(Err(message.to_owned())));
    }

    fn start_tool(&mut self, id: ToolCallId, tool: String, input: Value) {
        let context = self.tool_context(&id);
        let policy = self.policy();
        let context = ToolContext { hidden: hidden(&policy), ..context };
        let on_ask = self.log.state().turn.as_ref().map(|turn| turn.options.on_ask).unwrap_or_default();
        let case = self.case(&policy, &tool, &input);
        let Some(turn) = &mut self.running else { return };
        let call = RunningCall { cancel: context.cancel.clone(), cause: Arc::default() };
        let found = turn.tools.get(&tool);
        let job = CallJob {
            turn_id: turn.machine.turn_id().clone(),
            // Rules speak of a tool by its own name, whatever the model calls it.
            tool_name: found.as_ref().map_or(tool, |tool| tool.name().to_owned()),
            tool: found,
            tools: Arc::clone(&turn.tools),
            input,
            context,
            policy,
            on_ask,
            case,
            hooks: Arc::clone(&self.services.hooks),
            cause: Arc::clone(&call.cause),
            journal: Arc::clone(self.log.journal()),
            round: Arc::clone(&turn.round),
            messages: self.tool_sender.clone(),
        };
        turn.calls.insert(id, call);
        tokio::spawn(pipeline::run(job));
    }

    /// What the classifier is to judge a call by, in mode `auto` and if the call is no mere reading.
    fn case(&self, policy: &Policy, tool: &str, input: &Value) -> Option<Case> {
        let turn = self.running.as_ref().filter(|_| policy.mode == Mode::Auto && input.is_object())?;
        turn.tools.get(tool).filter(|tool| !tool.read_only(input))?;
        let state = self.log.state();
        let settings = self.services.settings_for(&state.info.cwd);
        let model = match &settings.small_model {
            None => Err(super::update::NO_CLASSIFIER.to_owned()),
            Some(name) => {
                let model = self.services.models.resolve(name, &settings, &self.env);
                model.map_err(|error| format!("smallModel: {}", error.message))
            }
        };
        Some(Case { model, prompts: state.prompts.iter().cloned().collect(), calls: calls_so_far(state, &turn.tools) })
    }

    /// What a call that is made now would be decided by.
    pub(super) fn standing(&mut self) -> Standing {
        let policy = self.policy();
        let info = &self.log.state().info;
        let tools = self.running.as_ref().map(|turn| Arc::clone(&turn.tools));
        Standing {
            context: ToolContext { hidden: hidden(&policy), ..self.tool_context(&ToolCallId::from("none")) },
            policy,
            tools: tools.unwrap_or_else(|| Arc::new(next_toolset(&self.services, info, &self.env))),
        }
    }

    pub(super) fn tool_context(&self, id: &ToolCallId) -> ToolContext {
        let info = &self.log.state().info;
        let announce = Arc::clone(self.log.announce());
        let call = id.clone();
        let bash = self.running.as_ref().map(|turn| turn.settings.tools.bash).unwrap_or_default();
        ToolContext {
            session_id: info.id.clone(),
            tool_call_id: id.clone(),
            root: info.cwd.clone().into(),
            cwd: info.shell_cwd.as_ref().unwrap_or(&info.cwd).into(),
            additional_directories: info.additional_directories.iter().map(Into::into).collect(),
            env: self.tool_env(),
            outputs_dir: self.dir.join(OUTPUTS_DIR),
            checkpoints_dir: self.dir.join(CHECKPOINTS_DIR),
            files: Arc::clone(&self.files),
            processes: Arc::clone(&self.services.processes),
            cancel: CancellationToken::new(),
            progress: Arc::new(move |progress| {
                let Progress { stream, offset, text, total_bytes } = progress;
                let event = Ephemeral::ToolProgress { tool_call_id: call.clone(), stream, offset, text, total_bytes };
                announce.ephemeral(&crate::base::clock::now(), &event);
            }),
            bash,
            kill_grace: self.services.kill_grace(),
            user_modified: false,
            hidden: None,
            trusted: self.services.loader.trust(info.cwd.as_ref()).trusted,
        }
    }

    /// The client's variables with those of the settings over them, less those that the settings name as the key of a
    /// provider. By their names alone they may not look like secrets.
    fn tool_env(&self) -> Arc<Environment> {
        let Some(settings) = self.running.as_ref().map(|turn| &turn.settings) else { return Arc::clone(&self.env) };
        let keys: Vec<&str> = settings.providers.values().filter_map(|own| own.api_key_env.as_deref()).collect();
        let holds_key = keys.iter().any(|key| self.env.get(key).is_some());
        if settings.env.is_empty() && !holds_key {
            return Arc::clone(&self.env);
        }
        Arc::new(self.env.with(&settings.env).without(&keys))
    }

    pub(super) fn take_tool_message(&mut self, message: ToolMessage) {
        match message {
            ToolMessage::Ask { request, reply } => self.ask(*request, reply),
            ToolMessage::HookAnswers { id, answer, reason } => self.hook_answers(&id, answer, *reason),
            ToolMessage::Remembered { given, written } => self.remembered(*given, written),
            ToolMessage::ClassifierDenies { reason } => self.classifier_denies(*reason),
            ToolMessage::PolicyNow { reply } => drop(reply.send(self.policy())),
            ToolMessage::StopHooksRan { turn_id, verdict } => {
                if self.running.as_ref().is_some_and(|turn| *turn.machine.turn_id() == turn_id) {
                    self.step(Input::StopHooksRan(verdict));
                }
            }
            ToolMessage::Started { id, input, decision, go } => {
                self.resolve_moot(&id, &decision);
                self.append_in_turn(&Event::ToolStarted { tool_call_id: id.clone(), input, decision });
                self.step(Input::ToolStarted { id });
                // Dropping `go` tells the call that it was not written down, and so must not run.
                if self.running.as_ref().is_some_and(|turn| turn.storage_error.is_none()) {
                    let _ = go.send(());
                } else {
                    self.step(Input::Cancel(CancelKind::StorageFailed));
                }
            }
            ToolMessage::Ended { id, outcome, file_change, still_running } => {
                self.withdraw_question(&id);
                if let Some(turn) = &mut self.running {
                    turn.calls.remove(&id);
                    turn.still_running.extend(still_running);
                }
                if let Some(change) = file_change {
                    let path = change.path.display().to_string();
                    let changed = Event::FileChanged {
                        path,
                        tool_call_id: id.clone(),
                        diff: change.diff,
                        checkpoint: change.checkpoint,
                    };
                    self.append_in_turn(&changed);
                }
                self.step(Input::ToolEnded { id, outcome });
            }
        }
    }

    fn end_turn(&mut self, reason: EndReason, error: Option<TurnError>, structured_output: Option<Value>) {
        let Some(turn) = self.running.take() else { return };
        self.services.processes.let_go(&self.log.state().info.id);
        let (reason, error) = match &turn.storage_error {
            None => (reason, error),
            Some(message) => {
                let message = format!("The session's log can't be written: {message}");
                (EndReason::ModelError, Some(TurnError { kind: "storageFailed".to_owned(), message }))
            }
        };
        if !is_abort(reason) && turn.storage_error.is_none() {
            self.queue_steering();
        }
        let open = self.log.state().turn.as_ref();
        let (usage, cost) = open.map(|open| (open.usage, open.cost)).unwrap_or_default();
        self.append_end(Event::TurnEnded {
            turn_id: turn.machine.turn_id().clone(),
            reason,
            error,
            usage,
            cost,
            duration_ms: turn.stopwatch.elapsed_ms(),
            structured_output,
        });
        let still_running = (!turn.still_running.is_empty()).then_some(turn.still_running);
        for (cancelled, waiter) in turn.cancel_waiters {
            let result = proto::methods::TurnCancelResult {
                cancelled,
                already_idle: false,
                still_running: still_running.clone(),
            };
            let _ = waiter.send(Some(result));
        }
        if self.closing.is_empty() {
            self.start_queued();
        } else {
            self.close_now();
        }
    }

    /// Syncs the log and writes the list's cache, off the actor: nobody waits for it.
    pub(super) fn keep_snapshot(&self) {
        let journal = Arc::clone(self.log.journal());
        let snapshot = SessionSnapshot { journal_bytes: journal.len_bytes(), info: self.log.state().info.clone() };
        let dir = self.dir.clone();
        tokio::spawn(async move {
            if let Err(error) = journal.sync().await {
                tracing::error!(%error, "a log could not be synced");
            }
            let saved = tokio::task::spawn_blocking(move || SessionSnapshot::save(&dir, &snapshot)).await;
            if let Ok(Err(error)) = saved {
                tracing::debug!(%error, "a snapshot was not kept; the log has it all");
            }
        });
    }
}

/// The last calls that were no mere reading, in few words, oldest first.
fn calls_so_far(state: &SessionState, tools: &Toolset) -> Vec<String> {
    let messages = state.transcript.messages();
    let blocks = messages.iter().rev().filter_map(|entry| match &**entry {
        Message::Assistant { content, .. } => Some(content),
        Message::User(_) => None,
    });
    let calls = blocks.flat_map(|content| content.iter().rev()).filter_map(|block| match block {
        MessageBlock::ToolUse { name, input, .. } => {
            let tool = tools.get(name).filter(|tool| input.is_object() && !tool.read_only(input))?;
            Some(crate::base::text::head(&tool.classifier_input(input), CALL_CHARS).to_owned())
        }
        _ => None,
    });
    let mut calls: Vec<String> = calls.take(CALLS_SHOWN).collect();
    calls.reverse();
    calls
}

/// A tool's end without its result, for a log that has no room for it.
fn shortened(mut event: Event) -> Event {
    if let Event::ToolEnded { content, is_error, .. } = &mut event {
        *content = vec![ContentBlock::text("The call ended, but its result could not be kept: the disk is full.")];
        *is_error = true;
    }
    event
}

fn request(log: &Log, turn: &RunningTurn, escalation: u32) -> ModelRequest {
    ModelRequest {
        escalation,
        system: Arc::clone(&turn.system),
        tools: turn.tools.definitions(&log.state().discovered, turn.model.as_ref()),
        messages: log.state().transcript.messages(),
    }
}

fn later(model: Arc<dyn Model>, request: ModelRequest, pause: Duration) -> ModelStream {
    let asked = async move {
        tokio::time::sleep(pause).await;
        model.stream(request)
    };
    Box::pin(futures::stream::once(asked).flatten())
}

/// Three quarters of the pause and up to a quarter more, so that sessions don't come back all at once.
fn jitter(ms: u64) -> Duration {
    let random = u64::from(uuid::Uuid::new_v4().as_bytes().first().copied().unwrap_or(0));
    Duration::from_millis(ms * 3 / 4 + ms * random / 1024)
}

/// What searches leave out by the rules.
fn hidden(policy: &Policy) -> Option<Hidden> {
    let policy = policy.hides_files().then(|| policy.clone())?;
    Some(Arc::new(move |path, real| policy.hides(path, real)))
}
