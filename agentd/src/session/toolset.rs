//! The tools of one turn, and what its model is told of them. Made when a turn starts; never changes after.

use crate::config::{Interrupt, ToolSettings};
use crate::model::ToolDefinition;
use crate::tools::{Registry, Tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tools of a turn.
pub struct Toolset {
    /// The tools, by name.
    pub registry: Registry,
    /// The tools as the model is told of them, sorted by name.
    pub definitions: Arc<[ToolDefinition]>,
    interrupt: BTreeMap<String, Interrupt>,
}

impl Toolset {
    /// The tools of a registry, all of them told.
    #[must_use]
    pub fn new(registry: Registry, settings: &ToolSettings) -> Self {
        let definitions = registry
            .definitions()
            .iter()
            .map(|tool| ToolDefinition {
                name: tool.name.clone(),
                description: tool.description.clone(),
                input_schema: tool.input_schema.clone(),
            })
            .collect();
        Self { registry, definitions, interrupt: settings.interrupt.clone() }
    }

    /// Whether a prompt that interrupts lets the call run to its end (seed row I10): the setting for the tool, else
    /// the tool's own answer.
    #[must_use]
    pub fn blocks_interrupt(&self, tool: &dyn Tool, input: &Value) -> bool {
        match self.interrupt.get(tool.name()) {
            Some(interrupt) => *interrupt == Interrupt::Block,
            None => tool.blocks_interrupt(input),
        }
    }
}
