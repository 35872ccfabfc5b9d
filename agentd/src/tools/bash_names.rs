//! Whether the names below a folder are plain, so that what one command of a line prints is taken by another for just
//! these names. Called by `bash_lines`. Looks names up and follows links, opens nothing but git's index.

use super::git_index::each_name;
use super::paths::{Place, is_inside, locate, resolve};
use super::tool::ToolContext;
use super::zones::{file_use, is_secret_pattern};
use crate::policy::Zone;
use crate::shell::{Access, Bare, Listed, Tracked};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Of more names than this it isn't asked whether they are plain.
const MAX_NAMES: usize = 20_000;
/// Beside letters and digits, what a plain name may hold.
const PLAIN: &str = "._-+@=,:%#~^()[]{}$&!";

/// Why the names can't be taken as they are, one sentence; `None` if they can.
pub(super) fn odd_name(listed: &Listed, context: &ToolContext) -> Option<String> {
    odd_among(listed, MAX_NAMES, context)
}

/// What is asked of a name.
#[derive(Clone, Copy)]
struct Asked {
    /// Whether it stands at the start of a word that a command gets, with no folder before it.
    starts: bool,
    /// Whether it is one word whatever it holds.
    whole: bool,
}

impl Asked {
    /// What is asked of a name right in the folder, and of one further down.
    fn of(listed: &Listed) -> (Self, Self) {
        let whole = listed.whole;
        (
            Self { starts: matches!(listed.bare, Bare::First | Bare::All), whole },
            Self { starts: listed.bare == Bare::All, whole },
        )
    }
}

fn odd_among(listed: &Listed, most: usize, context: &ToolContext) -> Option<String> {
    if let Some(hint) = listed.hints.iter().find(|hint| is_secret_pattern(&hint.replace(['\\', '^', '$'], ""))) {
        return Some(format!("`{hint}` chooses files that may hold secrets"));
    }
    let Ok(place) = locate(&listed.folder, context) else {
        return Some(format!("where {} leads is not known", listed.folder));
    };
    if !is_inside(&place.real, context) {
        return Some(format!("{} is not in the session's folders", listed.folder));
    }
    let mut left = most;
    if listed.bare == Bare::Options {
        let names = std::fs::read_dir(&place.real).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let option = names.into_iter().find(|name| name.as_bytes().starts_with(b"-"));
        return option.map(|name| format!("a command may take the name {name:?} for an option"));
    }
    let (first, later) = Asked::of(listed);
    let real = place.real;
    let mut folders = vec![(place.path, first)];
    while let Some((folder, asked)) = folders.pop() {
        let skips = |name: &OsStr| listed.tracked != Tracked::No && name == ".git";
        match in_folder(&folder, asked, &skips, &mut left, context) {
            Ok(more) => folders.extend(more.into_iter().map(|folder| (folder, later))),
            Err(why) => return Some(why),
        }
    }
    in_indexes(listed, &real, &mut left, context).err()
}

/// Whether the names are plain that git prints from the index of the repository in which the shell stands. Git passes
/// over a `.git` that it finds unusable, so those further up count too.
fn in_indexes(listed: &Listed, folder: &Path, left: &mut usize, context: &ToolContext) -> Result<(), String> {
    if listed.tracked == Tracked::No {
        return Ok(());
    }
    let cwd = resolve(&context.cwd).ok_or_else(|| "where the shell stands is not known".to_owned())?;
    for top in cwd.ancestors().filter(|top| top.join(".git").symlink_metadata().is_ok()) {
        let below = folder.strip_prefix(top).map_err(|_| format!("{} is in no repository", listed.folder))?;
        each_name(top, |name| {
            let told = Path::new(OsStr::from_bytes(name));
            let inner = told.strip_prefix(below).ok();
            let all = listed.tracked == Tracked::All;
            if inner.is_none() && !all {
                return Ok(());
            }
            *left = left.checked_sub(1).ok_or_else(too_many)?;
            let (first, later) = Asked::of(listed);
            let is_step = |step: &[u8]| !matches!(step, b"" | b"." | b"..");
            let plain = |path: &Path| {
                let mut steps = path.iter();
                steps.next().is_none_or(|step| is_plain(step, first)) && steps.all(|step| is_plain(step, later))
            };
            match name.split(|byte| *byte == b'/').all(is_step) && inner.is_none_or(plain) && (!all || plain(told)) {
                true => Ok(()),
                false => Err(format!("git may name {told:?}, which a command may take for something else")),
            }
        })?;
    }
    Ok(())
}

fn too_many() -> String {
    format!("there are more than {MAX_NAMES} names to look at")
}

/// The folders in a folder whose names are plain.
fn in_folder(
    folder: &Path,
    asked: Asked,
    skips: &dyn Fn(&OsStr) -> bool,
    left: &mut usize,
    context: &ToolContext,
) -> Result<Vec<PathBuf>, String> {
    if !folder.is_dir() {
        // A file, or nothing: then there is no name below it.
        return Ok(Vec::new());
    }
    let unread = |error: std::io::Error| format!("the names in {} can't be read: {error}", folder.display());
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let name = entry.file_name();
        if skips(&name) {
            continue;
        }
        *left = left.checked_sub(1).ok_or_else(too_many)?;
        if !is_plain(&name, asked) {
            return Err(format!("a command may take the name {:?} for something else", entry.path()));
        }
        let kind = entry.file_type().map_err(unread)?;
        if kind.is_symlink() && !leads_nowhere_else(&entry.path(), context) {
            return Err(format!("the link {} may lead to what is not read unasked", entry.path().display()));
        }
        if kind.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

/// Whether a name is one word for a shell and for `xargs`, and none that a program takes for more than a name, where
/// it stands in a word.
fn is_plain(name: &OsStr, asked: Asked) -> bool {
    let Some(name) = name.to_str() else { return false };
    let begins = |letter: char| letter.is_alphanumeric() || "._".contains(letter);
    // `.[.]` is a pattern that `..` matches.
    let leads_up = name.starts_with('.') && name.contains('[');
    let stays_whole = name.chars().all(|letter| letter.is_alphanumeric() || PLAIN.contains(letter)) && !leads_up;
    (asked.whole || stays_whole) && (!asked.starts || name.starts_with(begins) && !name.contains(['=', ':']))
}

fn leads_nowhere_else(link: &Path, context: &ToolContext) -> bool {
    let Some(real) = resolve(link) else { return false };
    let below = real.is_dir();
    let place = Place { path: link.to_owned(), real };
    matches!(file_use(&place, Access::Read, below, context).zone, Zone::Inside | Zone::System)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Scratch;
    use std::os::unix::fs::symlink;

    fn listed(folder: &Path) -> Listed {
        Listed {
            folder: folder.to_str().unwrap().to_owned(),
            hints: Vec::new(),
            tracked: Tracked::No,
            bare: Bare::First,
            whole: false,
        }
    }

    #[test]
    fn names_that_are_plain() {
        let scratch = Scratch::new();
        for name in ["a.rs", "src/[id]/(group)/+page.ts", ".hidden/x", "src/größe.txt", "node_modules/@a/b=c.js"] {
            scratch.write(name, "");
        }
        symlink("a.rs", scratch.path("inside")).unwrap();
        symlink("/usr/bin/env", scratch.path("system")).unwrap();
        let context = scratch.context();
        assert_eq!(odd_name(&listed(&context.root), &context), None);
        assert_eq!(odd_name(&listed(&scratch.path("a.rs")), &context), None);
        assert_eq!(odd_name(&listed(&scratch.path("none")), &context), None);
    }

    #[test]
    fn an_odd_name_is_named() {
        for name in [
            "x /home/u/.ssh/id",
            "a\tb",
            "a\nb",
            "a'b",
            "a\"b",
            "a\\b",
            "src/x y",
            "-o",
            "--files0-from=/etc/x",
            "!",
            "(",
            "~/x",
            "FS=x",
            "src/.[.]",
            "a\u{a0}b",
            "a*b",
        ] {
            let scratch = Scratch::new();
            scratch.write(name, "");
            let context = scratch.context();
            assert!(odd_name(&listed(&context.root), &context).is_some(), "{name:?}");
            let begins = ["-o", "!", "(", "~/x", "FS=x", "--files0-from=/etc/x"].contains(&name);
            let behind = Listed { bare: Bare::No, ..listed(&context.root) };
            assert_eq!(odd_name(&behind, &context).is_none(), begins, "{name:?} behind a folder");
        }
    }

    #[test]
    fn what_begins_no_word_may_begin_in_any_way() {
        for (name, first, all) in [("-x", true, true), ("src/-x", false, true), ("src/+page.ts", false, true)] {
            let scratch = Scratch::new();
            scratch.write(name, "");
            let context = scratch.context();
            for (bare, odd) in [(Bare::No, false), (Bare::First, first), (Bare::Options, first), (Bare::All, all)] {
                let listed = Listed { bare, ..listed(&context.root) };
                assert_eq!(odd_name(&listed, &context).is_some(), odd, "{name:?} {bare:?}");
            }
        }
        let scratch = Scratch::new();
        scratch.write("a b\n'", "");
        let context = scratch.context();
        let whole = Listed { whole: true, ..listed(&context.root) };
        assert_eq!(odd_name(&whole, &context), None, "it is not taken apart");
        scratch.write("--files0-from=x", "");
        assert!(odd_name(&whole, &context).is_some());
    }

    /// An index with entries of these names.
    fn index(names: &[&str]) -> Vec<u8> {
        let mut bytes = [&b"DIRC\0\0\0\x02"[..], &u32::try_from(names.len()).unwrap().to_be_bytes()].concat();
        for name in names {
            let entry = [&[0; 60][..], &u16::try_from(name.len()).unwrap().to_be_bytes(), name.as_bytes()].concat();
            bytes.extend(&entry);
            bytes.resize(bytes.len() + 8 - entry.len() % 8, 0);
        }
        bytes
    }

    #[test]
    fn what_git_may_name_need_not_be_on_disk() {
        let scratch = Scratch::new();
        scratch.write("sub/f", "");
        let context = scratch.context();
        let below = |folder: &str, tracked| {
            let listed = Listed { tracked, ..listed(&scratch.path(folder)) };
            odd_name(&listed, &context)
        };
        for (names, top, sub, all) in [
            (&["a.rs", "src/+x"][..], false, false, false),
            (&["a.rs", "-o"], true, false, true),
            (&["--files0-from=/etc/shadow"], true, false, true),
            (&["sub/-o"], false, true, true),
            (&["sub/x /etc/shadow"], true, true, true),
            (&["a b"], true, false, true),
            (&["../x"], true, false, true),
            (&["sub//x"], true, true, true),
        ] {
            scratch.write(".git/index", index(names));
            assert_eq!(below("", Tracked::No), None);
            assert_eq!(below("", Tracked::Below).is_some(), top, "{names:?}");
            assert_eq!(below("sub", Tracked::Below).is_some(), sub, "{names:?} below a folder");
            assert_eq!(below("sub", Tracked::All).is_some(), all, "{names:?} of the repository");
        }
        scratch.write(".git/index", "DIRC?");
        assert!(below("", Tracked::Below).is_some_and(|why| why.contains("not understood")));
    }

    #[test]
    fn a_link_counts_as_what_it_leads_to() {
        for target in ["/home", "/etc/shadow", ".env", "..", "loop"] {
            let scratch = Scratch::new();
            scratch.write("src/f", "");
            symlink(target, scratch.path("loop")).unwrap();
            let context = scratch.context();
            let why = odd_name(&listed(&context.root), &context);
            assert!(why.as_ref().is_some_and(|why| why.contains("loop")), "{target}: {why:?}");
            assert_eq!(odd_name(&listed(&scratch.path("src")), &context), None, "it is elsewhere");
        }
    }

    #[test]
    fn what_is_not_looked_at_is_not_taken_for_plain() {
        let scratch = Scratch::new();
        scratch.write(".git/x y", "");
        let context = scratch.context();
        let all = listed(&context.root);
        assert!(odd_name(&all, &context).is_some());
        assert_eq!(odd_name(&Listed { tracked: Tracked::Below, ..all.clone() }, &context), None);
        assert!(odd_name(&listed(Path::new("/usr")), &context).is_some());
        for hint in [".env", "*.pem", "id_rsa", "\\.env$"] {
            let listed = Listed { hints: vec![hint.to_owned()], tracked: Tracked::Below, ..all.clone() };
            assert!(odd_name(&listed, &context).is_some(), "{hint}");
        }
        for name in ["a/b", "c"] {
            scratch.write(name, "");
        }
        let tracked = Listed { tracked: Tracked::Below, ..all };
        assert_eq!(odd_among(&tracked, 3, &context), None);
        assert!(odd_among(&tracked, 2, &context).is_some_and(|why| why.contains("more than")));
    }
}
