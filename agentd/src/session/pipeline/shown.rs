//! What a person is shown of a call that needs one: what it would do, and what is unusual in it. Pure but for the tool's
//! own preview, which is made elsewhere. Called by `person`.

use super::notes;
use super::permission::Decided;
use crate::policy::{Commands, Decision, FileUse, PartDecision, Places, Subject, Verdict, Zone};
use crate::shell::{Access, Class};
use proto::permission::{CommandPart, Preview};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The commands of a line, each with what was decided of it; `None` for a call that is no line.
pub(super) fn commands(decided: &Decided) -> Option<Preview> {
    let Subject::Commands(commands) = &decided.subject else { return None };
    let parts = whole(commands).into_iter().chain(decided.decision.parts.iter().map(part)).collect();
    Some(Preview::Command { command: commands.line.clone(), parts })
}

/// Whether a call is a single command that changes one file in the session's folders and nothing else.
pub(super) fn is_one_edit(decided: &Decided) -> bool {
    let Subject::Commands(commands) = &decided.subject else { return false };
    let [part] = commands.parts.as_slice() else { return false };
    let changed = part.files.iter().filter(|file| matches!(file.access, Access::Write | Access::Remove));
    let changed: Vec<&FileUse> = changed.collect();
    commands.refused.is_none()
        && part.class == Class::Edits
        && part.unknown_path.is_none()
        && matches!(changed.as_slice(), [file] if file.access == Access::Write && file.zone == Zone::Inside && !file.below)
}

/// A line that is not understood, as a whole.
fn whole(commands: &Commands) -> Option<CommandPart> {
    let why = commands.refused.as_ref()?;
    let why = format!("the line is not understood: {why}");
    Some(CommandPart { text: commands.line.clone(), class: "ask".to_owned(), why })
}

fn part(part: &PartDecision) -> CommandPart {
    let (class, why) = match (part.verdict, part.class) {
        (Verdict::Deny, _) => ("deny", &part.reason.detail),
        (Verdict::Allow, Class::ReadOnly) => ("readonly", &part.why),
        (_, Class::Edits) => ("edits", &part.reason.detail),
        (Verdict::Ask | Verdict::Allow, _) => ("ask", &part.reason.detail),
    };
    CommandPart { text: part.text.clone(), class: class.to_owned(), why: why.clone() }
}

/// What is unusual: in the texts of the input, and in where its paths lead.
pub(super) fn notes(input: &Value, subject: &Subject, places: &Places) -> Vec<String> {
    let files: Vec<&FileUse> = match subject {
        Subject::Files(files) => files.iter().collect(),
        Subject::Commands(commands) => commands.parts.iter().flat_map(|part| &part.files).collect(),
        Subject::Fields | Subject::Host(_) | Subject::Name(_) => Vec::new(),
    };
    let mut found = notes::of_input(input);
    for file in files {
        let note = format!("{} leads to {}", file.path.display(), file.real.display());
        if leads_elsewhere(file, places) && !found.contains(&note) {
            found.push(note);
        }
    }
    found
}

/// Whether a link on the way to a file leads somewhere else; not the way to the session's folder or to home, which
/// the person has chosen.
fn leads_elsewhere(file: &FileUse, places: &Places) -> bool {
    let below = |named: &Path, real: &Path| -> Option<PathBuf> {
        let inner = file.path.strip_prefix(named).ok().filter(|_| !named.as_os_str().is_empty())?;
        Some(if inner.as_os_str().is_empty() { real.to_owned() } else { real.join(inner) })
    };
    let expected = below(&places.folder, &places.real_folder).or_else(|| below(&places.home, &places.real_home));
    expected.as_deref().unwrap_or(&file.path) != file.real
}

/// Whether a decision is one that a rule for the session or for a folder would have made for the person.
pub(super) fn can_be_remembered(decision: &Decision) -> bool {
    use proto::permission::ReasonType;
    decision.verdict == Verdict::Ask && matches!(decision.reason.kind, ReasonType::Mode | ReasonType::Classifier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file(path: &str, real: &str) -> Subject {
        let (path, real) = (PathBuf::from(path), PathBuf::from(real));
        Subject::Files(vec![FileUse { path, real, below: false, access: Access::Write, zone: Zone::Inside }])
    }

    #[test]
    fn a_link_on_the_way_is_told_but_not_the_way_to_the_folder() {
        let places = Places {
            folder: "/w".into(),
            real_folder: "/disk/w".into(),
            home: "/home/me".into(),
            real_home: "/home/me".into(),
        };
        for (path, real, told) in [
            ("/w/a", "/disk/w/a", None),
            ("/w", "/disk/w", None),
            ("/w/a", "/disk/w/b", Some("/w/a leads to /disk/w/b")),
            ("/w/a", "/etc/passwd", Some("/w/a leads to /etc/passwd")),
            ("/home/me/x", "/home/me/x", None),
            ("/home/me/x", "/w/x", Some("/home/me/x leads to /w/x")),
            ("/tmp/x", "/tmp/x", None),
            ("/tmp/x", "/var/x", Some("/tmp/x leads to /var/x")),
        ] {
            assert_eq!(notes(&json!({}), &file(path, real), &places).first().map(String::as_str), told, "{path}");
        }
    }
}
