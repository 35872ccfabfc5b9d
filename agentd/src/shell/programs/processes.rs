//! `ps` and `lsof`. Called by the dispatch.

use super::super::analysis::{Access, Class, Doing};
use super::network::is_address;
use super::options::{Options, Parsed, known, options, refused, used};
use super::{Arg, Judgement, PathArg};

/// Judges `ps` of procps-ng. It shows the environment of processes for the letter `e` without a dash; and it reads all
/// its words anew, dashes or not, as letters without a dash if they don't fit together. So values that it may refuse
/// (the user of `-u`), options that may not go together, and mixtures of both kinds are only taken where no letter `e`
/// stands.
pub(super) fn ps(name: &str, args: &[Arg]) -> Judgement {
    const PS: Options = options(
        "AadefFjlNZcHLmTVwWyMPO:o:C:G:g:U:u:p:q:t:k:s:",
        "no-headers no-heading headers forest cols= columns= width= rows= lines= format= sort= pid= ppid= user= User= \
         tty= group= Group= sid= deselect context quick-pid=",
    );
    const LETTERS: &str = "aAfghjlmnrsuvwxXTHLSZc";
    let args = &columns_apart(args, LETTERS);
    let (plain, dashed): (Vec<&Arg>, Vec<&Arg>) = args.iter().partition(|word| is_letters(word, LETTERS));
    if let (Some(word), false) = (plain.first(), dashed.is_empty() || harmless_beside_letters(&dashed)) {
        return Judgement::Unknown(refused(name, word));
    }
    let dashed: Vec<Arg> = dashed.into_iter().cloned().collect();
    let parsed = match PS.parse(name, &dashed) {
        Ok(parsed) => parsed,
        Err(_) if is_old_habit(&dashed) => return shown(),
        Err(why) => return Judgement::Unknown(why),
    };
    if let Some(operand) = parsed.operands.iter().find(|operand| !is_numbers(operand)) {
        return Judgement::Unknown(refused(name, operand));
    }
    let chosen = ["u", "U", "g", "G", "t", "s", "user", "User", "tty", "group", "Group", "sid"];
    let unsure = parsed.values(&chosen).any(|value| !is_numbers(value) && !is_root(value));
    if (unsure || !surely_go_together(&parsed) || dashed.iter().any(is_old_form))
        && args.iter().any(|word| !has_no_e(word))
    {
        return Judgement::Unknown(format!("{name} may show the environment of processes"));
    }
    let columns = ["o", "O", "format"];
    if let Some(column) = parsed.values(&columns).find(|value| !is_columns(value)) {
        return Judgement::Unknown(refused(name, column));
    }
    shown()
}

/// `ps axo pid,comm` with its last letter as a word of its own, and `ps -axo pid,comm`, which is read in the same way.
fn columns_apart(args: &[Arg], letters: &str) -> Vec<Arg> {
    let Some((Arg::Literal(first), rest)) = args.split_first() else { return args.to_vec() };
    let plain = if first.starts_with("-ax") { first.trim_start_matches('-') } else { first };
    match plain.strip_suffix('o') {
        Some(before) if !before.is_empty() && before.chars().all(|letter| letters.contains(letter)) => {
            let apart = [before, "-o"].map(|word| Arg::Literal(word.to_owned()));
            apart.into_iter().chain(rest.iter().cloned()).collect()
        }
        _ => args.to_vec(),
    }
}

/// Whether options surely fit together: of those about threads one at most, and none beside a forest.
fn surely_go_together(parsed: &Parsed) -> bool {
    const SURE: &[&str] = &[
        "A",
        "a",
        "d",
        "e",
        "f",
        "F",
        "l",
        "j",
        "w",
        "H",
        "L",
        "o",
        "p",
        "C",
        "q",
        "no-headers",
        "no-heading",
        "headers",
        "forest",
        "cols",
        "columns",
        "width",
        "rows",
        "lines",
        "format",
        "sort",
        "pid",
        "ppid",
        "quick-pid",
        "u",
        "U",
        "g",
        "G",
        "t",
        "s",
        "user",
        "User",
        "tty",
        "group",
        "Group",
        "sid",
    ];
    let threads = parsed.has(&["L", "T"]);
    let fits = |name: &str| match name {
        "T" => !parsed.has(&["L", "o", "format"]),
        "y" => parsed.has(&["l"]),
        "H" | "forest" => !threads,
        other => SURE.contains(&other),
    };
    parsed.options.iter().all(|option| fits(option.name))
}

fn shown() -> Judgement {
    known(Class::ReadOnly, Doing::Other, Vec::new())
}

/// `aux` and the like, the letter `e` not among them.
fn is_letters(word: &Arg, letters: &str) -> bool {
    matches!(word, Arg::Literal(text) if !text.is_empty() && text.chars().all(|letter| letters.contains(letter)))
}

/// `ps aux --sort=-%mem`, `ps ax -o pid,comm`: no word with a dash holds the letter `e` but as a column or an order.
fn harmless_beside_letters(dashed: &[&Arg]) -> bool {
    let mut value = false;
    dashed.iter().all(|word| match word {
        Arg::Literal(text) => {
            let fits = value || text.starts_with("--") || (text.starts_with('-') && !text.contains('e'));
            value = !value && matches!(text.as_str(), "-o" | "-O" | "-p" | "--format" | "--sort" | "--pid");
            fits
        }
        Arg::One(_) | Arg::Many(_) => false,
    })
}

/// `ps -aux` and the like, which are read as `ps aux`.
fn is_old_habit(args: &[Arg]) -> bool {
    let letters =
        |text: &str| text.strip_prefix("-a").is_some_and(|rest| rest.chars().all(|letter| "xuwfjl".contains(letter)));
    matches!(args, [Arg::Literal(only)] if letters(only))
}

fn is_old_form(word: &Arg) -> bool {
    matches!(word, Arg::Literal(text) if text.starts_with("-aux"))
}

fn is_root(word: &Arg) -> bool {
    matches!(word, Arg::Literal(text) if text == "root")
}

fn has_no_e(word: &Arg) -> bool {
    matches!(word, Arg::Literal(text) if !text.contains('e'))
}

/// One or more numbers, or one word that isn't known but stands where a wrong one is refused in any reading.
fn is_numbers(word: &Arg) -> bool {
    matches!(word, Arg::Literal(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b','))
}

/// Columns, none of them the environment.
fn is_columns(word: &Arg) -> bool {
    matches!(word, Arg::Literal(text) if !text.to_ascii_lowercase().contains("environ"))
}

/// Whether the word, as the value of `-i`, holds a host that isn't an address.
fn may_name_a_host(word: &Arg) -> bool {
    match word {
        Arg::Literal(text) => text.split_once('@').is_some_and(|(_, host)| !is_address(host)),
        Arg::One(prefix) | Arg::Many(prefix) => !prefix.starts_with([':', '/', '.']),
    }
}

/// Judges `fuser`. Behind a comma stands a host, `80,host/tcp`, for which the network is asked.
pub(super) fn fuser(name: &str, args: &[Arg]) -> Judgement {
    const FUSER: Options = options("avu", "all verbose user");
    match args.iter().find(|word| !matches!(word, Arg::Literal(text) if !text.contains(','))) {
        Some(word) => Judgement::Unknown(format!("{} may ask the network for a name", refused(name, word))),
        None => FUSER.judge(name, args),
    }
}

/// Judges `lsof`. It asks the network for the names of hosts unless `-n` is given, or `-t`, which shows none.
pub(super) fn lsof(name: &str, args: &[Arg]) -> Judgement {
    const LSOF: Options = options("abc:d:F?g?i?lnOPp:Rs?tu:UvVwXx?", "");
    let mut words = args.iter();
    let mut paths: Vec<PathArg> = Vec::new();
    let mut others = Vec::new();
    while let Some(word) = words.next() {
        match word {
            Arg::Literal(text) if text == "+D" || text == "+d" => {
                paths.extend(words.next().and_then(|folder| used(folder, Access::Look)));
            }
            Arg::Literal(text) if text.starts_with('+') => return Judgement::Unknown(refused(name, word)),
            Arg::One(text) | Arg::Many(text) if text.starts_with('+') => {
                return Judgement::Unknown(refused(name, word));
            }
            _ => others.push(word.clone()),
        }
    }
    let parsed = match LSOF.parse(name, &others) {
        Ok(parsed) => parsed,
        Err(why) => return Judgement::Unknown(why),
    };
    let named_files_only = parsed.options.is_empty() && !(paths.is_empty() && parsed.operands.is_empty());
    if !named_files_only && !parsed.has(&["n", "t", "v"]) {
        return Judgement::Unknown(format!("{name} without -n asks the network for names"));
    }
    if parsed.has(&["i"])
        && let Some(word) = args.iter().find(|word| may_name_a_host(word))
    {
        return Judgement::Unknown(format!("{} may ask the network for a name", refused(name, word)));
    }
    // `-i` may take the next word as its value.
    let operands = parsed.operands.iter().filter(|word| !matches!(word, Arg::Literal(text) if text.starts_with(':')));
    paths.extend(operands.filter_map(|operand| used(operand, Access::Look)));
    known(Class::ReadOnly, Doing::Other, paths)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read, paths};

    #[test]
    fn processes_without_their_environment() {
        only_read(&[
            "ps",
            "ps aux",
            "ps -ef",
            "ps axf",
            "ps auxww",
            "ps -eo pid,ppid,cmd",
            "ps -p 1 -o comm=",
            "ps -aux",
            "ps -ax",
            "ps -auxwwf",
        ]);
        only_read(&[
            "ps aux --sort=-%mem",
            "ps -e",
            "ps -A -o pid,args",
            "ps -ef --forest",
            "ps -C node",
            "ps -u root",
        ]);
        only_read(&[
            "ps -o pid,rss,cmd -p 1,2",
            "ps ax -o pid,comm",
            "ps -ejH",
            "ps -eLf",
            "ps --no-headers -o pid -C sh",
        ]);
        ask(&[
            "ps e",
            "ps eww",
            "ps auxe",
            "ps aux -e",
            "ps -e -u x",
            "ps -auxe",
            "ps -axe",
            "ps -ef u",
            "ps ewww -p 1",
        ]);
        // All words are read anew, as letters without a dash, if they don't go together.
        ask(&[
            "ps -eTH",
            "ps -eT --forest",
            "ps -T -eH",
            "ps -eLT",
            "ps -efT -o args",
            "ps --deselect -o cmd -ce",
            "ps -ek pid",
            "ps -emH",
            "ps -Tek pid",
            "ps axeo pid",
            "ps -axeo pid",
            "ps axo environ",
        ]);
        only_read(&[
            "ps axo pid,comm",
            "ps -axo pid,command",
            "ps axuo pid,user --sort=-rss",
            "ps -ely",
            "ps -eT",
            "ps -TH",
            "ps -efH",
            "ps -N -p 1",
        ]);
        ask(&["ps …", "ps *", "ps -u … -e", "ps -eo environ", "ps E", "ps -E"]);
    }

    #[test]
    fn open_files_without_names_of_hosts() {
        only_read(&[
            "lsof -nP -i :8080",
            "lsof -ti :3000",
            "lsof -i :80 -n -P",
            "lsof a",
            "lsof -nP -iTCP -sTCP:LISTEN",
        ]);
        only_read(&["lsof -np 1", "lsof -n +D src", "lsof -n -c node", "lsof +D src"]);
        ask(&[
            "lsof -nP -i@example.com",
            "lsof -nP -i@1.bad.de",
            "lsof -nP -i tcp@example.com:80",
            "lsof -nP -i@…",
            "lsof -n -i …",
        ]);
        only_read(&["lsof -nP -i@127.0.0.1:80", "lsof -nP -i TCP:80"]);
        ask(&["lsof", "lsof -i :8080", "lsof -D b", "lsof -n -D x", "lsof -n +f", "lsof …", "lsof -n *", "lsof -p 1"]);
        assert_eq!(paths("lsof -n +D src a"), ["Look src", "Look a"]);
    }
}
