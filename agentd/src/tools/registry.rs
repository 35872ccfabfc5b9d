//! The registry of tools: which there are, by name. Called by the session's toolset and by the hub. Knows no session
//! and no model.
//!
//! The tools of a turn are made in stages, each of them a value (row R01): all that are built in → those that the
//! settings permit → with those of MCP servers → sorted by name, each name once.

use super::definition::{Definition, Definitions};
use super::tool::{PromptOptions, Tool, schema_of};
use super::{bash, edit, glob, grep, read, write};
use crate::policy::SourcedRule;
use serde_json::Value;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// What simple mode leaves (row R07).
const SIMPLE: [&str; 3] = ["Bash", "Read", "Edit"];

/// A tool with its schema, which is made once.
pub struct Registered {
    tool: Arc<dyn Tool>,
    schema: Value,
    /// Of its text and its schema: a tool that changes is another one.
    fingerprint: u64,
}

impl Registered {
    /// Registers a tool.
    #[must_use]
    pub fn new(tool: Arc<dyn Tool>) -> Self {
        let schema = schema_of(tool.as_ref());
        let mut hasher = DefaultHasher::new();
        (schema.to_string(), tool.prompt(&PromptOptions::default())).hash(&mut hasher);
        Self { tool, schema, fingerprint: hasher.finish() }
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &Arc<dyn Tool> {
        &self.tool
    }

    /// The JSON Schema of its input.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether models have to search for it, where searching is on (row T09).
    #[must_use]
    pub fn is_deferred(&self) -> bool {
        self.tool.should_defer() && !self.tool.always_load()
    }

    pub(super) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

/// What the settings permit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Permitted<'a> {
    /// Rules that deny: one without content takes its tools away, one with content only some of their calls.
    pub deny: &'a [SourcedRule],
    /// Whether there are only Bash, Read and Edit.
    pub simple: bool,
}

impl Permitted<'_> {
    fn permits(&self, tool: &dyn Tool) -> bool {
        tool.is_enabled()
            && (!self.simple || SIMPLE.contains(&tool.name()))
            && !self.deny.iter().any(|rule| rule.rule.covers(tool.name()))
    }
}

/// Tools, sorted by name, so that what models are told is the same bytes each time (row R04).
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<Registered>>,
    definitions: Arc<Definitions>,
}

impl Registry {
    /// Stage 1: all tools that are part of agentd. Bash is always there (row R02).
    #[must_use]
    pub fn builtin() -> Self {
        let mut tools: Vec<Arc<dyn Tool>> = vec![
            Arc::new(bash::Bash::default()),
            Arc::new(edit::Edit),
            Arc::new(glob::Glob),
            Arc::new(grep::Grep),
            Arc::new(read::Read),
            Arc::new(write::Write),
        ];
        tools.extend(super::gated::tools());
        Self::new(tools)
    }

    /// A registry of these tools. Of two with one name the first wins.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let entries = tools.into_iter().map(|tool| Arc::new(Registered::new(tool))).collect();
        Self::default().of(entries).0
    }

    /// Stage 2: the tools that are enabled and that the settings permit.
    #[must_use]
    pub fn permitted(&self, by: Permitted<'_>) -> Self {
        let permitted = self.tools.iter().filter(|entry| by.permits(entry.tool.as_ref()));
        Self { tools: permitted.cloned().collect(), definitions: Arc::clone(&self.definitions) }
    }

    /// Stages 3 and 4: with further tools, as of MCP servers, in whatever order they were found. Of two with one name
    /// this registry's own wins, then the first; the names of the others are given back (row R05).
    #[must_use]
    pub fn with(&self, further: impl IntoIterator<Item = Arc<Registered>>) -> (Self, Vec<String>) {
        self.of(self.tools.iter().cloned().chain(further).collect())
    }

    /// Sorted by name; the sort keeps the order of equals, so the first of a name stays.
    fn of(&self, mut tools: Vec<Arc<Registered>>) -> (Self, Vec<String>) {
        tools.sort_by(|one, other| one.tool.name().cmp(other.tool.name()));
        let mut dropped = Vec::new();
        tools.dedup_by(|later, first| {
            let twice = later.tool.name() == first.tool.name();
            if twice {
                dropped.push(later.tool.name().to_owned());
            }
            twice
        });
        (Self { tools, definitions: Arc::clone(&self.definitions) }, dropped)
    }

    /// The tool of this name or, failing that, of this alias (row T02).
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let named = |tool: &&Arc<dyn Tool>| tool.name() == name;
        let also_named = |tool: &&Arc<dyn Tool>| tool.aliases().contains(&name);
        self.iter().find(named).or_else(|| self.iter().find(also_named)).cloned()
    }

    /// All tools, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter().map(|entry| &entry.tool)
    }

    /// All tools with their schemas, sorted by name.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.tools.iter()
    }

    /// What a model is told of a tool; see [`Definition`]. `strict` where the settings want it and the model can be
    /// held to a schema.
    #[must_use]
    pub fn define(&self, entry: &Registered, options: &Arc<PromptOptions>, strict: bool) -> Arc<Definition> {
        self.definitions.of(entry, options, strict)
    }
}

#[cfg(test)]
mod tests;
