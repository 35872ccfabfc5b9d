//! `find`: its expression, word by word, and the command that it runs for what it finds. Called by the dispatch.

use super::super::analysis::{Access, Class, Doing};
use super::options::{refused, shown, used};
use super::{Arg, Judgement, Known, PathArg, Program, code};

/// From the manual of GNU findutils 4.10, with the words of BSD's find that mean the same.
pub(super) const PROGRAMS: &[Program] = &[code("find gfind", judge)];

/// Words of an expression that stand alone.
const ALONE: &[&str] = &[
    "!",
    "(",
    ")",
    ",",
    "-a",
    "-and",
    "-d",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-follow",
    "-help",
    "--help",
    "-ignore_readdir_race",
    "-ls",
    "-mount",
    "-nogroup",
    "-noignore_readdir_race",
    "-noleaf",
    "-not",
    "-nouser",
    "-nowarn",
    "-o",
    "-or",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-version",
    "--version",
    "-warn",
    "-writable",
    "-xdev",
];

/// Words of an expression that take the next word, whatever it is.
const WITH_VALUE: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-context",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-xtype",
];

/// Words of an expression that take a path of which they look at the times or the inode.
const WITH_PATH: &[&str] = &["-anewer", "-cnewer", "-newer", "-samefile"];

fn judge(name: &str, args: &[Arg]) -> Judgement {
    let mut line = Line { name, words: args, paths: Vec::new(), runs: None };
    let judged = line.starts().and_then(|starts| line.expression(&starts).map(|()| starts));
    let starts = match judged {
        Ok(starts) => starts,
        Err(why) => return Judgement::Unknown(why),
    };
    let mut paths: Vec<PathArg> = starts.iter().map(|start| PathArg::new(start.clone(), Access::Look)).collect();
    paths.append(&mut line.paths);
    let does = Known { class: Class::ReadOnly, doing: Doing::Search, paths };
    match line.runs {
        Some(argv) => Judgement::Runs { argv, does },
        None => Judgement::Known(does),
    }
}

struct Line<'a> {
    name: &'a str,
    /// What was not read yet.
    words: &'a [Arg],
    paths: Vec<PathArg>,
    /// The command of `-exec`.
    runs: Option<Vec<Arg>>,
}

impl<'a> Line<'a> {
    fn next(&mut self) -> Option<&'a Arg> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// Reads the options in front and the start points.
    fn starts(&mut self) -> Result<Vec<Arg>, String> {
        let mut starts = Vec::new();
        while let Some(Arg::Literal(option)) = self.words.first()
            && (matches!(option.as_str(), "-H" | "-L" | "-P" | "-E" | "-X" | "-x" | "--") || is_level(option))
        {
            self.next();
        }
        while let Some(word) = self.words.first() {
            match word {
                Arg::Literal(text) if begins_expression(text) => break,
                Arg::Literal(_) => {}
                Arg::One(prefix) | Arg::Many(prefix)
                    if prefix.is_empty() || prefix == "-" || begins_expression(prefix) =>
                {
                    return Err(refused(self.name, word));
                }
                Arg::One(_) | Arg::Many(_) => {}
            }
            starts.extend(self.next().cloned());
        }
        if starts.is_empty() {
            starts.push(Arg::Literal(".".to_owned()));
        }
        Ok(starts)
    }

    fn expression(&mut self, starts: &[Arg]) -> Result<(), String> {
        while let Some(word) = self.next() {
            let Arg::Literal(text) = word else { return Err(refused(self.name, word)) };
            let test = text.as_str();
            if ALONE.contains(&test) {
                continue;
            }
            if WITH_VALUE.contains(&test) {
                self.value(test)?;
            } else if WITH_PATH.contains(&test) {
                let path = self.value(test)?;
                self.paths.extend(used(path, Access::Look));
            } else if let Some(newer) = test.strip_prefix("-newer") {
                self.newer(newer, word)?;
            } else if test == "-exec" {
                self.exec(&prefix_of(starts))?;
            } else {
                return Err(refused(self.name, word));
            }
        }
        Ok(())
    }

    /// The one word that a test takes.
    fn value(&mut self, test: &str) -> Result<&'a Arg, String> {
        match self.next() {
            Some(Arg::Many(beginning)) => {
                Err(format!("{} {test} {beginning}… may be several words, of which one may act", self.name))
            }
            Some(value) => Ok(value),
            None => Err(format!("{} {test} lacks its value", self.name)),
        }
    }

    /// `-newerXY`: a path, or with `Y` as `t` a time.
    fn newer(&mut self, kinds: &str, word: &Arg) -> Result<(), String> {
        let mut letters = kinds.chars();
        let (Some(of), Some(than), None) = (letters.next(), letters.next(), letters.next()) else {
            return Err(refused(self.name, word));
        };
        if !"aBcm".contains(of) || !"aBcmt".contains(than) {
            return Err(refused(self.name, word));
        }
        let value = self.value(&shown(word))?;
        if than != 't' {
            self.paths.extend(used(value, Access::Look));
        }
        Ok(())
    }

    /// The command of `-exec`, with `{}` as far as what it stands for is known.
    fn exec(&mut self, found: &str) -> Result<(), String> {
        if self.runs.is_some() {
            return Err(format!("{} with more than one -exec is not followed", self.name));
        }
        let mut argv = Vec::new();
        let mut holes = 0_usize;
        loop {
            let word = self.next().ok_or_else(|| format!("{} -exec is not ended", self.name))?;
            match word {
                Arg::Literal(text) if text == ";" => break,
                Arg::Literal(text) if text == "+" && is_hole(argv.last()) && holes == 1 => {
                    argv.pop();
                    argv.push(Arg::Many(found.to_owned()));
                    break;
                }
                Arg::Literal(text) => {
                    holes += usize::from(text.contains("{}"));
                    argv.push(word.clone());
                }
                // It may be the `;` that ends the command, or a `{}`.
                Arg::One(prefix) | Arg::Many(prefix)
                    if prefix.is_empty() || prefix.starts_with([';', '+', '{']) || prefix.contains("{}") =>
                {
                    return Err(refused("find -exec", word));
                }
                Arg::One(_) | Arg::Many(_) => argv.push(word.clone()),
            }
        }
        for word in &mut argv {
            if let Arg::Literal(text) = word
                && let Some((before, _)) = text.split_once("{}")
            {
                *word = Arg::One(format!("{before}{found}"));
            }
        }
        match argv.first() {
            Some(Arg::Literal(_)) => {
                self.runs = Some(argv);
                Ok(())
            }
            _ => Err(format!("{} -exec runs what is not known", self.name)),
        }
    }
}

/// Whether an option chooses how the expression is optimised.
fn is_level(option: &str) -> bool {
    option.strip_prefix("-O").is_some_and(|level| level.bytes().all(|byte| byte.is_ascii_digit()))
}

fn begins_expression(word: &str) -> bool {
    word.starts_with('-') && word != "-" || matches!(word.chars().next(), Some('(' | ')' | ',' | '!'))
}

fn is_hole(word: Option<&Arg>) -> bool {
    matches!(word, Some(Arg::Literal(text)) if text == "{}")
}

/// What every path that is found begins with.
fn prefix_of(starts: &[Arg]) -> String {
    let mut texts = starts.iter().map(|start| match start {
        Arg::Literal(text) | Arg::One(text) | Arg::Many(text) => text.as_str(),
    });
    let first = texts.next().unwrap_or_default().to_owned();
    texts.fold(first, |common, text| {
        common.chars().zip(text.chars()).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{argv, ask, only_read, paths_of_words};

    #[test]
    fn find_that_tells_names_only_reads() {
        only_read(&[
            "find",
            "find .",
            "find src -maxdepth 2 -type f",
            "find . -name -delete",
            "find . -name x -print0",
            "find -L -O3 .",
            "find . -newer Cargo.toml -print",
            "find . -newermt 2024-01-01",
            "find . -type f -printf %p",
            "find . ( -name a -o -name b ) -not -path x -prune , -ls",
            "find src/… -name …",
            "find src/* tests -size +1M",
            "find . ! -name x -quit",
            "find -- . -name x",
        ]);
        assert_eq!(paths_of_words(&["find", "-name", "x"]), ["Look ."]);
        assert_eq!(paths_of_words(&["find", "a", "b", "-newer", "c"]), ["Look a", "Look b", "Look c"]);
    }

    #[test]
    fn find_that_may_act_asks() {
        ask(&[
            "find . -delete",
            "find -- . -delete",
            "find . -fprint pwn",
            "find . -fprint0 pwn",
            "find . -fprintf pwn x",
            "find . -fls pwn",
            "find . -files0-from x",
            "find -files0-from x",
            "find . -execdir cat {} ;",
            "find . -ok rm {} ;",
            "find . -okdir rm {} ;",
            "find *",
            "find . -*",
            "find . -…",
            "find …",
            "find . *",
            "find . …",
            "find . -name *",
            "find . -newer *",
            "find . -name",
            "find . -newerxx y",
            "find . -nosuch",
            "find . -type f x",
            "find (* -name x",
            "find . -exec cat {}",
            "find . -exec {} ;",
            "find . -exec … {} ;",
            "find . -exec cat … ;",
            "find . -exec ;",
            "find . -exec cat {} ; -delete",
            "find . -exec cat {} ; -exec wc {} ;",
            "find . -exec cat ;… ;",
        ]);
    }

    #[test]
    fn the_command_of_exec_gets_what_is_found() {
        assert_eq!(argv("find src -exec grep -l foo {} ;"), ["grep", "-l", "foo", "src…"]);
        assert_eq!(argv("find -exec wc -l {} +"), ["wc", "-l", ".*"]);
        assert_eq!(argv("find src/a src/b -exec cat x{}y {} ; -print"), ["cat", "xsrc/…", "src/…"]);
        assert_eq!(argv("find a b -exec cat {} ;"), ["cat", "…"]);
        assert_eq!(argv("find . -exec echo + {} + -o -name x"), ["echo", "+", ".*"]);
        assert_eq!(argv("find . -exec cat {} x + ;"), ["cat", ".…", "x", "+"]);
        assert_eq!(argv("find . -exec rm {} ;"), ["rm", ".…"]);
    }
}
