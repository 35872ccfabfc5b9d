//! Takes from one file what fits the settings and says what doesn't, value by value, so that an error
//! in one key loses no other. Called by `loader`. Pure.

use super::keys;
use super::settings::Settings;
use crate::policy::{Behaviour, Rule};
use serde_json::{Map, Value, json};

/// A step from a value to one in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Item(usize),
}

/// A value that was left out, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) path: Vec<Step>,
    pub(super) message: String,
}

/// What follows a deny or ask rule that can't be used, in the message.
pub(super) const UNTIL_CORRECTED: &str = "; until it is corrected, ";

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// agentd's: every key should be known.
    Agentd,
    /// Claude Code's: keys that nobody knows here are its own.
    Claude,
}

/// What fits of a file, and what does not.
pub(super) fn sift(file: Map<String, Value>, owner: Owner) -> (Map<String, Value>, Vec<Problem>) {
    let mut sieve = Sieve { owner, path: Vec::new(), problems: Vec::new(), stand_ins: Vec::new() };
    let mut good = Map::new();
    for (key, value) in file {
        if keys::OWN.contains(&key.as_str()) {
            if let Some(value) = sieve.child(&key, normal(&key, value)) {
                good.insert(key, value);
            }
        } else if !keys::is_foreign(&key) {
            sieve.unknown(&key, &keys::all());
        }
    }
    if !sieve.stand_ins.is_empty() {
        super::merge::over(&mut good, rules_of("ask", sieve.stand_ins));
    }
    (good, sieve.problems)
}

/// Settings with nothing but these entries in a list of rules.
fn rules_of(list: &str, entries: Vec<Value>) -> Map<String, Value> {
    Map::from_iter([("permissions".to_owned(), json!({list: entries}))])
}

/// Other ways to write the same.
fn normal(key: &str, mut value: Value) -> Value {
    match (key, &mut value) {
        // Claude Code has a list of up to three here.
        ("fallbackModel", Value::Array(models)) => models.first().cloned().unwrap_or(Value::Null),
        ("permissions", Value::Object(permissions)) => {
            if permissions.get("defaultMode") == Some(&json!("manual")) {
                permissions.insert("defaultMode".to_owned(), json!("default"));
            }
            value
        }
        ("env", Value::Object(variables)) => {
            for variable in variables.values_mut() {
                if variable.is_number() || variable.is_boolean() {
                    *variable = Value::String(variable.to_string());
                }
            }
            value
        }
        _ => value,
    }
}

struct Sieve {
    owner: Owner,
    path: Vec<Step>,
    problems: Vec<Problem>,
    /// The ask rules in place of deny and ask rules that can't be used.
    stand_ins: Vec<Value>,
}

impl Sieve {
    fn problem(&mut self, message: String) {
        self.problems.push(Problem { path: self.path.clone(), message });
    }

    fn child(&mut self, key: &str, value: Value) -> Option<Value> {
        self.path.push(Step::Key(key.to_owned()));
        let kept = self.value(value);
        self.path.pop();
        kept
    }

    fn value(&mut self, value: Value) -> Option<Value> {
        if self.tightens() && !matches!(value, Value::Array(_) | Value::Null) {
            return self.no_list(value);
        }
        // A key that takes everything is one that agentd does not use.
        let wants_object = self.fits(&json!({})).is_ok() && self.fits(&json!("")).is_err();
        match value {
            Value::Object(fields) if wants_object => Some(self.object(fields)),
            _ if wants_object => {
                self.problem("an object is expected here; the value is ignored".to_owned());
                None
            }
            Value::Array(items) => self.list(items),
            value => match self.fits(&value) {
                Ok(()) => Some(value),
                Err(why) => {
                    self.problem(format!("{why}; the value is ignored"));
                    None
                }
            },
        }
    }

    fn object(&mut self, fields: Map<String, Value>) -> Value {
        let names = self.names();
        let known = keys::children(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut good = Map::new();
        for (key, value) in fields {
            match known {
                Some(known) if !known.contains(&key.as_str()) => self.unknown(&key, known),
                Some(_) | None => {
                    if let Some(value) = self.child(&key, value) {
                        good.insert(key, value);
                    }
                }
            }
        }
        Value::Object(good)
    }

    fn list(&mut self, items: Vec<Value>) -> Option<Value> {
        if let Err(why) = self.fits(&json!([])) {
            self.problem(format!("{why}; the value is ignored"));
            return None;
        }
        let mut good = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            match self.fits(&json!([item])).and_then(|()| self.is_rule(&item)) {
                Ok(()) => {
                    self.warn_of_rule(at, &item);
                    good.push(item);
                }
                Err(why) => {
                    self.path.push(Step::Item(at));
                    if self.tightens() {
                        self.stand_in(&item, &why);
                    } else {
                        self.problem(format!("{why}; the entry is ignored"));
                    }
                    self.path.pop();
                }
            }
        }
        Some(Value::Array(good))
    }

    /// Whether the place is in a list of rules that tighten.
    fn tightens(&self) -> bool {
        match self.path.as_slice() {
            [Step::Key(parent), Step::Key(list), ..] => {
                parent == "permissions" && ["ask", "deny"].contains(&list.as_str())
            }
            _ => false,
        }
    }

    /// What tightens and is no list: a single rule is taken, and for anything else there are questions.
    fn no_list(&mut self, value: Value) -> Option<Value> {
        if value.is_string() {
            self.problem("a list is expected here: put it in [ ]; it is taken as a list of this one entry".to_owned());
            return self.list(vec![value]);
        }
        self.stand_in(&value, "a list of rules is expected here");
        None
    }

    /// Asks about every call that an entry which can't be used may have meant: a slip in what was to tighten must not
    /// open anything.
    fn stand_in(&mut self, entry: &Value, why: &str) {
        let mut texts = Vec::new();
        if !strings(entry, &mut texts) {
            texts = vec![""];
        }
        let rules: Vec<&str> = texts.into_iter().flat_map(Rule::stand_ins).copied().collect();
        let calls = match rules.first() {
            None => return self.problem(format!("{why}; the entry is ignored")),
            Some(_) if rules.contains(&"*") => "every call is asked about".to_owned(),
            Some(tool) => format!("every call of {tool} is asked about"),
        };
        self.problem(format!("{why}{UNTIL_CORRECTED}{calls}"));
        self.stand_ins.extend(rules.into_iter().map(Value::from));
    }

    /// Whether an entry of a list of permission rules is one.
    fn is_rule(&self, entry: &Value) -> Result<(), String> {
        let of_rules = match self.path.as_slice() {
            [Step::Key(parent), Step::Key(list)] => {
                parent == "permissions" && ["allow", "ask", "deny"].contains(&list.as_str())
            }
            _ => false,
        };
        match entry.as_str().filter(|_| of_rules) {
            Some(rule) => Rule::parse(rule).map(|_| ()).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    /// Tells of a rule that has no effect where it stands.
    fn warn_of_rule(&mut self, at: usize, entry: &Value) {
        let [Step::Key(parent), Step::Key(list)] = self.path.as_slice() else { return };
        let behaviour = match list.as_str() {
            "allow" => Behaviour::Allow,
            "ask" => Behaviour::Ask,
            "deny" => Behaviour::Deny,
            _ => return,
        };
        let rule = entry.as_str().filter(|_| parent == "permissions").and_then(|rule| Rule::parse(rule).ok());
        for warning in rule.iter().flat_map(|rule| rule.warnings(behaviour)) {
            self.path.push(Step::Item(at));
            self.problem(format!("the rule {} has no effect: {warning}", entry.as_str().unwrap_or_default()));
            self.path.pop();
        }
    }

    fn unknown(&mut self, key: &str, known: &[&str]) {
        let near = keys::nearest(key, known);
        if near.is_none() && self.owner == Owner::Claude {
            return;
        }
        self.path.push(Step::Key(key.to_owned()));
        self.problem(match near {
            Some(near) => format!("there is no such setting; did you mean {near}?"),
            None => "there is no such setting; remove it".to_owned(),
        });
        self.path.pop();
    }

    fn names(&self) -> Vec<String> {
        self.path
            .iter()
            .filter_map(|step| match step {
                Step::Key(key) => Some(key.clone()),
                Step::Item(_) => None,
            })
            .collect()
    }

    /// Whether the settings take the value at this place.
    fn fits(&self, value: &Value) -> Result<(), String> {
        let names = self.names();
        let whole = names.iter().rev().fold(value.clone(), |inner, name| json!({name: inner}));
        let settings: Settings = serde_json::from_value(whole).map_err(|error| error.to_string())?;
        if settings.tools.max_concurrency == 0 {
            return Err("it must be at least 1".to_owned());
        }
        Ok(())
    }
}

/// The texts in an entry, in lists within it too; whether there is nothing else in it.
fn strings<'a>(entry: &'a Value, texts: &mut Vec<&'a str>) -> bool {
    match entry {
        Value::String(text) => texts.push(text),
        Value::Array(items) => return items.iter().all(|item| strings(item, texts)),
        _ => return false,
    }
    true
}

/// The place of a problem in words, such as `permissions.deny[2]`.
pub(super) fn place(path: &[Step]) -> String {
    let mut place = String::new();
    for step in path {
        match step {
            Step::Key(key) if place.is_empty() => place.push_str(key),
            Step::Key(key) => place = format!("{place}.{key}"),
            Step::Item(at) => place = format!("{place}[{at}]"),
        }
    }
    place
}
