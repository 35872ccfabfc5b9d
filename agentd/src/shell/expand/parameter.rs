//! What `$x` and `${x…}` become. Part of the expansion of words.

use super::strip;
use crate::shell::ast::{Operation, Parameter, Part, Subscript};
use crate::shell::names;
use crate::shell::printed::Words;
use crate::shell::state::Value;
use crate::shell::walk::{Walk, Walked};

/// What a substitution gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Exact(String),
    Number,
    /// A whole number of no sign, or nothing.
    Count,
    /// One text that begins with `prefix`.
    Unknown {
        prefix: String,
        tame: bool,
        pattern: Option<String>,
    },
    /// Words that a command printed.
    Printed(Words),
    /// The elements of an array.
    List(Vec<String>),
    /// Any number of words, even within quotes.
    Many,
}

impl Content {
    pub fn any() -> Self {
        Self::Unknown { prefix: String::new(), tame: false, pattern: None }
    }
}

impl Walk<'_> {
    pub(super) fn parameter(&mut self, parameter: &Parameter) -> Walked<Content> {
        let value = self.value_of(parameter)?;
        match &parameter.operation {
            Operation::Plain => Ok(value),
            Operation::Length => Ok(Content::Number),
            Operation::Indirect => {
                self.harm(format!("`${{!{}}}` uses a variable whose name is a value", parameter.name));
                Ok(Content::Many)
            }
            Operation::Default { kind, word } => self.default(parameter, *kind, word, value),
            Operation::Substring(expressions) => {
                // Nothing is evaluated where there is no value, and bash gives up where an end is before a beginning.
                let mut forward = true;
                for expression in expressions {
                    let value = self.perhaps(|this| this.arithmetic(expression))?;
                    forward &= value.is_some_and(|value| value >= 0);
                }
                if !forward {
                    self.may_stop();
                }
                Ok(if is_all(parameter) { Content::Many } else { Content::any() })
            }
            Operation::Strip { front, longest, pattern } => {
                self.perhaps(|this| this.walk_parts(pattern))?;
                self.spend_words(100)?;
                if is_all(parameter) {
                    return Ok(Content::Many);
                }
                let stripped = match (value, static_text(pattern)) {
                    (Content::Exact(text), Some(pattern)) => strip::strip(&text, &pattern, *front, *longest),
                    _ => None,
                };
                Ok(stripped.map_or_else(Content::any, Content::Exact))
            }
            Operation::Change(words) => {
                for word in words {
                    self.perhaps(|this| this.walk_parts(word))?;
                }
                Ok(if is_all(parameter) { Content::Many } else { Content::any() })
            }
            Operation::Transform(letter) => {
                if !"QULuEa".contains(*letter) {
                    self.harm(format!("`${{{}@{letter}}}` may run what is in the variable", parameter.name));
                }
                Ok(if is_all(parameter) { Content::Many } else { Content::any() })
            }
        }
    }

    fn default(&mut self, parameter: &Parameter, kind: char, word: &[Part], value: Content) -> Walked<Content> {
        let text = self.perhaps(|this| this.expand_parts(word, ""))?;
        let full = matches!(&value, Content::Exact(text) if !text.is_empty());
        match kind {
            '=' => {
                self.assign(&parameter.name, Value::any());
                Ok(Content::any())
            }
            '-' | '?' if full => Ok(value),
            '+' if full => Ok(text.exact().map_or_else(Content::any, |text| Content::Exact(text.to_owned()))),
            _ if is_all(parameter) => Ok(Content::Many),
            _ => Ok(Content::any()),
        }
    }

    fn value_of(&mut self, parameter: &Parameter) -> Walked<Content> {
        let name = parameter.name.as_str();
        let only_whether = matches!(parameter.operation, Operation::Default { kind: '+', .. });
        if self.state.get(name).is_none() && !names::is_shown(name) && !only_whether {
            self.harm(format!("`${name}` shows a variable of the environment, which may be secret"));
        }
        match &parameter.subscript {
            None => Ok(self.whole_value(name)),
            // Within quotes one word, else as many as there are.
            Some(Subscript::Joined) => Ok(Content::Many),
            Some(Subscript::All) => Ok(match self.state.get(name) {
                Some(Value::List(items)) => Content::List(items.clone()),
                _ => Content::Many,
            }),
            Some(Subscript::At(key)) if self.state.get(name) == Some(&Value::Map) => {
                self.perhaps(|this| this.walk_parts(key))?;
                // Bash gives up where there is no key.
                self.may_stop();
                Ok(Content::any())
            }
            Some(Subscript::At(expression)) => {
                if expression.is_empty() {
                    self.may_stop();
                }
                let index =
                    self.perhaps(|this| this.arithmetic(expression))?.and_then(|index| usize::try_from(index).ok());
                let item = match (self.state.get(name), index) {
                    (Some(Value::List(items)), Some(index)) => items.get(index).cloned(),
                    _ => None,
                };
                Ok(item.map_or_else(Content::any, Content::Exact))
            }
        }
    }

    fn whole_value(&self, name: &str) -> Content {
        match self.state.get(name) {
            Some(Value::Exact(text)) => return Content::Exact(text.clone()),
            Some(Value::Number) => return Content::Number,
            Some(Value::Count) => return Content::Count,
            Some(Value::Unknown { prefix, tame, pattern }) => {
                return Content::Unknown { prefix: prefix.clone(), tame: *tame, pattern: pattern.clone() };
            }
            Some(Value::Printed(words)) => return Content::Printed(words.clone()),
            Some(Value::List(items)) => return items.first().cloned().map_or_else(Content::any, Content::Exact),
            Some(Value::Map) => return Content::any(),
            None => {}
        }
        match name {
            "@" | "*" => Content::Many,
            "HOME" => self.home().map_or_else(Content::any, Content::Exact),
            "PWD" => self.state.folder().map_or_else(Content::any, |folder| Content::Exact(folder.to_owned())),
            _ if names::is_number(name) => Content::Number,
            _ => Content::any(),
        }
    }
}

fn is_all(parameter: &Parameter) -> bool {
    parameter.subscript.as_ref().is_some_and(|s| matches!(s, Subscript::All | Subscript::Joined))
        || matches!(parameter.name.as_str(), "@" | "*")
}

/// A pattern that is written out; quotes are not told from the rest, so only of one kind.
fn static_text(parts: &[Part]) -> Option<String> {
    match parts {
        [Part::Text(text)] => Some(text.clone()),
        [Part::Quoted(text)] if !text.contains(['*', '?', '[', '\\']) => Some(text.clone()),
        _ => None,
    }
}
