//! `agentctl doctor`: looks at everything that a first turn needs, and says what to do where it is not so.
//! It starts no daemon and changes nothing, but that a running daemon reads its settings again.

use super::{config, folder, print, trust};
use crate::connect::{CallError, Connection};
use crate::environment::Environment;
use crate::failure::{Outcome, code};
use crate::render::escape::one_line;
use crate::render::style::Style;
use crate::start::{self, Target};
use crate::terminal;
use proto::ErrorKind;
use proto::methods::{
    ConfigGet, ConfigGetParams, ConfigGetResult, DaemonReload, DaemonReloadParams, DaemonStatus, Empty, ModelInfo,
    ModelList, ModelListParams, TrustGet, TrustGetParams,
};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grade {
    Ok,
    Warn,
    Fail,
}

/// One line of the report.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    grade: Grade,
    /// What was looked at.
    what: &'static str,
    /// What was found and, unless it is well, the remedy.
    text: String,
}

fn ok(what: &'static str, text: impl Into<String>) -> Finding {
    Finding { grade: Grade::Ok, what, text: text.into() }
}

fn warn(what: &'static str, text: impl Into<String>) -> Finding {
    Finding { grade: Grade::Warn, what, text: text.into() }
}

fn fail(what: &'static str, text: impl Into<String>) -> Finding {
    Finding { grade: Grade::Fail, what, text: text.into() }
}

/// Runs the command.
pub fn run(target: &Target) -> Outcome {
    let mut findings =
        vec![binary(&target.env), socket_folder(&target.socket), state_folder(&target.state_dir), bash(&target.env)];
    match target.connect_running() {
        Ok(Some(connection)) => findings.extend(daemon(connection, &target.env)),
        Ok(None) => findings.push(warn("daemon", "does not run; it starts with the first prompt, or: agentctl start")),
        Err(failure) => findings.push(fail("daemon", failure.message)),
    }
    let style = Style { colour: terminal::stdout_is_terminal() && terminal::wants_colour() };
    for finding in &findings {
        let word = match finding.grade {
            Grade::Ok => style.green("ok  "),
            Grade::Warn => style.yellow("warn"),
            Grade::Fail => style.red("fail"),
        };
        print(&format!("{word}  {:<14}{}", finding.what, one_line(&finding.text)))?;
    }
    let failed = findings.iter().any(|finding| finding.grade == Grade::Fail);
    Ok(if failed { code::ERROR } else { 0 })
}

fn binary(env: &Environment) -> Finding {
    match start::find_agentd(env) {
        Ok(path) => ok("agentd", path.display().to_string()),
        Err(failure) => fail("agentd", failure.message),
    }
}

fn socket_folder(socket: &Path) -> Finding {
    let what = "socket folder";
    let Some(dir) = socket.parent() else { return fail(what, format!("{} has no folder", socket.display())) };
    let shown = dir.display();
    match fs::symlink_metadata(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            ok(what, format!("{shown} is not there yet; agentd creates it"))
        }
        Err(error) => fail(what, format!("cannot look at {shown}: {error}")),
        Ok(found) if !found.is_dir() => fail(what, format!("{shown} is no folder; remove it or set AGENTD_SOCKET")),
        Ok(found) if found.uid() != nix::unistd::getuid().as_raw() => {
            fail(what, format!("{shown} belongs to another user; set AGENTD_SOCKET to a folder of your own"))
        }
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            let mode = found.permissions().mode() & 0o7777;
            fail(what, format!("{shown} is open to others (mode {mode:04o}); run: chmod 700 {shown}"))
        }
        Ok(_) => ok(what, shown.to_string()),
    }
}

fn state_folder(dir: &Path) -> Finding {
    let what = "state folder";
    let shown = dir.display();
    match fs::metadata(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            ok(what, format!("{shown} is not there yet; agentd creates it"))
        }
        Err(error) => fail(what, format!("cannot look at {shown}: {error}; set AGENTD_STATE_DIR to another folder")),
        Ok(found) if !found.is_dir() => fail(what, format!("{shown} is no folder; remove it or set AGENTD_STATE_DIR")),
        Ok(_) if nix::unistd::access(dir, nix::unistd::AccessFlags::W_OK).is_err() => {
            fail(what, format!("{shown} cannot be written to; run: chmod u+rwx {shown}"))
        }
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            warn(what, format!("{shown} is open to others; run: chmod 700 {shown}"))
        }
        Ok(_) => ok(what, shown.to_string()),
    }
}

fn bash(env: &Environment) -> Finding {
    let dirs = env.get("PATH").unwrap_or_default().split(':').filter(|dir| !dir.is_empty());
    let found = dirs.map(|dir| Path::new(dir).join("bash")).find(|path| path.is_file());
    match found {
        Some(path) => ok("bash", path.display().to_string()),
        None => fail("bash", "not on PATH; the agent runs commands with it, so install it"),
    }
}

fn daemon(mut connection: Connection, env: &Environment) -> Vec<Finding> {
    let own = env!("CARGO_PKG_VERSION");
    let mut findings = Vec::new();
    findings.push(match connection.call::<DaemonStatus>(Empty {}) {
        Ok(status) if status.version == own => ok("daemon", format!("version {own}, pid {}", status.pid)),
        Ok(status) => {
            let versions = format!("agentd is {}, agentctl is {own}", status.version);
            warn("daemon", format!("{versions}; run: agentctl restart"))
        }
        Err(error) => return vec![fail("daemon", error.to_string())],
    });
    match connection.call::<DaemonReload>(DaemonReloadParams { cwd: folder(None).ok() }) {
        Ok(reload) if reload.errors.is_empty() => findings.push(ok("settings", "readable")),
        Ok(reload) => findings
            .extend(reload.errors.iter().map(|error| warn("settings", format!("{}: {}", error.file, error.message)))),
        Err(error) => findings.push(fail("settings", error.to_string())),
    }
    findings.push(model(&mut connection, env));
    findings.extend(folder(None).ok().into_iter().flat_map(|here| permission(&mut connection, &here)));
    findings
}

fn model(connection: &mut Connection, env: &Environment) -> Finding {
    let params = ModelListParams { env: Some(env.to_map()) };
    match connection.call::<ModelList>(params) {
        Ok(list) => match list.models.iter().find(|model| model.default) {
            Some(model) if model.provider == "demo" => warn(
                "model",
                format!(
                    "{} is a demonstration; set a key such as ANTHROPIC_API_KEY, or \"model\" in settings",
                    model.id
                ),
            ),
            Some(ModelInfo { problem: Some(problem), .. }) => warn("model", problem.clone()),
            Some(model) => ok("model", model.id.clone()),
            None => warn("model", "none is the default; set \"model\" in settings, or give --model"),
        },
        Err(error) => fail("model", error.to_string()),
    }
}

/// Whether this folder is trusted, and the modes that can be chosen in it.
fn permission(connection: &mut Connection, here: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    match connection.call::<TrustGet>(TrustGetParams { path: here.to_owned() }) {
        Ok(result) => findings.push(match trust::warning(&result) {
            Some(_) => warn("this folder", trust::told(&result).join("; ") + "; to trust it, run: agentctl trust"),
            None => ok("this folder", trust::told(&result).into_iter().next().unwrap_or_default()),
        }),
        Err(CallError::Refused(body)) if body.code == ErrorKind::MethodNotFound.code() => return findings,
        Err(error) => findings.push(fail("this folder", error.to_string())),
    }
    let mut get = |key: &str| {
        let params = ConfigGetParams { cwd: Some(here.to_owned()), key: format!("permissions.{key}") };
        connection.call::<ConfigGet>(params).ok().filter(|found| !found.value.is_null())
    };
    let word = |found: &ConfigGetResult| found.value.as_str().map_or_else(|| found.value.to_string(), str::to_owned);
    let from =
        |found: &ConfigGetResult| config::files(found).first().map(|file| format!(" ({file})")).unwrap_or_default();
    let start = get("defaultMode").map_or_else(
        || "sessions start in default".to_owned(),
        |found| format!("sessions start in {}{}", word(&found), from(&found)),
    );
    let switches = [("disableBypassPermissionsMode", "bypassPermissions"), ("disableAutoMode", "auto")];
    let off = switches.iter().filter_map(|(key, mode)| Some(format!("; {mode} is turned off{}", from(&get(key)?))));
    findings.push(ok("modes", start + &off.collect::<String>()));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_open_to_others_fails_with_its_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(socket_folder(&socket).grade, Grade::Ok);
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let finding = socket_folder(&socket);
        assert_eq!(finding.grade, Grade::Fail);
        assert!(finding.text.contains("chmod 700"), "{}", finding.text);
        assert_eq!(state_folder(dir.path()).grade, Grade::Warn);
    }

    #[test]
    fn a_folder_that_is_not_there_yet_is_well() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(socket_folder(&dir.path().join("no/s")).grade, Grade::Ok);
        assert_eq!(state_folder(&dir.path().join("no")).grade, Grade::Ok);
    }

    #[test]
    fn a_file_in_place_of_a_folder_fails() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(socket_folder(&file.join("s")).grade, Grade::Fail);
        assert_eq!(state_folder(&file).grade, Grade::Fail);
    }

    #[test]
    fn bash_is_looked_for_on_path() {
        assert_eq!(bash(&Environment::from([("PATH", "/nowhere")])).grade, Grade::Fail);
        assert_eq!(bash(&Environment::default()).grade, Grade::Fail);
    }
}
