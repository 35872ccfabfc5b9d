//! Programs that read text and write it to standard output, changed, sorted, counted, compared or joined. Called by the
//! dispatch. `sort`, `uniq`, `shuf` and `xxd` can write files, `diff -l` and `--diff-program` run programs: not here.

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, known, options, refused, used};
use super::{Arg, Judgement, Program, code, table};

/// From the manuals of GNU coreutils 9, GNU diffutils 3.10, util-linux 2.40, GNU bc and xxd.
pub(super) const PROGRAMS: &[Program] = &[
    table(
        "cat",
        options("AbeEnstTuv", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting")
            .reads()
            .no_option_harms(),
    ),
    table("head", options("c:n:qvz#", "bytes= lines= quiet silent verbose zero-terminated").reads().no_option_harms()),
    table(
        "tail",
        options(
            "c:fFn:qs:vz#",
            "bytes= follow? lines= max-unchanged-stats= pid= quiet silent retry sleep-interval= verbose \
             zero-terminated",
        )
        .reads()
        .no_option_harms(),
    ),
    table("wc", options("cmlLw", "bytes chars lines max-line-length words total=").reads().no_option_harms()),
    table(
        "nl",
        options(
            "b:d:f:h:i:l:n:ps:v:w:",
            "body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment= \
             join-blank-lines= number-format= no-renumber number-separator= starting-line-number= number-width=",
        )
        .reads()
        .no_option_harms(),
    ),
    table("tac", options("brs:", "before regex separator=").reads().no_option_harms()),
    table("rev", options("0", "zero").reads().no_option_harms()),
    table(
        "cut",
        options(
            "b:c:d:f:nsz",
            "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated",
        )
        .reads()
        .no_option_harms(),
    ),
    table("paste", options("d:sz", "delimiters= serial zero-terminated").reads().no_option_harms()),
    table("tr", options("cCdst", "complement delete squeeze-repeats truncate-set1").no_option_harms()),
    table(
        "comm",
        options("123z", "check-order nocheck-order output-delimiter= total zero-terminated").reads().no_option_harms(),
    ),
    table(
        "join",
        options("1:2:a:e:ij:o:t:v:z", "ignore-case check-order nocheck-order header zero-terminated")
            .reads()
            .no_option_harms(),
    ),
    table(
        "sort",
        options(
            "bdfgiMhnRrVcCmsuzk:t:S:",
            "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort \
             human-numeric-sort numeric-sort random-sort random-source=@ reverse sort= version-sort batch-size= check? \
             debug key= merge stable buffer-size= field-separator= parallel= unique zero-terminated",
        )
        .reads(),
    ),
    table(
        "uniq",
        options(
            "cdDiuzf:s:w:",
            "count repeated all-repeated? skip-fields= group? ignore-case skip-chars= unique zero-terminated \
             check-chars=",
        )
        .reads()
        .at_most(1)
        .no_option_harms(),
    ),
    table("shuf", options("ei:n:rz", "echo input-range= head-count= random-source=@ repeat zero-terminated").reads()),
    table("fold", options("bsw:#", "bytes spaces width=").reads().no_option_harms()),
    table(
        "fmt",
        options("cp:stuw:g:#", "crown-margin prefix= split-only tagged-paragraph uniform-spacing width= goal=")
            .reads()
            .no_option_harms(),
    ),
    table("expand", options("it:#", "initial tabs=").reads().no_option_harms()),
    table("unexpand", options("at:#", "all first-only tabs=").reads().no_option_harms()),
    table(
        "pr",
        options(
            "acdD:e?fFh:i?Jl:mn?N:o:rs?S?tTvw:W:#",
            "columns= across show-control-chars double-space date-format= expand-tabs? form-feed header= output-tabs? \
             join-lines length= merge number-lines? first-line-number= indent= no-file-warnings separator? \
             sep-string? omit-header omit-pagination show-nonprinting width= page-width=",
        )
        .reads()
        .no_option_harms(),
    ),
    table(
        "column",
        options(
            "tn:O:N:l:E:deH:R:T:W:LJr:i:p:c:o:s:x",
            "table table-name= table-order= table-columns= table-columns-limit= table-noextreme= table-noheadings \
             table-header-repeat table-hide= table-right= table-truncate= table-wrap= keep-empty-lines json tree= \
             tree-id= tree-parent= output-width= output-separator= separator= fillrows",
        )
        .reads()
        .no_option_harms(),
    ),
    table(
        "od",
        options(
            "A:j:N:S:t:vw?abcdfiloxs",
            "address-radix= endian= skip-bytes= read-bytes= strings? format= output-duplicates width? traditional",
        )
        .reads()
        .no_option_harms(),
    ),
    table(
        "hexdump hd",
        options(
            "bcCdoxXL?e:f@n:s:v",
            "one-byte-octal one-byte-hex one-byte-char canonical two-bytes-decimal two-bytes-octal two-bytes-hex \
             color? format= format-file=@ length= skip= no-squeezing",
        )
        .reads()
        .no_option_harms(),
    ),
    code("xxd", xxd),
    table(
        "base64 base32 basenc",
        options(
            "diw:",
            "decode ignore-garbage wrap= base64 base64url base32 base32hex base16 base2msbf base2lsbf z85 base58",
        )
        .reads()
        .no_option_harms(),
    ),
    table(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum shasum",
        options(
            "a:bcl:tzw",
            "algorithm= binary check length= tag untagged text zero ignore-missing quiet status strict warn base64 raw",
        )
        .reads()
        .no_option_harms(),
    ),
    table("sum", options("rs", "sysv").reads().no_option_harms()),
    table("md5", options("qrns:", "").reads()),
    code("iconv", iconv),
    table("look", options("abdft:", "alternative alphanum ignore-case terminate=").searches(&[], None)),
    table("tsort", options("", "").reads().at_most(1).no_option_harms()),
    table("bc", options("hilqsw", "interactive mathlib quiet standard warn").reads()),
    table(
        "cmp",
        options("bi:ln:s", "print-bytes ignore-initial= verbose bytes= quiet silent").reads().no_option_harms(),
    ),
    table(
        "diff",
        options(
            "qscC:uU:enyW:pF:TtrNX@x:S:iEZbwBI:aD:dL:#",
            "normal brief report-identical-files context? unified? ed rcs side-by-side width= left-column \
             suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize= \
             suppress-blank-empty recursive no-dereference new-file unidirectional-new-file ignore-file-name-case \
             no-ignore-file-name-case exclude= exclude-from=@ starting-file= from-file=@ to-file=@ ignore-case \
             ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines \
             ignore-matching-lines= text strip-trailing-cr ifdef= old-group-format= new-group-format= \
             changed-group-format= unchanged-group-format= line-format= old-line-format= new-line-format= \
             unchanged-line-format= minimal horizon-lines= speed-large-files color? palette=",
        )
        .reads()
        .follows_without(&["no-dereference"]),
    ),
    table(
        "diff3",
        options(
            "AeE3xXimaTL:",
            "show-all ed show-overlap easy-only overlap-only merge text strip-trailing-cr initial-tab label=",
        )
        .reads(),
    ),
    table(
        "sdiff",
        options(
            "iEZbWBI:aw:lstd",
            "ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space \
             ignore-blank-lines ignore-matching-lines= strip-trailing-cr text width= left-column \
             suppress-common-lines expand-tabs tabsize= minimal speed-large-files",
        )
        .reads(),
    ),
];

/// `iconv` takes the name of a code that holds a `/` for a file that describes the code; what is behind `//` is no part
/// of the name.
fn iconv(name: &str, args: &[Arg]) -> Judgement {
    const ICONV: Options = options("f:t:cls", "from-code= to-code= list silent").reads();
    let is_code =
        |value: &Arg| matches!(value, Arg::Literal(text) if !text.split("//").next().unwrap_or_default().contains('/'));
    match ICONV.parse(name, args) {
        Ok(parsed) if !parsed.values(&["f", "t", "from-code", "to-code"]).all(is_code) => {
            Judgement::Unknown(format!("{name} may take the name of a code for a file"))
        }
        _ => ICONV.judge(name, args),
    }
}

/// `xxd` reads an option by its first letter alone (`-ps` is `-p`), so it has no bundles; and it writes to its second
/// operand, which is any word after the first.
fn xxd(name: &str, args: &[Arg]) -> Judgement {
    const FLAGS: &[&str] =
        &["-a", "-autoskip", "-b", "-bits", "-C", "-d", "-e", "-E", "-i", "-p", "-ps", "-plain", "-postscript", "-u"];
    const VALUED: &[&str] = &["-c", "-cols", "-g", "-groupsize", "-l", "-len", "-o", "-offset", "-s", "-seek"];
    let mut words = args.iter();
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        match word {
            _ if !operands.is_empty() => operands.push(word),
            Arg::Literal(text) if FLAGS.contains(&text.as_str()) => {}
            Arg::Literal(text) if VALUED.contains(&text.as_str()) => match words.next() {
                Some(Arg::Literal(_)) => {}
                // Without a value, the option is a file to write to.
                value => return Judgement::Unknown(refused(name, value.unwrap_or(word))),
            },
            Arg::Literal(text) if text == "--version" || text == "-v" => {}
            Arg::Literal(text) if is_attached_number(text) => {}
            Arg::Literal(text) if text.starts_with('-') && text != "-" => {
                return Judgement::Unknown(refused(name, word));
            }
            Arg::Literal(_) => operands.push(word),
            Arg::One(prefix) if !prefix.is_empty() && !prefix.starts_with('-') => operands.push(word),
            Arg::One(_) | Arg::Many(_) => return Judgement::Unknown(refused(name, word)),
        }
    }
    if operands.len() > 1 {
        return Judgement::Unknown(format!("{name} writes to its second operand"));
    }
    let paths = operands.into_iter().filter_map(|operand| used(operand, Access::Read)).collect();
    known(Class::ReadOnly, Doing::Read, paths)
}

/// `-l16`, `-c8`, `-s0x10` and the like.
fn is_attached_number(word: &str) -> bool {
    let number = ["-c", "-g", "-l", "-o", "-s"].iter().find_map(|option| word.strip_prefix(option));
    number.is_some_and(|number| {
        number.starts_with(|first: char| first.is_ascii_digit())
            && number.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'x')
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read, paths};

    #[test]
    fn sort_writes_only_to_standard_output() {
        only_read(&["sort a", "sort -rnk2,2 -t , a", "sort -- -o", "sort src/*", "sort -k …", "sort --key=1 a"]);
        only_read(&[
            "sort -h",
            "sort -t, -k2,2n data.csv",
            "sort -S 1M a",
            "sort -u ./*",
            "sort --parallel=2 --unique",
        ]);
        ask(&["sort -o a b", "sort -uo a b", "sort --ou=a", "sort -T x a", "sort *", "sort …", "sort -k… -t -o a"]);
        ask(&["sort -S 1b --compress-prog ./x big", "sort --compress-program=./x a", "sort a -o b", "sort --output b"]);
        ask(&[
            "shuf -o x a",
            "shuf --output=x a",
            "shuf …",
            "bc --unknown",
            "iconv -o x a",
            "iconv --output=x a",
            "iconv *",
            "iconv -f ./x -t utf8 a",
            "iconv -f utf8 -t/etc/x a",
            "iconv --from-code=…",
        ]);
    }

    #[test]
    fn uniq_writes_to_its_second_operand() {
        only_read(&["uniq", "uniq -c a", "uniq -f 1 a", "uniq …", "uniq -c -- -a"]);
        ask(&["uniq a b", "uniq … b", "uniq *", "uniq -… b", "uniq src/*", "uniq -- a b", "uniq a -- b", "uniq - b"]);
    }

    #[test]
    fn xxd_has_no_bundles() {
        only_read(&["xxd", "xxd -p", "xxd -ps a", "xxd -l 16 a", "xxd -l16 -c 8 a", "xxd -s 0x10 -g 1 a", "xxd -b a"]);
        ask(&["xxd -r a b", "xxd -r -p a b", "xxd a b", "xxd -ps a b", "xxd -l 16 a b", "xxd -l … a", "xxd *"]);
        ask(&[
            "xxd -revert a b",
            "xxd -pr a b",
            "xxd --r a b",
            "xxd … b",
            "xxd -c1r a",
            "xxd a -o",
            "xxd -o",
            "xxd a -l8",
        ]);
    }

    #[test]
    fn programs_that_only_show_take_any_word() {
        only_read(&[
            "cat *",
            "cat … …",
            "head -n … a",
            "head -5 a",
            "head -n -5 a",
            "tail +5 a",
            "tail -f a",
            "wc -l *",
        ]);
        only_read(&["cut -d, -f1 a", "cut -d , -f 2-", "tr -dc [:print:]", "tr a-z A-Z", "nl -ba a", "comm -12 a b"]);
        only_read(&["paste -sd, a", "join -t, -1 2 -2 1 a b", "fold -w 80 -s a", "fmt -72 a", "md5sum src/*", "tac *"]);
        only_read(&["column -t -s, a", "od -c a", "hexdump -C -n 64 a", "base64 -d a", "sha256sum -c sums", "cmp a b"]);
        only_read(&[
            "sha512sum --check --ignore-missing x",
            "rev a",
            "iconv -f utf8 -t latin1 a",
            "iconv -f utf8 -t ascii//TRANSLIT a",
            "look ab words",
            "tsort a",
            "expand -t 4 a",
            "head -c 16 /dev/urandom",
        ]);
        ask(&["cat --unlisted a", "head --lin 5 a", "wc --li a", "tail --pi 5"]);
    }

    #[test]
    fn comparing_runs_nothing() {
        only_read(&[
            "diff a b",
            "diff -rq src tests",
            "diff -u a b",
            "diff -U3 a b",
            "diff -y -W 120 a b",
            "diff -x x a b",
        ]);
        only_read(&["diff --color=always a b", "diff3 a b c", "sdiff -s a b", "diff src/… tests/…", "diff -ur a b"]);
        ask(&["diff -l a b", "diff --paginate a b", "diff *", "diff … b", "diff3 --diff-program=./x a b c"]);
        ask(&["sdiff -o x a b", "sdiff --output=x a b", "sdiff --diff-program ./x a b", "diff -lu a b"]);
    }

    #[test]
    fn what_is_read_is_told() {
        assert_eq!(paths("cat a - src/… *"), ["Read a", "Read src/…", "Read …"]);
        assert_eq!(paths("cat -…"), ["Read …"]);
        assert_eq!(paths("diff -X x a b"), ["Read x", "Read a", "Read b"]);
        assert_eq!(paths("tr a /etc/shadow"), [""; 0]);
        assert_eq!(paths("head -n 5 -- -a"), ["Read -a"]);
    }
}
