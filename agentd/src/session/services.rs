//! What every session uses: one value for the daemon, shared.

use super::hooks::{Hooks, NoHooks};
use crate::config::{Loader, Settings};
use crate::model::Models;
use crate::process::Processes;
use crate::tools::Registry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// The doors to the world, and the settings as they are now.
pub struct Services {
    /// Models by name.
    pub models: Models,
    /// The settings without those of a folder; replaced as a whole on reload.
    pub settings: watch::Receiver<Arc<Settings>>,
    /// Reads the settings of a folder.
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
    pub fn new(
        models: Models,
        settings: watch::Receiver<Arc<Settings>>,
        loader: Loader,
        tools: Registry,
        processes: Arc<Processes>,
    ) -> Self {
        Self { models, settings, loader, tools, processes, hooks: Arc::new(NoHooks), draining: AtomicBool::new(false) }
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

    /// The settings as they are now.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.borrow())
    }

    /// How long a stopped process may take to end before it is killed.
    #[must_use]
    pub fn kill_grace(&self) -> Duration {
        Duration::from_millis(self.settings().limits.kill_grace_ms)
    }
}
