//! The tools of one turn, and what its model is told of them. Made when a turn starts; of it only what the model has
//! searched for changes. Called by the session's effects before each request, and by its pipeline.

use super::services::Services;
use crate::base::environment::Environment;
use crate::config::{Interrupt, ToolSettings};
use crate::model::{Model, ToolDefinition, ToolFeatures};
use crate::tools::{ExitPlanMode, Permitted, PromptOptions, Registered, Registry, TOOL_SEARCH, Tool, ToolSearch};
use crate::turn::{CallTraits, ToolTraits};
use proto::event::ToolKind;
use proto::session::{Mode, SessionInfo};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The tools of a turn.
pub struct Toolset {
    /// The tools, by name: also those that the model was not told of, which it may call all the same.
    pub registry: Registry,
    /// The same with those that a rule denies: a call of one is answered by the rule.
    callable: Registry,
    settings: ToolSettings,
    /// Tools that the model is told of only once they were found.
    deferred: BTreeSet<String>,
    told: Mutex<Told>,
}

/// What the model was told last.
#[derive(Default)]
struct Told {
    model: String,
    discovered: BTreeSet<String>,
    definitions: Arc<[ToolDefinition]>,
}

impl Toolset {
    /// The tools that the settings permit, of agentd's own and of further ones, such as those of MCP servers, in any
    /// order. `model` is the name that texts of tools may depend on.
    #[must_use]
    pub fn new(
        base: &Registry,
        further: Vec<Arc<Registered>>,
        settings: &ToolSettings,
        permitted: Permitted<'_>,
        model: &str,
    ) -> Self {
        let (all, dropped) = base.with(further);
        for name in dropped {
            tracing::warn!(tool = %name, "a tool was dropped since there is another one of its name");
        }
        let registry = all.permitted(permitted);
        let callable = all.permitted(Permitted { deny: &[], ..permitted });
        let found = ToolSearch::over(&registry, &prompt_options(&registry, settings, model));
        let search = found.map(|search| Registry::new(vec![Arc::new(search)]).permitted(permitted));
        // Without a way to search nothing is deferred.
        let search = search.filter(|search| settings.search && search.get(TOOL_SEARCH).is_some());
        let (registry, deferred) = match search {
            None => (registry, BTreeSet::new()),
            Some(search) => {
                let deferred = registry.entries().filter(|entry| entry.is_deferred());
                let deferred = deferred.map(|entry| entry.tool().name().to_owned()).collect();
                let (registry, _) = registry.with(search.entries().cloned());
                (registry, deferred)
            }
        };
        Self { registry, callable, settings: settings.clone(), deferred, told: Mutex::default() }
    }

    /// The tool of a call, by its name or an alias; also one that the model was not told of.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.registry.get(name).or_else(|| self.callable.get(name))
    }

    /// The same with a tool of this turn only, which no setting leaves out.
    #[must_use]
    pub fn with(mut self, tool: Arc<dyn Tool>) -> Self {
        (self.registry, _) = self.registry.with([Arc::new(Registered::new(tool))]);
        self
    }

    /// With the tool that ends plan mode, if the session plans.
    #[must_use]
    pub fn in_mode(self, mode: Mode, before: Option<Mode>) -> Self {
        match mode {
            Mode::Plan => self.with(Arc::new(ExitPlanMode::back_to(before.unwrap_or_default()))),
            _ => self,
        }
    }

    /// What a model is told of the tools, sorted by name: of the deferred ones only those that were discovered (row
    /// T09). The same value as before where nothing changed.
    #[must_use]
    pub fn definitions(&self, discovered: &BTreeSet<String>, model: &dyn Model) -> Arc<[ToolDefinition]> {
        let discovered: BTreeSet<String> = self.deferred.intersection(discovered).cloned().collect();
        let mut told = self.told();
        if told.definitions.is_empty() || told.model != model.id() || told.discovered != discovered {
            let definitions = self.define(&discovered, model);
            *told = Told { model: model.id().to_owned(), discovered, definitions };
        }
        Arc::clone(&told.definitions)
    }

    /// Whether this is a tool that the model has not been told of, since it has not searched for it (row X04).
    #[must_use]
    pub fn is_undiscovered(&self, tool: &str) -> bool {
        self.deferred.contains(tool) && !self.told().discovered.contains(tool)
    }

    /// Whether models are told of the tool only once they have searched for it.
    #[must_use]
    pub fn is_deferred(&self, tool: &str) -> bool {
        self.deferred.contains(tool)
    }

    fn define(&self, discovered: &BTreeSet<String>, model: &dyn Model) -> Arc<[ToolDefinition]> {
        let ToolFeatures { strict, eager_input_streaming, defer_loading } = model.tool_features();
        let options = Arc::new(prompt_options(&self.registry, &self.settings, model.id()));
        let shown = |entry: &&Arc<Registered>| {
            let name = entry.tool().name();
            !self.deferred.contains(name) || discovered.contains(name)
        };
        let told = self.registry.entries().filter(shown).map(|entry| {
            let definition = self.registry.define(entry, &options, self.settings.strict && strict);
            ToolDefinition {
                name: definition.name.clone(),
                description: definition.description.clone(),
                input_schema: definition.input_schema.clone(),
                strict: definition.strict,
                // These two are laid over it for each request (contradiction C2).
                eager_input_streaming: self.settings.eager_input && eager_input_streaming,
                defer_loading: defer_loading && self.deferred.contains(&definition.name),
            }
        });
        told.collect()
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        // Every change of it is a single assignment; there is no half-done state to fear.
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tools of a session's next turn, for `tool/list`. Reads the settings of its folder.
#[must_use]
pub fn next_toolset(services: &Services, session: &SessionInfo, env: &Environment) -> Toolset {
    let settings = services.settings_for(&session.cwd);
    let tools = settings.tools.clone().with_environment(env);
    let rules = &settings.rules;
    let permitted = Permitted { deny: &rules.deny, simple: tools.simple };
    Toolset::new(&services.tools, Vec::new(), &tools, permitted, &session.model).in_mode(session.mode, None)
}

/// The names are those of all tools, found or not: a search must not change what is said of the others.
fn prompt_options(registry: &Registry, settings: &ToolSettings, model: &str) -> PromptOptions {
    PromptOptions {
        model: model.to_owned(),
        tools: registry.iter().map(|tool| tool.name().to_owned()).collect(),
        simple: settings.simple,
    }
}

impl ToolTraits for Toolset {
    fn traits(&self, tool: &str, input: &Value) -> CallTraits {
        // Broken JSON comes as text: what it would do can't be known (row X01).
        let Some(found) = self.get(tool).filter(|_| input.is_object()) else {
            return CallTraits {
                title: tool.to_owned(),
                kind: ToolKind::Other,
                read_only: false,
                concurrency_safe: false,
                blocks_interrupt: false,
                runs_command: false,
            };
        };
        CallTraits {
            title: found.title(input),
            kind: found.kind(),
            read_only: found.read_only(input),
            concurrency_safe: found.concurrency_safe(input),
            blocks_interrupt: match self.settings.interrupt.get(found.name()) {
                Some(interrupt) => *interrupt == Interrupt::Block,
                None => found.blocks_interrupt(input),
            },
            runs_command: found.runs_commands(),
        }
    }
}

#[cfg(test)]
mod tests;
