//! What an awk program touches beside its input and output: it must not run, write or connect, and read only files that
//! it names. Called for awk.

use super::tokens::{CONDITION_END, Classes, Fault, Follows, Token, tokens};

/// Functions of POSIX awk, gawk, mawk and busybox that touch nothing outside the program.
const FUNCTIONS: &[&str] = &[
    "and", "asort", "asorti", "atan2", "close", "compl", "cos", "exp", "fflush", "gensub", "gsub", "index", "int",
    "isarray", "length", "log", "lshift", "match", "mktime", "or", "patsplit", "rand", "rshift", "sin", "split",
    "sprintf", "sqrt", "srand", "strftime", "strtonum", "sub", "substr", "systime", "tolower", "toupper", "typeof",
    "xor",
];

/// Keywords that `(` may follow.
const KEYWORDS: &[&str] = &[
    "if", "while", "for", "switch", "case", "print", "printf", "return", "getline", "in", "exit", "delete", "else",
    "do", "function", "func",
];

/// Names that give away or change what a program must not, and why.
const REFUSED: &[(&str, &str)] = &[
    ("system", "runs a command"),
    ("extension", "loads a library"),
    ("ENVIRON", "holds the environment, which may hold secrets"),
    ("SYMTAB", "reaches any variable"),
    ("FUNCTAB", "reaches any function"),
    ("ARGV", "decides which files are read"),
    ("ARGC", "decides which files are read"),
];

/// The files that a program reads by name.
///
/// # Errors
/// A sentence that names what is not known to be harmless.
pub(super) fn files_read(program: &str) -> Result<Vec<String>, String> {
    let mut files = None;
    for classes in Classes::ALL {
        match tokens(program, classes) {
            Ok(tokens) => {
                let read = Checked::new(&tokens).files()?;
                files.get_or_insert_with(Vec::new).extend(read);
            }
            // Where it is read so, it is refused before anything runs.
            Err(Fault::Invalid(_)) if classes != Classes::Nested => {}
            Err(Fault::Invalid(why) | Fault::Ambiguous(why)) => return Err(why),
        }
        if !program.contains('[') {
            break;
        }
    }
    let mut files: Vec<String> = files.unwrap_or_default();
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

struct Checked<'a> {
    tokens: &'a [Token],
    /// Names of the program's own functions.
    own: Vec<&'a str>,
    files: Vec<String>,
}

/// A statement in which `<` or `>` may stand for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statement {
    Print,
    Getline,
}

impl<'a> Checked<'a> {
    fn new(tokens: &'a [Token]) -> Self {
        let own = tokens.windows(2).filter_map(|pair| match pair {
            [Token::Name(keyword, _), Token::Name(name, _)] if matches!(keyword.as_str(), "function" | "func") => {
                Some(name.as_str())
            }
            _ => None,
        });
        Self { tokens, own: own.collect(), files: Vec::new() }
    }

    fn files(mut self) -> Result<Vec<String>, String> {
        for (at, token) in self.tokens.iter().enumerate() {
            let rest = self.tokens.get(at + 1..).unwrap_or_default();
            match token {
                Token::Sign("|" | "|&") => return Err("awk's | runs a command".to_owned()),
                Token::Sign("@") => return Err("awk's @ may load or call anything".to_owned()),
                Token::Sign("&") => return Err("awk's & is not understood".to_owned()),
                Token::Name(name, follows) => {
                    self.name(name, *follows)?;
                    match name.as_str() {
                        "print" | "printf" => self.statement(rest, Statement::Print)?,
                        "getline" => self.statement(rest, Statement::Getline)?,
                        _ => {}
                    }
                }
                // Without a print before it, this is no awk; with one it is found there too.
                Token::Sign(">>") if !is_to_standard_stream(rest) => {
                    return Err("awk's >> writes a file".to_owned());
                }
                _ => {}
            }
        }
        Ok(self.files)
    }

    fn name(&self, name: &str, follows: Follows) -> Result<(), String> {
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            return Err(format!("awk's {name} {why}"));
        }
        let known = |names: &[&str]| names.contains(&name);
        if follows == Follows::Parenthesis && !known(FUNCTIONS) && !known(KEYWORDS) && !known(&self.own) {
            return Err(format!("awk's function {name} is not known to be harmless"));
        }
        Ok(())
    }

    /// Reads what follows `print` or `getline`, to the end of the statement.
    fn statement(&mut self, rest: &[Token], statement: Statement) -> Result<(), String> {
        let mut depth = 0_usize;
        let mut last: Option<&Token> = None;
        for (at, token) in rest.iter().enumerate() {
            let behind = rest.get(at + 1..).unwrap_or_default();
            match token {
                Token::Sign(";" | "}") => return Ok(()),
                // Neither blank lines nor comments end what goes on in the next line, nor does anything in parentheses.
                Token::Newline if depth > 0 || goes_on(last) => continue,
                Token::Newline => return Ok(()),
                Token::Sign("(") => depth += 1,
                Token::Sign(")" | CONDITION_END) => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return Ok(()),
                },
                Token::Sign(">" | ">>")
                    if statement == Statement::Print && depth == 0 && !is_to_standard_stream(behind) =>
                {
                    return Err("awk's print with > writes a file".to_owned());
                }
                Token::Sign("<") if statement == Statement::Getline && depth == 0 => self.read_from(behind)?,
                _ => {}
            }
            last = Some(token);
        }
        Ok(())
    }

    /// Reads the file name behind `getline <`.
    fn read_from(&mut self, behind: &[Token]) -> Result<(), String> {
        match behind {
            [Token::Text(path), rest @ ..] if ends(rest) && is_plain_path(path) => {
                self.files.push(path.clone());
                Ok(())
            }
            _ => Err("awk's getline reads a file whose name is not known".to_owned()),
        }
    }
}

/// Whether the line's end doesn't end the statement.
fn goes_on(last: Option<&Token>) -> bool {
    matches!(last, Some(Token::Sign("," | "&&" | "||" | "?" | ":" | "{")))
}

/// Whether the output goes to one of awk's own streams.
fn is_to_standard_stream(behind: &[Token]) -> bool {
    matches!(behind, [Token::Text(path), rest @ ..]
        if matches!(path.as_str(), "/dev/stderr" | "/dev/stdout") && ends(rest))
}

/// Whether nothing is joined to the file name before.
fn ends(rest: &[Token]) -> bool {
    matches!(rest, [] | [Token::Newline | Token::Sign(";" | "}" | ")" | CONDITION_END), ..])
}

/// gawk connects to `/inet/…`.
fn is_plain_path(path: &str) -> bool {
    !path.is_empty() && !path.contains('\\') && !path.starts_with("/inet")
}

#[cfg(test)]
mod tests {
    use super::files_read;

    #[test]
    fn harmless_programs_are_understood() {
        for program in [
            "NR==5",
            "!seen[$0]++",
            "{print $2, $11}",
            "{s+=$1} END{print s}",
            "NR>=10 && NR<=20",
            "$1 > 5",
            "$1 > 5 {print}",
            "$1 > 5 && $2 < 3 || $3 >= 4 {print $1; next}",
            "{print ($1 > 5)}",
            "{print ($1 > 5) ? \"a\" : \"b\"}",
            "{printf \"%d|%s\\n\", $1, $2}",
            "{printf(\"%s > %s\\n\", $1, $2)}",
            "/foo|bar/",
            "/a/,/b/",
            "$0 ~ /a > b/ {print $1}",
            "{sub(/[^/]*$/, \"\"); print}",
            "{gsub(/[[:space:]]+/, \" \")}1",
            "/^[]]/ {print}",
            "BEGIN{FS=\",\"; OFS=\"\\t\"} {$1=$1} 1",
            "{a[$1]+=$2} END{for (k in a) print k, a[k]}",
            "{print length($0) / 2, length }",
            "END{print s/NR, (s)/(n), a[1]/2, $1/$2/3}",
            "{x /= 2; print x}",
            "function f(a, b) { return a + b } {print f($1, $2)}",
            "BEGIN{while ((getline line < \"a.txt\") > 0) n++; print n}",
            "{print > \"/dev/stderr\"}",
            "{print \"x\" > \"/dev/stderr\"; print $1}",
            "BEGIN { # | system(\n print 1 }",
            "{ print $1,\n  $2 }",
            "{ print $1 \\\n $2 }",
            "{ if ($1 > 3) print \"big\"; else print \"small\" }",
            "for_ > 1",
            "$1 ~ \"a|b\"",
            "BEGIN{PROCINFO[\"sorted_in\"]=\"@ind_str_asc\"}",
            "BEGIN{print \"system(1) | > >> ENVIRON\"}",
            "NR%2",
            "{ for (i=NF; i>0; i--) printf \"%s \", $i; print \"\" }",
            "{ getline; print }",
            "{ getline x; print x }",
            "BEGIN{printf \"%.2f\\n\", 10 / 3}",
            "END { print (a+b)/2 }",
            "$NF != \"\" && length($2) > 80 { print FILENAME \":\" FNR }",
            "{ c = $1 ? /x/ : /y/ }",
            "BEGIN{exit} END{print toupper(substr(\"abc\", 1, 2))}",
        ] {
            assert!(files_read(program).is_ok(), "{program}: {:?}", files_read(program));
        }
    }

    #[test]
    fn writing_running_and_telling_is_found_wherever_it_hides() {
        for program in [
            "BEGIN{system(\"touch pwn\")}",
            "BEGIN{system (\"touch pwn\")}",
            "BEGIN{extension (\"./x.so\", \"init\")}",
            "BEGIN{print 1,\n\n2 > \"pwn\"}",
            "BEGIN{print 1, # a\n# b\n\n 2 > \"pwn\"}",
            "BEGIN{print 1 ||\n\n2 > \"pwn\"}",
            "BEGIN{print(1,\n\n2) > \"pwn\"}",
            "BEGIN{print (1\n) > \"pwn\"}",
            "BEGIN{printf \"%s%s\",\n\n1,\n\n2 >> \"pwn\"}",
            "{print | \"sh\"}",
            "{print|\"sh\"}",
            "{print $1 > 5}",
            "{print $1 > \"pwn\"}",
            "{print>\"pwn\"}",
            "{print >> \"pwn\"}",
            "{printf \"%s\", $1 > $2}",
            "{print (a)(b) > \"pwn\"}",
            "{print(a, b) > \"pwn\"}",
            "{print a, (b > c) > \"pwn\"}",
            "{print a,\n b > \"pwn\"}",
            "{print a && # x\n b > \"pwn\"}",
            "{print a \\\n > \"pwn\"}",
            "{print > \"/dev/stderr\" \"x\"}",
            "{print > \"/dev/stderrx\"}",
            "{print > \"/dev/tcp\"}",
            "BEGIN{for(;;print 1 > \"pwn\") x}",
            "BEGIN{if (1) print 2 > \"pwn\"}",
            "BEGIN{\"touch pwn\" | getline}",
            "BEGIN{\"touch pwn\" |& getline x}",
            "BEGIN{cmd | getline}",
            "BEGIN{getline x < f}",
            "BEGIN{getline < \"a\" \"b\"}",
            "BEGIN{getline < $1}",
            "BEGIN{getline x[\"]\"] < f}",
            "BEGIN{while (getline l < ENVIRON[\"x\"]) print l}",
            "BEGIN{getline < \"/inet/tcp/0/192.0.2.1/80\"}",
            "BEGIN{for(k in ENVIRON) print ENVIRON[k]}",
            "BEGIN{print SYMTAB[\"x\"]}",
            "BEGIN{ARGV[1]=\"/etc/shadow\"; ARGC=2}",
            "@load \"x\"",
            "@include \"x\"",
            "BEGIN{f=\"system\"; @f(\"touch pwn\")}",
            "BEGIN{spawn(\"x\")}",
            "BEGIN{print a / b | \"sh\" / c}",
            "BEGIN{if (x) / \"/; system(\"touch pwn\"); / \"/ }",
            "/[/]\"/; BEGIN{system(\"x\")} #\"/",
            "BEGIN{x = /[/ + system(\"x\") + /]/}",
            "BEGIN{print length / \"/; system(\"x\"); \"/ }",
            "BEGIN{print \"a\nb\"}",
            "BEGIN{print \"a}",
            "/a",
            "{print",
            "BEGIN{print 1))}",
            "BEGIN{print a\\b}",
            "BEGIN{print `x`}",
            "/[[:alpha/]/ {print}",
            "BEGIN{print x[$1 > 5]}",
        ] {
            assert!(files_read(program).is_err(), "{program}");
        }
    }
}
