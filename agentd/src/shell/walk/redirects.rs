//! Redirections. Part of the walk.

use super::{Walk, Walked};
use crate::shell::analysis::{Access, Class, PathUse};
use crate::shell::ast::{Redirect, RedirectKind, Word};
use crate::shell::expand::Expanded;
use crate::shell::programs::Arg;

/// Devices that take what is written and keep nothing.
const SINKS: [&str; 3] = ["/dev/null", "/dev/stdout", "/dev/stderr"];
/// Names with which bash opens a connection.
const NETWORK: [&str; 2] = ["/dev/tcp", "/dev/udp"];

/// What a redirection does.
pub(super) struct Redirected {
    pub class: Class,
    pub paths: Vec<PathUse>,
}

impl Redirected {
    fn nothing() -> Self {
        Self { class: Class::ReadOnly, paths: Vec::new() }
    }
}

impl Walk<'_> {
    pub(super) fn redirect(&mut self, redirect: &Redirect) -> Walked<Redirected> {
        match &redirect.kind {
            RedirectKind::Here(body) => {
                self.walk_parts(body.get().map_or(&[], Vec::as_slice))?;
                Ok(Redirected::nothing())
            }
            RedirectKind::HereString(word) => {
                self.expand_one(word)?;
                Ok(Redirected::nothing())
            }
            RedirectKind::Read(word) => self.opened(word, Access::Read),
            RedirectKind::Write(word) => self.opened(word, Access::Write),
            RedirectKind::Duplicate { target, file } => self.duplicated(target, *file),
        }
    }

    fn duplicated(&mut self, target: &Word, file: bool) -> Walked<Redirected> {
        let text = target.text.as_str();
        let number = text.strip_suffix('-').unwrap_or(text);
        if number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Redirected::nothing());
        }
        if file {
            return self.opened(target, Access::Write);
        }
        self.expand_one(target)?;
        self.harm(format!("what `{text}` stands for in a redirection is not known"));
        Ok(Redirected::nothing())
    }

    fn opened(&mut self, word: &Word, access: Access) -> Walked<Redirected> {
        let mut words = self.expand(word)?;
        let target = match (words.pop(), words.is_empty()) {
            (Some(target), true) => target,
            _ => Expanded { text: word.text.clone(), ..Expanded::of(Arg::Many(String::new())) },
        };
        if target.pipe {
            return Ok(Redirected::nothing());
        }
        if may_connect(&target) {
            self.harm(format!("the redirection to or from `{}` may open a connection", word.text));
        }
        let known = target.exact();
        if access == Access::Read {
            let paths =
                if known == Some("/dev/null") { Vec::new() } else { self.uses_of_target(&target, word, access) };
            return Ok(Redirected { class: Class::ReadOnly, paths });
        }
        match known {
            Some(path) if SINKS.contains(&path) => Ok(Redirected::nothing()),
            Some(_) => Ok(Redirected { class: Class::Edits, paths: self.uses_of_target(&target, word, access) }),
            None => {
                self.harm(format!("which file the redirection to `{}` changes is not known", word.text));
                Ok(Redirected { class: Class::Unknown, paths: self.uses_of_target(&target, word, access) })
            }
        }
    }

    fn uses_of_target(&self, target: &Expanded, word: &Word, access: Access) -> Vec<PathUse> {
        self.uses(target, access, &word.text)
    }
}

/// Whether a target may be a name with which bash opens a connection.
fn may_connect(target: &Expanded) -> bool {
    match &target.arg {
        Arg::Literal(path) => NETWORK.iter().any(|name| path.starts_with(name)),
        // A pattern that begins elsewhere stays elsewhere.
        Arg::One(prefix) | Arg::Many(prefix) => {
            let elsewhere =
                !prefix.is_empty() && NETWORK.iter().all(|n| !n.starts_with(prefix.as_str()) && !prefix.starts_with(n));
            !(elsewhere || target.tame && prefix.is_empty())
        }
    }
}
