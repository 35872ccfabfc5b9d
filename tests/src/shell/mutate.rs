//! Random lines that are near to those of the corpus: quoted, escaped, nested and spliced otherwise, with options,
//! names and expansions of other lines; and such that hold random texts of the small languages in a line. The same
//! seed gives the same lines.

use super::corpus::Line;
use super::grammar;
use super::random::Random;
use std::collections::BTreeMap;

/// A longer line is not made.
const MAX_CHARS: usize = 400;

/// Words that the shell makes other words of, or more of them, or none.
const EXPANSIONS: [&str; 60] = [
    "*",
    "*.txt",
    "-*",
    "--*",
    "?i.txt",
    "[-]*",
    "./*",
    "src/*",
    "src/*.rs",
    "*/",
    "**",
    "@(a|b).txt",
    "{a,b}.txt",
    "{-i,a.txt}",
    "{1..3}",
    "-{o,n}",
    "{a.txt,--output=pwn}",
    "$x",
    "\"$x\"",
    "${x}",
    "\"${x[@]}\"",
    "$*",
    "\"$@\"",
    "$1",
    "${x:-a.txt}",
    "${x:-$(touch pwn)}",
    "${x:=a}",
    "${x#-}",
    "${x/a/b}",
    "${x@P}",
    "${!x}",
    "${!x*}",
    "${#x}",
    "${x:0:2}",
    "${x^^}",
    "$HOME",
    "~",
    "~root",
    "~+",
    "~/a",
    "$PWD",
    "$OLDPWD",
    "$RANDOM",
    "$-",
    "$$",
    "$_",
    "$((1+1))",
    "$((x))",
    "$((a[$(touch pwn)]))",
    "$[1+1]",
    "$IFS",
    "$(echo a.txt)",
    "`echo a.txt`",
    "\"$(ls)\"",
    "$(<a.txt)",
    "<(ls)",
    ">(cat)",
    "$'\\x61.txt'",
    "$'a\\'b'",
    "$\"a.txt\"",
];
/// Names that want to be something else.
const NAMES: [&str; 42] = [
    ".env",
    "./.env",
    "src/../.env",
    "~/.ssh/id_rsa",
    "$HOME/.aws/credentials",
    "/etc/shadow",
    "etc/shadow",
    "/proc/self/environ",
    "a.txt",
    "b.txt",
    "src",
    "src/main.rs",
    ".",
    "..",
    "/",
    "-",
    "--",
    "-i.txt",
    "-opwn.txt",
    "--pre=sh",
    "--output=pwn",
    "-delete",
    "-exec",
    "';'",
    "'$(touch pwn)'",
    "pwn",
    "./pwn",
    "link.txt",
    "etc/hosts",
    "vendor/lib",
    "evil.git",
    "'a b'",
    "'*'",
    "HEAD",
    "HEAD:a.txt",
    "main",
    "/dev/null",
    "/dev/tcp/192.0.2.1/80",
    "'w pwn'",
    "'1e touch pwn'",
    "=ls",
    "{}",
];
/// What may stand in front of a line.
const PREFIXES: [&str; 38] = [
    "timeout 5 ",
    "nice ",
    "nice -n 5 ",
    "env ",
    "env -i ",
    "env X=1 ",
    "command ",
    "builtin ",
    "exec ",
    "nohup ",
    "stdbuf -oL ",
    "time ",
    "time -p ",
    "! ",
    "xargs ",
    "echo a.txt | xargs ",
    "find . -exec ",
    "eval ",
    "x=1 ",
    "x=-i ",
    "x='a b' ",
    "IFS=, ",
    "LC_ALL=C ",
    "PATH=. ",
    "PATH=$PATH:. ",
    "HOME=/work ",
    "GIT_DIR=evil.git ",
    "x+=1 ",
    "a[0]=1 ",
    "cd src && ",
    "cd vendor/lib; ",
    "set -e; ",
    "set -f; ",
    "shopt -s extglob; ",
    "x=a.txt; ",
    "x='-i'; ",
    "x='$(touch pwn)'; ",
    "a=(1 2); ",
];
/// What a line may be put into; `@` is the line.
const FRAMES: [&str; 40] = [
    "( @ )",
    "{ @; }",
    "echo $(@)",
    "echo \"$(@)\"",
    "echo `@`",
    "cat <(@)",
    "diff <(@) <(@)",
    "! @",
    "if @; then ls; fi",
    "if true; then @; else @; fi",
    "while @; do break; done",
    "until @; do break; done",
    "for i in a.txt b.txt; do @; done",
    "for x in *; do @; done",
    "for ((i=0;i<2;i++)); do @; done",
    "case x in x) @;; esac",
    "case $(@) in *) ls;; esac",
    "f() { @; }; f",
    "function f { @; }; f",
    "f() ( @ ); f a.txt",
    "[[ -n $(@) ]]",
    "[ -n \"$(@)\" ]",
    "x=$(@)",
    "x=$(@); echo \"$x\"",
    "(( $(@) ))",
    "bash -c '@'",
    "sh -c \"@\"",
    "eval '@'",
    "coproc @",
    "@ | cat",
    "cat a.txt | @",
    "@ | head -1",
    "@ &",
    "@ & wait",
    "@ | xargs ls",
    "select x in a; do @; break; done",
    "{ @; } 2>/dev/null",
    "@ || true",
    "cat <<EOF\n$(@)\nEOF",
    "while read -r x; do @; done < a.txt",
];
/// What may follow a line.
const SUFFIXES: [&str; 42] = [
    " > pwn",
    " >pwn",
    " >> pwn",
    " >| pwn",
    " 2> pwn",
    " &> pwn",
    " >& pwn",
    " <> pwn",
    " 3> pwn",
    " {fd}> pwn",
    " > /dev/null",
    " 2>/dev/null",
    " &>/dev/null",
    " 2>&1",
    " >&2",
    " 1>&-",
    " < a.txt",
    " <<< x",
    " <<< \"$(ls)\"",
    " <<EOF\nx\nEOF",
    " <<'EOF'\n$(touch pwn)\nEOF",
    " <<EOF\n$(touch pwn)\nEOF",
    " <<-EOF\n\tx\n\tEOF",
    " > /dev/null/../pwn",
    " > \"/dev/null\"",
    " > /dev/fd/1",
    " > $x",
    " > *.log",
    " # c",
    " \\\n",
    " ;",
    " &",
    " -- a.txt",
    " --help",
    " --version",
    " --output=pwn",
    " -o pwn",
    " -i",
    " | tee pwn",
    " | sh",
    " | wc -l",
    " && ls",
];
/// What two lines are joined by.
const JOINTS: [&str; 14] = ["; ", ";", " && ", "&&", " || ", " | ", "|", " |& ", " & ", "\n", "\n\n", " ", "", " \\\n"];
/// Characters that mean something to a shell, or look as if they meant nothing.
const CHARACTERS: [&str; 58] = [
    "'", "\"", "\\", "$", "`", "{", "}", "(", ")", "[", "]", "<", ">", "|", "&", ";", "#", "!", "*", "?", "~", "=",
    ":", "-", "--", "+", "%", "^", ",", "/", ".", "..", "@", "\n", "\t", " ", "  ", "\r", "\u{b}", "\u{c}", "\u{a0}",
    "\u{200b}", "\u{202e}", "\u{2028}", "\u{e9}", "\u{ff1b}", "\u{7f}", "\u{1b}", "\u{8}", "0", "1", "a", "\\\n", "''",
    "\"\"", "$'", "$(", "${",
];

/// Makes lines.
#[derive(Debug)]
pub struct Mutator {
    lines: Vec<String>,
    programs: Vec<String>,
    /// By program, the options that it has somewhere.
    options: BTreeMap<String, Vec<String>>,
    all_options: Vec<String>,
    words: Vec<String>,
}

impl Mutator {
    /// One that starts from these lines.
    #[must_use]
    pub fn of(corpus: &[Line]) -> Self {
        let mut made = Self {
            lines: corpus.iter().map(|line| line.cmd.clone()).filter(|cmd| cmd.chars().count() <= MAX_CHARS).collect(),
            programs: Vec::new(),
            options: BTreeMap::new(),
            all_options: Vec::new(),
            words: Vec::new(),
        };
        for line in made.lines.clone() {
            made.learn(&line);
        }
        for list in [&mut made.programs, &mut made.all_options, &mut made.words] {
            list.sort_unstable();
            list.dedup();
        }
        made
    }

    fn learn(&mut self, line: &str) {
        let mut program: Option<String> = None;
        for word in split(line) {
            if word.trim().is_empty() {
                continue;
            }
            if is_operator(&word) {
                program = None;
            } else if let Some(program) = &program {
                if word.starts_with('-') {
                    self.options.entry(program.clone()).or_default().push(word.clone());
                    self.all_options.push(word.clone());
                }
                self.words.push(word);
            } else {
                self.programs.push(word.clone());
                program = Some(word);
            }
        }
    }

    /// The line of a number.
    #[must_use]
    pub fn line(&self, seed: u64, number: u64) -> String {
        let mut random = Random::of(Random::of(seed).number() ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        let (mut line, changes) = match random.below(3) {
            0 => (grammar::line(&mut random), random.below(3)),
            _ => (random.one(&self.lines).to_owned(), 1 + random.below(4)),
        };
        for _ in 0..changes {
            let changed = self.change(&line, &mut random);
            if changed.chars().count() <= MAX_CHARS {
                line = changed;
            }
        }
        line
    }

    fn change(&self, line: &str, random: &mut Random) -> String {
        match random.below(16) {
            0 | 1 => at_word(line, random, quoted),
            2 => at_word(line, random, |_, random| random.pick(&EXPANSIONS).to_owned()),
            3 => at_word(line, random, |word, random| format!("{word}{}", random.pick(&EXPANSIONS))),
            4 => at_word(line, random, |_, random| random.pick(&NAMES).to_owned()),
            5 => at_word(line, random, |word, random| format!("{word} {}", random.pick(&NAMES))),
            6 | 7 => self.with_option(line, random),
            8 => format!("{}{line}", random.pick(&PREFIXES)),
            9 => random.pick(&FRAMES).replace('@', line),
            10 => format!("{line}{}", random.pick(&SUFFIXES)),
            11 => self.joined(line, random),
            12 => with_character(line, random),
            13 => without_part(line, random),
            14 => self.with_other_program(line, random),
            _ => at_word(line, random, |_, random| random.one(&self.words).to_owned()),
        }
    }

    /// With an option of the same program, or of any.
    fn with_option(&self, line: &str, random: &mut Random) -> String {
        let pieces = split(line);
        let program = pieces.iter().find(|piece| self.options.contains_key(piece.as_str()));
        let known = program.and_then(|program| self.options.get(program));
        let option = match known {
            Some(options) if !random.once_in(3) => random.one(options),
            _ => random.one(&self.all_options),
        };
        let option = reshaped(option, random);
        at_word(line, random, |word, random| match random.below(3) {
            0 => format!("{option} {word}"),
            1 => format!("{word} {option}"),
            _ if word.starts_with('-') => option.clone(),
            _ => format!("{word} {option}"),
        })
    }

    /// With another line behind it, or with the second half of it.
    fn joined(&self, line: &str, random: &mut Random) -> String {
        let other = random.one(&self.lines);
        let joint = random.pick(&JOINTS);
        if random.once_in(2) {
            return format!("{line}{joint}{other}");
        }
        let (first, second) = (split(line), split(other));
        let (end, start) = (random.below(first.len() + 1), random.below(second.len() + 1));
        format!("{}{joint}{}", first[..end].concat(), second[start..].concat())
    }

    fn with_other_program(&self, line: &str, random: &mut Random) -> String {
        let mut pieces = split(line);
        let places: Vec<usize> = (0..pieces.len()).filter(|&at| self.programs.contains(&pieces[at])).collect();
        if places.is_empty() {
            return line.to_owned();
        }
        let place = places[random.below(places.len())];
        random.one(&self.programs).clone_into(&mut pieces[place]);
        pieces.concat()
    }
}

/// Takes a line apart, nearly as a shell does: words with their quotes, blanks, operators. Joined they are the line.
#[must_use]
pub fn split(line: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut quote = None;
    let mut kind = ' ';
    for c in line.chars() {
        let last = pieces.last_mut().expect("there is always one");
        if quote.is_some() {
            last.push(c);
            quote = quote.filter(|open| *open != c);
            continue;
        }
        let next = match c {
            ' ' | '\t' => 'b',
            '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => 'o',
            _ => 'w',
        };
        if next == kind || last.is_empty() {
            last.push(c);
        } else {
            pieces.push(c.to_string());
        }
        kind = next;
        quote = ['\'', '"'].contains(&c).then_some(c);
    }
    pieces
}

fn is_operator(piece: &str) -> bool {
    piece.contains(['\n', ';', '&', '|', '(', ')']) && !piece.contains(['\'', '"'])
}

fn at_word(line: &str, random: &mut Random, change: impl FnOnce(&str, &mut Random) -> String) -> String {
    let mut pieces = split(line);
    let is_word = |piece: &String| !piece.trim().is_empty() && !is_operator(piece);
    let places: Vec<usize> = (0..pieces.len()).filter(|&at| is_word(&pieces[at])).collect();
    if places.is_empty() {
        return line.to_owned();
    }
    let place = places[random.below(places.len())];
    pieces[place] = change(&pieces[place], random);
    pieces.concat()
}

/// The same word, or nearly, written otherwise.
fn quoted(word: &str, random: &mut Random) -> String {
    let characters: Vec<char> = word.chars().collect();
    let middle = random.below(characters.len() + 1);
    let (before, after): (String, String) =
        (characters[..middle].iter().collect(), characters[middle..].iter().collect());
    match random.below(12) {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("{before}''{after}"),
        3 => format!("{before}\"\"{after}"),
        4 => format!("{before}\\{after}"),
        5 => format!("'{before}'{after}"),
        6 => format!("{before}\"{after}\""),
        7 => format!("$'{word}'"),
        8 => format!("$\"{word}\""),
        9 => format!("{before}\\\n{after}"),
        10 => {
            let first = characters.first().map_or(0, |c| u32::from(*c));
            let rest: String = characters.iter().skip(1).collect();
            match random.below(3) {
                0 => format!("$'\\x{first:02x}{rest}'"),
                1 => format!("$'\\{first:03o}{rest}'"),
                _ => format!("$'\\u{first:04x}'{rest}"),
            }
        }
        _ => word.replace(['\'', '"', '\\'], ""),
    }
}

/// An option, shortened, joined, cut off its value, or as it is.
fn reshaped(option: &str, random: &mut Random) -> String {
    let count = option.chars().count();
    match random.below(6) {
        0 => option.chars().take(2 + random.below(count)).collect(),
        1 => option.replacen('=', " ", 1),
        2 => format!("{option}=pwn"),
        3 if !option.starts_with("--") => format!("{option}o"),
        4 if !option.starts_with("--") => format!("{option}pwn"),
        _ => option.to_owned(),
    }
}

fn with_character(line: &str, random: &mut Random) -> String {
    let mut characters: Vec<String> = line.chars().map(String::from).collect();
    let place = random.below(characters.len() + 1);
    characters.insert(place, random.pick(&CHARACTERS).to_owned());
    characters.concat()
}

fn without_part(line: &str, random: &mut Random) -> String {
    let mut characters: Vec<char> = line.chars().collect();
    if characters.is_empty() || random.once_in(2) {
        let mut pieces = split(line);
        pieces.remove(random.below(pieces.len()));
        return pieces.concat();
    }
    let place = random.below(characters.len());
    match random.below(3) {
        0 => drop(characters.remove(place)),
        1 => characters.insert(place, characters[place]),
        _ => characters.swap(place, random.clone().below(line.chars().count())),
    }
    characters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::corpus::all;

    #[test]
    fn pieces_are_the_line() {
        for line in all() {
            assert_eq!(split(&line.cmd).concat(), line.cmd);
        }
        assert_eq!(split("ls 'a b' |wc"), ["ls", " ", "'a b'", " ", "|", "wc"]);
    }

    #[test]
    fn the_same_seed_gives_the_same_lines_and_another_gives_others() {
        let mutator = Mutator::of(&all());
        let lines = |seed| (0..200).map(|number| mutator.line(seed, number)).collect::<Vec<_>>();
        assert_eq!(lines(1), lines(1));
        let same = lines(1).iter().zip(&lines(2)).filter(|(one, other)| one == other).count();
        assert!(same < 10, "{same}");
    }
}
