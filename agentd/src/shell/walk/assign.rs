//! Assignments. Part of the walk.

use super::{Walk, Walked};
use crate::shell::ast::{AssignedValue, Assignment, Part, Word};
use crate::shell::expand::Expanded;
use crate::shell::names;
use crate::shell::printed::Words;
use crate::shell::programs::Arg;
use crate::shell::state::Value;

/// Builtins that take assignments as words.
const DECLARING: [&str; 4] = ["declare", "typeset", "local", "export"];
/// A value that grows longer than this is not known.
const LONGEST: usize = 1024;
/// Of an array with more elements none is known.
const ELEMENTS: usize = 64;

impl Walk<'_> {
    /// An assignment that stays. One that only language or colours obey is harmless too.
    pub(super) fn lasting(&mut self, assignment: &Assignment) -> Walked<()> {
        let value = self.assigned_value(assignment)?;
        if let Value::Exact(text) = &value
            && names::is_setting(&assignment.name, Some(text))
        {
            self.state.set(&assignment.name, value);
        } else {
            self.assign(&assignment.name, value);
        }
        Ok(())
    }

    /// An assignment before a command, which only that command sees.
    pub(super) fn passing(&mut self, assignment: &Assignment, program: Option<&str>) -> Walked<bool> {
        let value = self.assigned_value(assignment)?;
        let exact = if let Value::Exact(text) = &value { Some(text.as_str()) } else { None };
        // `IFS` says only where `read` splits, and is as before after it.
        let splits = assignment.name == "IFS" && matches!(program, Some("read" | "mapfile" | "readarray"));
        let harmless = (splits || names::is_setting(&assignment.name, exact)) && self.harm.is_none();
        if !harmless {
            self.harm(format!("it runs with `{}` set, which it may obey", assignment.name));
        }
        Ok(harmless)
    }

    fn assigned_value(&mut self, assignment: &Assignment) -> Walked<Value> {
        let map = self.state.get(&assignment.name) == Some(&Value::Map);
        match &assignment.subscript {
            // Bash gives up where there is no key.
            Some(key) if map => {
                self.walk_parts(key)?;
                self.may_stop();
            }
            // Or where the place is before the first.
            Some(subscript) if self.arithmetic(subscript)?.is_none_or(|place| place < 0) => self.may_stop(),
            Some(_) | None => {}
        }
        match &assignment.value {
            AssignedValue::Array(words) => {
                let mut items = Some(Vec::new());
                for word in words {
                    let more = self.element(word)?;
                    for item in more {
                        match (item.exact(), &mut items) {
                            (Some(text), Some(items)) => items.push(text.to_owned()),
                            _ => items = None,
                        }
                    }
                }
                if map {
                    return Ok(Value::Map);
                }
                // A list can't be an element.
                if assignment.subscript.is_some() {
                    self.may_stop();
                }
                let items = items.filter(|items| !assignment.append && items.len() <= ELEMENTS);
                Ok(items.map_or_else(Value::any, Value::List))
            }
            AssignedValue::Scalar(word) => {
                let value = self.scalar(word)?;
                if assignment.subscript.is_some() {
                    return Ok(if map { Value::Map } else { Value::any() });
                }
                Ok(if assignment.append { appended(self.state.get(&assignment.name), value) } else { value })
            }
        }
    }

    /// Whether a builtin that declares may take a value for the text of a list: it evaluates that again. A list that is
    /// written as one is none.
    pub(super) fn declares_list(&self, command: &str, arguments: &[Expanded]) -> bool {
        let mut options = arguments.iter().map_while(|word| word.exact().and_then(|text| text.strip_prefix('-')));
        let lists = options.any(|letters| letters.contains(['a', 'A']));
        // One word may make a list of what a later one gives a value.
        let made = |name: &str| {
            arguments
                .iter()
                .any(|word| word.text.split_once("=(").is_some_and(|(head, _)| head.trim_end_matches('+') == name))
        };
        let is_list = |name: &str| {
            lists || made(name) || matches!(self.state.get(name), Some(Value::List(_) | Value::Unknown { .. }))
        };
        DECLARING.contains(&command)
            && arguments.iter().any(|word| {
                let (Arg::Literal(text) | Arg::One(text) | Arg::Many(text)) = &word.arg;
                let Some((head, value)) = text.split_once('=') else { return false };
                let begins = value.starts_with('(') || value.is_empty() && word.exact().is_none();
                let written = word.text.strip_prefix(head).is_some_and(|rest| rest.starts_with("=("));
                begins && !written && is_list(head.trim_end_matches('+'))
            })
    }

    /// An element of an array.
    pub(in crate::shell) fn element(&mut self, word: &Word) -> Walked<Vec<Expanded>> {
        if word.text.starts_with('[') && !self.keyed {
            self.harm(format!("the subscript of `{}` may run a command", word.text));
        }
        self.expand(word)
    }

    fn scalar(&mut self, word: &Word) -> Walked<Value> {
        let expanded = self.expand_one(word)?;
        // `n=$(wc -l < f)` and `n=$((…))`
        let counted = self.number_output;
        let mut kind = Value::Number;
        let number = match word.parts.as_slice() {
            [Part::Command(_)] if counted => {
                kind = Value::Count;
                true
            }
            [Part::Double(inner)] if matches!(inner.as_slice(), [Part::Command(_)]) && counted => {
                kind = Value::Count;
                true
            }
            [Part::Arithmetic(_)] => true,
            [Part::Parameter(parameter)] => {
                let plain = matches!(parameter.operation, crate::shell::ast::Operation::Plain);
                let length = matches!(parameter.operation, crate::shell::ast::Operation::Length);
                let known = self.state.get(&parameter.name);
                if known == Some(&Value::Count) {
                    kind = Value::Count;
                }
                let whole = known.map_or_else(|| names::is_number(&parameter.name), Value::is_number);
                length || plain && parameter.subscript.is_none() && whole
            }
            _ => false,
        };
        Ok(match expanded.arg {
            Arg::Literal(text) => Value::Exact(text),
            _ if number => kind,
            Arg::One(prefix) | Arg::Many(prefix) => match expanded.printed {
                Some((kind, one)) => Value::Printed(Words { kind, prefix, one, sure: false }),
                None => Value::Unknown { prefix, tame: expanded.tame, pattern: expanded.pattern },
            },
        })
    }
}

fn appended(old: Option<&Value>, more: Value) -> Value {
    match (old, more) {
        (Some(Value::Exact(old)), Value::Exact(more)) if old.len() + more.len() <= LONGEST => {
            Value::Exact(format!("{old}{more}"))
        }
        _ => Value::any(),
    }
}
