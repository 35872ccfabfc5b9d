//! Programs that make, copy, move or remove files and do nothing else. Called by the dispatch. A mode that allows
//! edits allows them for the paths that they name; so a word that isn't known to its end must at least begin with a
//! path.

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, Parsed, known, options, used};
use super::{Arg, Judgement, PathArg, Program, code, table};

/// From the manual of GNU coreutils 9.
pub(super) const PROGRAMS: &[Program] = &[
    table("mkdir", options("pv", "parents verbose").edits(Access::Write)),
    table("touch", options("acmd:hr@t:", "no-create date= no-dereference reference=@ time=").edits(Access::Write)),
    table(
        "rm",
        options("fiIrRdv", "force interactive? one-file-system preserve-root? recursive dir verbose")
            .edits(Access::Remove),
    ),
    // `-p` removes folders above those that are named.
    table("rmdir", options("v", "ignore-fail-on-non-empty verbose").edits(Access::Remove)),
    table("unlink", options("", "").edits(Access::Remove).at_most(1)),
    code("tee", tee),
    code("cp", |name, args| transfer(CP, Access::Read, name, args)),
    code("mv", |name, args| transfer(MV, Access::Remove, name, args)),
];

/// `tee` changes nothing where all that it writes to are the streams it has, or nothing.
fn tee(name: &str, args: &[Arg]) -> Judgement {
    const TEE: Options = options("aip", "append ignore-interrupts output-error?");
    let stream = |word: &Arg| matches!(word, Arg::Literal(text) if matches!(text.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr"));
    match TEE.parse(name, args) {
        Ok(parsed) if parsed.operands.iter().all(stream) => known(Class::ReadOnly, Doing::Other, Vec::new()),
        _ => TEE.edits(Access::Write).judge(name, args),
    }
}

/// `--parents` is not among them: it writes below the target, at the source's whole path.
const CP: Options = options(
    "adfiHLnPpRruvxTt:",
    "archive attributes-only force interactive dereference no-clobber no-dereference preserve? no-preserve= \
     recursive reflink? sparse= strip-trailing-slashes target-directory= no-target-directory update? verbose \
     one-file-system debug",
);

const MV: Options = options(
    "finuvTt:",
    "force interactive no-clobber no-copy strip-trailing-slashes target-directory= no-target-directory update? verbose \
     debug",
);

/// Sources, then what they are copied or moved to: the last operand, or the value of `-t`.
fn transfer(options: Options, sources: Access, name: &str, args: &[Arg]) -> Judgement {
    let parsed = match options.parse(name, args) {
        Ok(parsed) => parsed,
        Err(_) => return options.edits(Access::Write).judge(name, args),
    };
    if args.len() == 1 && parsed.operands.is_empty() {
        return options.judge(name, args);
    }
    match targets(&parsed) {
        Some((from, to)) => {
            let mut paths: Vec<PathArg> = from.iter().filter_map(|path| used(path, sources)).collect();
            paths.extend(to.iter().filter_map(|path| used(path, Access::Write)));
            known(Class::Edits, Doing::Other, paths)
        }
        None => Judgement::Unknown(format!("{name}: it is not known where it writes")),
    }
}

/// Sources and targets. `None` if a word that may be many could be among the targets.
fn targets(parsed: &Parsed) -> Option<(&[Arg], Vec<Arg>)> {
    let chosen: Vec<Arg> = parsed.values(&["t", "target-directory"]).cloned().collect();
    if !chosen.is_empty() {
        return Some((&parsed.operands, chosen));
    }
    match parsed.operands.split_last() {
        Some((Arg::Many(_), _)) => None,
        Some((target, sources)) => Some((sources, vec![target.clone()])),
        None => Some((&[], Vec::new())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, edit, only_read, paths};

    #[test]
    fn what_is_changed_is_told() {
        edit(&[
            "mkdir -p a/b",
            "touch a",
            "rm -rf target",
            "rmdir a",
            "mv a b",
            "cp -r a b",
            "tee a",
            "tee -a a",
            "rm build/*",
        ]);
        assert_eq!(paths("mkdir -p a b"), ["Write a", "Write b"]);
        assert_eq!(paths("touch -r x a"), ["Read x", "Write a"]);
        assert_eq!(paths("rm -rf build/*"), ["Remove build/…"]);
        assert_eq!(paths("mv a b c"), ["Remove a", "Remove b", "Write c"]);
        assert_eq!(paths("cp -r a b"), ["Read a", "Write b"]);
        assert_eq!(paths("cp -t x a b"), ["Read a", "Read b", "Write x"]);
        assert_eq!(paths("tee -a - a"), ["Write -", "Write a"]);
        assert_eq!(paths("rm -- -a"), ["Remove -a"]);
    }

    #[test]
    fn tee_to_a_stream_changes_nothing() {
        only_read(&["tee", "tee /dev/stderr", "tee -a /dev/null"]);
        edit(&["tee /dev/null a", "tee /dev/sda"]);
        ask(&["tee …", "tee *", "tee /dev/null …"]);
    }

    #[test]
    fn words_that_may_be_options_are_refused() {
        ask(&[
            "rm *",
            "rm …",
            "rm -rf …",
            "mv … b",
            "cp a *",
            "mkdir …",
            "tee …",
            "cp a b/*",
            "rm --no-preserve-root /",
        ]);
        ask(&[
            "mkdir -m 777 a",
            "mkdir --mode=777 a",
            "cp -s a b",
            "cp -l a b",
            "cp --backup a b",
            "cp --parents a/.envrc b",
            "rmdir -p /w/a/b",
            "rmdir -vp a",
            "rmdir --parents a",
            "mv -b a b",
            "ln a b",
        ]);
        ask(&[
            "chmod +x a",
            "chown root a",
            "truncate -s 0 a",
            "dd of=a",
            "install a b",
            "mktemp",
            "mkfifo a",
            "shred a",
        ]);
    }
}
