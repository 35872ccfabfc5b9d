//! Programs that show what is in object files and libraries. Called by the dispatch. What loads a library (`nm
//! --plugin`), follows links to other files or reads the sources that a file names (`objdump -S`) is not in the tables.

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, known, options, refused, used};
use super::{Arg, Judgement, Program, code};

/// From the manuals of GNU binutils 2.44.
pub(super) const PROGRAMS: &[Program] = &[
    code("strings", |name, args| show(STRINGS, name, args)),
    code("nm", |name, args| show(NM, name, args)),
    code("objdump", |name, args| show(OBJDUMP, name, args)),
    code("readelf", |name, args| show(READELF, name, args)),
    code("size", |name, args| show(SIZE, name, args)),
    code("c++filt", |name, args| show(FILT, name, args)),
    code("ar", ar),
];

const STRINGS: Options = options(
    "adfn:t:we:U:s:o#",
    "all data print-file-name bytes= radix= include-all-whitespace encoding= unicode= output-separator=",
)
.reads();

const NM: Options = options(
    "aABCDf:gjnopPrSst:uvW",
    "debug-syms print-file-name demangle? no-demangle dynamic format= extern-only just-symbols numeric-sort no-sort \
     portability reverse-sort print-size print-armap quiet size-sort special-syms synthetic radix= undefined-only \
     defined-only unicode= no-weak with-symbol-versions without-symbol-versions",
)
.reads();

const OBJDUMP: Options = options(
    "afphxdDsrRtTCwzj:M:b:m:F",
    "archive-headers file-headers private-headers section-headers headers all-headers disassemble? disassemble-all \
     full-contents syms dynamic-syms reloc dynamic-reloc section= disassembler-options= target= architecture= demangle? \
     no-demangle wide disassemble-zeroes start-address= stop-address= no-addresses prefix-addresses insn-width= \
     show-raw-insn no-show-raw-insn file-offsets special-syms visualize-jumps? disassembler-color= adjust-vma=",
)
.reads();

const READELF: Options = options(
    "ahlSgtesnrudVAcDx:p:R:ITWC",
    "all file-header program-headers segments section-headers sections section-groups section-details headers syms \
     symbols dyn-syms lto-syms demangle? no-demangle notes relocs unwind dynamic version-info arch-specific \
     archive-index use-dynamic hex-dump= string-dump= relocated-dump= histogram wide silent-truncation sym-base=",
)
.reads();

const SIZE: Options = options("ABGodxtf", "format= radix= common totals target=").reads();

const FILT: Options = options("_nprtis:", "strip-underscore no-strip-underscore no-params no-verbose types format=");

/// The words of these programs may name a file of further words, `@file`, wherever it stands.
fn show(options: Options, name: &str, args: &[Arg]) -> Judgement {
    match args.iter().find(|word| may_name_words(word)) {
        Some(word) => Judgement::Unknown(format!("{name} may read options from {}", super::options::shown(word))),
        None => options.judge(name, args),
    }
}

fn may_name_words(word: &Arg) -> bool {
    match word {
        Arg::Literal(text) => text.starts_with('@'),
        Arg::One(prefix) | Arg::Many(prefix) => prefix.is_empty() || prefix.starts_with('@'),
    }
}

/// `ar t`, which lists, and `ar p`, which shows.
fn ar(name: &str, args: &[Arg]) -> Judgement {
    let [Arg::Literal(action), rest @ ..] = args else {
        return Judgement::Unknown(format!("{name} without t or p is not known to be harmless"));
    };
    if !matches!(action.trim_start_matches('-'), "t" | "tv" | "vt" | "tO" | "p" | "pv") || action.starts_with("--") {
        return Judgement::Unknown(refused(name, &Arg::Literal(action.clone())));
    }
    let option = |word: &&Arg| {
        may_name_words(word)
            || matches!(word, Arg::Literal(text) | Arg::One(text) | Arg::Many(text) if text.starts_with('-'))
    };
    match rest.iter().find(option) {
        Some(word) => Judgement::Unknown(refused(name, word)),
        None => {
            let archive = rest.first().and_then(|archive| used(archive, Access::Read));
            known(Class::ReadOnly, Doing::Read, archive.into_iter().collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read};

    #[test]
    fn object_files_are_shown() {
        only_read(&["strings a", "strings -n 8 a", "strings -8 src/*", "nm -C a.out", "nm -gD --defined-only lib.so"]);
        only_read(&[
            "objdump -d a.out",
            "objdump -x a",
            "objdump -t -j .text a",
            "readelf -h a",
            "readelf -a a",
            "size a",
        ]);
        only_read(&[
            "ar t lib.a",
            "ar -t lib.a",
            "ar tv lib.a x.o",
            "ar p lib.a x.o",
            "readelf -Ws a",
            "c++filt _Z1fv",
        ]);
    }

    #[test]
    fn libraries_are_not_loaded_and_options_not_read_from_files() {
        ask(&[
            "nm --plugin ./x.so a",
            "nm --plug=./x.so a",
            "nm @x",
            "strings @x",
            "strings *",
            "nm …",
            "objdump -S a",
        ]);
        ask(&[
            "nm -- @x",
            "ar x lib.a",
            "ar r lib.a x.o",
            "ar @x",
            "ar t @x",
            "ar t --plugin x lib.a",
            "ar",
            "ar … lib.a",
        ]);
        ask(&["objdump --source a", "readelf -w a", "ar t lib.a --output x", "ar d lib.a x.o", "strings -T x @a"]);
    }
}
