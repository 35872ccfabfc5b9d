//! Programs that show files page by page, in colours, as bytes, or counted. Without a terminal none waits for keys.
//! Called by the dispatch.

use super::options::{Options, options, refused, shown};
use super::{Arg, Judgement, Program, code, table};

/// From the manuals of less 668, util-linux 2.40, bat 0.25, hexyl 0.16, tokei 13, scc 3.5 and diffstat 1.66.
pub(super) const PROGRAMS: &[Program] = &[
    code("less", less),
    table(
        "more",
        options("dflpcsuen:#", "silent logical no-pause print-over clean-print exit-on-eof squeeze plain lines=")
            .reads(),
    ),
    code("bat batcat", bat),
    table(
        "hexyl",
        options(
            "n:c:s:vpCPo:b:g:",
            "length= bytes= skip= block-size= no-squeezing color= border= plain no-characters characters \
             character-table= no-position display-offset= panels= group-size= endianness= base= terminal-width=",
        )
        .reads()
        .no_dashed_values(),
    ),
    table(
        "tokei",
        options(
            "Cc:e:fhln:s:r:t:vo:",
            "compact columns= exclude= files hidden languages no-ignore no-ignore-dot no-ignore-parent no-ignore-vcs \
             num-format= sort= rsort= type= types= verbose output= streaming=",
        )
        .lists()
        .no_dashed_values(),
    ),
    table(
        "scc",
        options(
            "acf:i:ls:wzpv",
            "by-file no-cocomo no-complexity no-duplicates no-gen no-min no-size format= include-ext= exclude-dir= \
             exclude-ext= sort= wide cocomo-project-type= size-unit= languages ci uloc dryness percent verbose",
        )
        .lists()
        .no_dashed_values(),
    ),
    // Of a file that is compressed, its name gets into a line that a shell runs.
    table("diffstat", options("bcCEf:kKlmn:N:p:qr:RstTuvw:", "").at_most(0).no_dashed_values()),
];

/// Without a terminal less copies its files. Left out are log files, tags, which run another program, key files, which
/// may name a program that every file goes through, and commands behind `+`.
fn less(name: &str, args: &[Arg]) -> Judgement {
    const LESS: Options = options(
        "aAcdeEfFgGiIJKLmMnNqQrRsSuUwWX~b:h:j:p:x:y:z:#",
        "search-skip-screen SEARCH-SKIP-SCREEN clear-screen dumb quit-at-eof QUIT-AT-EOF force quit-if-one-screen \
         hilite-search HILITE-SEARCH ignore-case IGNORE-CASE status-column quit-on-intr no-lessopen long-prompt \
         LONG-PROMPT line-numbers LINE-NUMBERS quiet QUIET silent SILENT raw-control-chars RAW-CONTROL-CHARS \
         squeeze-blank-lines chop-long-lines no-init use-color buffers= max-back-scroll= jump-target= pattern= tabs=",
    )
    .reads()
    .no_dashed_values();
    if let Some(word) = args.iter().find(|word| begins_with_plus(word)) {
        return Judgement::Unknown(refused(name, word));
    }
    let parsed = match LESS.parse(name, args) {
        Ok(parsed) => parsed,
        Err(_) => return LESS.judge(name, args),
    };
    match parsed.options.iter().find_map(|option| option.value.as_ref().filter(|value| !ends_there(option.name, value)))
    {
        Some(value) => Judgement::Unknown(format!("{name} may read further options from {}", shown(value))),
        None => LESS.judge(name, args),
    }
}

/// Whether less reads no further options from a value, as it does behind the first sign that fits no number, and behind
/// the `$` that ends a text: `-x4kkeys` is `-x4 -kkeys`.
fn ends_there(option: &str, value: &Arg) -> bool {
    let Arg::Literal(text) = value else { return false };
    match option {
        "p" | "pattern" => !text.contains('$'),
        _ => text.chars().all(|sign| sign.is_ascii_digit() || matches!(sign, '.' | ',' | '-')),
    }
}

fn begins_with_plus(word: &Arg) -> bool {
    let (Arg::Literal(text) | Arg::One(text) | Arg::Many(text)) = word;
    text.starts_with('+')
}

/// A pager only where none is asked for. `cache` is a command that builds files.
fn bat(name: &str, args: &[Arg]) -> Judgement {
    const BAT: Options = options(
        "APSfnpuH:l:m:r:",
        "show-all plain? language= highlight-line= file-name= diff-context= tabs= wrap= chop-long-lines \
         terminal-width= number color= italic-text= decorations= force-colorization map-syntax= ignored-suffix= \
         theme= theme-dark= theme-light= list-themes style= line-range= list-languages unbuffered squeeze-blank \
         squeeze-limit= nonprintable-notation= no-config binary= strip-ansi= paging= no-paging",
    )
    .reads()
    .no_dashed_values();
    let parsed = match BAT.parse(name, args) {
        Ok(parsed) => parsed,
        Err(why) => return Judgement::Unknown(why),
    };
    let quiet = |mode: &Arg| matches!(mode, Arg::Literal(mode) if matches!(mode.as_str(), "never" | "auto"));
    if let Some(mode) = parsed.values(&["paging"]).find(|mode| !quiet(mode)) {
        return Judgement::Unknown(refused("bat --paging", mode));
    }
    match parsed.operands.first() {
        Some(Arg::Literal(command)) if command == "cache" => {
            Judgement::Unknown(refused(name, &Arg::Literal(command.clone())))
        }
        _ => BAT.judge(name, args),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read, paths};

    #[test]
    fn pagers_that_copy() {
        only_read(&["less -x4 a", "less -j.5 a", "less --tabs=4,8 a", "less -b 10 a", "less -z-4 a", "less -5 a"]);
        ask(&[
            "less -x4kkeys a",
            "less -b5kkeys a",
            "less -j5k keys a",
            "less --tabs=4k a",
            "less -x … a",
            "less -x4… a",
        ]);
        ask(&["less -pa$kkeys a", "less -p a$kkeys a", "less --pattern=a$ a", "less -p … a", "less -h1okk a"]);
        only_read(&["less a.txt", "less -NRS a", "less -p foo a", "more a", "more -n 5 a", "less", "less -- -o"]);
        ask(&[
            "less -o pwn a",
            "less -Opwn a",
            "less -Nopwn a",
            "less +!id a",
            "less a +!id",
            "less +… a",
            "less -t main",
            "less -k x a",
            "less --log-file=x a",
            "less --lesskey-src=x a",
            "less *",
            "less …",
            "zless a",
            "most a",
            "man ls",
            "more …",
        ]);
        assert_eq!(paths("less a b"), ["Read a", "Read b"]);
    }

    #[test]
    fn bat_without_a_pager() {
        only_read(&["bat a", "bat -pp a", "bat -n --paging=never a", "batcat -l rust -r 1:5 a", "bat --style plain a"]);
        ask(&[
            "bat --pager less a",
            "bat --pager=x a",
            "bat --paging=always a",
            "bat --paging … a",
            "bat cache --build",
            "bat cache",
            "bat --generate-config-file",
            "bat *",
            "bat --lessopen a",
        ]);
    }

    #[test]
    fn counters() {
        only_read(&["tokei", "tokei src -s code", "scc --by-file src", "hexyl -n 64 a", "diffstat -p1"]);
        ask(&[
            "scc -o pwn",
            "scc --output pwn",
            "scc --format-multi tabular:pwn",
            "diffstat -o pwn",
            "diffstat a",
            "tokei *",
        ]);
    }
}
