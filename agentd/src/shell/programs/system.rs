//! Programs that show facts about the machine, its users, its clock and its processes. Called by the dispatch. What
//! sets something, and what shows the environment of a process, is not in the tables.

use super::super::analysis::{Class, Doing};
use super::options::{Options, known, options, refused};
use super::{Arg, Judgement, Program, code, table};

/// From the manuals of GNU coreutils 9, procps-ng 4, psmisc 23, util-linux 2.40 and glibc.
pub(super) const PROGRAMS: &[Program] = &[
    code("true false yes sleep seq expr factor", any),
    code("date", date),
    code("printenv", printenv),
    code("ps", super::processes::ps),
    code("lsof", super::processes::lsof),
    table(
        "numfmt",
        options(
            "d:z#",
            "debug delimiter= field= format= from= from-unit= grouping header? invalid= padding= round= suffix= to= \
             to-unit= zero-terminated",
        )
        .no_option_harms(),
    ),
    table("cal ncal", options("13yjmMShwbnCeoNvsJpA:B:d:c:", "one three sunday monday julian year week color?")),
    table("id", options("aZgGnruz", "context group groups name real user zero").no_option_harms()),
    table("groups users", options("", "").no_option_harms()),
    table("whoami logname arch", options("", "").at_most(0)),
    table("tty", options("s", "silent quiet").at_most(0)),
    table("uname", options("asnrvmpio", UNAME).at_most(0)),
    table("nproc", options("", "all ignore=").at_most(0)),
    table(
        "who",
        options("abdHlmpqrstTwu", "all boot dead heading login process count runlevel short time mesg users")
            .at_most(0),
    ),
    table("w", options("hsfoiu", "no-header short from old-style ip-addr no-current")),
    table("last lastb", options("aFiIn:p:R#s:t:wx", "").at_most(1)),
    table("uptime", options("ps", "pretty since").at_most(0)),
    table(
        "free",
        options(
            "bkmghltvs:c:wL",
            "bytes kilo mega giga tera peta kibi mebi gibi tebi pebi human si lohi total committed line seconds= \
             count= wide",
        )
        .at_most(0),
    ),
    table(
        "vmstat",
        options("afmnsdDp:S:wty", "active forks slabs one-header stats disk disk-sum unit= wide timestamp"),
    ),
    table("iostat mpstat", options("cdhkmNpxtyzjP:AuI:", "").at_most(2)),
    table(
        "pgrep",
        options(
            "d:lavwcfg:G:inoO:P:s:t:u:U:xF@Lr:A",
            "delimiter= list-name list-full inverse lightweight count full pgroup= group= ignore-case newest oldest \
             older= parent= session= terminal= euid= uid= exact pidfile=@ logpidfile runstates= ignore-ancestors \
             cgroup= ns= nslist=",
        )
        .doing(Doing::Search),
    ),
    code("top", top),
    // Left out: what clears the buffer, sets the console or starts a pager.
    table(
        "dmesg",
        options(
            "deiJkL?l:f:PprSs:TtuwWx",
            "show-delta reltime json kernel color? level= facility= nopager force-prefix raw syslog buffer-size= ctime \
             notime time-format= userspace follow follow-new decode since= until=",
        )
        .at_most(0),
    ),
    table(
        "pkg-config pkgconf",
        options(
            "",
            "libs libs-only-l libs-only-L libs-only-other cflags cflags-only-I cflags-only-other modversion exists \
             list-all list-package-names variable= print-variables print-requires print-requires-private \
             print-provides print-errors short-errors silence-errors static shared uninstalled validate \
             atleast-version= exact-version= max-version= errors-to-stdout keep-system-cflags keep-system-libs",
        ),
    ),
    code("ldconfig", ldconfig),
    table("pidof", options("sxcq", "")),
    table(
        "pstree",
        options(
            "aAcC:gGhH:lnN:psStTuUZ",
            "arguments ascii compact-not color= show-pgids vt100 highlight-all highlight-pid= long numeric-sort \
             ns-sort= show-pids show-parents ns-changes thread-names hide-threads uid-changes unicode",
        )
        .at_most(1),
    ),
    code("fuser", super::processes::fuser),
    table("getconf", options("a", "").at_most(2)),
    table("locale", options("ack", "all-locales category-name keyword-name")),
    table(
        "lscpu",
        options("abB?C?cJe?p?xy", "all online bytes caches? offline json extended? parse? hex physical output-all")
            .at_most(0),
    ),
    table(
        "lsmem lslocks lsipc lsns ipcs",
        options("abJnprsSqmtucyl", "all bytes json noheadings raw pairs").at_most(0),
    ),
    table("pwdx", options("", "").no_option_harms()),
    table("pmap", options("xXdqp", "extended device quiet show-path")),
    table("clear", options("x", "").at_most(0)),
    code("getent", getent),
    table("lsb_release", options("avidrcs", "all id description release codename short version").at_most(0)),
    code("sysctl", sysctl),
    code("tput", tput),
    code("hostnamectl", |name, args| {
        only_words(name, args, &["status", "--static", "--transient", "--pretty", "--no-pager"])
    }),
    code("timedatectl", |name, args| {
        only_words(name, args, &["status", "show", "timesync-status", "list-timezones", "--all", "-a", "--no-pager"])
    }),
    code("stty", stty),
    code("crontab", crontab),
    code("swapon", swapon),
    table("dpkg", DPKG),
];

const UNAME: &str = "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform \
                     operating-system";

/// The actions that read the data base of packages.
const DPKG: Options = options("lLsS", "list listfiles status search print-architecture print-foreign-architectures");

/// What takes any word and uses it as text or number.
fn any(_name: &str, _args: &[Arg]) -> Judgement {
    known(Class::ReadOnly, Doing::Other, Vec::new())
}

/// `date` shows the time by operands that begin with `+`; others set the clock, as `-s` does.
fn date(name: &str, args: &[Arg]) -> Judgement {
    const DATE: Options = options(
        "d:f@I?Rr@u",
        "date= debug file=@ iso-8601? resolution rfc-email rfc-3339= reference=@ utc universal rfc-822 rfc-2822",
    );
    match DATE.parse(name, args) {
        Ok(parsed) => match parsed.operands.iter().find(|operand| !begins(operand, "+")) {
            Some(operand) => Judgement::Unknown(refused(name, operand)),
            None => DATE.judge(name, args),
        },
        Err(_) => DATE.judge(name, args),
    }
}

/// `printenv` of names that don't sound as if they held a secret.
fn printenv(name: &str, args: &[Arg]) -> Judgement {
    const PRINTENV: Options = options("0", "null");
    let parsed = match PRINTENV.parse(name, args) {
        Ok(parsed) => parsed,
        Err(_) => return PRINTENV.judge(name, args),
    };
    if parsed.operands.is_empty() {
        return Judgement::Unknown(format!("{name} without a name shows every variable, secrets too"));
    }
    match parsed.operands.iter().find(|operand| !matches!(operand, Arg::Literal(text) if !is_secret(text))) {
        Some(operand) => Judgement::Unknown(format!("{} may hold a secret", super::options::shown(operand))),
        None => known(Class::ReadOnly, Doing::Other, Vec::new()),
    }
}

/// Whether a variable's name sounds as if it held a secret.
fn is_secret(name: &str) -> bool {
    const SIGNS: &[&str] = &[
        "KEY", "TOKEN", "SECRET", "PASS", "PWD", "CRED", "AUTH", "COOKIE", "SESSION", "PRIVATE", "CERT", "DSN", "_URL",
    ];
    let name = name.to_ascii_uppercase();
    !matches!(name.as_str(), "PWD" | "OLDPWD") && SIGNS.iter().any(|sign| name.contains(sign))
}

/// `sysctl` shows settings by name; `name=value` sets one, with or without `-w`. A name is a path below `/proc/sys`.
fn sysctl(name: &str, args: &[Arg]) -> Judgement {
    const SYSCTL: Options = options("aAnNeXbdr:", "all names values ignore pattern=");
    let setting =
        args.iter().find(|word| !matches!(word, Arg::Literal(text) if !text.contains('=') && !text.contains("..")));
    match setting {
        Some(word) => Judgement::Unknown(refused(name, word)),
        None => SYSCTL.judge(name, args),
    }
}

/// `tput` may run a program that the terminal's description names, but not for these.
fn tput(name: &str, args: &[Arg]) -> Judgement {
    only_words(name, args, &["cols", "lines", "colors", "bold", "sgr0", "smul", "rmul", "rev", "dim", "el"])
}

/// `getent` of what is on this machine; hosts and networks are asked for.
fn getent(name: &str, args: &[Arg]) -> Judgement {
    match args {
        [Arg::Literal(base), keys @ ..]
            if matches!(base.as_str(), "passwd" | "group" | "services" | "protocols" | "shells") =>
        {
            options("", "").judge(name, keys)
        }
        _ => Judgement::Unknown(format!("{name} of what may not be on this machine is not known to be harmless")),
    }
}

/// `top` in batch mode with an end. It may show the environment of processes as a column.
fn top(name: &str, args: &[Arg]) -> Judgement {
    const TOP: Options = options("bcHiSs1n:p:o:w:d:u:U:e:E:", "").at_most(0).no_dashed_values();
    match TOP.parse(name, args) {
        Ok(parsed) if !(parsed.has(&["b"]) && parsed.has(&["n"])) => {
            Judgement::Unknown(format!("{name} without -b and -n doesn't end"))
        }
        Ok(parsed) => match parsed
            .values(&["o"])
            .find(|column| !matches!(column, Arg::Literal(text) if !text.to_ascii_uppercase().contains("ENV")))
        {
            Some(column) => Judgement::Unknown(refused(name, column)),
            None => TOP.judge(name, args),
        },
        Err(_) => TOP.judge(name, args),
    }
}

/// `ldconfig` that prints its cache; otherwise it makes it anew.
fn ldconfig(name: &str, args: &[Arg]) -> Judgement {
    match args {
        [Arg::Literal(print)] if print == "-p" || print == "--print-cache" => {
            known(Class::ReadOnly, Doing::Other, Vec::new())
        }
        _ => Judgement::Unknown(format!("{name} without -p alone is not known to be harmless")),
    }
}

fn stty(name: &str, args: &[Arg]) -> Judgement {
    only_words(name, args, &["-a", "--all", "-g", "--save", "size", "speed"])
}

fn crontab(name: &str, args: &[Arg]) -> Judgement {
    match args {
        [Arg::Literal(list)] if list == "-l" => known(Class::ReadOnly, Doing::Other, Vec::new()),
        _ => Judgement::Unknown(format!("{name} without -l alone is not known to be harmless")),
    }
}

fn swapon(name: &str, args: &[Arg]) -> Judgement {
    match args {
        [Arg::Literal(show)] if show == "--show" || show == "-s" => known(Class::ReadOnly, Doing::Other, Vec::new()),
        _ => Judgement::Unknown(format!("{name} without --show alone is not known to be harmless")),
    }
}

fn only_words(name: &str, args: &[Arg], words: &[&str]) -> Judgement {
    match args.iter().find(|word| !matches!(word, Arg::Literal(text) if words.contains(&text.as_str()))) {
        Some(word) => Judgement::Unknown(refused(name, word)),
        None => known(Class::ReadOnly, Doing::Other, Vec::new()),
    }
}

fn begins(word: &Arg, beginning: &str) -> bool {
    match word {
        Arg::Literal(text) | Arg::One(text) | Arg::Many(text) => text.starts_with(beginning),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read, paths};

    #[test]
    fn the_clock_is_shown_not_set() {
        only_read(&["date", "date +%F", "date -u +%s", "date -d …", "date --iso-8601=seconds", "date -r a", "date +…"]);
        only_read(&["date -Iseconds", "date --date=yesterday +%F", "date -R", "cal", "cal 2024", "cal -3"]);
        ask(&[
            "date -s 2030-01-01",
            "date -us 2030-01-01",
            "date 01010000",
            "date --set=x",
            "date …",
            "date *",
            "date -… x",
        ]);
        assert_eq!(paths("date -f x"), ["Read x"]);
    }

    #[test]
    fn variables_are_shown_by_harmless_names_only() {
        only_read(&["printenv PATH", "printenv HOME USER", "printenv PWD", "printenv LANG"]);
        ask(&[
            "printenv",
            "printenv OPENAI_API_KEY",
            "printenv -0",
            "printenv GITHUB_TOKEN",
            "printenv …",
            "printenv *",
        ]);
        ask(&["printenv DB_PASSWORD", "printenv aws_secret_access_key", "printenv DATABASE_URL"]);
    }

    #[test]
    fn facts_are_shown() {
        only_read(&[
            "whoami",
            "id -u",
            "id …",
            "uname -a",
            "nproc --all",
            "uptime -p",
            "free -m",
            "vmstat 1 2",
            "who -b",
        ]);
        only_read(&["groups", "tty", "getconf ARG_MAX", "getconf -a", "locale -a", "lscpu", "lscpu -e=CPU", "arch"]);
        only_read(&["seq 10 -1 1", "expr 6 * 7", "factor …", "sleep 1", "true …", "yes", "numfmt --to=iec 1024"]);
        only_read(&[
            "pgrep -fl cargo",
            "pgrep -u root -x sshd",
            "pstree -p 1",
            "pidof sshd",
            "sysctl -n kernel.ostype",
        ]);
        only_read(&[
            "crontab -l",
            "swapon --show",
            "tput cols",
            "stty -a",
            "getent passwd root",
            "lsmem",
            "pwdx 1",
            "dpkg -l",
            "dpkg -L bash",
            "fuser 80/tcp",
        ]);
        only_read(&["top -b -n 1", "top -bn1", "top -b -n1 -o %CPU -p 1", "top -bcn 2 -w 200", "ldconfig -p"]);
        only_read(&["dmesg", "dmesg -T", "dmesg --level=err,warn", "dmesg -xl err", "pkg-config --libs --cflags a b"]);
        only_read(&["pkg-config --modversion a", "pkgconf --list-all", "pkg-config --exists --print-errors a"]);
        ask(&["top", "top -b", "top -n 1", "top -b -n 1 -o ENVIRON", "top -b -n 1 x", "ldconfig", "ldconfig -p -v"]);
        ask(&[
            "dmesg -c",
            "dmesg -C",
            "dmesg -Tc",
            "dmesg -n 1",
            "dmesg -D",
            "dmesg -H",
            "dmesg -F x",
            "dmesg --clear",
        ]);
        ask(&["pkg-config --log-file=x a", "pkgconf --with-path=x a", "pkg-config …", "ldconfig -n .", "dmesg …"]);
        only_read(&["hostnamectl", "hostnamectl status", "timedatectl", "timedatectl show --no-pager"]);
        ask(&["hostnamectl hostname x", "hostnamectl set-hostname x", "timedatectl set-ntp true", "hostnamectl -H x"]);
        ask(&["sysctl /../../etc/shadow", "sysctl kernel/../../../etc/shadow", "lscpu -sx"]);
        ask(&["sysctl -w a=1", "sysctl a=1", "sysctl -p", "sysctl …", "crontab -r", "crontab x", "swapon /dev/sda1"]);
        ask(&[
            "tput init",
            "tput reset",
            "stty raw",
            "getent hosts x",
            "getent -s dns passwd",
            "getent shadow",
            "dpkg -i x.deb",
            "dpkg --configure -a",
            "fuser -k 80/tcp",
            "fuser 80,example.org/tcp",
            "fuser -n tcp ,example.org",
            "fuser …",
        ]);
        ask(&["getconf -v x ARG_MAX", "uname --unlisted", "whoami x", "who x", "id --unlisted", "dpkg …", "pgrep …"]);
    }
}
