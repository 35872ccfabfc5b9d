//! Whether the names below a folder are plain, so that what one command of a line prints is taken by another for just
//! these names. Called by `bash_lines`. Looks names up and follows links, opens nothing.

use super::paths::{Place, is_inside, locate, resolve};
use super::tool::ToolContext;
use super::zones::{file_use, is_secret_pattern};
use crate::policy::Zone;
use crate::shell::{Access, Listed};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Of more names than this it isn't asked whether they are plain.
const MAX_NAMES: usize = 20_000;
/// Beside letters and digits, what a plain name may hold.
const PLAIN: &str = "._-+@=,:%#~^()[]{}$&!";

/// Why the names can't be taken as they are, one sentence; `None` if they can.
pub(super) fn odd_name(listed: &Listed, context: &ToolContext) -> Option<String> {
    odd_among(listed, MAX_NAMES, context)
}

/// Where a name stands in the words that a command gets.
#[derive(Clone, Copy)]
enum At {
    /// At the start.
    Start,
    /// Behind a folder, or alone, as `ls` lists what is in several folders.
    Unsure,
    /// Behind a folder.
    Inside,
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
    let (first, later) = if listed.bare { (At::Start, At::Unsure) } else { (At::Inside, At::Inside) };
    let mut folders = vec![(place.path, first)];
    while let Some((folder, at)) = folders.pop() {
        let skips = |name: &OsStr| listed.tracked && name == ".git";
        match in_folder(&folder, at, &skips, &mut left, context) {
            Ok(more) => folders.extend(more.into_iter().map(|folder| (folder, later))),
            Err(why) => return Some(why),
        }
    }
    None
}

/// The folders in a folder whose names are plain.
fn in_folder(
    folder: &Path,
    at: At,
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
        *left = left.checked_sub(1).ok_or_else(|| format!("there are more than {MAX_NAMES} names to look at"))?;
        if !is_plain(&name, at) {
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
fn is_plain(name: &OsStr, at: At) -> bool {
    let Some(name) = name.to_str() else { return false };
    let begins = |letter: char| letter.is_alphanumeric() || "._".contains(letter);
    // `.[.]` is a pattern that `..` matches.
    let leads_up = name.starts_with('.') && name.contains('[');
    name.chars().all(|letter| letter.is_alphanumeric() || PLAIN.contains(letter))
        && !leads_up
        && match at {
            At::Start => name.starts_with(begins) && !name.contains(['=', ':']),
            At::Unsure => !name.starts_with('-'),
            At::Inside => true,
        }
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
        Listed { folder: folder.to_str().unwrap().to_owned(), hints: Vec::new(), tracked: false, bare: true }
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
            "src/-x",
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
            let begins = ["-o", "src/-x", "!", "(", "~/x", "FS=x", "--files0-from=/etc/x"].contains(&name);
            let behind = Listed { bare: false, ..listed(&context.root) };
            assert_eq!(odd_name(&behind, &context).is_none(), begins, "{name:?} behind a folder");
        }
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
        assert_eq!(odd_name(&Listed { tracked: true, ..all.clone() }, &context), None);
        assert!(odd_name(&listed(Path::new("/usr")), &context).is_some());
        for hint in [".env", "*.pem", "id_rsa", "\\.env$"] {
            let listed = Listed { hints: vec![hint.to_owned()], tracked: true, ..all.clone() };
            assert!(odd_name(&listed, &context).is_some(), "{hint}");
        }
        for name in ["a/b", "c"] {
            scratch.write(name, "");
        }
        let tracked = Listed { tracked: true, ..all };
        assert_eq!(odd_among(&tracked, 3, &context), None);
        assert!(odd_among(&tracked, 2, &context).is_some_and(|why| why.contains("more than")));
    }
}
