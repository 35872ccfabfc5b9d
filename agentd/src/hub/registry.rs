//! The registry of sessions: which there are, awake or asleep, and how one comes and goes.

use super::handle::{SessionHandle, blocking};
use super::wake::{Loaded, Waker};
use crate::base::environment::Environment;
use crate::base::{clock, ids, paths};
use crate::session::{Services, Standing, check_mode, storage_failed};
use crate::store::{Journal, StateDir, StoreError};
use proto::event::Event;
use proto::ids::{RequestId, SessionId};
use proto::methods::{
    ModelListResult, PermissionExplainParams, PermissionExplainResult, SessionCounts, SessionCreateParams, ToolInfo,
    ToolListResult,
};
use proto::session::{Mode, SessionInfo, SessionStatus, Usage};
use proto::{ErrorKind, RpcError};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All sessions of this daemon.
pub struct Hub {
    services: Arc<Services>,
    pub(super) state: StateDir,
    pub(super) waker: Waker,
    own_env: Arc<Environment>,
    entries: Mutex<HashMap<SessionId, Entry>>,
    /// Held while a session is loaded or removed, so that none is loaded twice, and none that is going.
    loading: tokio::sync::Mutex<()>,
}

/// A session in the registry.
enum Entry {
    /// Its actor runs, or ran until a moment ago.
    Awake(Arc<SessionHandle>),
    /// Only its log is there.
    Asleep(Arc<SessionInfo>),
}

impl Entry {
    fn info(&self) -> SessionInfo {
        match self {
            Self::Awake(handle) => handle.logged(),
            Self::Asleep(info) => info.as_ref().clone(),
        }
    }

    fn handle(&self) -> Option<&Arc<SessionHandle>> {
        match self {
            Self::Awake(handle) => Some(handle),
            Self::Asleep(_) => None,
        }
    }
}

impl Hub {
    /// Opens the state folder: every session is listed; those that a crash cut are recovered; those
    /// that waited for a person wait on.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub async fn open(services: Arc<Services>, state: StateDir, own_env: Environment) -> Result<Arc<Self>, StoreError> {
        let waker = Waker::new(Arc::clone(&services), state.clone());
        let hub = Arc::new(Self {
            services,
            state,
            waker,
            own_env: Arc::new(own_env),
            entries: Mutex::default(),
            loading: tokio::sync::Mutex::default(),
        });
        let mut cut = Vec::new();
        for id in hub.state.session_ids()? {
            if hub.enlist(id.clone()).await {
                cut.push(id);
            }
        }
        // All at once: each may take the grace period, and clients wait.
        futures::future::join_all(cut.iter().map(|id| hub.stop_processes(id))).await;
        Ok(hub)
    }

    /// Lists a session; true if a turn of it was cut.
    async fn enlist(&self, id: SessionId) -> bool {
        if let Some(info) = self.waker.cached(&id) {
            self.entries().insert(id, Entry::Asleep(Arc::new(info)));
            return false;
        }
        let loaded = self.waker.load(&id, Arc::clone(&self.own_env), None).await;
        let cut = loaded.as_ref().is_ok_and(Loaded::was_cut);
        match loaded {
            Ok(loaded) if loaded.has_work() => self.insert(loaded.start(&self.waker)),
            Ok(loaded) => {
                let info = loaded.into_info();
                self.entries().insert(id, Entry::Asleep(Arc::new(info)));
            }
            Err(error) => {
                tracing::error!(session = %id, %error, "a session can't be used");
                // It is listed as it was last seen, so that it can be found, mended or deleted.
                if let Some(info) = self.waker.last_known(&id) {
                    self.entries().insert(id, Entry::Asleep(Arc::new(info)));
                }
            }
        }
        cut
    }

    async fn stop_processes(&self, id: &SessionId) -> Vec<u32> {
        self.services.processes.stop_session(id, self.services.kill_grace()).await
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
        // Every change of the map is a single call; there is no half-done state to fear.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, handle: Arc<SessionHandle>) {
        self.entries().insert(handle.id(), Entry::Awake(handle));
    }

    /// Refuses new work while agentd is about to stop.
    ///
    /// # Errors
    /// `ShuttingDown`.
    pub fn accept_work(&self) -> Result<(), RpcError> {
        if self.services.is_draining() {
            let message = "agentd is about to stop: try again once it has started anew";
            return Err(RpcError::new(ErrorKind::ShuttingDown, message));
        }
        Ok(())
    }

    /// `session/create`.
    ///
    /// # Errors
    /// `InvalidPath`, `ModelUnavailable`, `ShuttingDown`, `StorageFailed`.
    pub async fn create(&self, params: SessionCreateParams) -> Result<SessionInfo, RpcError> {
        self.accept_work()?;
        let env = params.env.clone().map_or_else(|| Arc::clone(&self.own_env), |env| Arc::new(Environment::from(env)));
        let info = self.new_info(&params, &env).await?;
        let record = check_record(params.record.as_deref())?;
        let id = info.id.clone();
        let dir = self.state.session_dir(&id).map_err(storage_failed)?;
        let journal = blocking({
            let dir = dir.clone();
            move || Journal::create(&dir).map_err(storage_failed)
        })
        .await?;
        let created = Event::SessionCreated { session: info, system_prompt: params.system_prompt };
        let loaded = match Loaded::fresh(journal, &created, dir, env, record) {
            Ok(loaded) => loaded,
            Err(error) => {
                // Nothing was accepted, so nothing is to be found.
                let _ = self.state.delete(&id);
                return Err(error);
            }
        };
        let handle = loaded.start(&self.waker);
        let info = handle.info();
        self.insert(Arc::clone(&handle));
        handle.journal.sync().await.map_err(storage_failed)?;
        if params.mcp_servers.is_some_and(|servers| !servers.is_empty()) {
            tracing::warn!(session = %info.id, "mcpServers was ignored: MCP is not supported yet");
        }
        Ok(info)
    }

    async fn new_info(&self, params: &SessionCreateParams, env: &Environment) -> Result<SessionInfo, RpcError> {
        paths::check_directory(&params.cwd)?;
        params.additional_directories.iter().try_for_each(|dir| paths::check_directory(dir))?;
        let loaded = self.services.loader.load_for(params.cwd.as_ref());
        let settings = &loaded.settings;
        let model = match &params.model {
            Some(model) => model.clone(),
            None => self.services.models.default_name(settings, env).await,
        };
        let resolved = self.services.models.resolve(&model, settings, env);
        let window =
            resolved.map_err(|error| RpcError::new(ErrorKind::ModelUnavailable, error.message))?.context_window();
        if let Some(mode) = params.mode {
            check_mode(mode, settings)?;
        }
        // A person asked for the first; the second is only a wish, and a mode that can't be had is no reason to fail.
        let wished = settings.permissions.default_mode.filter(|mode| check_mode(*mode, settings).is_ok());
        let mode = params.mode.or(wished).unwrap_or(Mode::Default);
        let mut additional_directories = params.additional_directories.clone();
        additional_directories
            .extend(settings.permissions.additional_directories.iter().map(|dir| dir.display().to_string()));
        Ok(SessionInfo {
            title: params.title.clone().unwrap_or_default(),
            mode,
            usage: Usage { context_window: window, ..Usage::default() },
            additional_directories,
            trusted: loaded.trusted,
            ephemeral: params.ephemeral,
            metadata: params.metadata.clone().unwrap_or_default(),
            ..SessionInfo::new(ids::fresh("ses"), params.cwd.clone(), model, clock::now())
        })
    }

    /// All sessions, newest first.
    #[must_use]
    pub fn list(&self) -> Vec<SessionInfo> {
        let mut sessions: Vec<SessionInfo> = self.entries().values().map(Entry::info).collect();
        let mut trusted: HashMap<String, bool> = HashMap::new();
        for session in &mut sessions {
            let of = |cwd: &String| self.services.loader.trust(cwd.as_ref()).trusted;
            session.trusted = *trusted.entry(session.cwd.clone()).or_insert_with_key(of);
        }
        sessions.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| b.id.cmp(&a.id)));
        sessions
    }

    /// How many sessions do what.
    #[must_use]
    pub fn counts(&self) -> SessionCounts {
        let mut counts = SessionCounts::default();
        for entry in self.entries().values() {
            counts.total += 1;
            match entry.info().status {
                SessionStatus::Running => counts.running += 1,
                SessionStatus::Waiting => counts.waiting += 1,
                SessionStatus::Idle | SessionStatus::Interrupted | SessionStatus::Closed => {}
            }
        }
        counts
    }

    /// The session with that id, loaded from its log if it sleeps.
    ///
    /// # Errors
    /// `SessionNotFound`; `StorageFailed` naming the record if its log is damaged.
    pub async fn get(&self, id: &SessionId) -> Result<Arc<SessionHandle>, RpcError> {
        if let Some(handle) = self.awake(id) {
            return Ok(handle);
        }
        let _loading = self.loading.lock().await;
        if let Some(handle) = self.awake(id) {
            return Ok(handle);
        }
        let before = self.entries().get(id).and_then(|entry| entry.handle().cloned());
        let (env, record) = match &before {
            Some(handle) => (Arc::clone(&handle.env), handle.record.clone()),
            None => (Arc::clone(&self.own_env), None),
        };
        let loaded = self.waker.load(id, env, record).await?;
        if loaded.was_cut() {
            self.stop_processes(id).await;
        }
        let handle = loaded.start(&self.waker);
        if let Some(before) = before {
            // Its listeners attach anew.
            before.fanout.end();
        }
        self.insert(Arc::clone(&handle));
        Ok(handle)
    }

    /// Whether there is a session with that id.
    #[must_use]
    pub fn has(&self, id: &SessionId) -> bool {
        self.entries().contains_key(id)
    }

    fn awake(&self, id: &SessionId) -> Option<Arc<SessionHandle>> {
        self.entries().get(id).and_then(Entry::handle).filter(|handle| !handle.is_gone()).cloned()
    }

    pub(super) fn awake_all(&self) -> Vec<Arc<SessionHandle>> {
        self.entries().values().filter_map(Entry::handle).cloned().collect()
    }

    /// The session that a permission request belongs to, open or answered.
    ///
    /// # Errors
    /// `RequestNotFound`.
    pub async fn by_request(&self, id: &RequestId) -> Result<Arc<SessionHandle>, RpcError> {
        let known = self.awake_all().into_iter().find(|handle| handle.knows_request(id));
        match known {
            Some(handle) => self.get(&handle.id()).await,
            None => Err(RpcError::new(ErrorKind::RequestNotFound, format!("no request {id}: see permission/list"))),
        }
    }

    /// Every session that has an open permission request.
    #[must_use]
    pub fn waiting(&self) -> Vec<Arc<SessionHandle>> {
        let mut waiting = self.awake_all();
        waiting.retain(|handle| !handle.pending_permissions().is_empty());
        waiting
    }

    /// `session/close`: ends its turn and processes, keeps its log.
    ///
    /// # Errors
    /// `SessionNotFound`.
    pub async fn close(&self, id: &SessionId) -> Result<(), RpcError> {
        let handle = self.get(id).await?;
        handle.close().await?;
        self.stop_processes(id).await;
        if handle.info().ephemeral { self.remove(id).await } else { Ok(()) }
    }

    /// `session/delete`: closes it and removes its log.
    ///
    /// # Errors
    /// `SessionNotFound`, `StorageFailed`.
    pub async fn delete(&self, id: &SessionId) -> Result<(), RpcError> {
        match self.get(id).await {
            Ok(handle) => {
                // A session that is closed already, or whose log can't be written, is deleted all the same.
                let _ = handle.close().await;
                self.stop_processes(id).await;
            }
            Err(error) if error.kind == ErrorKind::StorageFailed => {}
            Err(error) => return Err(error),
        }
        self.remove(id).await
    }

    async fn remove(&self, id: &SessionId) -> Result<(), RpcError> {
        // Nobody may load it from its folder while that is on its way out.
        let _loading = self.loading.lock().await;
        let entry = self.entries().remove(id);
        if let Some(Entry::Awake(handle)) = entry {
            handle.fanout.end();
        }
        let (state, id) = (self.state.clone(), id.clone());
        blocking(move || {
            state.delete(&id).map_err(|error| match error {
                // Somebody else was quicker.
                StoreError::Missing { .. } => super::wake::unknown(&id),
                error => RpcError::new(ErrorKind::StorageFailed, error.to_string()),
            })
        })
        .await
    }

    /// `tool/list`.
    ///
    /// # Errors
    /// `SessionNotFound`.
    pub async fn tools(&self, id: &SessionId) -> Result<ToolListResult, RpcError> {
        let handle = self.get(id).await?;
        let services = Arc::clone(&self.services);
        // The folder's settings are files.
        let tools = blocking(move || {
            let info = handle.info();
            Ok(crate::session::next_toolset(&services, &info, &handle.env))
        })
        .await?;
        let tools = tools.registry.entries().map(|entry| ToolInfo {
            name: entry.tool().name().to_owned(),
            source: entry.tool().source().to_owned(),
            // No input at all is the least favourable one: only what always reads says yes.
            read_only_hint: entry.tool().read_only(&serde_json::Value::Null),
            deferred: tools.is_deferred(entry.tool().name()),
            input_schema: entry.schema().clone(),
        });
        Ok(ToolListResult { tools: tools.collect() })
    }

    /// `permission/explain`.
    ///
    /// # Errors
    /// `SessionNotFound`, `InvalidPath`, `InvalidParams`.
    pub async fn explain(&self, params: PermissionExplainParams) -> Result<PermissionExplainResult, RpcError> {
        let standing = match (&params.session_id, &params.cwd) {
            (Some(id), None) => self.get(id).await?.standing().await?,
            (None, Some(cwd)) => {
                paths::check_directory(cwd)?;
                let (services, env, folder) = (self.services.clone(), self.own_env.clone(), PathBuf::from(cwd));
                blocking(move || Ok(Standing::of_folder(&services, &folder, &env))).await?
            }
            _ => {
                let message =
                    "give either sessionId or cwd: the session, or the folder, that the call would be made in";
                return Err(RpcError::new(ErrorKind::InvalidParams, message));
            }
        };
        // Tools look at files.
        blocking(move || standing.explain(&params)).await
    }

    /// `model/list`, for a client with that environment.
    pub async fn models(&self, env: Option<BTreeMap<String, String>>) -> ModelListResult {
        let (settings, env) = (self.services.settings(), env.map(Environment::from));
        let env = env.as_ref().unwrap_or(&self.own_env);
        ModelListResult { models: self.services.models.list(&settings, env).await }
    }

    /// What every session uses.
    #[must_use]
    pub fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// Refuses new turns and sessions from now on.
    pub fn refuse_new(&self) {
        self.services.drain();
    }

    /// Refuses new turns and sessions from now on, and waits until no turn runs. The caller sets the deadline.
    pub async fn drain(&self) {
        self.refuse_new();
        for handle in self.awake_all() {
            handle.settled().await;
        }
    }

    /// Interrupts what still runs, stops all processes and ends all actors.
    pub async fn stop(&self) {
        self.refuse_new();
        let handles = self.awake_all();
        futures::future::join_all(handles.iter().map(|handle| handle.stop())).await;
        handles.iter().for_each(|handle| handle.fanout.stop());
        self.services.processes.stop_all(self.services.kill_grace()).await;
    }
}

fn check_record(file: Option<&str>) -> Result<Option<PathBuf>, RpcError> {
    let Some(file) = file else { return Ok(None) };
    let path = PathBuf::from(file);
    let invalid =
        |why: &str| Err(RpcError::new(ErrorKind::InvalidPath, format!("record: {file:?} {why}")).with("path", file));
    if !path.is_absolute() {
        return invalid("is not absolute: give the whole path");
    }
    // A replay is one conversation; a second one behind the first would be taken for its end.
    if std::fs::metadata(&path).is_ok_and(|found| found.len() > 0) {
        return invalid("holds something already: name a new file");
    }
    Ok(Some(path))
}
