//! What the parser takes, and what it refuses.

use super::parse;

#[test]
fn bash_that_is_understood() {
    for line in [
        r#"echo "${x:-"a$"}" ${y:-"$"a} "${z:-$HOME/b}""#,
        "ls",
        "ls -la; pwd && id || true & wait",
        "! ls | cat |& wc; time -p ls",
        "a=1 b+=2 c[0]=3 ls >x 2>&1 <y >>z >|w &>v &>>u <>t 3>&- <&-",
        "a=(one 'two' \"three\"\n# comment\nfour)",
        "declare -a x=(1 2) y=3",
        "(ls; pwd)",
        "{ ls; pwd; }",
        "if a; then b; elif c; then d; else e; fi",
        "for i in 1 2 3; do echo $i; done",
        "for i\ndo echo $i\ndone",
        "for ((i=0; i<3; i++)); do echo $i; done",
        "while read -r l; do echo \"$l\"; done < f",
        "until false; do break; done",
        "case $x in a|b) ls;; (c) pwd;; *) true; esac",
        "case x in esac",
        "[[ -f a && ! ( $x == *.rs || b -nt c ) ]]",
        "[[ $x =~ ^(a|b)[0-9]+$ ]]",
        "[[ a < b ]]",
        "(( x = 1, y++ ))",
        "f() { ls; }; function g { pwd; }; function h-i() (id)",
        "cat <<EOF\n$x `id` $(id) \\$y\nEOF",
        "cat <<'EOF'; ls\n$(touch x)\nEOF",
        "cat <<-EOF\n\tx\n\tEOF",
        "cat <<A <<B\na\nA\nb\nB\nls",
        "cat <<EOF | wc\nx\nEOF\nls",
        "git commit -m \"$(cat <<'EOF'\nfix: it's\nEOF\n)\"",
        "x=$(jq . <<'EOF' | head\n{}\nEOF\n)",
        "cat <<< \"$x\"",
        "echo 'a' \"b$c\" $'d\\te' $\"f\" \\g",
        "echo ${x} ${x:-y} ${x=y} ${x:?z} ${x:+w} ${#x} ${x#a} ${x##*/} ${x%b} ${x%%.*} ${x/a/b} ${x//a} ${x^^} ${x,} ${x@Q} ${x:1:2}",
        "echo ${a[@]} ${a[0]} ${#a[@]} ${!a[@]} \"${a[$i]}\" $1 $@ $# $? ${10}",
        "echo $((1 + (2 * 3))) `echo \\`id\\`` $(echo $(id))",
        "diff <(ls a) <(ls b)",
        "ls *.rs {a,b}.c ~/x a[0-9]b ?",
        "ls # comment",
        "ls \\\n  -la",
        "echo a#b 'it'\\''s'",
        "echo } { ! if then",
        "x=`id`",
        "find . -name '*.rs' -exec wc -l {} \\;",
    ] {
        assert!(parse(line).is_ok(), "{line}: {:?}", parse(line).err());
    }
}

#[test]
fn what_bash_refuses_or_is_not_understood() {
    for line in [
        r#"echo "${x:-"$""(ls)"}""#,
        r#"echo "${x:+"a$"(ls)}""#,
        r#"x="${y="$"'(ls)'}""#,
        "echo \"$\\\n(touch x)\"",
        "echo \"${x:-$\\\n(touch x)}\"",
        "cat <<< \"$\\\n(touch x)\"",
        "cat <<EOF\n$\\\n(touch x)\nEOF",
        "echo $\\\n(touch x)",
        "echo $\\\n{x[y]}",
        "x=a; sort $x\\\ny",
        "x=a; sort \"$x\\\ny\"",
        "ls 2\\\n>x",
        "ls {x}\\\n>&2",
        "&& ls",
        "ls &&",
        "ls | ",
        ";",
        "ls | ! cat",
        "ls;; pwd",
        "(ls",
        "ls)",
        "{ ls }",
        "}",
        "if true; then ls",
        "if true; fi",
        "for i in a; do done",
        "while; do ls; done",
        "case x in a) ls",
        "echo \"abc",
        "echo 'abc",
        "echo `ls",
        "echo $(ls",
        "echo ${x",
        "echo ${}",
        "echo ${x y}",
        "echo $((1 + 2)",
        "echo $((ls) | (cat))",
        "cat <<EOF\nx",
        "cat <<EOF",
        "cat <<$x\n$x\n",
        "cat <<EOF $(echo\n)\nEOF",
        "x=$(cat <<'A' && ls\ntouch x\nA\n)",
        "x=$(cat <<A <<B\nA\nB\n)",
        "x=$(cat <<\\E\n\\\nE\ntouch x\nE\n)",
        "x=$(cat <<'E'\na\nE<(ls)\ntouch x\nE\n)",
        "x=$(cat <<E\nE(ls)\ntouch x\nE\n)",
        "x=$(while true; do cat <<A\nA\ndone)",
        "cat <<EOF\na\\\nEOF\nEOF",
        "ls *(e:'touch pwn':)",
        "ls !(a)",
        "ls (a)",
        "a=(1) (2)",
        "select x in a; do ls; done",
        "coproc ls",
        "time --help",
        "exec {fd}>x",
        "ls a<(b)",
        "echo \"${x:-'}'}\"",
        "echo $[1+1]",
        "echo x\\",
        "[[ a ]",
        "[[ a b ]]",
        "[[ ]]",
        "f() ls",
        "f.g() { ls; }",
        "echo $'\\xff'",
        "(( 1",
        "> ",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn bounds() {
    assert!(parse(&"true;".repeat(50)).is_ok());
    assert!(parse(&"true;".repeat(51)).is_err());
    for (open, close) in [("$(", ")"), ("( ", ")"), ("\"$(", ")\""), ("{ ", ";}"), ("${x:-", "}"), ("if ", "")] {
        let line = format!("echo; {}ls{}", open.repeat(40), close.repeat(40));
        assert!(parse(&line).is_err(), "{line}");
    }
}
