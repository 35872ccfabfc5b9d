//! Starting, queueing and resuming turns; how they end is in `ending`.

use super::actor::Actor;
use super::log::Room;
use super::pipeline::Round;
use super::toolset::Toolset;
use crate::base::clock::Stopwatch;
use crate::base::ids;
use crate::config::{Loaded, Settings};
use crate::event::state::{CutTurn, OpenTurn, QueuedTurn};
use crate::model::{Model, ModelStream};
use crate::store::StoreError;
use crate::tools::{ExitPlanMode, Permitted, StructuredOutput};
use crate::turn::{CancelKind, Cascade, Input, Machine, TurnSettings};
use proto::content::{ContentBlock, Prompt};
use proto::event::{EndReason, Event, NoticeLevel, ToolCause, TurnOptions};
use proto::ids::{ToolCallId, TurnId};
use proto::methods::{TurnCancelResult, TurnResumeResult, TurnStartParams, TurnStartResult, TurnState, WhenBusy};
use proto::session::SessionStatus;
use proto::{ErrorKind, RpcError};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A turn that runs.
pub(super) struct RunningTurn {
    pub machine: Machine,
    pub stopwatch: Stopwatch,
    pub model: Arc<dyn Model>,
    pub settings: Arc<Settings>,
    pub tools: Arc<Toolset>,
    pub system: Arc<str>,
    /// Stops the Stop hooks that run.
    pub stop_hooks: Option<DropGuard>,
    pub stream: Option<ModelStream>,
    pub calls: HashMap<ToolCallId, RunningCall>,
    /// The results of the round under way.
    pub round: Arc<Round>,
    pub still_running: Vec<u32>,
    pub cancel_waiters: Vec<(Vec<TurnId>, oneshot::Sender<Option<TurnCancelResult>>)>,
    /// Set once the log could not be written: the turn ends, by the log's reserve.
    pub storage_error: Option<String>,
}

/// A call that runs, seen from the actor.
pub(super) struct RunningCall {
    pub cancel: CancellationToken,
    pub cause: Arc<std::sync::OnceLock<ToolCause>>,
}

/// A turn that is about to start.
struct NewTurn {
    id: TurnId,
    prompt: Option<Prompt>,
    attachments: Vec<ContentBlock>,
    client: Option<String>,
    options: TurnOptions,
    resumes: Option<TurnId>,
}

impl From<QueuedTurn> for NewTurn {
    fn from(queued: QueuedTurn) -> Self {
        let QueuedTurn { id, prompt, attachments, client, options, .. } = queued;
        Self { id, prompt: Some(prompt), attachments, client, options, resumes: None }
    }
}

impl Actor {
    pub(super) fn start_turn(
        &mut self,
        params: TurnStartParams,
        attachments: Vec<ContentBlock>,
        client: String,
    ) -> Result<TurnStartResult, RpcError> {
        self.check_open()?;
        if let Some(result) = params.idempotency_key.as_ref().and_then(|key| self.known_key(key)) {
            return Ok(result);
        }
        let busy = self.log.state().turn.is_some();
        self.check_start(&params, busy)?;
        let options = TurnOptions {
            model: params.model,
            max_turns: params.max_turns,
            idempotency_key: params.idempotency_key,
            output_schema: params.output_schema,
            token_budget: params.token_budget,
            on_ask: params.on_ask.unwrap_or_default(),
        };
        let turn = QueuedTurn {
            id: ids::fresh("turn"),
            prompt: params.prompt,
            attachments,
            client: Some(client),
            options,
            goes_first: params.when_busy == Some(WhenBusy::Interrupt),
        };
        let turn_id = turn.id.clone();
        if !busy {
            self.begin(turn.into())?;
            return Ok(TurnStartResult { turn_id, state: TurnState::Running });
        }
        if params.when_busy == Some(WhenBusy::Steer)
            && let Some(running) = self.running.as_ref().filter(|running| running.machine.can_be_steered())
        {
            let turn_id = running.machine.turn_id().clone();
            return self.steer(turn_id, turn);
        }
        let QueuedTurn { id, prompt, attachments, client, options, goes_first: interrupts } = turn;
        let queued =
            Event::TurnQueued { turn_id: id, prompt, attachments, client, options, was_steering: false, interrupts };
        self.log.append(&queued, Room::Normal).map_err(storage_failed)?;
        if interrupts {
            self.step(Input::Cancel(CancelKind::UserInterrupted));
        }
        Ok(TurnStartResult { turn_id, state: TurnState::Queued })
    }

    /// Adds a prompt to the running turn. What the prompt wants of a turn of its own is the running turn's affair.
    fn steer(&mut self, turn_id: TurnId, turn: QueuedTurn) -> Result<TurnStartResult, RpcError> {
        let QueuedTurn { prompt, attachments, client, options, .. } = turn;
        let idempotency_key = options.idempotency_key;
        let steered = Event::TurnSteered { turn_id: turn_id.clone(), prompt, attachments, client, idempotency_key };
        self.log.append(&steered, Room::Normal).map_err(storage_failed)?;
        self.step(Input::Steered);
        Ok(TurnStartResult { turn_id, state: TurnState::Steered })
    }

    /// What was to steer a turn that ended first becomes a prompt of its own: nobody has answered it yet.
    pub(super) fn queue_steering(&mut self) {
        let Some(turn) = self.log.state().turn.as_ref().filter(|turn| !turn.steering.is_empty()) else { return };
        let client = turn.steering.first().and_then(|steering| steering.client.clone());
        let (prompts, attachments): (Vec<_>, Vec<_>) =
            turn.steering.iter().cloned().map(|steering| (steering.prompt, steering.attachments)).unzip();
        self.append_or_log(&Event::TurnQueued {
            turn_id: ids::fresh("turn"),
            prompt: Prompt::joined(prompts),
            attachments: attachments.concat(),
            client,
            options: TurnOptions::default(),
            was_steering: true,
            interrupts: false,
        });
    }

    pub(super) fn check_open(&self) -> Result<(), RpcError> {
        let info = &self.log.state().info;
        if info.status == SessionStatus::Closed {
            let message = format!("session {} is closed: create a new one", info.id);
            return Err(RpcError::new(ErrorKind::NotResumable, message));
        }
        Ok(())
    }

    fn check_start(&self, params: &TurnStartParams, busy: bool) -> Result<(), RpcError> {
        let invalid = |message: &str| Err(RpcError::new(ErrorKind::InvalidParams, message));
        super::attachments::check(&params.prompt)?;
        if let Some(Err(error)) = params.output_schema.as_ref().map(StructuredOutput::new) {
            return invalid(&format!("outputSchema: not a JSON Schema: {error}"));
        }
        if params.max_turns == Some(0) {
            return invalid("maxTurns: must be at least 1");
        }
        let running = self.log.state().turn.as_ref().map(|turn| &turn.id);
        if let Some(expected) = &params.expected_turn_id
            && running != Some(expected)
        {
            let message = format!("turn {expected} does not run: leave expectedTurnId out to send the prompt anyway");
            return Err(RpcError::new(ErrorKind::TurnNotFound, message));
        }
        match params.when_busy {
            Some(WhenBusy::Reject) if busy => {
                let message = "a turn runs: wait for it, cancel it, or send the prompt with whenBusy queue";
                Err(RpcError::new(ErrorKind::SessionBusy, message))
            }
            _ => {
                let name = params.model.as_ref().unwrap_or(&self.log.state().info.model);
                self.resolve_model(name)
                    .map(drop)
                    .map_err(|message| RpcError::new(ErrorKind::ModelUnavailable, message))
            }
        }
    }

    fn known_key(&self, key: &str) -> Option<TurnStartResult> {
        let state = self.log.state();
        let sent = state.idempotency.get(key)?.clone();
        let turn_state = match sent.steered {
            true => TurnState::Steered,
            false if state.queue.iter().any(|turn| turn.id == sent.turn) => TurnState::Queued,
            false => TurnState::Running,
        };
        Some(TurnStartResult { turn_id: sent.turn, state: turn_state })
    }

    pub(super) fn resolve_model(&self, name: &str) -> Result<Arc<dyn Model>, String> {
        let settings = self.services.settings_for(&self.log.state().info.cwd);
        let model = self.services.models.resolve(name, &settings, &self.env).map_err(|error| error.message)?;
        match &self.record {
            None => Ok(model),
            Some(file) => crate::model::recording(model, file).map_err(|error| error.message),
        }
    }

    pub(super) fn resume_turn(&mut self, client: String) -> Result<TurnResumeResult, RpcError> {
        self.check_open()?;
        let Some(CutTurn { id: interrupted, options }) = self.log.state().interrupted.clone() else {
            let message = "no turn of this session was interrupted: send a prompt with turn/start";
            return Err(RpcError::new(ErrorKind::NotResumable, message));
        };
        let id: TurnId = ids::fresh("turn");
        self.begin(NewTurn {
            id: id.clone(),
            prompt: None,
            attachments: Vec::new(),
            client: Some(client),
            // As it was asked for; its key stays that of the prompt.
            options: TurnOptions { idempotency_key: None, ..options },
            resumes: Some(interrupted),
        })?;
        Ok(TurnResumeResult { turn_id: id })
    }

    /// Starts the next prompt that waits, if nothing runs and no cut turn is to be looked at first. While
    /// agentd is about to stop, it waits in the log.
    pub(super) fn start_queued(&mut self) {
        while self.running.is_none() && self.may_start_queued() {
            let Some(next) = self.log.state().queue.front().cloned() else { return };
            if let Err(error) = self.begin(next.into()) {
                tracing::error!(session = %self.log.state().info.id, %error, "a queued prompt waits on");
                return;
            }
        }
    }

    fn may_start_queued(&self) -> bool {
        !self.services.is_draining() && self.log.state().interrupted.is_none() && self.check_open().is_ok()
    }

    fn begin(&mut self, turn: NewTurn) -> Result<(), RpcError> {
        let NewTurn { id, prompt, attachments, client, options, resumes } = turn;
        let started =
            Event::TurnStarted { turn_id: id.clone(), prompt, attachments, client, options: options.clone(), resumes };
        self.log.append(&started, Room::Normal).map_err(storage_failed)?;
        let name = options.model.clone().unwrap_or_else(|| self.log.state().info.model.clone());
        match self.resolve_model(&name) {
            Ok(model) => {
                let settings = self.folder_settings();
                // Its own id, not the name that it was asked for by: what only its writer can read goes back by that.
                let name = model.id().to_owned();
                let fallback = self.fallback(&settings, &name);
                let machine = Machine::new(self.turn_settings(id, name, &options, &settings).or_else(fallback));
                let tools = self.toolset(&settings, model.as_ref(), &options);
                self.running = Some(self.running_turn(machine, model, settings, tools));
                self.step(Input::Begin);
            }
            Err(message) => self.end_unstarted(id, EndReason::ModelError, Some(("modelUnavailable", message))),
        }
        Ok(())
    }

    pub(super) fn revive_turn(&mut self, turn: OpenTurn) {
        let name = turn.options.model.clone().unwrap_or_else(|| self.log.state().info.model.clone());
        let settings = self.folder_settings();
        let model = self.resolve_model(&name).unwrap_or_else(|message| crate::model::unavailable(&name, message));
        let fallback = self.fallback(&settings, model.id());
        let name = model.id().to_owned();
        let turn_settings = self.turn_settings(turn.id.clone(), name, &turn.options, &settings).or_else(fallback);
        let tools = self.toolset(&settings, model.as_ref(), &turn.options);
        let machine = Machine::revive(turn_settings, turn, tools.as_ref(), self.log.state().info.last_seq);
        self.running = Some(self.running_turn(machine, model, settings, tools));
        self.step(Input::Begin);
    }

    /// The fallback model's id, if there is one that can be used; why it can't is told once.
    fn fallback(&mut self, settings: &Settings, model: &str) -> Option<String> {
        let name = settings.fallback_model.as_ref()?;
        match self.resolve_model(name) {
            Ok(fallback) => Some(fallback.id().to_owned()).filter(|id| id != model),
            Err(message) => {
                let text = format!("settings: fallbackModel: {message}");
                if self.told.insert(text.clone()) {
                    self.append_or_log(&Event::Notice { level: NoticeLevel::Warning, text });
                }
                None
            }
        }
    }

    /// The tools of a turn: one more where its answer is to fit a schema (row X11).
    fn toolset(&self, settings: &Settings, model: &dyn Model, options: &TurnOptions) -> Arc<Toolset> {
        let rules = &settings.rules;
        let permitted = Permitted { deny: &rules.deny, simple: settings.tools.simple };
        let tools = Toolset::new(&self.services.tools, Vec::new(), &settings.tools, permitted, model.id());
        // A schema that is none was refused when the prompt came.
        let output = options.output_schema.as_ref().and_then(|schema| StructuredOutput::new(schema).ok());
        let tools = match output {
            Some(output) => tools.with(Arc::new(output)),
            None => tools,
        };
        Arc::new(tools.in_mode(self.log.state().info.mode, self.log.state().mode_before_plan))
    }

    fn running_turn(
        &self,
        machine: Machine,
        model: Arc<dyn Model>,
        settings: Arc<Settings>,
        tools: Arc<Toolset>,
    ) -> RunningTurn {
        let state = self.log.state();
        let surroundings = crate::prompt::Surroundings {
            cwd: &state.info.cwd,
            additional_directories: &state.info.additional_directories,
            created_at: state.info.began_at(),
        };
        let mut system = crate::prompt::system_prompt(state.system_prompt.as_ref(), surroundings);
        if tools.registry.get(ExitPlanMode::NAME).is_some() {
            system.push_str(crate::prompt::PLAN);
        }
        if tools.registry.get(StructuredOutput::NAME).is_some() {
            system.push_str(crate::prompt::ANSWER_AS_DATA);
        }
        let round = Round::new(settings.tools.batch_result_chars);
        let round = state
            .transcript
            .unsent()
            .fold(round, |round, (id, content, is_error)| round.with(ToolCallId(id.to_owned()), content, is_error));
        RunningTurn {
            machine,
            stopwatch: Stopwatch::start(),
            model,
            settings,
            system: system.into(),
            tools,
            stop_hooks: None,
            stream: None,
            calls: HashMap::new(),
            round: Arc::new(round),
            still_running: Vec::new(),
            cancel_waiters: Vec::new(),
            storage_error: None,
        }
    }

    fn turn_settings(&self, id: TurnId, model: String, options: &TurnOptions, settings: &Settings) -> TurnSettings {
        TurnSettings {
            max_rounds: options.max_turns.or(settings.limits.max_turns),
            max_concurrency: settings.tools.max_concurrency,
            cascade: match settings.tools.cascade {
                crate::config::Cascade::Bash => Cascade::Writing,
                crate::config::Cascade::BashAny => Cascade::Any,
                crate::config::Cascade::Off => Cascade::Off,
            },
            retries: settings.limits.retries,
            retry_total_ms: settings.limits.retry_total_ms,
            budget: options.token_budget.unwrap_or_default(),
            wants_output: options.output_schema.is_some(),
            stop_hooks: self.services.hooks.has_stop(),
            ..TurnSettings::new(id, model)
        }
    }

    /// The settings for a turn that starts now.
    fn folder_settings(&mut self) -> Arc<Settings> {
        let settings = Arc::clone(&self.current_settings().settings);
        let tools = settings.tools.clone().with_environment(&self.env);
        Arc::new(Settings { tools, ..Settings::clone(&settings) })
    }

    /// The settings with those of the session's folder, as they are now. What can't be used of them is told once, and
    /// so is a change of the folder's trust.
    pub(super) fn current_settings(&mut self) -> Arc<Loaded> {
        let loaded = self.services.loader.load_for(self.log.state().info.cwd.as_ref());
        self.tell_trust(loaded.trusted);
        for error in &loaded.errors {
            let text = format!("settings: {}: {}", error.file, error.message);
            if self.told.insert(text.clone()) {
                self.append_or_log(&Event::Notice { level: NoticeLevel::Warning, text });
            }
        }
        loaded
    }

    /// Writes down whether the session's folder is trusted, if that has changed; a closed session stays as it is.
    pub(super) fn look_at_trust(&mut self) {
        if self.check_open().is_ok() {
            self.tell_trust(self.services.loader.trust(self.log.state().info.cwd.as_ref()).trusted);
        }
    }

    fn tell_trust(&mut self, trusted: bool) {
        if self.log.state().info.trusted != trusted {
            let changed = Map::from_iter([("trusted".to_owned(), Value::from(trusted))]);
            self.append_or_log(&Event::SessionUpdated { changed });
        }
    }

    /// Appends what the session can do without.
    pub(super) fn append_or_log(&mut self, event: &Event) {
        if let Err(error) = self.log.append(event, Room::Normal) {
            tracing::warn!(session = %self.log.state().info.id, %error, "an event was not kept");
        }
    }
}

/// The error answer for a log that can't be written.
#[must_use]
pub fn storage_failed(error: StoreError) -> RpcError {
    RpcError::new(ErrorKind::StorageFailed, format!("nothing was accepted: {error}"))
}
