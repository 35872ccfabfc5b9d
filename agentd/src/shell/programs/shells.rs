//! Shells that run a text that stands on their line. Called by the dispatch; the text is judged by the walk.

use super::super::analysis::{Access, Class, Doing};
use super::options::{known, refused, used};
use super::{Arg, Judgement, Known, Program, code};

/// From the manuals of bash 5.2 and dash 0.5. Other shells read files of their own first.
pub(super) const PROGRAMS: &[Program] =
    &[code("bash", judge), code("sh dash", judge), code("ash fish ksh mksh rbash zsh", other_shell)];

/// Options without effect on what a text does, beside `c` itself.
const SWITCHES: &str = "ceufE";

/// Of `set -o`.
const SET: &[&str] = &["pipefail", "errexit", "nounset", "noglob"];

/// What dash reads in another way than bash, so that a text may do another thing: strings, conditions, arithmetic,
/// redirections, and a line's end that may hide one of them.
const NOT_IN_DASH: &[&str] = &["$'", "$\"", "$[", "[[", "((", "&>", "|&", "<<<", "<(", ">(", "\\\n"];

/// Words that dash takes for programs.
const NO_WORDS_OF_DASH: &[&str] = &["function", "coproc", "select", "time"];

fn judge(name: &str, args: &[Arg]) -> Judgement {
    if let [Arg::Literal(option), file] = args
        && option == "-n"
        && !may_be_option(file)
    {
        // It is parsed, and nothing of it is run.
        return known(Class::ReadOnly, Doing::Read, used(file, Access::Read).into_iter().collect());
    }
    match script(name, args) {
        Ok(script) => Judgement::Script(script),
        Err(why) => beside(args).unwrap_or(Judgement::Unknown(why)),
    }
}

fn other_shell(name: &str, args: &[Arg]) -> Judgement {
    beside(args).unwrap_or_else(|| Judgement::Unknown(format!("{name} may run anything")))
}

/// The text of `-c`, also where more may be run beside it, by other options or by another shell: it is not harmless
/// then, whatever the text is, but rules speak of the commands in it.
fn beside(args: &[Arg]) -> Option<Judgement> {
    let literal = |word: &Arg| if let Arg::Literal(text) = word { Some(text.clone()) } else { None };
    let gives = |text: &str| match text.strip_prefix("--") {
        Some(long) => long == "command",
        None => text.starts_with(['-', '+']) && text.contains('c'),
    };
    let at = args.iter().position(|word| literal(word).is_some_and(|text| gives(&text)))?;
    let mut behind = args.iter().skip(at + 1);
    // `-co pipefail` takes a word first.
    let takes_word = literal(args.get(at)?).is_some_and(|text| !text.starts_with("--") && text.contains(['o', 'O']));
    let script = behind.by_ref().filter_map(literal).find(|text| !text.starts_with(['-', '+']))?;
    let script = if takes_word { behind.find_map(literal)? } else { script };
    let argv = ["bash".to_owned(), "-c".to_owned(), script].map(Arg::Literal).to_vec();
    let does = Known { class: Class::Unknown, doing: Doing::Other, paths: Vec::new() };
    Some(Judgement::Runs { argv, does })
}

/// The text of `-c`. What follows is `$0`, `$1` and so on, of which the walk knows nothing in any text.
fn script(name: &str, args: &[Arg]) -> Result<String, String> {
    let mut words = args.iter();
    let mut given = false;
    let script = loop {
        let Some(word) = words.next() else { return Err(format!("{name} may run anything")) };
        let Arg::Literal(text) = word else { return Err(refused(name, word)) };
        let letters = text.strip_prefix('-').unwrap_or_default();
        if letters.is_empty() {
            // `-` and `+e` are options too.
            if text.starts_with(['-', '+']) {
                return Err(refused(name, word));
            }
            break text;
        }
        if matches!(text.as_str(), "--norc" | "--noprofile") && name == "bash" {
            continue;
        }
        let (letters, set) = match letters.strip_suffix('o') {
            Some(before) => (before, words.next()),
            None => (letters, None),
        };
        let known = letters.chars().all(|letter| SWITCHES.contains(letter));
        let set_is_known = set.is_none_or(|set| matches!(set, Arg::Literal(set) if SET.contains(&set.as_str())));
        if !known || !set_is_known || (text.ends_with('o') && set.is_none()) {
            return Err(refused(name, word));
        }
        given |= letters.contains('c');
    };
    if !given {
        return Err(format!("{name} {script} runs a file"));
    }
    match NOT_IN_DASH.iter().chain(NO_WORDS_OF_DASH).find(|part| name != "bash" && holds(script, part)) {
        Some(part) => Err(format!("{name} may read {part} in another way than bash")),
        None => Ok(script.clone()),
    }
}

/// Whether the text holds these signs, or this word as a whole.
fn holds(text: &str, part: &str) -> bool {
    if NO_WORDS_OF_DASH.contains(&part) {
        return text.split(|character: char| !character.is_ascii_alphanumeric()).any(|word| word == part);
    }
    text.contains(part)
}

fn may_be_option(word: &Arg) -> bool {
    match word {
        Arg::Literal(text) => text.starts_with(['-', '+']),
        Arg::One(prefix) => prefix.is_empty() || prefix.starts_with(['-', '+']),
        Arg::Many(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask_words, judged_words, only_read_words};
    use super::super::{Arg, Judgement};
    use super::Class;

    #[test]
    fn a_literal_text_is_handed_on() {
        for words in [
            ["bash", "-c", "ls | head -3"].as_slice(),
            &["bash", "-euo", "pipefail", "-c", "ls | head -3"],
            &["bash", "-ec", "ls | head -3"],
            &["bash", "--norc", "-c", "ls | head -3"],
            &["sh", "-c", "ls | head -3"],
            &["dash", "-e", "-c", "ls | head -3"],
            &["sh", "-c", "ls | head -3", "2>&1 runtime"],
            &["bash", "-c", "ls | head -3", "_", "…", "-x", "*"],
        ] {
            assert_eq!(judged_words(words), Judgement::Script("ls | head -3".to_owned()), "{words:?}");
        }
    }

    /// Rules see the commands of the text, and what else is run makes it ask.
    #[test]
    fn a_text_is_read_also_where_more_may_be_run() {
        for words in [
            ["bash", "-lc", "ls"].as_slice(),
            &["bash", "-lc", "ls"],
            &["bash", "-ic", "ls"],
            &["bash", "-xc", "ls"],
            &["bash", "--rcfile", "x", "-c", "ls"],
            &["bash", "--init-file", "x", "-ic", "ls"],
            &["bash", "…", "-c", "ls"],
            &["bash", "-o", "posix", "-c", "ls"],
            &["bash", "-O", "expand_aliases", "-c", "ls"],
            &["bash", "+e", "-c", "ls"],
            &["sh", "--norc", "-c", "ls"],
            &["zsh", "-c", "ls"],
            &["fish", "-c", "ls"],
            &["bash", "-co", "posix", "ls"],
            &["bash", "-n", "-c", "ls", "x"],
            &["ksh", "-ec", "ls", "x"],
            &["fish", "--command", "ls"],
        ] {
            let Judgement::Runs { argv, does } = judged_words(words) else { panic!("{words:?}") };
            assert_eq!(argv, ["bash", "-c", "ls"].map(|word| Arg::Literal(word.to_owned())), "{words:?}");
            assert_eq!(does.class, Class::Unknown, "{words:?}");
        }
        for words in [
            ["bash", "-c", "+e", "ls"].as_slice(),
            &["bash", "-c", "--", "ls"],
            &["bash", "-c", "-", "ls"],
            &["sh", "-c", "echo $'a\\'; touch pwn #'"],
            &["sh", "-c", "cat x &>/dev/null y"],
            &["sh", "-c", "[[ a > pwn ]]"],
            &["sh", "-c", "((a > b))"],
            &["sh", "-c", "echo $[a > b]"],
            &["sh", "-c", "echo $\\\n'a\\'; touch pwn #'"],
            &["sh", "-c", "time -o pwn ls"],
        ] {
            let Judgement::Runs { does, .. } = judged_words(words) else { panic!("{words:?}") };
            assert_eq!(does.class, Class::Unknown, "{words:?}");
        }
    }

    #[test]
    fn other_shells_and_texts_ask() {
        ask_words(&[
            &["bash"],
            &["bash", "x.sh"],
            &["bash", "-s"],
            &["bash", "-"],
            &["bash", "-c", "…"],
            &["bash", "-c", "*"],
            &["bash", "-c"],
            &["bash", "-e", "x.sh"],
            &["bash", "-o"],
            &["bash", "-n", "…"],
            &["bash", "-n", "-i"],
            &["sh", "x"],
        ]);
    }

    #[test]
    fn a_check_of_syntax_runs_nothing() {
        only_read_words(&[&["bash", "-n", "x.sh"], &["sh", "-n", "a/…"]]);
    }
}
