//! Programs that run the rest of their words as a command, in another way or surrounding. Called by the dispatch; the
//! command is judged by the walk.

use super::super::analysis::{Class, Doing};
use super::super::names::is_setting;
use super::options::{Options, known, options, refused, shown};
use super::{Arg, Judgement, Known, Program, code, judge};

/// From the manuals of GNU coreutils 9 and GNU time 1.9. Left out: `-S` and `-C` of env, `-o` of time. `setsid`,
/// `flock`, `sudo` and the like are missing: they do more than to run a command.
pub(super) const PROGRAMS: &[Program] = &[
    code("env genv", env),
    code("timeout gtimeout", timeout),
    code("nice gnice", nice),
    code("nohup", |name, args| rest(name, args, &options("", "").options_first())),
    code("stdbuf gstdbuf", |name, args| rest(name, args, &options("i:o:e:", "input= output= error=").options_first())),
    code("time gtime", |name, args| {
        rest(name, args, &options("pqvf:", "portability quiet verbose format=").options_first())
    }),
];

/// The command behind the options.
fn rest(name: &str, args: &[Arg], options: &Options) -> Judgement {
    match options.parse(name, args) {
        Ok(parsed) => runs(name, &parsed.operands),
        Err(why) => Judgement::Unknown(why),
    }
}

fn runs(name: &str, argv: &[Arg]) -> Judgement {
    match argv.first() {
        Some(Arg::Literal(_)) => Judgement::Runs { argv: argv.to_vec(), does: nothing() },
        Some(word) => Judgement::Unknown(refused(name, word)),
        None => Judgement::Unknown(format!("{name} without a command is not known to be harmless")),
    }
}

fn nothing() -> Known {
    Known { class: Class::ReadOnly, doing: Doing::Other, paths: Vec::new() }
}

fn timeout(name: &str, args: &[Arg]) -> Judgement {
    const TIMEOUT: Options =
        options("s:k:vfp", "signal= kill-after= verbose foreground preserve-status").options_first();
    match TIMEOUT.parse(name, args) {
        Ok(parsed) => match parsed.operands.split_first() {
            // Were it many words, the command's name would be among them.
            Some((Arg::Literal(_) | Arg::One(_), command)) => runs(name, command),
            Some((word, _)) => Judgement::Unknown(refused(name, word)),
            None => Judgement::Unknown(format!("{name} without a command is not known to be harmless")),
        },
        Err(why) => Judgement::Unknown(why),
    }
}

fn nice(name: &str, args: &[Arg]) -> Judgement {
    const NICE: Options = options("n:#", "adjustment=").options_first();
    if args.is_empty() {
        return known(Class::ReadOnly, Doing::Other, Vec::new());
    }
    rest(name, args, &NICE)
}

fn env(name: &str, args: &[Arg]) -> Judgement {
    const ENV: Options = options("iu:v", "ignore-environment unset= debug").options_first();
    let parsed = match ENV.parse(name, args) {
        Ok(parsed) => parsed,
        Err(why) => return Judgement::Unknown(why),
    };
    let mut argv = parsed.operands.as_slice();
    let mut cleared = parsed.has(&["i", "ignore-environment"]);
    if let Some((Arg::Literal(dash), rest)) = argv.split_first()
        && dash == "-"
    {
        cleared = true;
        argv = rest;
    }
    cleared |= parsed.values(&["u", "unset"]).any(|variable| !is_harmless_without(variable));
    while let Some((word, rest)) = argv.split_first()
        && is_assignment(word)
    {
        match word {
            Arg::Literal(text) => match text.split_once('=') {
                Some((variable, value)) if is_setting(variable, Some(value)) => argv = rest,
                _ => return Judgement::Unknown(refused(name, word)),
            },
            Arg::One(_) | Arg::Many(_) => return Judgement::Unknown(refused(name, word)),
        }
    }
    if cleared && !needs_no_environment(argv) {
        return Judgement::Unknown(format!(
            "{name} takes variables away that {} may need to be harmless",
            argv.first().map_or_else(String::new, shown)
        ));
    }
    runs(name, argv)
}

fn is_assignment(word: &Arg) -> bool {
    matches!(word, Arg::Literal(text) | Arg::One(text) | Arg::Many(text) if text.contains('='))
}

/// Whether nothing becomes harmful by the lack of a variable: it only chooses language, zone or colours.
fn is_harmless_without(variable: &Arg) -> bool {
    matches!(variable, Arg::Literal(variable) if is_setting(variable, Some("C")) || variable == "HOME")
}

/// Whether the command is no git, whose harmlessness hangs on variables that it is given, and runs no other program.
fn needs_no_environment(argv: &[Arg]) -> bool {
    match argv {
        [Arg::Literal(program), words @ ..] => {
            !program.contains("git") && matches!(judge(program, words), Judgement::Known(_))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{argv, ask, only_read};

    #[test]
    fn the_command_is_handed_on() {
        assert_eq!(argv("timeout 5 touch pwn"), ["touch", "pwn"]);
        assert_eq!(argv("timeout -s KILL --kill-after=3 10 ls -la"), ["ls", "-la"]);
        assert_eq!(argv("nice -n 10 grep -rn foo src"), ["grep", "-rn", "foo", "src"]);
        assert_eq!(argv("nice -5 ls"), ["ls"]);
        assert_eq!(argv("nice ls *"), ["ls", "*"]);
        assert_eq!(argv("nohup -- ls -x"), ["ls", "-x"]);
        assert_eq!(argv("stdbuf -oL -e 0 cat a"), ["cat", "a"]);
        assert_eq!(argv("time -p ls"), ["ls"]);
        assert_eq!(argv("time -f %e -v ls"), ["ls"]);
        assert_eq!(argv("env LANG=C TZ=UTC ls -l"), ["ls", "-l"]);
        assert_eq!(argv("env -i ls"), ["ls"]);
        assert_eq!(argv("env - LANG=C ls"), ["ls"]);
        assert_eq!(argv("env -u HOME touch pwn"), ["touch", "pwn"]);
        assert_eq!(argv("env -u LANG git status"), ["git", "status"]);
    }

    #[test]
    fn what_is_not_known_asks() {
        ask(&[
            "timeout 5",
            "timeout",
            "timeout …",
            "timeout * ls",
            "timeout 5 …",
            "nice …",
            "nice -n *",
            "nohup",
            "stdbuf",
            "time -o pwn ls",
            "time -ao pwn ls",
            "time --output=pwn ls",
            "env",
            "env -0",
            "env LANG=C",
            "env PATH=. ls",
            "env LD_PRELOAD=x ls",
            "env BASH_FUNC_ls%%=x ls",
            "env …",
            "env LANG=… ls",
            "env X=C… ls",
            "env A=x…",
            "env -S ls",
            "env -C / ls",
            "env --chdir=/ ls",
            "env -i git status",
            "env - git status",
            "env -u GIT_OPTIONAL_LOCKS git status",
            "env -u GIT_CONFIG_COUNT xargs git diff",
            "env -i timeout 5 ls",
            "env -i",
            "setsid ls",
            "flock x ls",
            "sudo ls",
        ]);
        only_read(&["nice"]);
    }
}
