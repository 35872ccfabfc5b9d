//! What a command prints, as far as its words tell: names of files below a folder, a revision, numbers. Used by the walk
//! over a line, for what reads such words in turn. A list of what is understood; of everything else nothing is known.

use super::analysis::{Bare, Tracked};
use super::expand::Expanded;

/// What the words of an output are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Names of files that are below a folder now, if these are plain (see `Listed`).
    Names,
    /// Names of files in the past of a repository, or names of which it isn't asked whether they are plain: any text
    /// without a `..` that leads out of a folder only where it is taken apart at a blank.
    Past,
    /// Words that begin with a digit or a letter and hold neither blanks nor wildcards.
    Revision,
    /// Whole numbers.
    Numbers,
}

/// Words that a command prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    pub kind: Kind,
    /// How each of them begins. Names that may begin in any way lead below the current folder. That none of them is an
    /// option there now is not enough for a program that options harm, as with a pattern that names files.
    pub prefix: String,
    /// Whether there is at most one.
    pub one: bool,
    /// Whether there is at least one, and none is empty.
    pub sure: bool,
}

/// An output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Output {
    pub kind: Kind,
    /// How each word begins; empty if nothing is known of that.
    pub prefix: String,
    /// Of names, the folder that they are below, from the current one.
    pub root: String,
    /// Whether there is a NUL byte behind each name, in the place of a newline.
    pub whole: bool,
    /// Whether there is at most one word.
    pub one: bool,
    /// What was looked for.
    pub hints: Vec<String>,
    /// Whether git names the files.
    pub tracked: Tracked,
    /// Of names that may begin in any way, which ones stand at the start of a word.
    pub bare: Bare,
}

impl Output {
    fn names(root: &str, prefix: &str) -> Self {
        let (root, prefix) = (root.to_owned(), prefix.to_owned());
        Self {
            kind: Kind::Names,
            prefix,
            root,
            whole: false,
            one: false,
            hints: Vec::new(),
            tracked: Tracked::No,
            bare: Bare::First,
        }
    }

    fn short(kind: Kind, one: bool) -> Self {
        Self { kind, prefix: "0".to_owned(), one, ..Self::names("", "") }
    }

    fn past() -> Self {
        Self { kind: Kind::Past, prefix: String::new(), ..Self::names(".", "") }
    }

    /// Its words for whoever takes it apart at blanks.
    pub fn words(&self) -> Words {
        Words { kind: self.kind, prefix: self.prefix.clone(), one: self.one, sure: false }
    }
}

/// Tests of `find` that stand alone, and what joins them.
const FIND_ALONE: &str = "! ( ) -a -and -o -or -not -empty -executable -readable -writable -true -false -prune -print \
                          -print0 -daystart -depth -mount -xdev -nouser -nogroup";
/// Tests of `find` with a value.
const FIND_VALUED: &str = "-amin -atime -cmin -ctime -gid -group -iname -inum -ipath -iregex -iwholename -links \
                           -maxdepth -mindepth -mmin -mtime -name -newer -path -perm -regex -regextype -size -type \
                           -uid -user -wholename";

/// What is known of the output of a command in the folder `cwd` that reads `input`.
pub(super) fn of(input: Option<&Output>, words: &[Expanded], cwd: &str) -> Option<Output> {
    let exact: Option<Vec<&str>> = words.iter().map(Expanded::exact).collect();
    let (name, rest) = words.split_first()?;
    let found = match (name.exact()?, exact.as_deref().and_then(|words| words.get(1..))) {
        ("find", Some(rest)) => found_by_find(rest, cwd),
        ("git", Some(rest)) => printed_by_git(rest, cwd),
        ("rg", _) => searched(rest, cwd, &RG),
        ("grep", _) => searched(rest, cwd, &GREP),
        ("fd" | "fdfind", _) => searched(rest, cwd, &FD),
        ("ls", _) => listed(rest, cwd),
        ("date", Some([format] | ["-u", format])) if is_short_date(format) => Some(Output::short(Kind::Revision, true)),
        ("seq", Some(rest)) if (1..=3).contains(&rest.len()) && rest.iter().all(|word| is_count(word)) => {
            Some(Output::short(Kind::Numbers, false))
        }
        _ => None,
    };
    let mut output = found.or_else(|| input.filter(|input| !input.whole && passes(exact.as_deref())).cloned())?;
    output.hints.extend(exact.unwrap_or_default().iter().skip(1).map(|word| (*word).to_owned()));
    Some(output)
}

/// Whether a filter prints nothing but whole lines that it gets.
fn passes(words: Option<&[&str]>) -> bool {
    let letters = |word: &str, known: &str| {
        word.strip_prefix('-').is_some_and(|body| !body.is_empty() && body.chars().all(|letter| known.contains(letter)))
    };
    match words {
        Some(["grep" | "egrep" | "fgrep", rest @ ..]) => {
            let mut options = rest.iter().take_while(|word| word.starts_with('-'));
            options.all(|word| letters(word, "vEiFwPx") || *word == "-e")
                && rest.iter().filter(|word| !word.starts_with('-')).count() == 1
                && rest.last().is_some_and(|last| !last.starts_with('-'))
        }
        Some(["sort", rest @ ..]) => rest.iter().all(|word| letters(word, "ruVnfb")),
        Some(["uniq", rest @ ..]) => rest.iter().all(|word| letters(word, "udi")),
        Some(["tac" | "cat" | "shuf"]) => true,
        Some(["shuf", "-n", count] | ["head" | "tail", "-n", count]) => is_count(count),
        // Without a minus it is a file.
        Some(["head" | "tail", count]) => count.starts_with('-') && is_count(count),
        Some(["sed", "-n", script]) => is_selection(script, "p"),
        Some(["sed", script]) => is_selection(script, "dq"),
        _ => false,
    }
}

/// `12`, `-12`, `-n12`, `+12`.
fn is_count(word: &str) -> bool {
    let digits = word.strip_prefix("-n").unwrap_or(word).trim_start_matches(['-', '+']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `1p`, `1,5p`, `$p`, `/text/p`.
fn is_selection(script: &str, commands: &str) -> bool {
    let Some(address) = script.strip_suffix(|letter| commands.contains(letter)) else { return false };
    let is_line = |text: &str| text == "$" || !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match address.split_once(',') {
        Some((from, to)) => is_line(from) && is_line(to),
        None => {
            let pattern = address.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
            is_line(address) || pattern.is_some_and(|text| !text.is_empty() && !text.contains(['/', '\\', '\n', '[']))
        }
    }
}

/// The names below these paths. An empty one is what a pattern names right in the current folder.
fn below(paths: &[String], cwd: &str) -> Option<Output> {
    match paths {
        [] => Some(Output::names(".", "")),
        [path] if path.is_empty() => Some(Output::names(".", "")),
        [path] if path == "." || path == "./" => Some(Output::names(".", "./")),
        [path] => {
            let root = path.trim_end_matches('/');
            let inside = !root.starts_with('/') || root == cwd || root.starts_with(&format!("{cwd}/"));
            (inside && is_path(root)).then(|| Output::names(root, &format!("{root}/")))
        }
        paths => {
            let inside = |path: &String| path.is_empty() || !path.starts_with('/') && is_path(path);
            paths.iter().all(inside).then(|| Output::names(".", ""))
        }
    }
}

/// A path that is one word as it is, is no option, and does not lead up.
fn is_path(path: &str) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || "._-/+@".contains(letter);
    !path.is_empty() && !path.starts_with('-') && !path.contains("..") && path.chars().all(plain)
}

/// A path among words: as it is, or of a pattern the folder that it is in, empty for the current one.
fn path_of(word: &Expanded) -> Option<String> {
    use super::programs::Arg;
    match &word.arg {
        Arg::Literal(path) => Some(path.clone()),
        Arg::One(prefix) | Arg::Many(prefix) if word.tame && word.printed.is_none() => {
            Some(prefix.rfind('/').map_or("", |at| prefix.get(..=at).unwrap_or_default()).to_owned())
        }
        _ => None,
    }
}

fn found_by_find(words: &[&str], cwd: &str) -> Option<Output> {
    let at = words.iter().position(|word| word.starts_with('-') || matches!(*word, "!" | "(")).unwrap_or(words.len());
    let (starts, tests) = words.split_at_checked(at)?;
    let mut rest = tests.iter();
    let (mut lines, mut whole) = (false, false);
    while let Some(test) = rest.next() {
        (lines, whole) = (lines || *test == "-print", whole || *test == "-print0");
        if FIND_VALUED.split(' ').any(|known| known == *test) {
            rest.next()?;
        } else if !FIND_ALONE.split_ascii_whitespace().any(|known| known == *test) {
            return None;
        }
    }
    let starts: Vec<String> = starts.iter().map(|start| (*start).to_owned()).collect();
    let found = if starts.is_empty() { below(&[".".to_owned()], cwd)? } else { below(&starts, cwd)? };
    (!(lines && whole)).then_some(Output { whole, ..found })
}

/// How a program lists files: its options without a value, those with one, those that make it list, and whether a
/// pattern comes first.
struct Lister {
    letters: &'static str,
    words: &'static str,
    valued: &'static str,
    lists: &'static [&'static str],
    without_pattern: &'static [&'static str],
}

const RG: Lister = Lister {
    letters: "linwFSsvUu.",
    words: "--files --files-with-matches --files-without-match --hidden --no-ignore --ignore-case --smart-case \
            --word-regexp --fixed-strings",
    valued: "-e -g -t -T --glob --type --iglob -d --max-depth",
    lists: &["l", "--files", "--files-with-matches", "--files-without-match"],
    without_pattern: &["-e", "--files"],
};
const GREP: Lister = Lister {
    letters: "lLrinwEFPIsx",
    words: "--files-with-matches --files-without-match --recursive --ignore-case",
    valued: "-e --include --exclude --exclude-dir",
    lists: &["l", "L", "--files-with-matches", "--files-without-match"],
    without_pattern: &["-e"],
};
const FD: Lister = Lister {
    letters: "HIgisuF",
    words: "--hidden --no-ignore --glob",
    valued: "-e -t -d -E --extension --type --max-depth --exclude",
    lists: &[""],
    without_pattern: &[],
};

fn searched(words: &[Expanded], cwd: &str, lister: &Lister) -> Option<Output> {
    let mut rest = words.iter();
    let (mut lists, mut pattern) = (lister.lists == [""], true);
    let mut operands = Vec::new();
    while let Some(word) = rest.next() {
        let Some(option) = word.exact().filter(|text| text.starts_with('-')) else {
            operands.push(word);
            continue;
        };
        let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        pattern &= !lister.without_pattern.contains(&name);
        if lister.valued.split_ascii_whitespace().any(|known| known == name) {
            if value.is_none() {
                rest.next()?.exact()?;
            }
        } else if lister.words.split_ascii_whitespace().any(|known| known == option) {
            lists |= lister.lists.contains(&option);
        } else {
            let letters = option.strip_prefix('-').filter(|body| !body.is_empty())?;
            if !letters.chars().all(|letter| lister.letters.contains(letter)) {
                return None;
            }
            lists |= letters.chars().any(|letter| lister.lists.iter().any(|known| known.starts_with(letter)));
        }
    }
    let mut paths = operands.into_iter();
    if pattern && let Some(pattern) = paths.next() {
        // One that may be several words may be an option.
        pattern.exact()?;
    }
    let paths: Option<Vec<String>> = paths.map(path_of).collect();
    if lists { below(&paths?, cwd) } else { None }
}

/// `ls`, with names alone on its lines.
fn listed(words: &[Expanded], cwd: &str) -> Option<Output> {
    let is_option = |word: &&Expanded| word.exact().is_some_and(|text| text.starts_with('-'));
    let harmless = |word: &Expanded| {
        let letters = word.exact().and_then(|text| text.strip_prefix('-')).unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|letter| "1trSAcuUvXd".contains(letter))
    };
    let (options, operands): (Vec<&Expanded>, Vec<&Expanded>) = words.iter().partition(is_option);
    let paths: Option<Vec<String>> = operands.iter().map(|word| path_of(word)).collect();
    let paths = paths?;
    let relative = paths.iter().all(|path| !path.starts_with('/'));
    if !options.into_iter().all(harmless) || !relative {
        return None;
    }
    // What is in a folder is named without it.
    let several = paths.len() > 1 || operands.iter().any(|word| word.exact().is_none());
    let bare = if several { Bare::All } else { Bare::First };
    below(&paths, cwd).map(|found| Output { prefix: String::new(), bare, ..found })
}

fn printed_by_git(words: &[&str], cwd: &str) -> Option<Output> {
    let words = if let ["--no-pager", rest @ ..] = words { rest } else { words };
    let only = |words: &[&str], options: &[&str]| {
        words.iter().all(|word| if word.starts_with('-') { options.contains(word) } else { is_revision(word) })
    };
    match words {
        ["ls-files", rest @ ..] => tracked(rest, cwd),
        ["grep", option, rest @ ..] if is_listing(option) => {
            let paths = match rest {
                [pattern] | [pattern, "--"] if !pattern.starts_with('-') => Some(&[][..]),
                [pattern, "--", paths @ ..] if !pattern.starts_with('-') => Some(paths),
                _ => None,
            };
            let inside = |path: &&str| !path.contains("..") && !path.starts_with([':', '-', '/']);
            paths
                .filter(|paths| paths.iter().all(inside))
                .map(|_| Output { tracked: Tracked::Below, ..Output::names(".", "") })
        }
        ["diff", rest @ ..] if rest.contains(&"--name-only") => changed(rest),
        ["show" | "log", rest @ ..] if rest.contains(&"--name-only") => {
            let bare = ["--format=", "--pretty=", "--pretty=format:", "--pretty=tformat:"];
            let options = ["--name-only", "-1", "-2", "-3", "-5", "-10", "--"];
            let known =
                |word: &&str| !word.starts_with('-') || options.contains(word) || bare.contains(word) || is_count(word);
            (rest.iter().all(known) && rest.iter().any(|word| bare.contains(word))).then(Output::past)
        }
        ["rev-parse", rest @ ..] => {
            let refs = rest.iter().filter(|word| !word.starts_with('-')).count();
            (refs == 1 && only(rest, &["--short", "--verify", "-q", "--quiet"]))
                .then(|| Output::short(Kind::Revision, true))
        }
        ["merge-base", rest @ ..] => (rest.len() == 2 && only(rest, &[])).then(|| Output::short(Kind::Revision, true)),
        ["rev-list", rest @ ..] => hashes(rest, &[]),
        ["log", rest @ ..] => {
            let formats: &[&str] =
                &["--format=%H", "--format=%h", "--pretty=%H", "--pretty=format:%H", "--pretty=format:%h"];
            rest.iter().any(|word| formats.contains(word)).then(|| hashes(rest, formats)).flatten()
        }
        _ => None,
    }
}

/// `git diff --name-only`. What it names is in the index if it compares that with the work tree, or leaves out what is
/// not in the newer of two states of which that is one.
fn changed(rest: &[&str]) -> Option<Output> {
    let there = ["--diff-filter=AM", "--diff-filter=ACM"];
    let staged = ["--cached", "--staged"];
    let options: Vec<&str> = rest.iter().copied().take_while(|word| *word != "--").collect();
    let paths = rest.get(options.len() + 1..).unwrap_or_default();
    let (options, revisions): (Vec<&str>, Vec<&str>) = options.into_iter().partition(|word| word.starts_with('-'));
    if !options.iter().all(|word| *word == "--name-only" || there.contains(word) || staged.contains(word)) {
        return None;
    }
    let has = |words: &[&str]| options.iter().any(|option| words.contains(option));
    // Two paths of which one is elsewhere are compared as files.
    let plain = paths.len() <= 1 && paths.iter().all(|path| is_path(path) && !path.starts_with('/'));
    let held = match revisions.as_slice() {
        [] => has(&there) || !has(&staged),
        [one] => has(&there) && is_revision(one),
        _ => false,
    };
    let found = if plain && held { Output { tracked: Tracked::All, ..Output::names(".", "") } } else { Output::past() };
    Some(found)
}

/// Names of commits, of which these options are only those that choose.
fn hashes(words: &[&str], formats: &[&str]) -> Option<Output> {
    const CHOOSING: &[&str] = &["-n", "--", "--all", "--reverse", "--no-merges", "--merges", "--first-parent"];
    const VALUED: &[&str] = &["--since", "--until", "--after", "--before", "--author", "--grep", "--max-count"];
    let one = |word: &&&str| matches!(**word, "-1" | "-n1" | "--max-count=1");
    let chooses = |word: &&str| {
        let name = word.split_once('=').map(|(name, _)| name);
        CHOOSING.contains(word) || is_count(word) || name.is_some_and(|name| VALUED.contains(&name))
    };
    let known = |word: &&str| !word.starts_with('-') || chooses(word) || formats.contains(word);
    // Of several counts the last one is obeyed.
    let counts =
        words.iter().filter(|word| word.starts_with('-') && (is_count(word) || word.starts_with("--max-count")));
    let pairs = words.windows(2).filter(|pair| pair.first() == Some(&"-n"));
    let is_one = counts.clone().count() + pairs.clone().count() == 1
        && (counts.clone().any(|word| one(&word)) || pairs.clone().any(|pair| pair == ["-n", "1"]));
    words.iter().all(known).then(|| Output::short(Kind::Revision, is_one))
}

/// `git ls-files`, which names files from the current folder on.
fn tracked(rest: &[&str], cwd: &str) -> Option<Output> {
    let options = ["-z", "--", "-c", "--cached", "-o", "--others", "-m", "--modified", "--exclude-standard"];
    let known = |word: &&str| {
        if word.starts_with('-') { options.contains(word) } else { !word.contains("..") && !word.starts_with(':') }
    };
    let whole = rest.contains(&"-z");
    let folder = match rest {
        [path] | ["-z" | "--", path] if is_path(path) && !path.starts_with(['/', '.']) => {
            vec![(*path).to_owned()]
        }
        _ => Vec::new(),
    };
    let names = below(&folder, cwd)?;
    rest.iter().all(known).then_some(Output { whole, tracked: Tracked::Below, ..names })
}

/// `-l` with options of git grep that only choose.
fn is_listing(option: &str) -> bool {
    let letters = option.strip_prefix('-').unwrap_or_default();
    letters.contains('l') && letters.chars().all(|letter| "linwEFP".contains(letter))
}

/// One revision, not several, that git prints as it is if it doesn't know it.
fn is_revision(word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/~^@{}".contains(letter);
    let begins = word.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '@');
    let several = word.contains("..") || word.contains("^@") || word.contains("^-");
    begins && !several && word.chars().all(plain)
}

/// A format of `date` that begins with digits and has no blank.
fn is_short_date(format: &str) -> bool {
    let Some(rest) = format.strip_prefix("+%") else { return false };
    rest.starts_with(['F', 'Y', 'm', 'd', 'H', 's', 'y', 'j', 'T'])
        && rest.chars().all(|letter| letter.is_ascii_digit() || "%-_:.FYmdHMsSyjT".contains(letter))
}

/// Whether a command that gets a part of its input and leaves the rest to another one may be among those that a loop
/// runs: what is left of a name after it may lead anywhere.
pub(super) fn may_take_input(words: &[Expanded], reads: bool) -> bool {
    /// Programs and builtins that never read it.
    const NEVER: &str = "echo printf test [ : true false continue break local declare basename dirname ls stat file \
                         du realpath readlink date git find cd pwd return exit";
    /// Those that read the files which they are given instead.
    const INSTEAD: &str =
        "cat head tail wc grep egrep fgrep sed awk sort uniq cut nl tac md5sum sha1sum sha256sum rg jq";
    let Some(name) = words.first() else { return false };
    let is = |list: &str| list.split_ascii_whitespace().any(|known| name.exact() == Some(known));
    let dash = words.iter().any(|word| word.exact() == Some("-") || word.exact() == Some("/dev/stdin"));
    dash || !(is(NEVER) || reads && is(INSTEAD))
}

#[cfg(test)]
mod tests;
