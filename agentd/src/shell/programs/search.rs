//! Programs that look for text or files: `grep`, `rg`, `ag`, `fd`. Called by the dispatch.

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, known, options};
use super::{Arg, Judgement, PathArg, Program, code, table};

/// From the manuals of GNU grep 3.11, ripgrep 15, the silver searcher 2.2 and fd 10. Left out: ripgrep's `--pre`,
/// `--hostname-bin` and `--search-zip`, which run programs, the silver searcher's `--pager`, fd's `--exec` and
/// `--list-details`. `ack` is missing since it obeys a file of the folder. ripgrep 13 and fd don't take a word with a dash
/// for a value but where one makes sense, and then run without it: `rg --engine --pre=./x foo`.
pub(super) const PROGRAMS: &[Program] = &[
    code("grep egrep fgrep ggrep", grep),
    table(
        "rg",
        options(
            "A:B:C:E:FHILM:NPST:U.abcd:e:f@g:hij:lm:nopqr:st:uvwx0",
            "after-context= auto-hybrid-regex before-context= binary block-buffered byte-offset case-sensitive color= \
             colors= column context= context-separator= count count-matches crlf debug dfa-size-limit= encoding= \
             engine= field-context-separator= field-match-separator= file=@ files files-with-matches \
             files-without-match fixed-strings follow generate= glob= glob-case-insensitive heading hidden \
             hyperlink-format= iglob= ignore ignore-case ignore-dot ignore-exclude ignore-file=@ \
             ignore-file-case-insensitive ignore-files ignore-global ignore-messages ignore-parent ignore-vcs \
             include-zero invert-match json line-buffered line-number line-regexp max-columns= max-columns-preview \
             max-count= max-depth= maxdepth= max-filesize= messages mmap multiline multiline-dotall no-auto-hybrid-regex \
             no-binary no-block-buffered no-byte-offset no-column no-config no-context-separator no-crlf no-encoding \
             no-filename no-fixed-strings no-follow no-glob-case-insensitive no-heading no-hidden no-ignore \
             no-ignore-dot no-ignore-exclude no-ignore-file-case-insensitive no-ignore-files no-ignore-global \
             no-ignore-messages no-ignore-parent no-ignore-vcs no-include-zero no-invert-match no-json \
             no-line-buffered no-line-number no-max-columns-preview no-messages no-mmap no-multiline \
             no-multiline-dotall no-one-file-system no-pcre2 no-pcre2-unicode no-pre no-require-git no-search-zip \
             no-sort-files no-stats no-text no-trim no-unicode null null-data one-file-system only-matching passthru \
             passthrough path-separator= pcre2 pcre2-unicode pcre2-version pre-glob= pretty quiet regex-size-limit= \
             regexp= replace= require-git smart-case sort= sort-files sortr= stats stop-on-nonmatch text threads= \
             trace trim type= type-add= type-clear= type-list type-not= unicode unrestricted vimgrep with-filename \
             word-regexp",
        )
        .searches(&["e", "f", "regexp", "file", "files", "type-list"], Some("."))
        .dashed_values_of(&["e", "regexp", "r", "replace"])
        .follows_with(&["L", "follow"]),
    ),
    table(
        "ag",
        options(
            "A?B?C?FG:HLQRSUacfg:hilm:nop:rstuvwW:x0",
            "ackmate after? all-text all-types before? break case-sensitive color color-line-number= color-match= \
             color-path= column context? count debug depth= file-search-regex= filename filename-pattern= \
             files-with-matches files-without-matches fixed-strings follow group heading hidden ignore= ignore-case \
             ignore-dir= invert-match line-numbers literal match max-count= no-affinity no-numbers noaffinity nobreak \
             nocolor nofilename nofollow nogroup noheading nomultiline nonumbers norecurse null numbers one-device \
             only-matching parallel passthrough passthru path-to-ignore=@ print-all-files print-long-lines recurse \
             silent skip-vcs-ignores smart-case stats stats-only unrestricted vimgrep width= word-regexp",
        )
        .searches(&["g", "filename-pattern"], Some("."))
        .follows_with(&["f", "follow"]),
    ),
    table(
        "fd fdfind",
        options(
            "1E:FHILS:ac:d:e:gij:o:pqst:u0",
            "absolute-path and= batch-size= case-sensitive change-newer-than= change-older-than= \
             changed-after= changed-before= changed-within= color= exact-depth= exclude= extension= fixed-strings \
             follow format= full-path glob has-results hidden hyperlink? ignore ignore-case ignore-contain= \
             ignore-file=@ max-buffer-time= max-depth= max-results= maxdepth= min-depth= newer= no-follow \
             no-global-ignore-file no-hidden no-ignore no-ignore-parent no-ignore-vcs no-require-git older= \
             one-file-system mount owner= path-separator= print0 prune quiet regex \
             search-path=@ show-errors size= strip-cwd-prefix? threads= type= unrestricted xdev",
        )
        .finds(Some("."))
        .dashed_values_of(&["S", "size"]),
    ),
];

/// None of its options writes, runs or connects.
const GREP: Options = options(
    "0123456789A:B:C:D:EFGHILPRTUVX:Zabcd:e:f@hilm:noqrsuvwxyz",
    "after-context= basic-regexp before-context= binary binary-files= byte-offset color? colour? context= count \
     dereference-recursive devices= directories= exclude= exclude-dir= exclude-from=@ extended-regexp file=@ \
     files-with-matches files-without-match fixed-strings group-separator= ignore-case include= initial-tab \
     invert-match label= line-buffered line-number line-regexp max-count= no-filename no-group-separator \
     no-ignore-case no-messages null null-data only-matching perl-regexp quiet recursive regexp= silent text \
     with-filename word-regexp",
)
.searches(PATTERN_OPTIONS, None)
.follows_with(&["R", "dereference-recursive"])
.no_option_harms();

/// With one of these, every operand is a file.
const PATTERN_OPTIONS: &[&str] = &["e", "f", "regexp", "file"];

fn grep(name: &str, args: &[Arg]) -> Judgement {
    let parsed = match GREP.parse(name, args) {
        Ok(parsed) => parsed,
        Err(why) => return Judgement::Unknown(why),
    };
    let mut paths = GREP.paths_of(&parsed);
    let recursive = parsed.has(&["r", "R", "recursive", "dereference-recursive"]);
    let patterns = usize::from(!parsed.has(PATTERN_OPTIONS));
    if recursive && parsed.operands.len() <= patterns {
        let follows = GREP.follows_links(&parsed);
        paths.push(PathArg { follows, ..PathArg::new(Arg::Literal(".".to_owned()), Access::Read) });
    }
    known(Class::ReadOnly, Doing::Search, paths)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read, paths};

    #[test]
    fn grep_has_no_harmful_option() {
        only_read(&[
            "grep -rn TODO src",
            "grep -n foo *",
            "grep * *",
            "grep … a",
            "grep -F -- --pre a",
            "grep -rl --include=*.rs foo .",
            "grep -A3 -5 foo a",
            "grep -e a -f pats b",
            "egrep -i5 a|b c",
            "grep --color foo a",
            "fgrep -c x -",
        ]);
        ask(&["grep --nosuch a", "grep --reg=x a"]);
        assert_eq!(paths("grep -r foo"), ["Read ."]);
        assert_eq!(paths("grep foo"), [] as [&str; 0]);
        assert_eq!(paths("grep foo a -"), ["Read a"]);
        assert_eq!(paths("grep -e foo a b"), ["Read a", "Read b"]);
        assert_eq!(paths("grep -f pats a"), ["Read pats", "Read a"]);
        assert_eq!(paths("grep foo *"), ["Read …"]);
    }

    #[test]
    fn ripgrep_without_a_preprocessor() {
        only_read(&[
            "rg foo",
            "rg foo src -g *.rs…",
            "rg -m1 foo src",
            "rg --json foo",
            "rg -uu x src/*",
            "rg foo -- --pre=sh",
            "rg foo -- *",
            "rg --pre-glob *.pdf… foo",
            "rg --files -g x",
            "rg --type-list",
            "rg -tpy -C3 --sort path foo",
            "rg -l0 --no-ignore --hidden foo .",
            "rg --hyperlink-format default x",
        ]);
        ask(&[
            "rg --pre ./pwn.sh foo",
            "rg --pre=./pwn.sh foo",
            "rg --hostname-bin x foo",
            "rg -z foo",
            "rg -nz foo",
            "rg --search-zip foo",
            "rg foo *",
            "rg * foo",
            "rg …",
            "rg -g *",
            "rg --pr x",
            "rg --engine --pre=./pwn.sh foo",
            "rg --color --pre=./pwn.sh foo",
            "rg --engine … foo",
        ]);
        only_read(&["rg -e -> src", "rg -e --pre=x src", "rg foo -r -", "rg --regexp … src"]);
        assert_eq!(paths("rg foo"), ["Read ."]);
        assert_eq!(paths("rg foo a b"), ["Read a", "Read b"]);
        assert_eq!(paths("rg --files a"), ["Read a"]);
        assert_eq!(paths("rg -f x a"), ["Read x", "Read a"]);
    }

    #[test]
    fn other_searches() {
        only_read(&["ag foo", "ag -l foo src", "ag -g x"]);
        ask(&["ag --pager less foo", "ag --pager=x foo", "ag foo *", "ag -z foo", "ack foo", "zgrep foo a"]);
        only_read(&["fd", "fd x", "fd -e rs . src", "fd -HI -tf x", "fd --changed-within 1d", "fd -S -10k", "fd -1 x"]);
        ask(&[
            "fd -x rm",
            "fd x -X rm",
            "fd --exec rm",
            "fd --exec-batch rm",
            "fd -Hx rm",
            "fd *",
            "fd x …",
            "fd -l",
            "fd --color -x rm",
            "fd --color … rm",
            "fd --base-directory / x",
        ]);
        assert_eq!(paths("fd x src"), ["Look src"]);
        assert_eq!(paths("fd"), ["Look ."]);
    }
}
