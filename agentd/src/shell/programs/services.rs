//! Programs that tell about services, their logs, and packages. Called by the dispatch.

use super::super::analysis::{Class, Doing};
use super::options::{Options, known, options, refused};
use super::{Arg, Judgement, Program, code, table};

/// From the manuals of systemd 256 and dpkg 1.22. Left out: `-H` and `-M`, which reach other machines, and all that
/// changes, rotates or removes logs. `apt` and `rpm` are missing, since they keep caches and locks.
pub(super) const PROGRAMS: &[Program] = &[
    code("systemctl", systemctl),
    table(
        "journalctl",
        options(
            "aefkmNqrxS:U:b?u:t:p:g:o:n?F:",
            "system user merge since= until= boot? unit= user-unit= identifier= priority= facility= grep= \
             case-sensitive? dmesg output= output-fields= lines? reverse show-cursor utc catalog no-hostname no-full \
             full all follow no-tail quiet no-pager pager-end fields field= list-boots disk-usage header list-catalog \
             dump-catalog",
        )
        .no_dashed_values(),
    ),
    table(
        "dpkg-query",
        options("WlLsSpf:", "show list listfiles status search print-avail control-list showformat= no-pager"),
    ),
];

/// Commands of systemctl that only tell.
const TELLING: &[&str] = &[
    "list-units",
    "list-sockets",
    "list-timers",
    "list-automounts",
    "list-paths",
    "list-unit-files",
    "list-dependencies",
    "list-jobs",
    "is-active",
    "is-failed",
    "is-enabled",
    "is-system-running",
    "status",
    "show",
    "cat",
    "get-default",
];

fn systemctl(name: &str, args: &[Arg]) -> Judgement {
    const SYSTEMCTL: Options = options(
        "aqlrt:p:P:n:o:",
        "type= state= property= all full failed recursive reverse after before quiet no-pager no-legend plain value \
         lines= output= user system with-dependencies timestamp= legend= global",
    )
    .no_dashed_values();
    let parsed = match SYSTEMCTL.parse(name, args) {
        Ok(parsed) => parsed,
        Err(why) => return Judgement::Unknown(why),
    };
    match parsed.operands.first() {
        None => known(Class::ReadOnly, Doing::Other, Vec::new()),
        Some(Arg::Literal(command)) if TELLING.contains(&command.as_str()) => {
            known(Class::ReadOnly, Doing::Other, Vec::new())
        }
        Some(word) => Judgement::Unknown(refused(name, word)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read};

    #[test]
    fn services_are_told_about() {
        only_read(&[
            "systemctl status nginx",
            "systemctl --no-pager list-units --type=service",
            "systemctl is-active ssh.service",
            "systemctl --user status",
            "systemctl",
            "systemctl show -p MainPID x",
        ]);
        ask(&[
            "systemctl start x",
            "systemctl …",
            "systemctl status *",
            "systemctl -H host status",
            "systemctl -M x status",
            "systemctl --now enable x",
            "systemctl show-environment",
            "systemctl help x",
            "systemctl -t -Hhost status",
            "systemctl edit x",
        ]);
    }

    #[test]
    fn logs_and_packages() {
        only_read(&[
            "journalctl -u nginx -n 50 --no-pager",
            "journalctl -xe",
            "journalctl -n50 -f",
            "journalctl --since today -p err",
            "journalctl -b",
            "journalctl _PID=1",
            "dpkg-query -W",
            "dpkg-query -L bash",
        ]);
        ask(&[
            "journalctl --vacuum-time=1s",
            "journalctl --rotate",
            "journalctl --flush",
            "journalctl --sync",
            "journalctl --cursor-file=pwn",
            "journalctl --update-catalog",
            "journalctl --setup-keys",
            "journalctl -M x",
            "journalctl …",
            "journalctl --vac=1",
            "dpkg-query --admindir=x -l",
            "rpm -qa",
            "apt list",
        ]);
    }
}
