//! Lines that want to be slow to take apart: deep, wide, or growing as they are expanded. None is longer than the
//! analysis looks at.

/// The longest line that is looked at.
const MAX_CHARS: usize = 10_000;

/// A part repeated until the line is full, between a beginning and an end.
const REPEATED: [(&str, &str, &str, &str); 47] = [
    ("open substitutions", "", "$(", ""),
    ("open substitutions in quotes", "echo ", "\"$(", ""),
    ("escaped backticks", "echo ", "\\`", ""),
    ("open backticks", "echo ", "`a ", "`"),
    ("open subshells", "", "( ", ""),
    ("open groups", "", "{ ", ""),
    ("open parameters", "echo ", "${x:-", ""),
    ("open arithmetic", "echo ", "$((", ""),
    ("open subscripts", "echo ", "${a[", ""),
    ("open process substitutions", "cat ", "<(", ""),
    ("open tests", "[[ ", "( ", ""),
    ("open ifs", "", "if ", ""),
    ("open loops", "", "while ", ""),
    ("open cases", "", "case x in (x) ", ""),
    ("open functions", "", "f() { ", ""),
    ("braces without an end", "echo ", "{a,", ""),
    ("quotes", "echo ", "\"", ""),
    ("single quotes", "echo ", "'", ""),
    ("quotes in quotes", "echo ", "\"'", ""),
    ("backslashes", "echo ", "\\", ""),
    ("escaped lines", "echo ", "\\\n", ""),
    ("ANSI quotes", "echo ", "$'\\x41'", ""),
    ("dollars", "echo ", "$", ""),
    ("pairs of braces", "echo ", "{a,b}", ""),
    ("sequences", "echo ", "{1..9}", ""),
    ("large sequences", "echo ", "{1..99999999}", ""),
    ("stars", "ls ", "*", ""),
    ("patterns", "ls ", "[a-z]*?", ""),
    ("extended patterns", "ls ", "@(a|", ""),
    ("words", "ls ", "a ", ""),
    ("options", "ls ", "-la ", ""),
    ("files for sort", "sort ", "-k1,1 ", ""),
    ("redirects", "ls ", "2>&1 ", ""),
    ("here-documents", "cat ", "<<A ", "\nA\n"),
    ("here-strings", "cat ", "<<<a ", ""),
    ("assignments", "", "a=1 ", "ls"),
    ("array elements", "a=( ", "b ", ")"),
    ("operators", "ls ", "&", ""),
    ("semicolons", "ls", ";", ""),
    ("lines", "", "\n", "ls"),
    ("comments", "", "#", ""),
    ("cases of one", "case x in ", "a|", "b) ls;; esac"),
    ("negations", "", "! ", "ls"),
    ("letters of a script", "sed 's/", "a*", "/b/'"),
    ("nested groups of a pattern", "sed -E 's/", "(", "/b/'"),
    ("nested lists of a filter", "jq '", "[", "'"),
    ("nested terms of a program", "awk '{print ", "(", "}'"),
];
/// The same with as many ends as beginnings.
const NESTED: [(&str, &str, &str, &str); 15] = [
    ("substitutions", "$(echo ", "a", ")"),
    ("substitutions in quotes", "echo \"$(", "ls", ")\""),
    ("subshells", "( ", "ls", " )"),
    ("groups", "{ ", "ls", "; }"),
    ("ifs", "if ", "ls", "; then ls; fi"),
    ("loops", "while ", "ls", "; do ls; done"),
    ("functions", "f() { ", "ls", "; }"),
    ("parameters", "${x:-", "a", "}"),
    ("arithmetic", "$(( ", "1", " ))"),
    ("braces", "{a,", "b", "}"),
    ("tests", "[[ -n $(", "ls", ") ]]"),
    ("process substitutions", "cat <(", "ls", ")"),
    ("terms", "awk '{print (", "1", ")}'"),
    ("find's terms", "find . ( ", "-true", " )"),
    ("timeouts", "timeout 5 ", "ls", ""),
];

/// The lines, each with what it has many of.
#[must_use]
pub fn lines() -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for (name, start, part, end) in REPEATED {
        for share in [1, 10, 100] {
            let count = (MAX_CHARS / share - start.len() - end.len()) / part.len();
            lines.push((format!("{count} {name}"), format!("{start}{}{end}", part.repeat(count))));
        }
    }
    for (name, start, middle, end) in NESTED {
        for depth in [8, 31, 100, (MAX_CHARS - middle.len()) / (start.len() + end.len())] {
            let line = format!("{}{middle}{}", start.repeat(depth), end.repeat(depth));
            lines.push((format!("{depth} nested {name}"), line));
        }
    }
    lines.extend(growing());
    for (name, line) in &lines {
        assert!(line.chars().count() <= MAX_CHARS, "{name} is too long");
    }
    lines
}

/// Lines that become more when they are expanded, or are at the limits in everything.
fn growing() -> Vec<(String, String)> {
    let doubling = format!("x=aaaaaaaa; {}echo $x", "x=$x$x; ".repeat(48));
    let appended = format!("x=aaaaaaaa; {}echo $x", "x+=$x; ".repeat(48));
    let arrays = format!("a=(a b); {}ls \"${{a[@]}}\"", "a+=(\"${a[@]}\"); ".repeat(48));
    let loops = format!("{}ls $a{}", "for a in a b c; do ".repeat(24), "; done".repeat(24));
    let calls = format!(
        "f() {{ ls; }}; {}f0",
        (0..40).map(|n| format!("f{n}() {{ f{0}; f{0}; }}; ", n + 1)).collect::<String>()
    );
    let branches = format!("x=a; {}ls $x", "if ls; then x=$x-a; else x=$x-b; fi; ".repeat(16));
    let cases = format!("{}ls $x", "case $1 in a) x=a$x;; b) x=b$x;; *) x=c$x;; esac; ".repeat(12));
    let braces = format!("echo {}", ["{a,b,c,d}"; 20].concat());
    let products = ["{1..100}"; 8].concat();
    let scripts = (0..10).fold("ls".to_owned(), |line, _| format!("bash -c {}", quoted(&line)));
    let evals = (0..8).fold("ls".to_owned(), |line, _| format!("eval {}", quoted(&line)));
    let fifty = vec![format!("grep -rn {} src", "a".repeat(180)); 50].join("; ");
    let pipes = vec!["sed -n 's/a*b*c*/x/gp' a.txt"; 50].join(" | ");
    let documents = (0..50).map(|n| format!("cat <<E{n}\n$(ls)\nE{n}\n")).collect();
    let sed = format!("sed '{}'", "s/\\(a*\\)*b/&/;".repeat(700));
    let awk = format!("awk '{}'", "/a/{x[$1]=$2\" \"x[$1]} ".repeat(430));
    let jq = format!("jq '{}.'", ".a|".repeat(3000));
    let finds = format!("find . {}", "-name a -o ".repeat(900));
    let xargs = format!("ls | {}ls", "xargs ".repeat(1500));
    let all = [
        ("values that double", doubling),
        ("values that are appended", appended),
        ("arrays that double", arrays),
        ("loops in loops", loops),
        ("functions that call two", calls),
        ("branches that differ", branches),
        ("cases that differ", cases),
        ("products of braces", braces),
        ("products of sequences", format!("echo {products}")),
        ("scripts in scripts", scripts),
        ("evals in evals", evals),
        ("fifty searches", fifty),
        ("fifty in a pipe", pipes),
        ("fifty here-documents", documents),
        ("commands of sed", sed),
        ("rules of awk", awk),
        ("filters of jq", jq),
        ("terms of find", finds),
        ("xargs of xargs", xargs),
    ];
    all.into_iter()
        .filter(|(_, line)| line.chars().count() <= MAX_CHARS)
        .map(|(name, line)| (name.to_owned(), line))
        .collect()
}

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}
