//! Strict checks of requests: what a real provider refuses, and what agentd promises beyond that. A
//! violation is a sentence; the model server fails the test with it.

mod anthropic;
mod chat;

use super::reply::{Reply, Step};
use super::request::Request;
use super::wire::Face;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What the model has said so far, to hold against what comes back.
#[derive(Debug, Default)]
pub(super) struct Said {
    thinking: BTreeSet<(String, String)>,
    tools: BTreeMap<String, (String, Option<Value>)>,
}

impl Said {
    pub(super) fn add(&mut self, reply: &Reply) {
        for step in &reply.steps {
            match step {
                Step::Thinking { text, signature } => {
                    self.thinking.insert((text.clone(), signature.clone()));
                }
                Step::Tool { id, name, json } | Step::PartialTool { id, name, json } => {
                    self.tools.insert(id.clone(), (name.clone(), serde_json::from_str(json).ok()));
                }
                Step::Text(_) | Step::Gate(_) | Step::Raw(_) => {}
            }
        }
    }
}

/// Every violation in a request.
pub(super) fn violations(face: Face, request: &Request, said: &Said) -> Vec<String> {
    let mut found = Findings { list: Vec::new(), said };
    if request.headers.get("content-type").is_none_or(|value| !value.starts_with("application/json")) {
        found.add("the content type is not application/json");
    }
    if !request.body.is_object() {
        found.add("the body is not a JSON object");
        return found.list;
    }
    if request.body["stream"] != true {
        found.add("`stream` is not true");
    }
    if request.body["model"].as_str().is_none_or(str::is_empty) {
        found.add("`model` is missing");
    }
    match face {
        Face::Anthropic => anthropic::check(request, &mut found),
        Face::Chat => chat::check(request, &mut found),
    }
    found.list
}

struct Findings<'a> {
    list: Vec<String>,
    said: &'a Said,
}

impl Findings<'_> {
    fn add(&mut self, what: impl Into<String>) {
        self.list.push(what.into());
    }

    fn unknown_fields(&mut self, body: &Value, known: &[&str], place: &str) {
        for name in body.as_object().into_iter().flat_map(|fields| fields.keys()) {
            if !known.contains(&name.as_str()) {
                self.add(format!("{place} has the unknown field `{name}`"));
            }
        }
    }

    /// Names are unique and sorted, descriptions are there, schemas are objects.
    fn tools(&mut self, tools: &[(&Value, &Value, &Value)]) {
        let mut before = "";
        for (name, description, schema) in tools {
            let name = name.as_str().unwrap_or_default();
            if name <= before {
                self.add(format!("tool `{name}` comes after `{before}`: names must be unique and sorted"));
            }
            if description.as_str().is_none_or(str::is_empty) {
                self.add(format!("tool `{name}` has no description"));
            }
            if schema["type"] != "object" {
                self.add(format!("the schema of tool `{name}` is not an object"));
            }
            before = name;
        }
    }

    /// A tool call is sent back as the model made it.
    fn tool_call(&mut self, id: &str, name: &Value, input: &Value) {
        let Some((said_name, said_input)) = self.said.tools.get(id) else {
            self.add(format!("tool call `{id}` was never made by this model"));
            return;
        };
        if name != said_name {
            self.add(format!("tool call `{id}` was to `{said_name}`, not to {name}"));
        }
        // Broken JSON has no one way back; any object will do for it.
        if said_input.as_ref().is_some_and(|said| said != input) {
            self.add(format!("the input of tool call `{id}` has changed to {input}"));
        }
    }
}
