//! `awk` in its kinds: options, and what its programs touch. Called by the dispatch.

mod program;
mod tokens;

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, known, options, refused, shown, used};
use super::{Arg, Judgement, PathArg, Program, code};

/// From POSIX and the manuals of gawk 5.2, mawk 1.3.4, and the one true awk.
pub(super) const PROGRAMS: &[Program] = &[code("awk gawk mawk nawk original-awk", judge)];

/// Without those that name a program file or a library, or write a profile.
const OPTIONS: Options = options(
    "F:v:bcCkMnNOPrsSt",
    "field-separator? assign? characters-as-bytes traditional csv bignum non-decimal-data use-lc-numeric optimize \
     posix re-interval no-optimize sandbox lint-old",
)
.options_first();

/// What every kind says of itself without running anything.
const ABOUT: &[&str] = &["--version", "--help", "-V", "-version"];

fn judge(name: &str, args: &[Arg]) -> Judgement {
    match judged(name, args) {
        Ok(paths) => known(Class::ReadOnly, Doing::Read, paths),
        Err(why) => Judgement::Unknown(why),
    }
}

fn judged(name: &str, args: &[Arg]) -> Result<Vec<PathArg>, String> {
    if let [Arg::Literal(only)] = args
        && ABOUT.contains(&only.as_str())
    {
        return Ok(Vec::new());
    }
    let parsed = OPTIONS.parse(name, args)?;
    if let Some(word) = args.iter().take(args.len() - parsed.operands.len()).find(|word| is_passed_over(word)) {
        return Err(format!("{}: its value may be taken for the program", refused(name, word)));
    }
    let Some((program, operands)) = parsed.operands.split_first() else {
        return Err(format!("{name} without a program is not known to be harmless"));
    };
    let Arg::Literal(program) = program else { return Err(refused(name, program)) };
    let mut paths: Vec<PathArg> =
        program::files_read(program)?.into_iter().filter_map(|path| used(&Arg::Literal(path), Access::Read)).collect();
    for operand in operands {
        if name != "mawk" && may_be_a_socket(operand) {
            return Err(format!("{name} may take {} for a network address", shown(operand)));
        }
        if !is_assignment(operand) {
            paths.extend(used(operand, Access::Read));
        }
    }
    Ok(paths)
}

/// Whether a word takes a value from the next one in a form that only gawk knows: others pass over the word.
fn is_passed_over(word: &Arg) -> bool {
    let (Arg::Literal(text) | Arg::One(text) | Arg::Many(text)) = word;
    match text.strip_prefix("--") {
        Some(long) => matches!(long, "field-separator" | "assign"),
        None => text.strip_prefix('-').and_then(|letters| letters.find(['v', 'F'])).is_some_and(|at| at > 0),
    }
}

/// Whether gawk may take the word for `/inet/tcp/…`, which it connects to, also as a file operand. Whether a word of
/// which nothing is known begins with a slash is for the walk to say.
fn may_be_a_socket(operand: &Arg) -> bool {
    const SOCKET: &str = "/inet";
    match operand {
        Arg::Literal(path) => path.starts_with(SOCKET),
        Arg::One(prefix) | Arg::Many(prefix) => {
            !prefix.is_empty() && (prefix.starts_with(SOCKET) || SOCKET.starts_with(prefix))
        }
    }
}

/// Whether the word surely sets a variable, as `OFS=,`.
fn is_assignment(operand: &Arg) -> bool {
    let (Arg::Literal(text) | Arg::One(text) | Arg::Many(text)) = operand;
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask_words, only_read_words, paths_of_words};

    #[test]
    fn awk_that_prints_only_reads() {
        only_read_words(&[
            &["awk", "{print $1}", "a.txt"],
            &["awk", "-F,", "{print $2}", "data.csv"],
            &["awk", "-F", "\t", "-v", "OFS=,", "-vn=3", "NR==n", "a"],
            &["awk", "-v", "x=…", "{print x}", "src/*"],
            &["awk", "-F,…", "{print $2}"],
            &["gawk", "--field-separator=:", "--", "{print}", "/etc/hosts", "-"],
            &["mawk", "1", "*"],
            // The walk asks for those that are no names in the folder.
            &["gawk", "1", "*"],
            &["awk", "1", "-f", "x"],
            &["awk", "--version"],
            &["awk", "{print}", "FS=:", "a"],
            &["gawk", "-S", "{print}"],
        ]);
        assert_eq!(paths_of_words(&["awk", "{print}", "FS=:", "a", "-", "src/…"]), ["Read a", "Read src/…"]);
        assert_eq!(paths_of_words(&["awk", "BEGIN{while((getline l < \"x\")>0) print l}"]), ["Read x"]);
        assert_eq!(paths_of_words(&["awk", "1", "a b=c"]), ["Read a b=c"]);
    }

    #[test]
    fn awk_that_may_do_more_asks() {
        ask_words(&[
            &["awk"],
            &["awk", "-f", "prog.awk", "a"],
            &["awk", "-fprog.awk"],
            &["gawk", "-l", "./pwn", "1"],
            &["gawk", "-i", "inplace", "{print}", "a"],
            &["gawk", "-e", "BEGIN{}"],
            &["gawk", "-E", "x"],
            &["gawk", "--source=1"],
            &["gawk", "-o", "1"],
            &["gawk", "-d", "1"],
            &["gawk", "-p", "1"],
            &["gawk", "--dump-variables=pwn", "1"],
            &["gawk", "--pretty-print=pwn", "1"],
            &["gawk", "--profile", "1"],
            &["gawk", "-bopwn", "1"],
            &["mawk", "-W", "exec", "x"],
            &["awk", "…", "a"],
            &["awk", "{print…", "a"],
            &["awk", "*", "a"],
            // An empty value would be the next word.
            &["awk", "-F…", "{print}", "system(1)"],
            &["awk", "-v", "*", "1"],
            // The one true awk passes over words that it doesn't know, and takes the next one for the program.
            &["awk", "-nv", "BEGIN{system(1)}", "{print}"],
            &["awk", "-bF", "BEGIN{system(1)}", "{print}"],
            &["original-awk", "--assign", "BEGIN{system(1)}", "{print}"],
            &["gawk", "--field-separator", "BEGIN{system(1)}", "{print}"],
            &["gawk", "1", "/inet/tcp/0/192.0.2.1/80"],
            &["awk", "1", "/in…"],
            &["awk", "BEGIN{system(\"touch pwn\")}"],
            &["awk", "{print > \"pwn\"}", "a"],
        ]);
    }
}
