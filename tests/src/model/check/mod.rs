//! Strict checks of requests: what a real provider refuses, and what agentd promises beyond that. A
//! violation is a sentence; the model server fails the test with it.

mod anthropic;
mod chat;
mod responses;

use super::reply::{Reply, Step};
use super::request::Request;
use super::wire::Face;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A thought: its text and its signature.
type Thought = (String, String);

/// What the model has said so far, to hold against what comes back.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Thoughts, with who had them: they mean nothing to any other model.
    thinking: BTreeSet<(String, Thought)>,
    tools: BTreeMap<String, Call>,
}

/// A call that was made.
#[derive(Debug)]
struct Call {
    name: String,
    input: Option<Value>,
    by: String,
    /// What was thought before it in the same reply.
    thoughts: Vec<Thought>,
    /// How many of the last of them nothing else came after.
    directly: usize,
}

fn name_of(face: Face, model: &str) -> String {
    format!("{face:?} {model}")
}

impl Said {
    pub(super) fn add(&mut self, reply: &Reply, face: Face, model: &str) {
        let by = name_of(face, model);
        let mut thoughts: Vec<Thought> = Vec::new();
        let mut directly = 0;
        for step in &reply.steps {
            match step {
                Step::Thinking { text, signature } => {
                    let thought = (text.clone(), signature.clone());
                    self.thinking.insert((by.clone(), thought.clone()));
                    thoughts.push(thought);
                    directly += 1;
                }
                Step::Tool { id, name, json } | Step::PartialTool { id, name, json } => {
                    let input = serde_json::from_str(json).ok();
                    let call = Call { name: name.clone(), input, by: by.clone(), thoughts: thoughts.clone(), directly };
                    self.tools.insert(id.clone(), call);
                    directly = 0;
                }
                Step::Text(_) => directly = 0,
                Step::Gate(_) | Step::Raw(_) => {}
            }
        }
    }
}

/// Every violation in a request.
pub(super) fn violations(face: Face, request: &Request, said: &Said) -> Vec<String> {
    let asked = name_of(face, request.body["model"].as_str().unwrap_or_default());
    let mut found = Findings { list: Vec::new(), said, asked };
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
        Face::Responses => responses::check(request, &mut found),
    }
    found.list
}

/// What every provider takes as the id of a call and as the name of a tool.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

struct Findings<'a> {
    list: Vec<String>,
    said: &'a Said,
    /// The model that the request is for.
    asked: String,
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
            if !is_plain(name) {
                self.add(format!("tool `{name}`: only letters, digits, `_` and `-` may be in a name"));
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
        if !is_plain(id) || !name.as_str().is_some_and(is_plain) {
            self.add(format!(
                "tool call `{id}` to {name}: only letters, digits, `_` and `-` may be in an id and a name"
            ));
        }
        let Some(said) = self.said.tools.get(id) else {
            self.add(format!("tool call `{id}` was never made by this model"));
            return;
        };
        if *name != said.name {
            self.add(format!("tool call `{id}` was to `{}`, not to {name}", said.name));
        }
        // Broken JSON has no one way back; any object will do for it.
        if said.input.as_ref().is_some_and(|said| said != input) {
            self.add(format!("the input of tool call `{id}` has changed to {input}"));
        }
    }

    /// A thought goes back to who had it, unchanged.
    fn thinking(&mut self, thought: &Thought, at: usize) {
        if !self.said.thinking.contains(&(self.asked.clone(), thought.clone())) {
            self.add(format!("message {at}: thinking or its signature has changed, or is another model's"));
        }
    }

    /// What was thought before a call comes with the call, in its order, if the same model is asked.
    fn thought_before(&mut self, id: &str, kept: &[Thought], at: usize) {
        let Some(said) = self.said.tools.get(id).filter(|said| said.by == self.asked) else { return };
        if !kept.starts_with(&said.thoughts) {
            self.add(format!("message {at}: what was thought before tool call `{id}` is missing"));
        }
    }

    /// The same for a format in which thoughts stand directly before what they led to.
    fn thought_directly_before(&mut self, id: &str, kept: &[Thought], at: usize) {
        let Some(said) = self.said.tools.get(id).filter(|said| said.by == self.asked) else { return };
        let (_, expected) = said.thoughts.split_at(said.thoughts.len() - said.directly);
        if kept != expected {
            self.add(format!(
                "message {at}: what was thought directly before tool call `{id}` is missing or not its own"
            ));
        }
    }

    /// The same for a format in which all thoughts of a message are one text.
    fn thought_in_one(&mut self, id: &str, kept: &str, at: usize) {
        let Some(said) = self.said.tools.get(id).filter(|said| said.by == self.asked) else { return };
        let expected: String = said.thoughts.iter().map(|(text, _)| text.as_str()).collect();
        if !kept.starts_with(&expected) {
            self.add(format!("message {at}: what was thought before tool call `{id}` is missing"));
        }
    }

    /// Whether a text is made of thoughts of the model that is asked.
    fn has_thought(&self, text: &str) -> bool {
        let own = self.said.thinking.iter().filter(|(by, _)| *by == self.asked);
        own.into_iter().any(|(_, (thought, _))| !thought.is_empty() && text.contains(thought))
    }
}
