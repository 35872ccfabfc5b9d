//! Patterns of paths, as `.gitignore` files write them, with the starts that settings have: `//p` from the root, `~/p`
//! from home, `/p` from the settings' own folder, `p` from the session's. Called by `rule`. Opens nothing.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Path, PathBuf};
use unicode_normalization::UnicodeNormalization as _;

/// A name that no pattern gives by chance: what is allowed for it is allowed for every name.
const ANY_NAME: &str = "\u{1}any\u{1}";

/// Where a pattern starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// `//p`: the root of the file system.
    Root,
    /// `~/p`: home.
    Home,
    /// `/p`: the folder of the settings that say so.
    Source,
    /// `p` and `./p`: the session's folder.
    Folder,
}

/// Which way a pattern is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// To widen: to the letter, and of both the path as written and where it leads.
    Widen,
    /// To tighten: whatever the letter case and the form of letters, and of either of the two.
    Tighten,
}

/// A pattern of a path.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    negated: bool,
    start: Start,
    /// How many folders above its start it begins: `../p`.
    above: usize,
    widen: Gitignore,
    tighten: Gitignore,
    /// The folders before its first wildcard, below its start; empty where it speaks of any depth.
    fixed: PathBuf,
}

impl PathPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let (start, rest) = if let Some(rest) = text.strip_prefix("//") {
            (Start::Root, rest)
        } else if let Some(rest) = text.strip_prefix("~/") {
            (Start::Home, rest)
        } else if text == "~" {
            (Start::Home, "")
        } else if text.starts_with('~') {
            return Err("write the whole path in place of another person's home, as in //home/name/**".to_owned());
        } else if let Some(rest) = text.strip_prefix('/') {
            (Start::Source, rest)
        } else {
            (Start::Folder, text)
        };
        let (above, rest, anchored) = without_dots(rest);
        let anchored = anchored || start != Start::Folder;
        if rest.split('/').any(|part| part == "..") {
            return Err("`..` can only stand at the start of a path; write the path without it".to_owned());
        }
        let rest = if rest.is_empty() || rest == "/" { "**" } else { rest };
        let (widen, tighten) = (line(rest, anchored, Use::Widen), line(&loose(rest), anchored, Use::Tighten));
        let fixed = fixed(&tighten);
        Ok(Self { negated, start, above, widen: compiled(&widen)?, tighten: compiled(&tighten)?, fixed })
    }

    /// Whether it takes paths out of what the rules before it speak of: `!p`.
    pub(crate) fn is_negated(&self) -> bool {
        self.negated
    }

    /// Where it starts.
    pub(crate) fn start(&self) -> Start {
        self.start
    }

    /// Whether it may speak of something below a folder.
    pub(crate) fn may_speak_below(&self, folder: &Path, base: &Path) -> bool {
        let loosely = |path: &Path| PathBuf::from(loose(&path.to_string_lossy()));
        let (folder, place) = (loosely(folder), loosely(&self.above(base)).join(&self.fixed));
        folder.starts_with(&place) || place.starts_with(&folder)
    }

    fn above(&self, base: &Path) -> PathBuf {
        base.ancestors().nth(self.above).unwrap_or(Path::new("/")).to_owned()
    }

    /// Whether it speaks of a path, or, with `below`, of what is below it: of anything there to widen, of something to
    /// tighten. `base` is the folder that it starts from.
    pub(crate) fn speaks_of(&self, path: &Path, below: bool, base: &Path, way: Use) -> bool {
        let base = self.above(base);
        match way {
            Use::Widen => {
                let Some(inner) = path.strip_prefix(&base).ok().filter(|inner| inner.to_str().is_some()) else {
                    return false;
                };
                let is_dir = below;
                match below {
                    // What it says of the folder does not matter: whatever is in it has to be spoken of.
                    true => named(&self.widen, &inner.join(ANY_NAME).join(ANY_NAME), is_dir),
                    false => named(&self.widen, inner, is_dir),
                }
            }
            Use::Tighten => {
                let (path, base) = (loose(&path.to_string_lossy()), loose(&base.to_string_lossy()));
                let Ok(inner) = Path::new(&path).strip_prefix(&base) else { return false };
                named(&self.tighten, inner, true) || named(&self.tighten, &inner.join(ANY_NAME), false)
            }
        }
    }
}

/// The folders that a line names to the letter before its first wildcard. One without a slash within is at any depth.
fn fixed(line: &str) -> PathBuf {
    let anchored = line.trim_end_matches('/').contains('/');
    let parts = line.split('/').filter(|part| !part.is_empty() && anchored);
    parts.take_while(|part| !part.contains(['*', '?', '[', '{', '\\'])).collect()
}

fn named(pattern: &Gitignore, inner: &Path, is_dir: bool) -> bool {
    !inner.as_os_str().is_empty() && pattern.matched_path_or_any_parents(inner, is_dir).is_ignore()
}

/// A text in which letter case and the form of letters do not count: as file systems that ignore them see it, and as
/// people do who are shown a wide letter.
fn loose(text: &str) -> String {
    text.nfkc().collect::<String>().to_lowercase().nfkc().collect()
}

/// A pattern without `./` and `../` at its start; whether there was such a start.
fn without_dots(mut rest: &str) -> (usize, &str, bool) {
    let (mut above, mut anchored) = (0, false);
    loop {
        if let Some(next) = rest.strip_prefix("../") {
            (rest, above, anchored) = (next, above + 1, true);
        } else if let Some(next) = rest.strip_prefix("./") {
            (rest, anchored) = (next, true);
        } else if rest == "." || rest == ".." {
            return (above + usize::from(rest == ".."), "", true);
        } else {
            return (above, rest, anchored);
        }
    }
}

/// The pattern as a line of a `.gitignore`. A folder's name alone, as in `src/**`, is anywhere to tighten, and in the
/// session's folder to widen.
fn line(rest: &str, anchored: bool, way: Use) -> String {
    let folder = ["/**", "/*", "/"].iter().find_map(|end| rest.strip_suffix(end)).filter(|name| !name.contains('/'));
    match (anchored, folder, way) {
        (true, ..) | (false, Some(_), Use::Widen) => format!("/{rest}"),
        (false, Some(name), Use::Tighten) if name != "**" => format!("**/{rest}"),
        (false, ..) if rest.starts_with(['#', '!']) => format!("\\{rest}"),
        (false, ..) => rest.to_owned(),
    }
}

fn compiled(line: &str) -> Result<Gitignore, String> {
    let mut builder = GitignoreBuilder::new(PathBuf::new());
    let added = builder.allow_unclosed_class(false).add_line(None, line).map(|_| ());
    added.and_then(|()| builder.build()).map_err(|error| format!("its path is not understood: {error}"))
}
