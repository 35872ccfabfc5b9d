//! The life of the daemon, from its arguments to its exit code. Called by `main`.

use super::args::Options;
use super::assembly::Assembly;
use super::control::Daemon;
use super::signals::Signals;
use super::start_error::StartError;
use super::stop::Stage;
use super::{hardening, log, open_files, systemd};
use crate::base::clock;
use crate::base::environment::Environment;
use crate::server::{Facts, Listening, Server};
use crate::store::StateDir;
use futures::FutureExt;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Worker threads: two at least, so that one that is busy does not hold up a cancel; and few, since the
/// work is in other processes.
const WORKERS: std::ops::RangeInclusive<usize> = 2..=8;
/// How long work on blocking threads may hold up the exit.
const EXIT_PATIENCE: Duration = Duration::from_secs(1);

/// Runs agentd until it is asked to stop.
#[must_use]
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let env = Environment::of_process();
    let options = match Options::read(args, &env) {
        Ok(options) => options,
        Err(usage) => {
            // Nobody is left to tell if standard error is closed.
            let _ = usage.print();
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
        }
    };
    match start(&options, env) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "agentd: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn start(options: &Options, env: Environment) -> Result<(), StartError> {
    // Before any thread is started.
    let activated = systemd::activated_socket()?;
    log::start(&options.log)?;
    hardening::harden();
    open_files::raise();
    let runtime = build_runtime().map_err(StartError::system("starting threads"))?;
    let served = runtime.block_on(serve(options, env, activated));
    runtime.shutdown_timeout(EXIT_PATIENCE);
    served
}

fn build_runtime() -> std::io::Result<Runtime> {
    let processors = std::thread::available_parallelism().map_or(*WORKERS.start(), usize::from);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(processors.clamp(*WORKERS.start(), *WORKERS.end()))
        .thread_name("agentd")
        .enable_all()
        .build()
}

async fn serve(options: &Options, env: Environment, activated: Option<UnixListener>) -> Result<(), StartError> {
    let signals = Signals::take()?;
    // Held to the end: who finds them free may rely on nobody else being there.
    let listening = match activated {
        Some(socket) => Listening::adopt(socket)?,
        None => Listening::bind(&options.socket)?,
    };
    let state = StateDir::prepare(&options.state_dir)?;
    let state_lock = state.lock()?;
    let assembly = Assembly::build(options, listening.path(), state, env).await?;
    let daemon = Arc::new(Daemon::new(facts(options, &listening), assembly));
    let server = Server::new(daemon.assembly().hub().clone(), daemon.clone())
        .map_err(|error| StartError::Internal(error.to_string()))?;
    systemd::tell_ready();
    tracing::info!(socket = %listening.path().display(), state_dir = %options.state_dir.display(), "serving");
    tokio::select! {
        () = until_stopped(&daemon) => {}
        () = server.clone().accept(&listening) => {}
        () = signals.obey(&daemon) => {}
        () = systemd::pet_watchdog() => {}
    }
    server.stop().await;
    drop(state_lock);
    drop(listening);
    tracing::info!("stopped");
    Ok(())
}

fn facts(options: &Options, listening: &Listening) -> Facts {
    Facts {
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        started_at: clock::now(),
        socket: listening.path().to_owned(),
        state_dir: options.state_dir.clone(),
    }
}

/// Waits for a stop to be asked for, and carries it out but for the connections: clients see the end of
/// their turns, and may help it on by cancelling or answering.
async fn until_stopped(daemon: &Daemon) {
    let (stop, assembly) = (daemon.stop(), daemon.assembly());
    stop.reached(Stage::Draining).await;
    // The first poll makes the hub refuse new work; only then is anybody told.
    let mut drained = pin!(assembly.hub().drain());
    let idle = drained.as_mut().now_or_never().is_some();
    systemd::tell_stopping();
    if !idle {
        let limit = assembly.drain_limit();
        tracing::info!(limit_ms = limit.as_millis(), "stopping: running turns may end first");
        tokio::select! {
            () = stop.reached(Stage::Now) => tracing::info!("stopping at once"),
            () = drained => {}
            () = tokio::time::sleep(limit) => tracing::warn!("turns that still run are interrupted"),
        }
    }
    if tokio::time::timeout(assembly.stop_limit(), assembly.hub().stop()).await.is_err() {
        tracing::error!("some sessions did not stop in time; their turns count as interrupted");
    }
}
