//! Programs that list, test or show archives and compressed files. Called by the dispatch. None of the words here
//! unpacks into files or names a program.

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, Parsed, known, options, refused, shown, used};
use super::{Arg, Judgement, Program, code, table};

/// From the manuals of GNU tar 1.35, Info-ZIP unzip 6, GNU gzip 1.13, bzip2 1.0, xz 5.8, zstd 1.5, GNU cpio 2.15, 7-Zip.
pub(super) const PROGRAMS: &[Program] = &[
    code("tar gtar bsdtar", tar),
    code("unzip", unzip),
    table("zipinfo", options("12smlvhtTzCxM", "").paths(Access::Read).doing(Doing::List)),
    code("gzip pigz", |name, args| compressor(GZIP, name, args)),
    code("gunzip", |name, args| compressor(GZIP, name, args)),
    code("bzip2 bunzip2", |name, args| compressor(BZIP2, name, args)),
    code("xz unxz lzma unlzma", |name, args| compressor(XZ, name, args)),
    code("zstd unzstd", |name, args| compressor(ZSTD, name, args)),
    table("zcat gzcat", GZIP.reads()),
    table("bzcat", BZIP2.reads()),
    table("xzcat lzcat", XZ.reads()),
    code("zstdcat", zstdcat),
    code("cpio", cpio),
    code("7z 7za 7zr 7zz", seven_zip),
];

const GZIP: Options = options(
    "cdfklnNqrtvS:123456789",
    "stdout to-stdout decompress uncompress force keep list no-name name quiet recursive rsyncable suffix= synchronous \
     test verbose fast best",
);
const BZIP2: Options = options("cdfkqstv123456789", "stdout decompress force keep quiet small test verbose fast best");
const XZ: Options = options(
    "cdfkqtlvzeT:0123456789",
    "stdout to-stdout decompress uncompress force keep quiet test list verbose extreme threads= single-stream no-warn \
     robot",
);
/// A number of threads is attached only: `zstd -T -o x` writes to `x`.
const ZSTD: Options =
    options("cdfkqtlvT?#", "stdout decompress uncompress force keep quiet test list verbose threads? long?");

/// A compressor replaces its files unless it is told to write to standard output, or last of all to list or to test:
/// of what it is to do, the last word counts (`xz -t -d a.xz` unpacks and removes).
fn compressor(options: Options, name: &str, args: &[Arg]) -> Judgement {
    match options.parse(name, args) {
        Ok(parsed) if goes_on(&parsed) => Judgement::Unknown(format!("{name} {GOES_ON}")),
        Ok(parsed) if !parsed.options.is_empty() && !keeps_files(&parsed) => {
            Judgement::Unknown(format!("{name} replaces files unless it is given -c, or -l or -t at the end"))
        }
        Ok(parsed) if parsed.options.is_empty() && !parsed.operands.is_empty() => {
            Judgement::Unknown(format!("{name} replaces files unless it is given -c, -l or -t"))
        }
        _ => options.reads().judge(name, args),
    }
}

fn zstdcat(name: &str, args: &[Arg]) -> Judgement {
    match ZSTD.parse(name, args) {
        Ok(parsed) if goes_on(&parsed) => Judgement::Unknown(format!("{name} {GOES_ON}")),
        _ => ZSTD.reads().judge(name, args),
    }
}

const GOES_ON: &str = "reads what follows a number of threads as further options";

/// zstd goes on behind the number with further letters: `zstd -c -T4o out` writes to `out`.
fn goes_on(parsed: &Parsed) -> bool {
    let is_number = |value: &Arg| matches!(value, Arg::Literal(text) if text.bytes().all(|byte| byte.is_ascii_digit()));
    parsed.values(&["T"]).any(|threads| !is_number(threads))
}

fn keeps_files(parsed: &Parsed) -> bool {
    const TASKS: &[&str] = &["d", "z", "l", "t", "decompress", "uncompress", "list", "test"];
    let task = parsed.options.iter().rev().map(|option| option.name).find(|name| TASKS.contains(name));
    parsed.has(&["c", "stdout", "to-stdout"]) || matches!(task, Some("l" | "t" | "list" | "test"))
}

/// `tar` lists, or writes what it unpacks to standard output. Letters may stand without a dash in the first word; each that takes a value takes the next word then.
fn tar(name: &str, args: &[Arg]) -> Judgement {
    const TAR: Options = options(
        "txOvzjJaf:RC:",
        "list extract get to-stdout verbose gzip gunzip ungzip bzip2 xz lzma zstd auto-compress file= exclude= full-time numeric-owner \
         strip-components= wildcards no-wildcards anchored no-anchored ignore-case block-number totals utc \
         show-transformed-names show-stored-names quoting-style= force-local occurrence? one-file-system directory=",
    );
    let mut words = args.to_vec();
    if let Some(Arg::Literal(first)) = words.first_mut()
        && !first.starts_with('-')
    {
        if !are_old_letters(first) {
            return Judgement::Unknown(format!("{name} {first} is not known to be harmless"));
        }
        let flags: String = first.chars().filter(|letter| *letter != 'f').collect();
        *first = format!("-{flags}{}", if first.contains('f') { "f" } else { "" });
    }
    let parsed = match TAR.parse(name, &words) {
        Ok(parsed) => parsed,
        Err(_) => return TAR.judge(name, &words),
    };
    let to_stdout = parsed.has(&["O", "to-stdout"]);
    let doing = match (parsed.has(&["t", "list"]), parsed.has(&["x", "extract", "get"])) {
        (true, false) => Doing::List,
        (false, true) if to_stdout => Doing::Read,
        _ => return Judgement::Unknown(format!("{name} without t, or x with O, is not known to be harmless")),
    };
    if let Some(remote) = parsed.values(&["f", "file"]).find(|file| !is_local(file)) {
        return Judgement::Unknown(format!("{name} may ask another machine for {}", shown(remote)));
    }
    known(Class::ReadOnly, doing, archives(&parsed))
}

fn archives(parsed: &Parsed) -> Vec<super::PathArg> {
    parsed.values(&["f", "file"]).filter_map(|file| used(file, Access::Read)).collect()
}

/// Letters without a dash, of which one at most takes a value, and takes it from the next word wherever it stands.
fn are_old_letters(letters: &str) -> bool {
    letters.contains(['t', 'x'])
        && letters.chars().all(|letter| "txOvzjJaRf".contains(letter))
        && letters.chars().filter(|letter| *letter == 'f').count() <= 1
}

/// An archive `host:name` is on another machine, unless a slash stands before the colon.
fn is_local(archive: &Arg) -> bool {
    match archive {
        Arg::Literal(text) => text.split('/').next().is_some_and(|first| !first.contains(':')),
        Arg::One(prefix) => prefix.split_once('/').is_some_and(|(first, _)| !first.contains(':')),
        Arg::Many(_) => false,
    }
}

/// `unzip` that lists, tests or shows; every word with a dash counts, wherever it stands. `-T` sets the archive's time.
fn unzip(name: &str, args: &[Arg]) -> Judgement {
    const LETTERS: &str = "ltvZpcqahms12zC";
    let mut reads = false;
    let mut operands = Vec::new();
    for word in args {
        match word {
            Arg::Literal(text) if text.starts_with('-') => {
                let letters = text.strip_prefix('-').unwrap_or_default();
                if letters.is_empty() || !letters.chars().all(|letter| LETTERS.contains(letter)) {
                    return Judgement::Unknown(refused(name, word));
                }
                reads |= letters.contains(['l', 't', 'v', 'Z', 'p', 'c']);
            }
            Arg::Literal(_) => operands.push(word),
            Arg::One(prefix) | Arg::Many(prefix) if !prefix.is_empty() && !prefix.starts_with('-') => {
                operands.push(word)
            }
            Arg::One(_) | Arg::Many(_) => return Judgement::Unknown(refused(name, word)),
        }
    }
    if !reads {
        return Judgement::Unknown(format!("{name} unpacks unless it is given -l, -t, -v, -Z, -p or -c"));
    }
    let archive = operands.first().and_then(|archive| used(archive, Access::Read));
    known(Class::ReadOnly, Doing::List, archive.into_iter().collect())
}

/// `cpio` that lists standard input.
fn cpio(name: &str, args: &[Arg]) -> Judgement {
    let listing = |text: &str| text == "--list" || (is_cpio(text) && text.contains('t'));
    match args
        .iter()
        .find(|word| !matches!(word, Arg::Literal(text) if listing(text) || is_cpio(text) || text == "--quiet"))
    {
        Some(word) => Judgement::Unknown(refused(name, word)),
        None if args.iter().any(|word| matches!(word, Arg::Literal(text) if listing(text))) => {
            known(Class::ReadOnly, Doing::List, Vec::new())
        }
        None => Judgement::Unknown(format!("{name} without -t is not known to be harmless")),
    }
}

fn is_cpio(text: &str) -> bool {
    let letters = text.strip_prefix('-').unwrap_or_default();
    !letters.is_empty() && letters.chars().all(|letter| "itv".contains(letter))
}

/// `7z l archive`.
fn seven_zip(name: &str, args: &[Arg]) -> Judgement {
    match args {
        [Arg::Literal(list), rest @ ..] if list == "l" => {
            let fits = |word: &&Arg| match word {
                Arg::Literal(text) => {
                    matches!(text.as_str(), "-slt" | "-ba" | "-r") || !text.starts_with(['-', '@', '!'])
                }
                Arg::One(prefix) | Arg::Many(prefix) => !prefix.is_empty() && !prefix.starts_with(['-', '@', '!']),
            };
            match rest.iter().find(|word| !fits(word)) {
                Some(word) => Judgement::Unknown(refused(name, word)),
                None => {
                    let archive = rest.iter().find(|word| !matches!(word, Arg::Literal(text) if text.starts_with('-')));
                    let paths = archive.and_then(|archive| used(archive, Access::Read)).into_iter().collect();
                    known(Class::ReadOnly, Doing::List, paths)
                }
            }
        }
        _ => Judgement::Unknown(format!("{name} without l is not known to be harmless")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read, paths};

    #[test]
    fn tar_lists() {
        only_read(&[
            "tar tf a.tar",
            "tar -tf a.tar",
            "tar tzvf a.tgz",
            "tar -tvzf a.tgz src",
            "tar --list --file=a.tar",
        ]);
        only_read(&[
            "tar tf ./host:a.tar",
            "tar -tf a.tar --exclude x",
            "tar tvf -",
            "tar tfv a.tar",
            "tar -t -v -f a",
            "tar tf build/…",
        ]);
        ask(&["tar xf a.tar", "tar cf a.tar b", "tar tf host:a.tar", "tar -tf host:a", "tar tf …", "tar tf a.tar *"]);
        ask(&[
            "tar tf a --to-command=x",
            "tar -tf a -I ./x",
            "tar --use-compress-program ./x -tf a",
            "tar tf a -x",
            "tar",
        ]);
        ask(&[
            "tar tff a b",
            "tar tFf x a",
            "tar tf a --checkpoint-action=exec=x",
            "tar t --rsh-command=x -f a:b",
            "tar tT x",
        ]);
        ask(&["tar -tf a --info-script=x", "tar tf a --index-file=x", "tar --delete -f a b", "tar uf a b", "tar …"]);
        assert_eq!(paths("tar tzf a.tgz b"), ["Read a.tgz"]);
    }

    #[test]
    fn tar_unpacks_to_standard_output() {
        only_read(&[
            "tar -xOf a.tar b",
            "tar xOzf a.tgz b/c",
            "tar xfO a.tar",
            "tar --extract --to-stdout --file=a.tar b",
        ]);
        ask(&[
            "tar xf a.tar -C x",
            "tar -Of a.tar",
            "tar -xtOf a.tar",
            "tar xOf host:a.tar",
            "tar -xOf a --to-command=x",
        ]);
        ask(&["tar -xOf a -I ./x", "tar xOf a *", "tar -xOf a --listed-incremental=x", "tar cOf a b", "tar -xf O a"]);
        assert_eq!(paths("tar -xOf a.tar b"), ["Read a.tar"]);
    }

    #[test]
    fn unzip_lists() {
        only_read(&[
            "unzip -l a.zip",
            "unzip -Z1 a.zip",
            "unzip -t a.zip",
            "unzip -v a.zip",
            "unzip -p a.zip b",
            "zipinfo a",
        ]);
        ask(&[
            "unzip a.zip",
            "unzip -o a.zip",
            "unzip -lT a.zip",
            "unzip -l a.zip -d x",
            "unzip -q a.zip",
            "unzip *",
            "unzip … -l",
            "unzip -d x a",
        ]);
        ask(&["unzip -l -o a.zip", "unzip -x a.zip", "unzip -lx a.zip"]);
    }

    #[test]
    fn compressed_files_are_shown_not_replaced() {
        only_read(&[
            "gzip -l a.gz",
            "gzip -dc a.gz",
            "gunzip -c a.gz",
            "gzip -t a.gz",
            "zcat a.gz",
            "bzcat a",
            "xzcat a",
        ]);
        only_read(&[
            "zcat src/*",
            "xz -l a.xz",
            "zstd -dc a",
            "zstdcat a",
            "bzip2 -dc a",
            "xz -dc -T 2 a",
            "gzip -c -9 a",
        ]);
        ask(&[
            "gzip a",
            "gunzip a.gz",
            "gzip -d a.gz",
            "gzip -k a",
            "xz a",
            "zstd a -o b",
            "zstd -c a -o b",
            "bzip2 a",
        ]);
        only_read(&[
            "xz -dt a.xz",
            "bzip2 -d -t a.bz2",
            "zstd -td -c a",
            "gzip -dl a.gz",
            "zstd --decompress --test a",
        ]);
        ask(&["xz -t -d a.xz", "xz -td a.xz", "xz -l -z a", "xz --test --decompress a", "bzip2 -t -d a", "zstd -ld a"]);
        only_read(&["zstd -dc -T0 a.zst", "zstd -T4 -c a", "xz -T 0 -c a"]);
        ask(&["zstd -dc -T4o out a.zst", "zstd -T0o out -c a", "zstd -c -T… a", "zstdcat -T1o x a"]);
        ask(&["zstd --list -d a", "pigz -td a.gz", "unxz -l --uncompress a"]);
        ask(&["zstdcat a -o b", "zstdcat *", "zstd -c -T -o x a", "xz --files=x -c", "gzip … -c", "gzip -- -c"]);
        assert_eq!(paths("gzip -dc a.gz"), ["Read a.gz"]);
    }

    #[test]
    fn other_archives_are_listed() {
        only_read(&["cpio -t", "cpio -itv --quiet", "7z l a.7z", "7z l -slt a.7z", "cpio -i -t"]);
        ask(&["cpio -i", "cpio -o", "cpio -it -F host:x", "7z x a.7z", "7z l @list", "7z l a -ox"]);
        ask(&["cpio -tu", "cpio --to-stdout", "7z", "cpio …"]);
    }
}
