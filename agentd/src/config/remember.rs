//! Writing what a person chose into a settings file: a rule that is to be remembered, or a value. Called by sessions for
//! an answer that is remembered, and by `config/set`. Blocks for the disk.

use super::edit;
use super::folder::Folders;
use super::gate::is_secret;
use super::loader::Loader;
use super::replace;
use super::sift::{Owner, Problem, Step, UNTIL_CORRECTED, place, sift};
use crate::policy::Rule;
use proto::permission::RuleScope;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The lists in which a folder's files count before it is trusted.
const TIGHTENING: [&str; 4] =
    ["permissions.deny", "permissions.ask", "permissions.disableBypassPermissionsMode", "permissions.disableAutoMode"];

impl Loader {
    /// Writes an allow rule into the settings of a scope, for a session in that folder; the file that holds it. What is
    /// there already is not written again.
    ///
    /// # Errors
    /// A sentence: if the rule would not count, or the file can't be written.
    pub fn remember(&self, scope: RuleScope, cwd: &Path, rule: &Rule) -> Result<PathBuf, String> {
        self.may_remember(cwd)?;
        let file = self.file_of(scope, cwd, None)?;
        let text = rule.to_string();
        self.edit(&file, |before| {
            edit::add(before, &["permissions", "allow"], &text, |there| Rule::parse(there).as_ref() == Ok(rule))
        })?;
        Ok(file)
    }

    /// Whether a rule of a person counts in that folder at all, in settings or in a session.
    ///
    /// # Errors
    /// A sentence: if only the rules of the managed settings do.
    pub fn may_remember(&self, cwd: &Path) -> Result<(), String> {
        match self.load_for(cwd).settings.allow_managed_permission_rules_only {
            true => Err("only the rules of the managed settings count here (allowManagedPermissionRulesOnly): \
                         allow it this once"
                .to_owned()),
            false => Ok(()),
        }
    }

    /// Sets a value in the settings of a scope, by its key with dots between the parts. The file that holds it.
    ///
    /// # Errors
    /// A sentence: if there is no such setting, it does not take the value, the value would not count in that scope, or
    /// the file can't be written.
    pub fn set(&self, scope: RuleScope, cwd: Option<&Path>, key: &str, value: &Value) -> Result<PathBuf, String> {
        let parts = super::lookup::parts(key)?;
        check(&parts, value)?;
        check_scope(scope, key, value)?;
        let file = self.file_of(scope, folder_for(scope, cwd)?, Some(key))?;
        self.edit(&file, |before| edit::set(before, &parts, value))?;
        Ok(file)
    }

    /// Takes a value out of all files of a scope; those that it was in, the strongest first.
    ///
    /// # Errors
    /// A sentence: if there is no such setting, or a file can't be written.
    pub fn unset(&self, scope: RuleScope, cwd: Option<&Path>, key: &str) -> Result<Vec<PathBuf>, String> {
        let parts = super::lookup::parts(key)?;
        let mut held = Vec::new();
        for (folder, file) in self.files_of(scope, folder_for(scope, cwd)?)? {
            if file.symlink_metadata().is_err() {
                continue;
            }
            folder.map_or(Ok(()), |folder| stays_in(&folder, &file))?;
            let mut is_in = false;
            self.edit(&file, |before| {
                let after = edit::set(before, &parts, &Value::Null)?;
                is_in = after.is_some();
                Ok(after)
            })?;
            held.extend(is_in.then_some(file));
        }
        held.reverse();
        Ok(held)
    }

    /// All files of a scope, weakest first, each with the folder that it is for.
    fn files_of(&self, scope: RuleScope, cwd: &Path) -> Result<Vec<(Option<PathBuf>, PathBuf)>, String> {
        let (name, folders) = match scope {
            RuleScope::User => return Ok([&self.user_claude, &self.user].map(|file| (None, file.clone())).into()),
            RuleScope::Session => return Err("a session has no settings file".to_owned()),
            RuleScope::Project => ("settings.json", Folders::of(cwd, &self.home)),
            RuleScope::Local => ("settings.local.json", Folders::of(cwd, &self.home)),
        };
        let main = folders.main.iter().filter(|_| scope == RuleScope::Local);
        let all = main.chain(&folders.root).chain([&folders.cwd]);
        let files = all
            .flat_map(|folder| [".claude", ".agentd"].map(|sub| (Some(folder.clone()), folder.join(sub).join(name))));
        Ok(files.filter(|(_, file)| *file != self.user_claude).collect())
    }

    /// The file of a scope, for a rule or for a setting. In a folder that is not trusted it would not count, but for what
    /// tightens.
    fn file_of(&self, scope: RuleScope, cwd: &Path, key: Option<&str>) -> Result<PathBuf, String> {
        let name = match scope {
            RuleScope::User => return Ok(self.user.clone()),
            RuleScope::Session => return Err("the rules of a session are in no settings file".to_owned()),
            RuleScope::Project => "settings.json",
            RuleScope::Local => "settings.local.json",
        };
        let folders = Folders::of(cwd, &self.home);
        // A worktree shares what is private to the checkout; what is shared goes with its branch.
        let main = folders.main.iter().filter(|_| scope == RuleScope::Local);
        let candidates = main.chain(&folders.root).chain([&folders.cwd]);
        let counts = |folder: &&PathBuf| {
            let of_main = folders.main.as_ref() == Some(*folder);
            self.trust(folder).trusted && (!of_main || self.trust(folders.top()).trusted)
        };
        let folder = match candidates.clone().find(counts) {
            Some(folder) => folder,
            None if key.is_some_and(|key| TIGHTENING.contains(&key)) => &folders.cwd,
            None => {
                let (why, or) = match key {
                    None => (
                        "nothing in its settings allows anything".to_owned(),
                        "remember it for the session or the user",
                    ),
                    Some(key) => (format!("{key} would not count there"), "set it for the user"),
                };
                return Err(format!(
                    "{} is not trusted, so {why}: trust the folder first (`agentctl trust`, or trust/set), or {or}",
                    cwd.display()
                ));
            }
        };
        let claude = folder.join(".claude");
        // Permissions mean the same to Claude Code; agentd's other settings would not be understood there.
        let is_shared = key.is_none_or(|key| key.starts_with("permissions."));
        let in_claude = is_shared && claude.is_dir() && claude.join(name) != self.user_claude;
        let file = if in_claude { claude } else { folder.join(".agentd") }.join(name);
        stays_in(folder, &file)?;
        Ok(file)
    }

    fn edit(&self, file: &Path, mut change: impl FnMut(&str) -> Result<Option<String>, String>) -> Result<(), String> {
        replace::edit(file, |bytes| {
            let named = |why: String| format!("{}: {why}", file.display());
            let text = std::str::from_utf8(bytes.unwrap_or_default())
                .map_err(|_| named("it is not UTF-8: correct the file first".to_owned()))?;
            change(text).map(|changed| changed.map(String::into_bytes)).map_err(named)
        })
    }
}

/// The folder of a scope; the user's settings have none.
fn folder_for(scope: RuleScope, cwd: Option<&Path>) -> Result<&Path, String> {
    match (cwd, scope) {
        (Some(cwd), _) => Ok(cwd),
        (None, RuleScope::User) => Ok(Path::new("/")),
        (None, _) => Err("cwd: it is needed to find the file of this scope".to_owned()),
    }
}

/// What is meant for a folder must not be led elsewhere, such as into the user's own settings, where it would count
/// everywhere.
fn stays_in(folder: &Path, file: &Path) -> Result<(), String> {
    let places = [Some(file), file.parent()];
    let Some(real) = places.into_iter().flatten().find_map(|place| place.canonicalize().ok()) else { return Ok(()) };
    match folder.canonicalize() {
        Ok(folder) if !real.starts_with(&folder) => Err(format!(
            "{} leads to {}, out of the folder that it is for: remove the link, or choose another scope",
            file.display(),
            real.display()
        )),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Whether the settings take a value in that place.
fn check(parts: &[&str], value: &Value) -> Result<(), String> {
    let whole = parts.iter().rev().fold(value.clone(), |inner, part| json!({*part: inner}));
    let Value::Object(whole) = whole else { return Ok(()) };
    let (_, problems) = sift(whole, Owner::Agentd);
    match problems.first() {
        None => Ok(()),
        Some(Problem { path, message }) => {
            // What is said of a file that is there already, where the rest of it counts.
            let ends = ["; the value is ignored", "; the entry is ignored", "; it is taken", UNTIL_CORRECTED];
            let why = ends.iter().find_map(|end| message.split_once(end)).map_or(message.as_str(), |(why, _)| why);
            Err(format!("{}: {why}; nothing was written: correct the value and set it again", place(path)))
        }
    }
}

/// Whether the value would count in that scope.
fn check_scope(scope: RuleScope, key: &str, value: &Value) -> Result<(), String> {
    if key.starts_with("allowManagedPermissionRulesOnly") {
        return Err(format!("{key} counts in managed settings only: write it into /etc/agentd/settings.json"));
    }
    if scope == RuleScope::User {
        return Ok(());
    }
    let own = match key {
        "permissions.bypassProtectedPaths" => *value == true,
        "permissions.defaultMode" => *value == "auto" || *value == "bypassPermissions",
        _ => false,
    };
    if own {
        return Err(format!("{key}: the files of a folder can't set this; use the scope user"));
    }
    let whole = key.split('.').rev().fold(value.clone(), |inner, part| json!({part: inner}));
    if let Some(header) = whole.as_object().and_then(secret_header) {
        return Err(format!("{header}: a secret does not belong into the files of a folder; use the scope user"));
    }
    if let Some(variable) = whole.as_object().and_then(secret_variable) {
        return Err(format!(
            "{variable}: by its name it is a secret, which does not belong into the files of a folder; for a provider's \
             key use apiKeyHelper or a systemd credential (apiKeyCredential), or else the scope user, whose file has \
             mode 0600"
        ));
    }
    Ok(())
}

/// The place of a header that is a secret.
fn secret_header(values: &Map<String, Value>) -> Option<String> {
    let providers = values.get("providers")?.as_object()?;
    providers.iter().find_map(|(name, provider)| {
        let header = provider.get("headers")?.as_object()?.keys().find(|header| is_secret(header))?;
        Some(place(&["providers", name, "headers", header].map(|key| Step::Key(key.to_owned()))))
    })
}

/// The place of a variable whose name sounds like a secret.
fn secret_variable(values: &Map<String, Value>) -> Option<String> {
    let name = values.get("env")?.as_object()?.keys().find(|name| is_secret(name))?;
    Some(place(&["env", name].map(|key| Step::Key(key.to_owned()))))
}

#[cfg(test)]
mod tests;
