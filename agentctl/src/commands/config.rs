//! `agentctl config`: reads and writes settings.

use super::{folder, print, print_pretty};
use crate::args::{Config, ConfigAction};
use crate::connect::{CallError, Connection};
use crate::failure::{Failure, Outcome};
use crate::render::escape::one_line;
use crate::render::style::Style;
use crate::start::Target;
use crate::terminal;
use proto::ErrorKind;
use proto::methods::{ConfigGet, ConfigGetParams, ConfigGetResult, ConfigSet, ConfigSetParams};
use serde_json::Value;
use std::io::{self, Write};

/// What `list` lists, if it is set; the settings of permission one by one.
const KEYS: [&str; 20] = [
    "model",
    "fallbackModel",
    "smallModel",
    "providers",
    "apiKeyHelper",
    "permissions.deny",
    "permissions.ask",
    "permissions.allow",
    "permissions.defaultMode",
    "permissions.additionalDirectories",
    "permissions.disableBypassPermissionsMode",
    "permissions.disableAutoMode",
    "permissions.bypassProtectedPaths",
    "allowManagedPermissionRulesOnly",
    "hooks",
    "sandbox",
    "env",
    "mcpServers",
    "tools",
    "limits",
];

/// Runs the command.
pub fn run(args: Config, target: &Target) -> Outcome {
    let cwd = Some(folder(None)?);
    let mut connection = target.connect()?;
    match args.action {
        ConfigAction::List => list(&mut connection, cwd.as_deref())?,
        ConfigAction::Get { key, json } => {
            let found = connection.call::<ConfigGet>(ConfigGetParams { cwd, key })?;
            if json {
                print_pretty(&found)?;
            } else {
                print_pretty(&found.value)?;
                tell_files(&found)?;
            }
        }
        ConfigAction::Set { key, value, scope } => {
            let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
            set(&mut connection, ConfigSetParams { scope: scope.name(), cwd, key, value })?;
        }
        ConfigAction::Unset { key, scope } => {
            let none = format!("{} is in no file of the scope {}", one_line(&key), scope.name());
            let files = set(&mut connection, ConfigSetParams { scope: scope.name(), cwd, key, value: Value::Null })?;
            if files.is_empty() {
                print(&none)?;
            }
        }
    }
    Ok(0)
}

/// Sets or removes a value and tells where; the files.
fn set(connection: &mut Connection, params: ConfigSetParams) -> Result<Vec<String>, Failure> {
    let files = connection.call::<ConfigSet>(params)?.files;
    for file in &files {
        print(&format!("written to {}", one_line(file)))?;
    }
    Ok(files)
}

fn list(connection: &mut Connection, cwd: Option<&str>) -> Result<(), Failure> {
    let style = Style { colour: terminal::stdout_is_terminal() && terminal::wants_colour() };
    let mut is_any_set = false;
    for key in KEYS {
        let params = ConfigGetParams { cwd: cwd.map(str::to_owned), key: key.to_owned() };
        let found = match connection.call::<ConfigGet>(params) {
            Ok(found) => found,
            // this agentd knows no such setting
            Err(CallError::Refused(body)) if body.code == ErrorKind::InvalidParams.code() => continue,
            Err(error) => return Err(error.into()),
        };
        if !found.value.is_null() {
            is_any_set = true;
            let from = style.dim(&format!("  ({})", one_line(&files(&found).join(", "))));
            print(&format!("{} = {}{from}", style.bold(key), one_line(&found.value.to_string())))?;
        }
    }
    if !is_any_set && terminal::stdout_is_terminal() {
        writeln!(io::stderr(), "nothing is set")?;
    }
    Ok(())
}

/// The files that a setting comes from, the strongest first.
pub fn files(found: &ConfigGetResult) -> Vec<&str> {
    let strongest = found.file.iter().filter(|_| found.files.is_empty());
    found.files.iter().chain(strongest).map(String::as_str).collect()
}

/// On a terminal; a program reads the value alone.
fn tell_files(found: &ConfigGetResult) -> Result<(), Failure> {
    if !terminal::stdout_is_terminal() {
        return Ok(());
    }
    let files = files(found);
    let from = if files.is_empty() { "it is set nowhere".to_owned() } else { format!("from {}", files.join(", ")) };
    Ok(writeln!(io::stderr(), "{}", one_line(&from))?)
}
