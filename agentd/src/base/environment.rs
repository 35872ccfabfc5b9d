//! The environment of a process as a value. Taken once from agentd itself at start, or sent by a client
//! with `session/create`; nothing else in agentd reads variables.

use std::collections::BTreeMap;
use std::fmt;

/// Variables by name. Its debug form hides the values, since keys are among them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The variables of this process; those that are not UTF-8 are left out.
    #[must_use]
    #[allow(clippy::disallowed_methods)] // the one place that reads them
    pub fn of_process() -> Self {
        Self(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        )
    }

    /// The value of a variable; an empty one counts as unset.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The same with other variables over it.
    #[must_use]
    pub fn with(&self, others: &BTreeMap<String, String>) -> Self {
        let mut variables = self.0.clone();
        variables.extend(others.clone());
        Self(variables)
    }

    /// The same without some variables.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        Self(
            self.0
                .iter()
                .filter(|(name, _)| !names.contains(&name.as_str()))
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect(),
        )
    }

    /// All variables.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl From<BTreeMap<String, String>> for Environment {
    fn from(variables: BTreeMap<String, String>) -> Self {
        Self(variables)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}
