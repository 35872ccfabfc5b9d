//! Where `cp` and `mv` put things: into a folder under the name that they had, and a folder with all that is in it. What
//! ends up at a protected path counts as written there. Called by `bash_lines`. Looks names up, opens nothing.

use super::tool::ToolContext;
use super::zones::{command_use, is_protected, takes_hidden};
use crate::policy::{FileUse, Zone};
use crate::shell::{Access, Class, Command, PathUse};
use std::collections::VecDeque;
use std::path::PathBuf;

/// Entries that are looked at for one command. Beyond it, it is not known what is moved.
const MAX_ENTRIES: usize = 4096;

/// What `cp` or `mv` writes beyond the paths that it names.
pub(super) fn placed(command: &Command, context: &ToolContext) -> Vec<FileUse> {
    let puts = |form: &String| matches!(form.split(' ').next(), Some("cp" | "mv"));
    if command.class != Class::Edits || !command.forms.iter().any(puts) {
        return Vec::new();
    }
    let all = || command.paths.iter().filter_map(|used| Some((used, found(used, context)?)));
    let sources: Vec<(&PathUse, FileUse)> =
        all().filter(|(_, file)| matches!(file.access, Access::Read | Access::Remove)).collect();
    let mut left = MAX_ENTRIES;
    let mut written = Vec::new();
    for (_, target) in all().filter(|(_, file)| file.access == Access::Write) {
        for (used, source) in &sources {
            written.extend(of_one(used, source, &target, context));
            match holds(used, source, &target, &mut left) {
                Holds::Nothing => {}
                Holds::Protected(inner) => {
                    let (path, real) = (target.path.join(&inner), target.real.join(&inner));
                    written.push(FileUse { path, real, zone: Zone::Protected, ..target.clone() });
                }
                Holds::TooMuch => written.push(FileUse { zone: Zone::Outside, ..target.clone() }),
            }
        }
    }
    written
}

fn found(used: &PathUse, context: &ToolContext) -> Option<FileUse> {
    command_use(used.path.as_deref()?, &used.text, used.access, used.below, context)
}

/// One named file or folder, if the target is a folder.
fn of_one(used: &PathUse, source: &FileUse, target: &FileUse, context: &ToolContext) -> Option<FileUse> {
    let name = source.path.file_name().filter(|_| !used.below && target.real.is_dir())?;
    let path = target.path.join(name);
    command_use(path.to_str()?, "", Access::Write, false, context)
}

/// What is protected among what a source holds.
enum Holds {
    Nothing,
    Protected(PathBuf),
    TooMuch,
}

fn holds(used: &PathUse, source: &FileUse, target: &FileUse, left: &mut usize) -> Holds {
    if !source.real.is_dir() {
        return Holds::Nothing;
    }
    let pattern = used.below.then(|| used.text.rsplit('/').next().unwrap_or_default());
    let mut folders = VecDeque::from([(source.real.clone(), PathBuf::new())]);
    while let Some((folder, inner)) = folders.pop_front() {
        // What can't be listed can't be copied either.
        let Ok(entries) = folder.read_dir() else { continue };
        let is_top = inner.as_os_str().is_empty();
        for entry in entries.flatten() {
            let name = entry.file_name();
            if is_top && pattern.is_some_and(|pattern| !may_name(pattern, &name.to_string_lossy())) {
                continue;
            }
            let Some(fewer) = left.checked_sub(1) else { return Holds::TooMuch };
            *left = fewer;
            let inner = inner.join(&name);
            if is_protected(&target.path.join(&inner)) {
                return Holds::Protected(inner);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push_back((entry.path(), inner));
            }
        }
    }
    Holds::Nothing
}

/// Whether a pattern may stand for a name, by its beginning alone: hidden names are named by a dot only.
fn may_name(pattern: &str, name: &str) -> bool {
    let pattern = pattern.replace(['"', '\''], "");
    let beginning = pattern.split(['*', '?', '[', '{', '\\', '$']).next().unwrap_or_default();
    name.starts_with(beginning) && (!name.starts_with('.') || takes_hidden(&pattern))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Verdict::{self, Allow, Ask};
    use crate::policy::testing::rules;
    use crate::policy::{Call, OwnCheck, Policy, Rules, decide};
    use crate::tools::Tool as _;
    use crate::tools::testing::Scratch;
    use proto::session::Mode;
    use serde_json::json;

    fn outcome(scratch: &Scratch, line: &str, deny: &[&str]) -> Verdict {
        let context = scratch.context();
        let bash = crate::tools::bash::Bash::default();
        let input = json!({"command": line});
        let subject = bash.subject(&input, &context);
        let mut deny = rules(deny);
        deny.iter_mut().for_each(|rule| rule.source.base.clone_from(&context.root));
        let rules = Rules { deny, ..Rules::default() };
        let places = crate::tools::places(&context.root, &context.env);
        let policy = Policy { mode: Mode::AcceptEdits, rules: rules.into(), places, ..Policy::default() };
        let own = OwnCheck::Reads("x".to_owned());
        decide(&policy, Call::new("Bash", &input, &subject, &own)).verdict
    }

    /// Row P06: a file that gets to a protected path by its own name, or in a folder that is copied or moved, is
    /// written there as if it were named.
    #[test]
    fn what_is_copied_counts_where_it_ends_up() {
        let scratch = Scratch::new();
        for name in [
            "kit/.envrc",
            "kit/.claude/settings.json",
            "kit/a",
            "kit/lefthook.yml",
            "deep/er/.husky/x",
            "plain/a.txt",
            "docs/x",
            ".git/config",
        ] {
            scratch.write(name, "");
        }
        std::os::unix::fs::symlink("../.git/config", scratch.path("docs/a.txt")).unwrap();
        for (line, verdict) in [
            ("cp kit/.envrc .", Ask),
            ("cp kit/.envrc docs", Ask),
            ("cp -t docs kit/a kit/.envrc", Ask),
            ("cp kit/lefthook.yml .", Ask),
            ("cp kit/left* .", Ask),
            ("cp -r kit/. .", Ask),
            ("cp -rT kit .", Ask),
            ("cp -r kit new", Ask),
            ("mv kit new", Ask),
            ("cp -r deep/. .", Ask),
            ("mv deep docs", Ask),
            ("cp -r kit/* docs", Ask),
            ("cp plain/a.txt docs", Ask), // there is a link of that name
            ("cp kit/a docs", Allow),
            ("cp kit/a* docs", Allow),
            ("cp -r plain new", Allow),
            ("mv plain docs", Allow),
            ("cp kit/a b", Allow),
            ("/bin/cp kit/.envrc .", Ask),
            ("timeout 5 cp kit/.envrc .", Ask),
            ("grep -r x . > out", Allow),
        ] {
            assert_eq!(outcome(&scratch, line, &[]), verdict, "{line}");
        }
    }

    #[test]
    fn a_deny_rule_speaks_of_what_is_put_into_a_folder() {
        let scratch = Scratch::new();
        scratch.write("a", "");
        scratch.write("docs/x", "");
        assert_eq!(outcome(&scratch, "cp a docs", &["Edit(docs/a)"]), Verdict::Deny);
        assert_eq!(outcome(&scratch, "mv a docs/", &["Edit(docs/a)"]), Verdict::Deny);
        assert_eq!(outcome(&scratch, "cp a docs", &["Edit(docs/b)"]), Allow);
    }

    #[test]
    fn a_folder_that_is_too_large_to_look_through_is_asked_about() {
        let scratch = Scratch::new();
        for number in 0..=MAX_ENTRIES {
            scratch.write(&format!("many/{number}"), "");
        }
        assert_eq!(outcome(&scratch, "cp -r many new", &[]), Ask);
    }
}
