//! Programs that tell about services, their logs, certificates, and packages. Called by the dispatch.

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, known, options, refused, used};
use super::{Arg, Judgement, Program, code, table};

/// From the manuals of systemd 256, dpkg 1.22 and OpenSSL 3. Left out: `-H` and `-M`, which reach other machines, and all that
/// changes, rotates or removes logs. `apt` and `rpm` are missing, since they keep caches and locks.
pub(super) const PROGRAMS: &[Program] = &[
    code("systemctl", systemctl),
    code("openssl", openssl),
    table(
        "journalctl",
        options(
            "aefkmNqrxS:U:b?u:t:p:g:o:n?F:#",
            "system user merge since= until= boot? unit= user-unit= identifier= priority= facility= grep= \
             case-sensitive? dmesg output= output-fields= lines? reverse show-cursor utc catalog no-hostname no-full \
             full all follow no-tail quiet no-pager pager-end fields field= list-boots disk-usage header list-catalog \
             dump-catalog",
        )
        .reads()
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

/// `openssl x509` that shows a certificate. Its options are words, of which none is bundled or shortened. A file with a
/// colon may be an address of a store.
fn openssl(name: &str, args: &[Arg]) -> Judgement {
    const FLAGS: &[&str] = &[
        "-noout",
        "-text",
        "-dates",
        "-startdate",
        "-enddate",
        "-subject",
        "-issuer",
        "-serial",
        "-fingerprint",
        "-sha1",
        "-sha256",
        "-email",
        "-purpose",
        "-hash",
        "-subject_hash",
        "-issuer_hash",
        "-modulus",
        "-pubkey",
        "-ocsp_uri",
    ];
    const VALUED: &[&str] = &["-checkend", "-ext", "-nameopt", "-certopt"];
    let [Arg::Literal(command), rest @ ..] = args else {
        return Judgement::Unknown(format!("{name} without x509 is not known to be harmless"));
    };
    if command != "x509" {
        return Judgement::Unknown(format!("{name} {command} is not known to be harmless"));
    }
    let mut words = rest.iter();
    let mut paths = Vec::new();
    while let Some(word) = words.next() {
        let Arg::Literal(option) = word else { return Judgement::Unknown(refused(name, word)) };
        let known_value = match (option.as_str(), VALUED.contains(&option.as_str())) {
            ("-in", _) => {
                words.next().filter(|file| is_plain_file(file)).map(|file| paths.extend(used(file, Access::Read)))
            }
            ("-inform", _) => words.next().filter(|form| is_certificate_form(form)).map(drop),
            (_, true) => words.next().filter(|value| matches!(value, Arg::Literal(_))).map(drop),
            (flag, false) => FLAGS.contains(&flag).then_some(()),
        };
        if known_value.is_none() {
            return Judgement::Unknown(refused(name, word));
        }
    }
    known(Class::ReadOnly, Doing::Read, paths)
}

fn is_plain_file(word: &Arg) -> bool {
    match word {
        Arg::Literal(text) => !text.contains(':'),
        Arg::One(prefix) => prefix.split_once('/').is_some_and(|(first, _)| !first.contains(':')),
        Arg::Many(_) => false,
    }
}

fn is_certificate_form(word: &Arg) -> bool {
    matches!(word, Arg::Literal(text) if matches!(text.as_str(), "pem" | "PEM" | "der" | "DER"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read, paths};

    #[test]
    fn certificates_are_shown() {
        only_read(&[
            "openssl x509 -in cert.pem -noout -text",
            "openssl x509 -noout -dates -in certs/…",
            "openssl x509 -inform DER -in a -noout -fingerprint -sha256",
            "openssl x509 -noout -checkend 86400",
            "openssl version",
        ]);
        ask(&[
            "openssl x509 -in a -out b",
            "openssl x509 -in a -CA ca.pem -CAcreateserial",
            "openssl x509 -in http://example.org/a",
            "openssl x509 -in …",
            "openssl x509 -in *",
            "openssl x509 -engine x -in a",
            "openssl x509 -provider x -in a",
            "openssl x509 -inform engine -in a",
            "openssl x509 -in",
            "openssl enc -in a",
            "openssl s_client -connect a:443",
            "openssl …",
            "openssl",
        ]);
        assert_eq!(paths("openssl x509 -in a/b -noout"), ["Read a/b"]);
    }

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
    fn journalctl_opens_a_file_that_it_is_given() {
        assert_eq!(super::super::tests::paths("journalctl /x"), ["Read /x"]);
    }

    #[test]
    fn logs_and_packages() {
        only_read(&[
            "journalctl -u nginx -n 50 --no-pager",
            "journalctl -xe",
            "journalctl -n50 -f",
            "journalctl --since today -p err",
            "journalctl -b",
            "journalctl -b -1 -p err",
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
