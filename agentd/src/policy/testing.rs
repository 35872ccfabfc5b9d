//! What tests share: rules of one source, and the folders of a session.

use super::{Places, Rule, Source, SourceKind, SourcedRule};

/// Rules of the project's settings in `/w`.
pub(crate) fn rules(texts: &[&str]) -> Vec<SourcedRule> {
    texts.iter().map(|text| rule(text, SourceKind::Project)).collect()
}

/// A rule of settings in `/w`.
pub(crate) fn rule(text: &str, kind: SourceKind) -> SourcedRule {
    let file = Some(format!("/w/.claude/{}.json", kind.name()).into());
    SourcedRule { rule: Rule::parse(text).unwrap(), source: Source { kind, file, base: "/w".into() } }
}

/// A session in `/w` of somebody whose home is `/home/me`.
pub(crate) fn places() -> Places {
    Places { folder: "/w".into(), real_folder: "/w".into(), home: "/home/me".into(), real_home: "/home/me".into() }
}
