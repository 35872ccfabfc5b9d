//! Patterns of hosts: `example.org`, `*.example.org`, `*`. Called by `rule`.

use super::command::wildcard;

/// A pattern of a host's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostPattern(String);

impl HostPattern {
    /// Parses a pattern. Letter case and a dot at the end do not count.
    ///
    /// # Errors
    /// What to write, if it is no name of a host.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let host = normal(text.trim());
        let is_host = host.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '*' | ':' | '[' | ']'));
        if host.is_empty() || !is_host {
            return Err("after domain: comes the name of a host alone, such as domain:example.org".to_owned());
        }
        Ok(Self(host))
    }

    /// Whether a host fits. A `*` at the front is any number of labels, one at least; elsewhere it stays in its label.
    pub(crate) fn fits(&self, host: &str) -> bool {
        let host = normal(host);
        if self.0 == "*" {
            return !host.is_empty();
        }
        let (pattern, host) = match self.0.strip_prefix("*.") {
            None => (self.0.as_str(), host.as_str()),
            Some(parent) => {
                let labels = parent.split('.').count();
                let at = host.rmatch_indices('.').nth(labels - 1).map(|(at, _)| at).filter(|at| *at > 0);
                let Some(rest) = at.and_then(|at| host.get(at + 1..)) else { return false };
                (parent, rest)
            }
        };
        let (wanted, found) = (pattern.split('.'), host.split('.'));
        wanted.clone().count() == found.clone().count() && wanted.zip(found).all(|(label, name)| wildcard(label, name))
    }
}

fn normal(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_lowercase()
}
