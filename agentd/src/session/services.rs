//! What every session uses: one value for the daemon, shared.

use super::hooks::{Hooks, NoHooks};
use crate::config::{Loader, Settings};
use crate::model::Models;
use crate::process::Processes;
use crate::tools::Registry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The doors to the world, and the settings as they are now.
pub struct Services {
    /// Models by name.
    pub models: Models,
    /// Reads the settings, of agentd itself and of a folder.
    pub loader: Loader,
    /// The tools.
    pub tools: Registry,
    /// The processes of tools.
    pub processes: Arc<Processes>,
    /// The hooks.
    pub hooks: Arc<dyn Hooks>,
    /// Set once agentd is about to stop: nothing new starts.
    draining: AtomicBool,
}

impl Services {
    /// The services over what the daemon has opened.
    #[must_use]
    pub fn new(models: Models, loader: Loader, tools: Registry, processes: Arc<Processes>) -> Self {
        Self { models, loader, tools, processes, hooks: Arc::new(NoHooks), draining: AtomicBool::new(false) }
    }

    /// From now on nothing new starts.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Whether agentd is about to stop.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// The settings of agentd itself as they are now.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.loader.load().settings)
    }

    /// The settings of a folder as they are now.
    #[must_use]
    pub fn settings_for(&self, cwd: &str) -> Arc<Settings> {
        Arc::clone(&self.loader.load_for(cwd.as_ref()).settings)
    }

    /// How long a stopped process may take to end before it is killed.
    #[must_use]
    pub fn kill_grace(&self) -> Duration {
        Duration::from_millis(self.settings().limits.kill_grace_ms)
    }
}
