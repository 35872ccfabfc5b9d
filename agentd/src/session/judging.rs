//! The decision on one call, made the same way for a call that is about to run and for `permission/explain`: what the
//! tool sees in it, and the rules and the mode of the session laid over that. Decides nothing itself: that is `policy`'s.

use crate::base::environment::Environment;
use crate::config::Settings;
use crate::policy::{Call, OwnCheck, Policy, Rule, Source, SourcedRule, Subject};
use crate::tools::{Tool, ToolContext, own_check};
use proto::session::Mode;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// What a tool sees in a call.
#[derive(Debug, Clone)]
pub(super) struct Looked {
    /// What it thinks of it.
    pub own: OwnCheck,
    /// What it is about.
    pub subject: Subject,
}

impl Looked {
    /// Has the tool look at an input, as observers see it. May read files.
    pub fn at(tool: &dyn Tool, seen: &Value, context: &ToolContext) -> Self {
        Self { own: own_check(tool, seen, context), subject: tool.subject(seen, context) }
    }

    /// The call, of which nobody has said anything yet.
    pub fn call<'a>(&'a self, tool: &'a dyn Tool, seen: &'a Value) -> Call<'a> {
        Call::new(tool.name(), seen, &self.subject, &self.own)
    }
}

/// The rules of a folder's settings as they are now, with a mode and without anything of a session.
pub(super) fn policy_of(settings: &Settings, folder: &Path, mode: Mode, env: &Environment) -> Policy {
    Policy {
        // A mode may have been switched off since the session took it.
        mode: Some(mode).filter(|mode| settings.permissions.refusal(*mode).is_none()).unwrap_or_default(),
        rules: Arc::clone(&settings.rules),
        places: crate::tools::places(folder, env),
        loose_protected: settings.permissions.bypass_protected_paths,
        managed_only: settings.allow_managed_permission_rules_only,
        ..Policy::default()
    }
}

/// The rules that answers added to a session, as far as the settings let them count.
pub(super) fn session_rules(settings: &Settings, rules: &[String], folder: &Path) -> Vec<SourcedRule> {
    if settings.allow_managed_permission_rules_only {
        return Vec::new();
    }
    let source = Source::session(folder.to_owned());
    let parsed = rules.iter().filter_map(|rule| Rule::parse(rule).ok());
    parsed.map(|rule| SourcedRule { rule, source: source.clone() }).collect()
}
