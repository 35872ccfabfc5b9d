//! The environment of this process as a value, and the clock: the only places that read either.
//! Made once by `main` and handed down; tests make their own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::SystemTime;

/// Variables by name. Those that are not UTF-8 can't be sent and are left out.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The variables of this process.
    #[allow(clippy::disallowed_methods)] // the one place that reads them
    pub fn of_process() -> Self {
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// The value of a variable; an empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// All variables, as `session/create` takes them.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        self.0.clone()
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(variables: [(&str, &str); N]) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}

/// The time of day.
#[allow(clippy::disallowed_methods)] // the one place that reads the clock
pub fn now() -> SystemTime {
    SystemTime::now()
}
