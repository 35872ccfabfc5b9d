//! `sed`: its options, and what its scripts and its in-place editing touch. Called by the dispatch.

mod script;

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, Parsed, known, options, refused, shown, used};
use super::{Arg, Judgement, PathArg, Program, code};

/// From the manual of GNU sed 4.9.
pub(super) const PROGRAMS: &[Program] = &[code("sed", judge)];

const OPTIONS: Options = options(
    "nErsuzbe:l:i?",
    "quiet silent regexp-extended separate unbuffered null-data zero-terminated binary expression= line-length= \
     posix debug sandbox in-place? help version",
)
.reads();

/// Judges a use of sed.
fn judge(name: &str, args: &[Arg]) -> Judgement {
    match judged(name, args) {
        Ok(judgement) => judgement,
        Err(why) => Judgement::Unknown(why),
    }
}

fn judged(name: &str, args: &[Arg]) -> Result<Judgement, String> {
    let parsed = OPTIONS.parse(name, args)?;
    // Where they come after a script, that is read before them, and its files are opened.
    if parsed.has(&["help", "version"]) && args.len() == 1 {
        return Ok(known(Class::ReadOnly, Doing::Other, Vec::new()));
    }
    let (script, files) = script_of(name, &parsed)?;
    let mut paths: Vec<PathArg> =
        script::files_read(&script)?.into_iter().map(|path| PathArg::new(Arg::Literal(path), Access::Read)).collect();
    if parsed.has(&["i", "in-place"]) {
        paths.extend(edited(&parsed, files)?);
        return Ok(known(Class::Edits, Doing::Other, paths));
    }
    paths.extend(files.iter().filter_map(|file| used(file, Access::Read)));
    Ok(known(Class::ReadOnly, Doing::Read, paths))
}

/// The whole script, and the operands that are files. Pieces of a script are lines of it, also where a piece ends
/// in a backslash.
fn script_of<'a>(name: &str, parsed: &'a Parsed) -> Result<(String, &'a [Arg]), String> {
    let mut pieces: Vec<&Arg> = parsed.values(&["e", "expression"]).collect();
    let mut files = parsed.operands.as_slice();
    if pieces.is_empty()
        && let Some((first, rest)) = files.split_first()
    {
        pieces.push(first);
        files = rest;
    }
    let mut lines = Vec::new();
    for piece in pieces {
        let Arg::Literal(text) = piece else { return Err(refused(name, piece)) };
        lines.push(text.as_str());
    }
    Ok((lines.join("\n"), files))
}

/// The files that are changed in place, and their backups.
fn edited(parsed: &Parsed, files: &[Arg]) -> Result<Vec<PathArg>, String> {
    let mut written = Vec::new();
    for file in files {
        written.push(PathArg::new(file.clone(), Access::Write));
        for suffix in parsed.values(&["i", "in-place"]) {
            let backup = match (suffix, file) {
                (Arg::Literal(suffix), file) if is_plain_suffix(suffix) => with_suffix(file, suffix),
                _ => return Err(format!("sed -i{} may write its backup anywhere", shown(suffix))),
            };
            written.push(PathArg::new(backup, Access::Write));
        }
    }
    Ok(written)
}

/// Whether the suffix is put behind the name: with `*` or `/` the backup is another file in another folder.
fn is_plain_suffix(suffix: &str) -> bool {
    suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'~'))
}

fn with_suffix(file: &Arg, suffix: &str) -> Arg {
    match file {
        Arg::Literal(path) => Arg::Literal(format!("{path}{suffix}")),
        unknown => unknown.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask_words, edit_words, only_read_words, paths_of_words};

    #[test]
    fn sed_that_prints_only_reads() {
        only_read_words(&[
            &["sed", "-n", "1,20p", "src/main.rs"],
            &["sed", "-ne", "p", "-e", "d"],
            &["sed", "-nE", "/a|b/p", "a.txt", "b.txt"],
            &["sed", "--quiet", "--expression=1p", "a.txt"],
            &["sed", "s/a/b/", "--", "-i"],
            &["sed", "-n", "--", "1p", "*"],
            &["sed", "1p", "src/*"],
            &["sed", "1p", "src/…"],
            &["sed", "-s", "-n", "$p", "a", "b"],
            &["sed", "-z", "-u", "-l", "40", "l", "a"],
            &["sed", "--version"],
            &["sed", "-e", "a\\", "-e", "w pwn", "a.txt"],
            &["sed", "--sandbox", "1d", "a"],
        ]);
    }

    #[test]
    fn sed_that_may_do_more_asks() {
        ask_words(&[
            &["sed", "-f", "script.sed", "a.txt"],
            &["sed", "-nf", "script.sed"],
            &["sed", "--file=x"],
            &["sed", "--fil=x"],
            &["sed", "--expr=w pwn"],
            &["sed", "-n", "1p", "*"],
            &["sed", "-n", "1p", "…"],
            &["sed", "…", "a.txt"],
            &["sed", "s/a/…", "a.txt"],
            &["sed", "-e", "1…", "a.txt"],
            &["sed", "-e", "p", "-e", "w pwn", "a.txt"],
            &["sed", "w pwn", "a.txt"],
            &["sed", "-n", "w pwn", "a.txt"],
            &["sed", "--follow-symlinks", "-i", "1d", "a.txt"],
            &["sed", "-i", "1e touch pwn", "a.txt"],
            &["sed", "-i", "w pwn", "a.txt"],
            &["sed", "-i../x", "1d", "a.txt"],
            &["sed", "-ibak/*", "1d", "a.txt"],
            &["sed", "--in-place=*x", "1d", "a.txt"],
            &["sed", "-i", "1d", "*"],
            &["sed", "--in-pl", "1d", "a"],
        ]);
    }

    #[test]
    fn sed_in_place_changes_what_it_names() {
        edit_words(&[
            &["sed", "-i", "s/a/b/", "a.txt"],
            &["sed", "-Ei", "s/a/b/", "a.txt"],
            &["sed", "s/a/b/", "-i", "a.txt"],
            &["sed", "--in-place=.bak", "s/a/b/", "a.txt"],
            &["sed", "-i", "s/a/b/", "src/*"],
        ]);
        assert_eq!(paths_of_words(&["sed", "-i", "s/a/b/", "a", "b"]), ["Write a", "Write b"]);
        assert_eq!(paths_of_words(&["sed", "-i.bak", "1d", "a"]), ["Write a", "Write a.bak"]);
        // What follows -i in a bundle is the suffix.
        assert_eq!(paths_of_words(&["sed", "-iE", "1d", "a"]), ["Write a", "Write aE"]);
        assert_eq!(paths_of_words(&["sed", "-i.bak", "1d", "src/*"]), ["Write src/…", "Write src/…"]);
    }

    #[test]
    fn what_sed_reads_is_told() {
        assert_eq!(paths_of_words(&["sed", "$r notes.txt", "a", "-"]), ["Read notes.txt", "Read a"]);
        assert_eq!(paths_of_words(&["sed", "-e", "p", "a"]), ["Read a"]);
        assert_eq!(paths_of_words(&["sed", "-n", "--", "p", "…"]), ["Read …"]);
    }
}
