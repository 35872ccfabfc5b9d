//! Paths that commands use, as absolute texts. Part of the walk.

use super::Walk;
use crate::shell::analysis::{Access, PathUse};
use crate::shell::expand::Expanded;
use crate::shell::programs::{Arg, PathArg};

/// The words of a command that are looked at for names of files.
const NAMING_WORDS: usize = 64;
/// No name of a file is longer, in bytes (`PATH_MAX` of Linux).
const LONGEST_NAME: usize = 4096;

impl Walk<'_> {
    /// What the known words of a command may name, the program itself left out.
    pub(super) fn named(&self, words: &[Expanded]) -> Vec<PathUse> {
        let known = words.iter().skip(1).take(NAMING_WORDS).filter_map(Expanded::exact);
        let mut names: Vec<&str> = known.flat_map(names_in).collect();
        names.sort_unstable();
        names.dedup();
        let use_of = |name: &str| self.uses(&Expanded::literal(name), Access::Read, name);
        names.into_iter().flat_map(use_of).collect()
    }

    /// The uses that a path of a command stands for: one for each folder in which the shell may be.
    pub(super) fn uses_of(&self, words: &[Expanded], path: &PathArg) -> Vec<PathUse> {
        let follows = path.follows;
        self.uses_alike(words, path).into_iter().map(|used| PathUse { follows, ..used }).collect()
    }

    fn uses_alike(&self, words: &[Expanded], path: &PathArg) -> Vec<PathUse> {
        // Of words that are known no better than one another, it isn't known which one the path is.
        let alike = || words.iter().filter(|word| word.is(&path.arg));
        let word = alike().next();
        if word.is_some() && alike().all(|word| word.pipe) {
            return Vec::new();
        }
        let (Arg::Literal(text) | Arg::One(text) | Arg::Many(text)) = &path.arg;
        let Some(word) = word else { return self.uses(&Expanded::of(path.arg.clone()), path.access, text) };
        // One of them may be what another one is not.
        let common = Expanded {
            tame: alike().all(|word| word.tame),
            solid: alike().all(|word| word.solid),
            pattern: word.pattern.clone().filter(|_| alike().all(|other| other.pattern == word.pattern)),
            ..word.clone()
        };
        self.uses(&common, path.access, &word.text)
    }

    pub(super) fn uses(&self, word: &Expanded, access: Access, text: &str) -> Vec<PathUse> {
        let Expanded { arg, tame, solid, .. } = word;
        let text = word.pattern.as_deref().filter(|_| *tame).unwrap_or(text);
        let made = |path: Option<String>, below: Option<&str>| {
            let from = below.map_or(0, str::len);
            let pattern = word.pattern.as_ref().filter(|_| below.is_some()).and_then(|pattern| pattern.get(from..));
            let (pattern, text) = (pattern.map(str::to_owned), text.to_owned());
            PathUse { path, below: below.is_some(), access, text, pattern, solid: *solid, follows: false }
        };
        let (start, below) = match arg {
            Arg::Literal(path) => (path.as_str(), None),
            Arg::One(prefix) | Arg::Many(prefix) if *tame => {
                // The folder that surely is before what is not known.
                let folder = prefix.rfind('/').map_or("", |at| prefix.get(..=at).unwrap_or(""));
                (folder, Some(folder))
            }
            _ => return vec![made(None, None)],
        };
        if start.starts_with('/') {
            return vec![made(Some(absolute("", start)), below)];
        }
        match &self.state.folders {
            Some(folders) => folders.iter().map(|folder| made(Some(absolute(folder, start)), below)).collect(),
            None => vec![made(None, None)],
        }
    }
}

/// What a word may name: itself, and what is behind the letter of an option, `=`, `@`, or between colons and commas.
fn names_in(word: &str) -> Vec<&str> {
    let behind = word.split_once('=').map(|(_, value)| value);
    let attached = word.get(2..).filter(|_| word.starts_with('-') && !word.starts_with("--"));
    let whole = [Some(word), behind, attached].into_iter().flatten();
    let parts = whole.flat_map(|name| std::iter::once(name).chain(name.split([':', ',', '@'])));
    parts.filter(|name| !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains('\0')).collect()
}

/// A path in a folder, without `.` and doubled slashes; `..` stays.
pub(super) fn absolute(folder: &str, path: &str) -> String {
    let mut whole = folder.trim_end_matches('/').to_owned();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        whole.push('/');
        whole.push_str(part);
    }
    if whole.is_empty() { "/".to_owned() } else { whole }
}

/// Where `cd` leads by text: `..` takes the folder before it away.
pub(super) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::{World, analyse};

    #[test]
    fn words_of_what_may_do_anything_name_files() {
        for (line, names) in [
            ("tar xf a.tgz -C.git", vec!["-C.git", ".git", "a.tgz", "xf"]),
            ("dd if=a of=.envrc", vec![".envrc", "a", "if=a", "of=.envrc"]),
            ("curl -d @.env x", vec!["-d", ".env", "@.env", "x"]),
            ("docker run -v /a:/b:ro", vec!["-v", "/a", "/a:/b:ro", "/b", "ro", "run"]),
            ("make \"$x\" b", vec!["b"]),
            ("ls a", vec![]),
        ] {
            let analysis = analyse(line, World { cwd: "/w", home: "/h" });
            let named: Vec<&str> = analysis.commands.iter().flat_map(|c| &c.named).map(|n| n.text.as_str()).collect();
            assert_eq!(named, names, "{line}");
        }
    }

    #[test]
    fn what_a_command_runs_may_be_hidden() {
        let hidden =
            |line: &str| analyse(line, World { cwd: "/w", home: "/h" }).commands.iter().any(|command| command.hidden);
        for line in
            ["$(echo rm) a", "/b?n/rm a", "x=rm; $x a", "eval \"$x\"", "sh -c \"$x\"", "/bin/bash -ec \"$x\" -c"]
        {
            assert!(hidden(line), "{line}");
        }
        for line in ["rm a", "make \"$x\"", "eval 'rm a'", "sh build.sh \"$x\"", "ls $x", "'rm' a"] {
            assert!(!hidden(line), "{line}");
        }
    }

    #[test]
    fn paths_are_joined_by_text() {
        for (folder, path, expected) in [
            ("/w", "a", "/w/a"),
            ("/w", "./a//b", "/w/a/b"),
            ("/w", "../a", "/w/../a"),
            ("/", "a", "/a"),
            ("", "/", "/"),
            ("/w", "", "/w"),
        ] {
            assert_eq!(absolute(folder, path), expected);
        }
        assert_eq!(normal("/w/src/../a/./b"), "/w/a/b");
        assert_eq!(normal("/../.."), "/");
    }

    /// The path of each use on a line; `None` if it can't be known.
    fn used(line: &str) -> Vec<Option<String>> {
        let analysis = analyse(line, World { cwd: "/w", home: "/h" });
        analysis.commands.into_iter().flat_map(|command| command.paths).map(|path| path.path).collect()
    }

    #[test]
    fn a_word_gets_nothing_of_another_that_looks_like_it() {
        let here = Some("/w".to_owned());
        assert_eq!(used("cat *.txt"), std::slice::from_ref(&here));
        assert_eq!(used("for f in *; do cat \"$f\" \"$f\"; done"), [here.clone(), here]);
        assert_eq!(used("for f in *; do cat \"$f\" \"$x\"; done"), [None, None]);
        assert_eq!(used("cat *.txt $x"), [None, None]);
        assert_eq!(used("xargs cat *.txt"), [None, None]);
        assert_eq!(used("for f in *; do xargs -I{} cat \"$f\" {}; done"), [None, None]);
    }

    #[test]
    fn awk_reads_names_in_the_folder_but_no_network_address() {
        let read_only = |line| analyse(line, World { cwd: "/w", home: "/h" }).is_read_only();
        for line in [
            "awk 1 *.csv",
            "/usr/bin/gawk 1 *",
            "for f in *.txt; do awk 1 \"$f\"; done",
            "mawk 1 \"$x\"",
            "awk -F \"$x\" 1 a",
            "find . -exec awk 1 {} +",
        ] {
            assert!(read_only(line), "{line}");
        }
        for line in [
            "awk 1 \"$x\"",
            "/usr/bin/gawk 1 $x",
            "awk 1 *.csv $x",
            "xargs awk 1",
            "xargs awk 1 *.csv",
            "for f in *; do xargs -I{} awk 1 {} \"$f\"; done",
            "for f in $(cat x); do awk 1 \"$f\"; done",
            "for f in *; do awk 1 \"/$f\"; done",
            "while read -r f; do awk 1 \"$f\"; done",
            "find / -exec awk 1 {} +",
            "awk 1 /in*",
            "awk 1 /inet/tcp/0/192.0.2.1/80",
            "env gawk 1 \"$x\"",
            "find \"$x\" -exec awk 1 {} +",
        ] {
            assert!(!read_only(line), "{line}");
        }
    }
}
