//! The tools of one turn, and what its model is told of them. Made when a turn starts; never changes after.

use crate::model::ToolDefinition;
use crate::tools::Registry;
use std::sync::Arc;

/// The tools of a turn.
pub struct Toolset {
    /// The tools, by name.
    pub registry: Registry,
    /// The tools as the model is told of them, sorted by name.
    pub definitions: Arc<[ToolDefinition]>,
}

impl Toolset {
    /// The tools of a registry, all of them told.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        let definitions = registry
            .definitions()
            .iter()
            .map(|tool| ToolDefinition {
                name: tool.name.clone(),
                description: tool.description.clone(),
                input_schema: tool.input_schema.clone(),
            })
            .collect();
        Self { registry, definitions }
    }
}
