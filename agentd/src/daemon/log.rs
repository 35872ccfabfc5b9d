//! The log: lines on standard error, where systemd or agentctl takes them. Set up once by `run`.

use super::start_error::StartError;
use tracing_subscriber::EnvFilter;

/// Starts logging at a level, or by directives.
///
/// # Errors
/// `Usage` if it is neither.
pub fn start(wanted: &str) -> Result<(), StartError> {
    let usage = || StartError::Usage(format!("--log {wanted} is no level; give error, warn, info, debug or trace"));
    let filter = EnvFilter::try_new(directives(wanted)).map_err(|_| usage())?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).finish();
    tracing::subscriber::set_global_default(log).map_err(|error| StartError::Internal(error.to_string()))?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panicked: {}", panic.payload_as_str().unwrap_or("for an unknown reason"));
    }));
    Ok(())
}

/// A plain level is agentd's own; the libraries below it only warn.
fn directives(wanted: &str) -> String {
    match wanted {
        "error" | "off" => wanted.to_owned(),
        "warn" | "info" | "debug" | "trace" => format!("warn,agentd={wanted}"),
        directives => directives.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::directives;
    use tracing_subscriber::EnvFilter;

    #[test]
    fn a_level_is_agentds_own() {
        assert_eq!(directives("debug"), "warn,agentd=debug");
        assert_eq!(directives("agentd::server=trace,hyper=info"), "agentd::server=trace,hyper=info");
        for good in ["off", "error", "warn", "info", "debug", "trace"] {
            assert!(EnvFilter::try_new(directives(good)).is_ok(), "{good}");
        }
        assert!(EnvFilter::try_new(directives("agentd=loud")).is_err());
    }
}
