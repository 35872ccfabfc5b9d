//! Puts the sessions and what they stand on together: settings, models, tools, processes, the hub. The one
//! place that knows how. Called by `run` at start, and for reloads.

use super::args::Options;
use super::start_error::StartError;
use crate::base::environment::Environment;
use crate::config::{Loader, Settings, changed};
use crate::hub::Hub;
use crate::model::{Models, RunHelper};
use crate::process::Processes;
use crate::session::Services;
use crate::store::StateDir;
use crate::tools::Registry;
use proto::RpcError;
use proto::methods::DaemonReloadResult;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The sessions and what they stand on.
pub struct Assembly {
    hub: Arc<Hub>,
    services: Arc<Services>,
    /// The settings as a reload told of them last.
    told: Mutex<Arc<Settings>>,
}

/// How long a command that prints a key may take.
const HELPER_LIMIT: Duration = Duration::from_secs(10);

/// Runs such commands as agentd itself, with its own variables.
fn run_helper(processes: &Arc<Processes>, env: &Environment) -> RunHelper {
    let (processes, env) = (Arc::clone(processes), Arc::new(env.clone()));
    Arc::new(move |command| {
        let (processes, env) = (Arc::clone(&processes), Arc::clone(&env));
        Box::pin(async move { processes.run_helper(&command, &env, HELPER_LIMIT).await })
    })
}

impl Assembly {
    /// Reads the settings and opens the sessions of the state folder, which is locked by the caller. `socket` is where
    /// the daemon listens.
    pub async fn build(
        options: &Options,
        socket: &Path,
        state: StateDir,
        env: Environment,
    ) -> Result<Self, StartError> {
        let loader = Loader::new(&env, options.settings.clone()).with_state_dir(&options.state_dir);
        let loaded = loader.load();
        for error in &loaded.errors {
            tracing::warn!(file = error.file, "settings: {}", error.message);
        }
        let processes = Arc::new(Processes::default().with_socket(socket));
        processes.adopt_orphans().map_err(StartError::system("watching the processes of tools"))?;
        let models = Models::with_helper(env.clone(), Some(run_helper(&processes, &env)));
        let services = Arc::new(Services::new(models, loader, Registry::builtin(), processes));
        let hub = Hub::open(Arc::clone(&services), state, env).await.map_err(StartError::Store)?;
        Ok(Self { hub, services, told: Mutex::new(Arc::clone(&loaded.settings)) })
    }

    /// All sessions.
    pub fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// The processes of tools.
    pub fn processes(&self) -> &Processes {
        &self.services.processes
    }

    /// How long running turns may take to end when agentd stops.
    pub fn drain_limit(&self) -> Duration {
        Duration::from_millis(self.services.settings().limits.drain_ms)
    }

    /// How long stopping all processes may take: each one's grace, and some time to see that it is gone.
    pub fn stop_limit(&self) -> Duration {
        self.services.kill_grace() + Duration::from_secs(5)
    }

    /// Reads every settings file anew, and tells what changed since it was told last: changes count without a reload
    /// too. What can't be read is told, of this folder's files too, and counts as the loader says.
    ///
    /// # Errors
    /// `InvalidPath`.
    pub async fn reload(&self, cwd: Option<String>) -> Result<DaemonReloadResult, RpcError> {
        let loaded = self.services.loader.reload();
        let errors = self.hub.settings_errors(cwd).await?;
        // It is replaced by a single assignment; there is no half-done state to fear.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = changed(&told, &loaded.settings);
        *told = Arc::clone(&loaded.settings);
        Ok(DaemonReloadResult { changed, errors })
    }
}
