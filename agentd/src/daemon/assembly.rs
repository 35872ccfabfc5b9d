//! Puts the sessions and what they stand on together: settings, models, tools, processes, the hub. The one
//! place that knows how. Called by `run` at start, and for reloads.

use super::args::Options;
use super::start_error::StartError;
use crate::base::environment::Environment;
use crate::config::{Loaded, Loader, Settings, changed};
use crate::hub::Hub;
use crate::model::Models;
use crate::process::Processes;
use crate::session::Services;
use crate::store::StateDir;
use crate::tools::Registry;
use proto::methods::DaemonReloadResult;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The sessions and what they stand on.
pub struct Assembly {
    hub: Arc<Hub>,
    services: Arc<Services>,
    settings: watch::Sender<Arc<Settings>>,
}

impl Assembly {
    /// Reads the settings and opens the sessions of the state folder, which is locked by the caller.
    pub async fn build(options: &Options, state: StateDir, env: Environment) -> Result<Self, StartError> {
        let loader = Loader::new(&env, options.settings.clone());
        let Loaded { settings, errors } = loader.load();
        for error in &errors {
            tracing::warn!(file = error.file, "settings: {}", error.message);
        }
        let (settings, current) = watch::channel(Arc::new(settings));
        let processes = Arc::new(Processes::default());
        processes.adopt_orphans().map_err(StartError::system("watching the processes of tools"))?;
        let models = Models::new(env.clone());
        let services = Arc::new(Services::new(models, current, loader, Registry::builtin(), processes));
        let hub = Hub::open(Arc::clone(&services), state, env).await.map_err(StartError::Store)?;
        Ok(Self { hub, services, settings })
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

    /// Reads the settings again. What can't be read is told, and counts as the loader says.
    pub fn reload(&self) -> DaemonReloadResult {
        let Loaded { settings, errors } = self.services.loader.load();
        let changed = changed(&self.services.settings(), &settings);
        self.settings.send_replace(Arc::new(settings));
        DaemonReloadResult { changed, errors }
    }
}
