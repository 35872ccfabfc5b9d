//! `xargs`: the command that it runs, with what it appends or puts in. Called by the dispatch.

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, Parsed, known, options, refused, used};
use super::{Arg, Judgement, Known, Program, code};

/// From the manual of GNU findutils 4.10. Left out: `-p` and `-o`, which need a terminal, and `--process-slot-var`,
/// which sets any variable of the command.
pub(super) const PROGRAMS: &[Program] = &[code("xargs gxargs", judge)];

const OPTIONS: Options = options(
    "0rtxa@d:E:I:L:n:P:s:e?i?l?",
    "null no-run-if-empty verbose exit show-limits arg-file=@ delimiter= eof? replace? max-lines? max-args= max-procs= \
     max-chars=",
)
.options_first();

/// Options by which words are put in somewhere.
const PUT_IN: &[&str] = &["I", "i", "replace"];

/// Options by which words are appended; of both kinds the last one counts, with exceptions.
const APPEND: &[&str] = &["n", "L", "l", "max-args", "max-lines"];

fn judge(name: &str, args: &[Arg]) -> Judgement {
    match OPTIONS.parse(name, args).and_then(|parsed| judged(name, &parsed)) {
        Ok(judgement) => judgement,
        Err(why) => Judgement::Unknown(why),
    }
}

fn judged(name: &str, parsed: &Parsed) -> Result<Judgement, String> {
    let paths = parsed.files.iter().filter_map(|file| used(file, Access::Read)).collect();
    if parsed.operands.is_empty() {
        // It runs echo.
        return Ok(known(Class::ReadOnly, Doing::Other, paths));
    }
    let mut argv = parsed.operands.clone();
    if parsed.has(PUT_IN) {
        let sign = sign(name, parsed)?;
        for word in &mut argv {
            put_in(word, &sign);
        }
    }
    if !parsed.has(PUT_IN) || parsed.has(APPEND) {
        argv.push(Arg::Many(String::new()));
    }
    match argv.first() {
        Some(Arg::Literal(_)) => {
            Ok(Judgement::Runs { argv, does: Known { class: Class::ReadOnly, doing: Doing::Other, paths } })
        }
        Some(word) => Err(refused(name, word)),
        None => Err(format!("{name} runs what is not known")),
    }
}

/// What stands for the words that are put in.
fn sign(name: &str, parsed: &Parsed) -> Result<String, String> {
    let mut signs = parsed.options.iter().filter(|option| PUT_IN.contains(&option.name));
    let sign = match (signs.next(), signs.next()) {
        (Some(option), None) => match &option.value {
            Some(Arg::Literal(sign)) => sign.clone(),
            Some(word) => return Err(refused(name, word)),
            None => "{}".to_owned(),
        },
        _ => return Err(format!("{name} with more than one -I is not followed")),
    };
    if sign.is_empty() { Err(format!("{name} with an empty -I is not followed")) } else { Ok(sign) }
}

/// Cuts a word where something is put in.
fn put_in(word: &mut Arg, sign: &str) {
    match word {
        Arg::Literal(text) => {
            if let Some((before, _)) = text.split_once(sign) {
                *word = Arg::One(before.to_owned());
            }
        }
        // Its unknown end may hold the sign, which changes nothing of what is known.
        Arg::One(prefix) | Arg::Many(prefix) => {
            if let Some((before, _)) = prefix.split_once(sign) {
                *prefix = before.to_owned();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{argv, ask, only_read};

    #[test]
    fn the_command_of_xargs_gets_any_words() {
        assert_eq!(argv("xargs cat"), ["cat", "*"]);
        assert_eq!(argv("xargs -0 -n1 -P4 wc -l"), ["wc", "-l", "*"]);
        assert_eq!(argv("xargs -r0 grep -n foo --"), ["grep", "-n", "foo", "--", "*"]);
        assert_eq!(argv("xargs -I{} cat a/{}/b"), ["cat", "a/…"]);
        assert_eq!(argv("xargs -I % echo % x"), ["echo", "…", "x"]);
        assert_eq!(argv("xargs -i cat {}"), ["cat", "…"]);
        assert_eq!(argv("xargs --replace cat {}"), ["cat", "…"]);
        // Which of the two counts depends on their order and values.
        assert_eq!(argv("xargs -I{} -L1 cat x{}"), ["cat", "x…", "*"]);
        assert_eq!(argv("xargs rm -rf"), ["rm", "-rf", "*"]);
        assert_eq!(argv("xargs -a list ls -la"), ["ls", "-la", "*"]);
        assert_eq!(argv("xargs cat …"), ["cat", "…", "*"]);
    }

    #[test]
    fn xargs_without_a_command_prints() {
        only_read(&["xargs", "xargs -n 2", "xargs -0", "xargs -t"]);
    }

    #[test]
    fn xargs_that_runs_what_is_not_known_asks() {
        ask(&[
            "xargs …",
            "xargs *",
            "xargs -I{} {}",
            "xargs -I{} {} x",
            "xargs -I… cat {}",
            "xargs -I * cat {}",
            "xargs -I{} -I% cat %",
            "xargs -p rm",
            "xargs -o vi",
            "xargs --process-slot-var=PATH ls",
            "xargs --nosuch ls",
            "xargs -n* cat",
        ]);
    }
}
