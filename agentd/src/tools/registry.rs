//! The registry of tools: which there are, by name. Called by the session. Knows no session and no model.

use super::tool::Tool;
use super::{bash, edit, glob, grep, read, write};
use serde_json::Value;
use std::sync::Arc;

/// What a model is told of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
}

/// Tools, sorted by name, so that what models are told is the same bytes each time.
#[derive(Clone)]
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
    definitions: Arc<[Definition]>,
}

impl Registry {
    /// The tools that are part of agentd.
    #[must_use]
    pub fn builtin() -> Self {
        Self::new(vec![
            Arc::new(bash::Bash),
            Arc::new(edit::Edit),
            Arc::new(glob::Glob),
            Arc::new(grep::Grep),
            Arc::new(read::Read),
            Arc::new(write::Write),
        ])
    }

    /// A registry of these tools. Of two with one name the first wins.
    #[must_use]
    pub fn new(mut tools: Vec<Arc<dyn Tool>>) -> Self {
        tools.sort_by(|one, other| one.name().cmp(other.name()));
        tools.dedup_by(|later, first| later.name() == first.name());
        let definitions = tools
            .iter()
            .map(|tool| Definition {
                name: tool.name().to_owned(),
                description: tool.prompt(&super::tool::PromptOptions::default()),
                input_schema: tool.input_schema(),
            })
            .collect();
        Self { tools, definitions }
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let named = |tool: &&Arc<dyn Tool>| tool.name() == name;
        let also_named = |tool: &&Arc<dyn Tool>| tool.aliases().contains(&name);
        self.tools.iter().find(named).or_else(|| self.tools.iter().find(also_named)).cloned()
    }

    /// All tools, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// What models are told, sorted by name.
    #[must_use]
    pub fn definitions(&self) -> Arc<[Definition]> {
        Arc::clone(&self.definitions)
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::builtin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_tools_are_sorted_and_described() {
        let registry = Registry::builtin();
        let definitions = registry.definitions();
        let names: Vec<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
        assert_eq!(names, ["Bash", "Edit", "Glob", "Grep", "Read", "Write"]);
        for definition in registry.definitions().iter() {
            assert!(!definition.description.is_empty());
            assert_eq!(definition.input_schema["type"], "object");
            assert_eq!(definition.input_schema["additionalProperties"], json!(false), "{}", definition.name);
            for (field, schema) in definition.input_schema["properties"].as_object().unwrap() {
                assert!(schema["type"].is_string(), "{}.{field} has one type: {schema}", definition.name);
                assert!(schema["description"].is_string(), "{}.{field} is described", definition.name);
            }
        }
        assert!(registry.get("bash").is_none());
    }

    #[test]
    fn which_calls_may_run_beside_others() {
        let registry = Registry::builtin();
        for (tool, input, safe) in [
            ("Read", json!({"file_path": "a"}), true),
            ("Glob", json!({"pattern": "*"}), true),
            ("Grep", json!({"pattern": "x"}), true),
            ("Edit", json!({"file_path": "a"}), false),
            ("Write", json!({"file_path": "a"}), false),
            ("Bash", json!({"command": "ls"}), true),
            ("Bash", json!({"command": "rm x"}), false),
            ("Bash", json!({"command": 5}), false),
        ] {
            let tool = registry.get(tool).unwrap();
            assert_eq!(tool.concurrency_safe(&input), safe, "{} {input}", tool.name());
            assert_eq!(tool.read_only(&input), safe, "{} {input}", tool.name());
        }
    }
}
