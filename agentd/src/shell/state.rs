//! What is known at one place of a line: its variables, the folder, its functions. Where two ways meet, only what both
//! agree on stays known. Used by the walk over a line.

use super::printed::Words;

/// More folders in which a command may run than this are not told apart.
const FOLDERS: usize = 4;

/// What is known of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Exact(String),
    /// A whole number.
    Number,
    /// A whole number of no sign, or nothing, such as the output of a command that may fail.
    Count,
    /// A text that begins with `prefix`; if it is `tame`, no `..` and no other folder comes after it. `pattern` is what
    /// it fits, if it is a name that a pattern stands for.
    Unknown {
        prefix: String,
        tame: bool,
        pattern: Option<String>,
    },
    /// Words that a command printed.
    Printed(Words),
    /// An array whose keys are texts, which are not evaluated.
    Map,
    /// An array with these elements.
    List(Vec<String>),
}

impl Value {
    /// Nothing is known.
    pub fn any() -> Self {
        Self::Unknown { prefix: String::new(), tame: false, pattern: None }
    }

    pub fn join(&self, other: &Self) -> Self {
        if self == other {
            self.clone()
        } else if self.is_number() && other.is_number() {
            self.joined_number(other)
        } else if let (Self::Printed(one), Self::Printed(two)) = (self, other)
            && (one.kind, &one.prefix) == (two.kind, &two.prefix)
        {
            Self::Printed(Words { one: one.one && two.one, sure: one.sure && two.sure, ..one.clone() })
        } else {
            Self::any()
        }
    }

    /// Of two numbers either.
    fn joined_number(&self, other: &Self) -> Self {
        let no_sign = |value: &Self| match value {
            Self::Exact(text) => !text.starts_with('-'),
            value => *value == Self::Count,
        };
        let may_be_empty = *self == Self::Count || *other == Self::Count;
        match may_be_empty {
            false => Self::Number,
            true if no_sign(self) && no_sign(other) => Self::Count,
            true => Self::any(),
        }
    }

    /// Whether it surely is a plain whole number or nothing, which arithmetic does not evaluate further.
    pub fn is_number(&self) -> bool {
        match self {
            Self::Exact(text) => is_plain_number(text),
            Self::Number | Self::Count => true,
            _ => false,
        }
    }
}

/// Digits, perhaps after a minus.
pub(super) fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (1..=18).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// What the line has set; the last of a name counts.
    variables: Vec<(String, Value)>,
    /// In which folders the shell may be; `None` if that is not known.
    pub folders: Option<Vec<String>>,
    /// The folder before the last `cd`.
    pub previous: Option<String>,
    /// Functions, and whether they surely are defined here.
    functions: Vec<(String, bool)>,
}

impl State {
    /// At the start of a line.
    pub fn new(folder: Option<String>) -> Self {
        Self { variables: Vec::new(), folders: folder.map(|f| vec![f]), previous: None, functions: Vec::new() }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// How many variables it knows.
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    pub fn set(&mut self, name: &str, value: Value) {
        match self.variables.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.variables.push((name.to_owned(), value)),
        }
    }

    /// The only folder in which the shell can be.
    pub fn folder(&self) -> Option<&str> {
        match self.folders.as_deref() {
            Some([folder]) => Some(folder),
            _ => None,
        }
    }

    pub fn define(&mut self, name: &str) {
        self.functions.retain(|(known, _)| known != name);
        self.functions.push((name.to_owned(), true));
    }

    /// Whether there may be a function of this name, and whether there surely is.
    pub fn function(&self, name: &str) -> Option<bool> {
        self.functions.iter().find(|(known, _)| known == name).map(|(_, sure)| *sure)
    }

    /// After something that may have changed every variable and the folder.
    pub fn forget(&mut self) {
        for (_, value) in &mut self.variables {
            *value = Value::any();
        }
        self.set("HOME", Value::any());
        self.folders = None;
        self.previous = None;
    }

    /// Where two ways meet.
    pub fn join(mut self, other: &Self) -> Self {
        if self == *other {
            return self;
        }
        let names: Vec<String> = self.variables.iter().chain(&other.variables).map(|(name, _)| name.clone()).collect();
        for name in names {
            let joined = match (self.get(&name), other.get(&name)) {
                (Some(one), Some(two)) => one.join(two),
                _ => Value::any(),
            };
            self.set(&name, joined);
        }
        self.variables.sort_by(|one, two| one.0.cmp(&two.0));
        self.folders = join_folders(self.folders.take(), other.folders.as_deref());
        if self.previous != other.previous {
            self.previous = None;
        }
        for (name, sure) in &mut self.functions {
            *sure = *sure && other.function(name) == Some(true);
        }
        for (name, _) in &other.functions {
            if self.function(name).is_none() {
                self.functions.push((name.clone(), false));
            }
        }
        self
    }
}

fn join_folders(one: Option<Vec<String>>, two: Option<&[String]>) -> Option<Vec<String>> {
    let (mut folders, more) = (one?, two?);
    for folder in more {
        if !folders.contains(folder) {
            folders.push(folder.clone());
        }
    }
    (folders.len() <= FOLDERS).then_some(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_both_ways_agree_on_stays_known() {
        let mut one = State::new(Some("/w".to_owned()));
        one.set("same", Value::Exact("a".to_owned()));
        one.set("number", Value::Exact("1".to_owned()));
        one.set("here", Value::Exact("x".to_owned()));
        let mut two = State::new(Some("/w/src".to_owned()));
        two.set("same", Value::Exact("a".to_owned()));
        two.set("number", Value::Exact("2".to_owned()));
        let joined = one.join(&two);
        assert_eq!(joined.get("same"), Some(&Value::Exact("a".to_owned())));
        assert_eq!(joined.get("number"), Some(&Value::Number));
        assert_eq!(joined.get("here"), Some(&Value::any()));
        assert_eq!(joined.folders, Some(vec!["/w".to_owned(), "/w/src".to_owned()]));
        assert_eq!(joined.folder(), None);
    }
}
