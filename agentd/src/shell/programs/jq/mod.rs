//! `jq` and the two programs named `yq`: their options, and what their filters tell. None of them writes but `yq -i`;
//! what matters is that no filter tells the environment and that all files are known. Called by the dispatch.

mod filter;

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, known, options, refused, shown, used};
use super::{Arg, Judgement, PathArg, Program, code};
use filter::Language;

/// From the manuals of jq 1.8 and of both yq.
pub(super) const PROGRAMS: &[Program] =
    &[code("jq", |name, args| told(jq(name, args))), code("yq", |name, args| told(yq(name, args)))];

fn told(paths: Result<Vec<PathArg>, String>) -> Judgement {
    match paths {
        Ok(paths) => known(Class::ReadOnly, Doing::Read, paths),
        Err(why) => Judgement::Unknown(why),
    }
}

/// Long options of jq without a value.
const SWITCHES: &[&str] = &[
    "compact-output",
    "null-input",
    "exit-status",
    "slurp",
    "raw-output",
    "raw-output0",
    "raw-input",
    "color-output",
    "monochrome-output",
    "sort-keys",
    "ascii-output",
    "unbuffered",
    "join-output",
    "tab",
    "seq",
    "stream",
    "stream-errors",
    "binary",
    "help",
    "version",
    "build-configuration",
];

/// Letters of jq's short options without a value.
const LETTERS: &str = "cnesrRCMSajbhV";

/// What jq's words are, one after the other.
#[derive(Default)]
struct Words {
    filter: Option<String>,
    paths: Vec<PathArg>,
    /// Whether operands are texts, after `--args`.
    texts: bool,
    /// Whether no option follows.
    ended: bool,
}

fn jq(name: &str, args: &[Arg]) -> Result<Vec<PathArg>, String> {
    let mut words = Words::default();
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        match word {
            Arg::Literal(option) if !words.ended && option.starts_with('-') => {
                for _ in 0..words.option(name, option)? {
                    let value = rest.next();
                    let reads = matches!(option.as_str(), "--slurpfile" | "--rawfile" | "--argfile");
                    match value {
                        Some(value @ (Arg::Literal(_) | Arg::One(_))) if reads => {
                            words.paths.extend(used(value, Access::Read));
                        }
                        Some(Arg::Literal(_) | Arg::One(_)) => {}
                        Some(Arg::Many(_)) | None => return Err(refused(name, word)),
                    }
                }
            }
            Arg::One(prefix) | Arg::Many(prefix) if !words.ended && (prefix.is_empty() || prefix.starts_with('-')) => {
                return Err(format!("{}: the word may be an option", refused(name, word)));
            }
            operand => words.operand(name, operand)?,
        }
    }
    Ok(words.paths)
}

impl Words {
    /// How many words an option takes. Of two, the first is the name of a variable.
    fn option(&mut self, name: &str, option: &str) -> Result<usize, String> {
        let refused = || Err(refused(name, &Arg::Literal(option.to_owned())));
        let Some(long) = option.strip_prefix("--") else {
            let letters = option.strip_prefix('-').unwrap_or_default();
            let fine = !letters.is_empty() && letters.chars().all(|letter| LETTERS.contains(letter));
            return if fine { Ok(0) } else { refused() };
        };
        match long {
            "" => self.ended = true,
            "arg" | "argjson" | "slurpfile" | "rawfile" | "argfile" => return Ok(2),
            "indent" => return Ok(1),
            "args" | "jsonargs" => self.texts = true,
            switch if SWITCHES.contains(&switch) => {}
            _ => return refused(),
        }
        Ok(0)
    }

    fn operand(&mut self, name: &str, operand: &Arg) -> Result<(), String> {
        match (&self.filter, operand) {
            (None, Arg::Literal(text)) => {
                filter::check(text, Language::Jq)?;
                self.filter = Some(text.clone());
            }
            (None, word) => return Err(refused(name, word)),
            (Some(_), _) if self.texts => {}
            (Some(_), file) => self.paths.extend(used(file, Access::Read)),
        }
        Ok(())
    }
}

/// Both yq must find the words harmless, since it isn't known which one is there: Go's, and Python's, which hands its
/// words on to jq.
fn yq(name: &str, args: &[Arg]) -> Result<Vec<PathArg>, String> {
    const YQ: Options = options(
        "rnecCMjPNyY0Vo:p:I:w:",
        "output-format= input-format= prettyPrint unwrapScalar? null-input no-doc colors no-colors indent= tojson \
         exit-status raw-output compact-output yaml-output yaml-roundtrip width= nul-output version help",
    )
    .no_dashed_values();
    let parsed = YQ.parse(name, args)?;
    let mut operands = parsed.operands.as_slice();
    if let Some((Arg::Literal(verb), rest)) = operands.split_first()
        && matches!(verb.as_str(), "e" | "eval" | "ea" | "eval-all")
    {
        operands = rest;
    }
    let Some((filter, files)) = operands.split_first() else { return Ok(Vec::new()) };
    match filter {
        // Go's yq takes a single operand for a file if there is one.
        Arg::Literal(text) if filter::check(text, Language::Yq).is_ok() => {}
        Arg::Literal(text) if files.is_empty() && is_file_name(text) => {}
        Arg::Literal(text) => filter::check(text, Language::Yq)?,
        word => return Err(format!("{} is not a filter that is known", shown(word))),
    }
    let mut paths: Vec<PathArg> = files.iter().filter_map(|file| used(file, Access::Read)).collect();
    if files.is_empty() {
        paths.extend(used(filter, Access::Read));
    }
    Ok(paths)
}

/// Whether a text surely is a file's name, and no filter that tells anything: `config.yml`.
fn is_file_name(text: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || "_-./".contains(character);
    text.chars().all(plain) && (text.ends_with(".yml") || text.ends_with(".yaml") || text.ends_with(".json"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask_words, only_read_words, paths_of_words};

    #[test]
    fn jq_without_the_environment_only_reads() {
        only_read_words(&[
            &["jq", ".", "a.json"],
            &["jq", "-r", ".name", "package.json"],
            &["jq", "--arg", "k", "name", ".[$k]", "package.json"],
            &["jq", "--arg", "k", "…", ".[$k]", "src/*"],
            &["jq", "-nr", "--args", "$ARGS.positional[]", "a", "b"],
            &["jq", "-c", ".dependencies"],
            &["jq", "--indent", "2", "-S", ".", "--", "-x"],
            &["jq", "."],
            &["jq"],
        ]);
        assert_eq!(paths_of_words(&["jq", "--slurpfile", "x", "a", ".", "b"]), ["Read x", "Read a", "Read b"]);
        assert_eq!(paths_of_words(&["jq", ".", "--args", "a"]), [] as [&str; 0]);
    }

    #[test]
    fn jq_that_may_tell_more_asks() {
        ask_words(&[
            &["jq", "-n", "$ENV.API_TOKEN"],
            &["jq", ".name, env.OPENAI_API_KEY", "package.json"],
            &["jq", "-f", "x.jq", "a"],
            &["jq", "-nf", "x.jq"],
            &["jq", "--from-file", "x.jq"],
            &["jq", "-L", ".", "import \"a\" as a; ."],
            &["jq", "-L.", "."],
            &["jq", ".", "*"],
            &["jq", ".", "…"],
            &["jq", "…", "a"],
            &["jq", ".a…", "a"],
            &["jq", "--arg", "a", "*", "."],
            &["jq", "--indent"],
            &["jq", "--nosuch", "."],
        ]);
    }

    #[test]
    fn both_kinds_of_yq() {
        only_read_words(&[
            &["yq", ".a.b", "x.yml"],
            &["yq", "-r", ".services | keys", "compose.yml"],
            &["yq", "e", ".a", "x.yml"],
            &["yq", "eval", "-o=json", ".", "x.yml"],
            &["yq", "-o", "json", "x.yml"],
            &["yq", "-y", ".a"],
            &["yq", "-P", "config.yaml"],
        ]);
        ask_words(&[
            &["yq", "-i", ".a=1", "x.yml"],
            &["yq", "e", "-i", ".a=1", "x.yml"],
            &["yq", "--inplace", ".a=1", "x.yml"],
            &["yq", "--in-place", ".a=1", "x.yml"],
            &["yq", "-yi", ".a=1", "x.yml"],
            &["yq", "-s", ".a", "x.yml"],
            &["yq", "--split-exp", ".a", "x.yml"],
            &["yq", "env(HOME)"],
            &["yq", "strenv(HOME)", "x.yml"],
            &["yq", ".a = load(\"/etc/shadow\")", "x.yml"],
            &["yq", "eval(\"env(HOME)\")", "x.yml"],
            &["yq", "system(\"id\")", "x.yml"],
            &["yq", "-o", "-i", ".a=1", "x.yml"],
            &["yq", "--from-file", "x", "y"],
            &["yq", ".a", "*"],
            &["yq", "…"],
        ]);
    }
}
