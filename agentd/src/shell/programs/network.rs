//! Programs that show the state of the network on this machine, without asking anybody for names. Called by the
//! dispatch.

use super::super::analysis::{Class, Doing};
use super::options::{Options, Parsed, known, options, refused};
use super::{Arg, Judgement, Program, code, table};

/// From the manuals of iproute2 6, net-tools 2.10 and hostname 3.
pub(super) const PROGRAMS: &[Program] = &[
    code("ip", ip),
    code("ss", ss),
    code("netstat", netstat),
    // `-f`, `-i`, `-d` and the like ask the resolver; an operand sets the name.
    table("hostname", options("sI", "short all-ip-addresses").at_most(0)),
    table("ifconfig", options("as", "").at_most(0)),
];

/// What `ip` shows, each with its short forms.
const OBJECTS: &str = "a addr address l link r ro route n neigh neighbor neighbour ru rule m maddr maddress netns tunnel \
                       netconf nexthop ntable token vrf";
/// The words that show it; it is shown without any, too.
const SHOWING: &str = "show sh list ls lst";
/// The options that change how it is shown.
const LOOKS: &str = "-4 -6 -0 -o -oneline --oneline -s -stats -statistics -d -details --details -h -human -human-readable -j \
                     -json --json -p -pretty -c -color --color -c=never -c=auto -color=never -color=auto -br -brief \
                     --brief -t -timestamp -ts -tshort -N -Numeric";
/// The words of a filter of `ss`, beside addresses.
const FILTERS: &str = "state exclude established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait closed close-wait last-ack \
                       listening listen closing all connected synchronized bucket big sport dport src dst = == eq != ne > \
                       < >= <= gt lt ge le and or not ! & | ( ) :http :https :ssh";

/// Whether a word is in a list.
fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// `ip [options] OBJECT [show …]`. Options stand before the object only, and have one dash.
fn ip(name: &str, args: &[Arg]) -> Judgement {
    let mut words = args.iter();
    let object = loop {
        match words.next() {
            Some(Arg::Literal(text)) if matches!(text.as_str(), "-V" | "-Version" | "--version") && args.len() == 1 => {
                return shown();
            }
            Some(Arg::Literal(text)) if is_in(LOOKS, text) => {}
            Some(Arg::Literal(text)) if is_in(OBJECTS, text) => break text.as_str(),
            Some(word) => return Judgement::Unknown(refused(name, word)),
            None => return shown(),
        }
    };
    match words.next() {
        None => shown(),
        Some(Arg::Literal(command)) if is_in(SHOWING, command) => shown(),
        // Of other objects, `s` is `set`.
        Some(Arg::Literal(command)) if command == "s" && is_in("a addr address r ro route", object) => shown(),
        Some(Arg::Literal(command)) if command == "get" && matches!(object, "r" | "ro" | "route") => {
            match words.find(|word| !is_route(word)) {
                Some(word) => Judgement::Unknown(refused(name, word)),
                None => shown(),
            }
        }
        Some(word) => Judgement::Unknown(refused(name, word)),
    }
}

fn is_route(word: &Arg) -> bool {
    matches!(word, Arg::Literal(text) if is_address(text) || text == "to" || text == "from")
}

/// Whether a word is made of numbers as addresses are, so that nobody is asked for what it means.
pub(super) fn is_address(text: &str) -> bool {
    let starts = text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, ':' | '*' | '['));
    // `1.bad.de` and `1bad:80` are made of such signs too, but are names.
    let letters = !text.contains('.') && text.matches(':').count() > 1;
    let fits = |byte: u8| {
        byte.is_ascii_digit()
            || (letters && byte.is_ascii_hexdigit())
            || matches!(byte, b'.' | b':' | b'/' | b'*' | b'[' | b']')
    };
    starts && text.bytes().all(fits)
}

/// `ss`, whose filter may name hosts, for which the network is asked.
fn ss(name: &str, args: &[Arg]) -> Judgement {
    const SS: Options = options(
        "nalBoempTisZz460tMSudwxf:A:HOQ",
        "numeric all listening bound-inactive options extended memory processes threads info tipcinfo summary tos \
         cgroup context contexts ipv4 ipv6 packet tcp mptcp sctp udp dccp raw unix tipc vsock xdp family= no-header \
         oneline no-queues inet-sockopt query= socket=",
    );
    match SS.parse(name, args) {
        Ok(parsed) => {
            let is_plain = |text: &str| is_in(FILTERS, text) || is_address(text);
            // A filter is one text, in how many words it may stand: `'sport = :80'`.
            let fits = |word: &&Arg| matches!(word, Arg::Literal(text) if text.split_ascii_whitespace().all(is_plain));
            match parsed.operands.iter().find(|word| !fits(word)) {
                Some(word) => Judgement::Unknown(format!(
                    "{} may be a name that the network is asked for",
                    super::options::shown(word)
                )),
                None => shown(),
            }
        }
        Err(_) => SS.judge(name, args),
    }
}

/// `netstat` asks for the names of hosts without `-n`; tables of interfaces and counts hold none.
fn netstat(name: &str, args: &[Arg]) -> Judgement {
    const NETSTAT: Options = options(
        "rigsnNepoltuwxaWv46F",
        "route interfaces groups statistics numeric numeric-hosts symbolic extend programs timers listening all tcp udp \
         raw unix wide verbose fib",
    )
    .at_most(0);
    // Beside these, other words may add tables that hold names of hosts.
    let named = |parsed: &Parsed| {
        !parsed.has(&["i", "interfaces", "s", "statistics", "x", "unix"])
            || parsed.has(&["t", "tcp", "u", "udp", "w", "raw", "r", "route", "g", "groups"])
    };
    match NETSTAT.parse(name, args) {
        Ok(parsed) if !parsed.has(&["n", "numeric"]) && named(&parsed) => {
            Judgement::Unknown(format!("{name} without -n asks the network for names"))
        }
        _ => NETSTAT.judge(name, args),
    }
}

fn shown() -> Judgement {
    known(Class::ReadOnly, Doing::Other, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, ask_words, only_read, only_read_words};

    #[test]
    fn ip_shows() {
        only_read(&["ip addr", "ip a", "ip addr show", "ip -br a", "ip -4 addr show dev eth0", "ip link", "ip route"]);
        only_read(&["ip -s link show lo", "ip r s", "ip route get 1.1.1.1", "ip neigh", "ip -j addr", "ip rule list"]);
        ask(&["ip link set lo down", "ip addr add 1.2.3.4/8 dev lo", "ip route del default", "ip -b file", "ip …"]);
        ask(&[
            "ip -batch file",
            "ip -n ns addr",
            "ip netns exec x ls",
            "ip netns add x",
            "ip addr flush",
            "ip -r addr",
        ]);
        ask(&["ip link s lo down", "ip l s lo up", "ip netns s x 1", "ip token s ::1 dev lo"]);
        ask(&["ip addr …", "ip vrf exec x ls", "ip route get example.invalid", "ip monitor", "ip -force addr", "ip *"]);
    }

    #[test]
    fn sockets_are_shown_not_killed() {
        only_read(&["ss", "ss -tlnp", "ss -tunap", "ss -s", "ss -t state established", "ss -ltn sport = :22", "ss -x"]);
        ask(&[
            "ss -K dst 192.0.2.1",
            "ss -tK",
            "ss --kill",
            "ss -D file",
            "ss -F file",
            "ss -r",
            "ss dst example.invalid",
        ]);
        ask(&["ss …", "ss *", "ss -N ns", "ss -E"]);
        only_read_words(&[&["ss", "-ltn", "sport = :3000"], &["ss", "-t", "( dport = :https or dst 192.0.2.0/24 )"]]);
        ask_words(&[&["ss", "-tn", "dst example.invalid"], &["ss", "-tn", "dst 192.0.2.1", "or dst x"]]);
    }

    #[test]
    fn nobody_is_asked_for_names() {
        only_read(&[
            "netstat -tlnp",
            "netstat -an",
            "netstat -rn",
            "netstat -i",
            "hostname",
            "hostname -s",
            "hostname -I",
        ]);
        ask(&["ss dst 1.bad.de", "ss dst 1bad:80"]);
        ask(&["netstat -xt", "netstat -xta", "netstat -rs", "netstat -iu"]);
        ask(&["netstat", "netstat -tlp", "netstat -c -n", "hostname -f", "hostname x", "hostname -F x", "hostname …"]);
        ask(&["hostname -i", "hostname -d", "hostname -b x", "ifconfig lo down"]);
    }
}
