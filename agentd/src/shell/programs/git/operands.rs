//! Which paths the operands of a command of git name. Called by the judgement of git.

use super::super::super::analysis::Access;
use super::super::options::{Parsed, used};
use super::super::{Arg, PathArg};
use super::Operands;

/// Commands that show changes line by line unless an option says otherwise.
const PATCHES: &[&str] = &["git diff", "git show", "git range-diff"];
/// Commands that show changes line by line if an option says so.
const MAY_PATCH: &[&str] = &[
    "git log",
    "git whatchanged",
    "git reflog",
    "git reflog show",
    "git stash show",
    "git stash list",
    "git diff-tree",
    "git diff-index",
    "git diff-files",
];
/// Options that make changes be shown line by line.
const PATCH: &[&str] = &[
    "p",
    "u",
    "U",
    "W",
    "c",
    "cc",
    "dd",
    "patch",
    "unified",
    "function-context",
    "patch-with-raw",
    "patch-with-stat",
    "word-diff",
    "color-words",
    "binary",
];
/// Options that show something else in their place.
const NO_PATCH: &[&str] = &[
    "s",
    "no-patch",
    "raw",
    "numstat",
    "shortstat",
    "dirstat",
    "dirstat-by-file",
    "cumulative",
    "stat",
    "summary",
    "compact-summary",
    "name-only",
    "name-status",
    "check",
    "quiet",
];
/// How names of references begin that hold a slash.
const REFERENCES: &[&str] = &["origin/", "upstream/", "refs/", "heads/", "tags/", "remotes/"];

/// The paths that a command of this name uses.
pub(super) fn paths(name: &str, operands: Operands, parsed: &Parsed) -> Vec<PathArg> {
    let mut paths: Vec<PathArg> = parsed.files.iter().filter_map(|file| used(file, Access::Read)).collect();
    let (before, after) = parsed.operands.split_at_checked(parsed.before_end).unwrap_or_default();
    let mut all = parsed.operands.iter();
    match operands {
        Operands::Text => {}
        Operands::Compared if parsed.has(&["no-index"]) => {
            paths.extend(all.filter_map(|word| used(word, Access::Read)));
        }
        Operands::Compared => {
            paths.extend(before.iter().flat_map(|word| of_revision(word, Access::Read).into_iter().chain(begun(word))));
            paths.extend(after.iter().filter_map(|word| of_pattern(word, Access::Read)));
            let named = before.iter().any(|word| names_path(word) || begun(word).is_some());
            whole_unless(named, name, after, parsed, &mut paths);
        }
        Operands::Revisions(access) => {
            paths.extend(before.iter().flat_map(|word| of_revision(word, access)));
            paths.extend(after.iter().filter_map(|word| of_pattern(word, access)));
            paths.extend(parsed.values(&["L"]).flat_map(|lines| of_lines(lines, access)));
            let named = before.iter().any(names_path) || parsed.has(&["L"]);
            whole_unless(named, name, after, parsed, &mut paths);
        }
        Operands::Pattern => {
            let skipped = usize::from(!parsed.has(&["e", "f"]));
            let before = before.get(skipped..).unwrap_or_default();
            paths.extend(before.iter().flat_map(|word| of_revision(word, Access::Read)));
            paths.extend(after.iter().filter_map(|word| of_pattern(word, Access::Read)));
            whole_unless(before.iter().any(names_path), name, after, parsed, &mut paths);
        }
        Operands::Paths(access) => {
            paths.extend(parsed.operands.iter().filter_map(|word| of_pattern(word, access)));
            if !parsed.operands.is_empty() && all.all(excludes) {
                paths.push(PathArg::new(here(), access));
            }
        }
    }
    paths
}

/// Adds the whole folder where a command shows what is in files and names none of them.
fn whole_unless(named: bool, name: &str, after: &[Arg], parsed: &Parsed, paths: &mut Vec<PathArg>) {
    let patch = PATCHES.contains(&name) && !parsed.has(NO_PATCH)
        || (PATCHES.contains(&name) || MAY_PATCH.contains(&name)) && parsed.has(PATCH);
    if (patch || name == "git grep") && !named && after.iter().all(excludes) {
        paths.push(PathArg::new(here(), Access::Read));
    }
}

fn here() -> Arg {
    Arg::Literal(".".to_owned())
}

/// Whether a word before `--` is more likely a path than a revision, or names one in a revision.
fn names_path(word: &Arg) -> bool {
    let Arg::Literal(text) = word else { return false };
    if text.starts_with(':') {
        return !excludes(word) && !text.starts_with(":/");
    }
    if let Some((_, path)) = revision_and_path(text) {
        return !path.is_empty();
    }
    let mut letters = text.chars();
    let version = letters.next() == Some('v') && letters.next().is_some_and(|letter| letter.is_ascii_digit());
    let revision = version
        || text.contains(['~', '^', '@', '{'])
        || (text.contains("..") && !text.split('/').any(|part| part == ".."))
        || REFERENCES.iter().any(|begins| text.starts_with(begins));
    !revision && text.contains(['/', '.'])
}

/// The parts of `HEAD^{/a:b}:src`: a colon between braces belongs to the revision, as git reads it.
fn revision_and_path(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let colon = text.char_indices().find(|(_, letter)| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *letter == ':' && depth == 0
    });
    colon.and_then(|(at, _)| Some((text.get(..at)?, text.get(at + 1..)?)))
}

/// The paths in a word that is a revision, such as `HEAD:src`, or the word itself: git takes one that names no revision
/// for a path or a pattern, also before `--`. Of a word that isn't known to its end, only where it leads out of the
/// folder, and what surely is behind a revision.
fn of_revision(word: &Arg, access: Access) -> Vec<PathArg> {
    let (Arg::Literal(text) | Arg::One(text) | Arg::Many(text)) = word;
    let literal = matches!(word, Arg::Literal(_));
    let leads_out = text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..");
    let mut paths: Vec<PathArg> = leads_out.then(|| PathArg::new(word.clone(), access)).into_iter().collect();
    let within = revision_and_path(text.trim_start_matches(':')).map(|(_, path)| path);
    if literal && (text.starts_with(":(") || text.starts_with(':') && within.is_none()) {
        paths.extend(of_pattern(word, access));
    }
    let Some(path) = within.or_else(|| text.strip_prefix(':')) else {
        if literal && !leads_out && !text.is_empty() {
            paths.push(PathArg::new(word.clone(), access));
        }
        if literal && is_pattern(text) {
            paths.extend(of_pattern(word, access));
        }
        return paths;
    };
    if path.is_empty() || path.starts_with(['/', '(', '!', '^']) || (leads_out && !literal) {
        return paths;
    }
    let arg = match word {
        Arg::Literal(_) => Arg::Literal(path.to_owned()),
        Arg::One(_) => Arg::One(path.to_owned()),
        Arg::Many(_) => Arg::Many(path.to_owned()),
    };
    let found = PathArg::new(arg, access);
    if !paths.contains(&found) {
        paths.push(found);
    }
    paths
}

/// The path in `1,5:a.txt` or `:name:a.txt`, the lines of `-L`. A pattern among them and the path may hold colons.
fn of_lines(lines: &Arg, access: Access) -> Vec<PathArg> {
    let Arg::Literal(text) = lines else { return Vec::new() };
    let last = text.rfind(':');
    let behind = text.match_indices(':').filter_map(|(at, _)| Some((at, text.get(at + 1..)?)));
    behind
        .filter(|(at, path)| !path.is_empty() && (!path.starts_with('/') || Some(*at) == last))
        .map(|(_, path)| PathArg::new(Arg::Literal(path.to_owned()), access))
        .collect()
}

/// A word of which the beginning may be that of a path: no sign of a revision is in it, and it isn't the output of a
/// command that prints one, which is known to begin with a digit.
fn begun(word: &Arg) -> Option<PathArg> {
    let (Arg::One(text) | Arg::Many(text)) = word else { return None };
    let revision = text == "0" || text.contains(['~', '^', '@', '{', ':']) || text.contains("..");
    let leads_out = text.starts_with(['/', '~']);
    (!revision && !leads_out).then(|| PathArg::new(word.clone(), Access::Read))
}

/// Whether git takes a word for a pattern.
fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '\\'])
}

/// The signs in front of a pattern, in words, and what is behind them.
fn magic(text: &str) -> (&str, &str) {
    match text.strip_prefix(":(") {
        Some(magic) => magic.split_once(')').unwrap_or((magic, "")),
        None if text.starts_with(':') => {
            let plain = text.trim_start_matches([':', '!', '^', '/']);
            (text.strip_suffix(plain).unwrap_or(""), plain)
        }
        None => ("", text),
    }
}

/// Whether a pattern leaves out what it fits.
fn excludes(word: &Arg) -> bool {
    let Arg::Literal(text) = word else { return false };
    let (signs, _) = magic(text);
    match text.starts_with(":(") {
        true => signs.split(',').any(|sign| sign == "exclude"),
        false => signs.contains(['!', '^']),
    }
}

/// The path of a pattern that git expands: the folder before its first wildcard, without `:(…)`. None of one that only
/// leaves out.
fn of_pattern(word: &Arg, access: Access) -> Option<PathArg> {
    let Arg::Literal(text) = word else { return Some(PathArg::new(word.clone(), access)) };
    if excludes(word) {
        return None;
    }
    let (signs, plain) = magic(text);
    let folder = match plain.find(['*', '?', '[', '\\']) {
        Some(wildcard) => {
            plain.get(..wildcard).and_then(|fixed| fixed.rsplit_once('/')).map_or(".", |(folder, _)| folder)
        }
        None if text.starts_with(":(") && signs.contains("icase") => ".",
        None => plain,
    };
    let folder = if folder.is_empty() && !plain.starts_with('/') { "." } else { folder };
    Some(PathArg::new(Arg::Literal(folder.to_owned()), access))
}
