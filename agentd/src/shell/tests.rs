//! Whole lines: what is said of them, and what holds for any line.

use super::*;
use proptest::prelude::*;

const WORLD: World<'_> = World { cwd: "/w/project", home: "/home/me" };

fn read_only(line: &str) -> bool {
    analyse(line, WORLD).is_read_only()
}

fn plains(line: &str) -> Vec<String> {
    analyse(line, WORLD).commands.into_iter().map(|command| command.plain).collect()
}

/// The paths of a line with what is done to them.
fn paths(line: &str) -> Vec<(Option<String>, Access)> {
    let commands = analyse(line, WORLD).commands;
    commands.into_iter().flat_map(|command| command.paths).map(|path| (path.path, path.access)).collect()
}

fn at(path: &str, access: Access) -> (Option<String>, Access) {
    (Some(path.to_owned()), access)
}

/// Row B04: `cd` counts. Paths after it are below the new folder, and git in another folder may do anything.
#[test]
fn a_change_of_the_folder_counts() {
    assert!(read_only("cd sub && ls"));
    assert!(read_only("(cd sub && ls -la); git status"));
    assert!(read_only("cd . && git log"));
    assert!(read_only("cd /w/project && git status"));
    assert!(read_only("cd sub && cd .. && git log"));
    for line in
        ["cd /x && git log", "cd sub; git status", "(cd sub; git diff)", "cd \"$x\" && git log", "cd - && git log"]
    {
        let analysis = analyse(line, WORLD);
        assert!(!analysis.is_read_only(), "{line}");
        assert!(analysis.commands.iter().any(|command| command.why.contains("another folder")), "{line}");
    }
    assert_eq!(paths("cd sub && cat a"), [at("/w/project/sub", Access::Look), at("/w/project/sub/a", Access::Read)]);
    let both = [at("/w/project/sub/a", Access::Read), at("/w/project/a", Access::Read)];
    assert_eq!(paths("cd sub; cat a").split_first().unwrap().1, both);
    assert_eq!(paths("(cd sub); cat a").last(), Some(&at("/w/project/a", Access::Read)));
    assert_eq!(paths("cd && cat a").last(), Some(&at("/home/me/a", Access::Read)));
    assert_eq!(paths("cd $x && cat a").last(), Some(&(None, Access::Read)));
}

/// `-C` with the session's own folder leaves git where its settings are trusted.
#[test]
fn git_in_the_own_folder_by_name() {
    for line in [
        "git -C /w/project status",
        "git -C /w/project/ log -3",
        "git -C . diff",
        "git --no-pager -C /w/project diff",
        "cd x; git -C /w/project log",
    ] {
        assert!(read_only(line), "{line}");
    }
    for line in [
        "git -C /w/project/sub status",
        "git -C /w/projects status",
        "git -C sub log",
        "git -C .. log",
        "git -C \"$PWD\" -C sub log",
        "git -C . -C sub log",
        "cd sub; git -C . log",
        "git -C /w/project commit",
        "git -C $x log",
        "git -C",
        "git -C /w/project diff --output=x",
    ] {
        assert!(!read_only(line), "{line}");
    }
}

/// Whether a variable is empty tells no secret; anything more may.
#[test]
fn whether_a_variable_is_empty_may_be_asked() {
    for line in [
        "[ -z \"$FOO\" ] && echo empty",
        "[ ! -n \"${FOO:-}\" ] || echo set",
        "test -n \"$API_KEY\"; echo $?",
        "[[ -z $CI ]] && echo local",
        "[[ -n \"${API_KEY-}\" && -f a ]]",
    ] {
        assert!(read_only(line), "{line}");
    }
    for line in [
        "[ -z $FOO ]",
        "[ -z \"$(echo $FOO)\" ]",
        "[ \"$FOO\" = a ]",
        "[[ $FOO == a* ]]",
        "[ -z \"${FOO:-$(echo $BAR)}\" ]",
        "[[ -z ${FOO:=$BAR} ]]",
        "[ -f \"$FOO\" ]",
        "[ -z \"$FOO\" -o x = \"$FOO\" ]",
        "[ -z \"x$FOO\" ]",
        "test() { echo \"$2\"; }; test -z \"$FOO\"",
        "[ -z \"$FOO\" ] > a",
        "[ -z \"$FOO\" ] < \"$BAR\"",
        "[ -z \"${FOO[$(touch a)]}\" ]",
        "[[ -n ${FOO[$x]} ]]",
    ] {
        assert!(!read_only(line), "{line}");
    }
}

/// What is known of the output of a program isn't known of a function of its name, wherever that is made.
#[test]
fn a_function_prints_no_number() {
    for line in [
        "nproc() { printf '%s' 'a[$(id)]'; }; echo $(($(nproc)))",
        "wc() { cat a; }; x=$(wc -l); echo $((x))",
        "grep() { cat a; }; n=$(grep -c x a.txt); echo $((n+1))",
        "f() { x=$(wc -l); echo $((x)); }; wc() { cat a; }; f",
        "f() { function date { cat a; }; }; f; echo $(($(date +%s)))",
        "bash -c 'id() { cat a; }; echo $(($(id -u)))'",
        "f() { [ -z \"$FOO\" ]; }; [() { echo \"$2\"; }; f",
    ] {
        assert!(!read_only(line), "{line}");
    }
    assert!(read_only("count() { wc -l; }; x=$(wc -l); echo $((x))"));
}

/// A function of a program's name may change what is known behind each use of that name, even one that stands before.
#[test]
fn no_function_stands_for_a_program() {
    for line in [
        "f() { x=5; ls; echo $((x)); }; ls() { x='a[$(id)]'; }; f",
        "f() { o=a; cat a; sort \"$o\"; }; cat() { o=-oy; }; f",
        "f() { x=5; /bin/ls; echo $((x)); }; /bin/ls() { x='a[$(id)]'; }; f",
        "f() { x=5; node -v; echo $((x)); }; node() { x='a[$(id)]'; }; f",
    ] {
        assert!(!read_only(line), "{line}");
    }
    assert!(read_only("show() { head -3 \"$1\"; }; f() { show a; }; f"));
}

/// Row B05: a line searches or reads only if each of its commands does.
#[test]
fn a_line_reads_if_each_command_does() {
    for line in ["cat a | grep b", "ls && cat a; rg x", "find . -name '*.rs' | xargs grep -l x", "(ls; cat a) | head"] {
        assert!(analyse(line, WORLD).is_search_or_read(), "{line}");
    }
    let moved = analyse("cd sub && cat a", WORLD);
    assert!(moved.is_read_only() && !moved.is_search_or_read());
    for line in ["cat a > b", "cat a | tee b", "cat a; rm b", "grep x $(rm y)", "cat a | sh"] {
        assert!(!analyse(line, WORLD).is_search_or_read(), "{line}");
        assert!(!read_only(line), "{line}");
    }
}

/// Row B06: rules meet each command of a line on its own, by its words and not by a text that begins alike.
#[test]
fn each_command_stands_for_itself() {
    assert_eq!(plains("git status; rm x"), ["git status", "rm x"]);
    assert_eq!(plains("git log && r\"m\" -rf 'a b' | sh"), ["git log", "rm -rf a b", "sh"]);
    assert_eq!(plains("echo $(rm x)"), ["echo $(rm x)", "rm x"]);
    assert_eq!(plains("echo `rm x`; { rm y; }"), ["echo `rm x`", "rm x", "rm y"]);
    assert_eq!(plains("cat <<E\n$(rm x)\nE"), ["cat", "rm x"]);
    assert_eq!(plains("for f in a; do rm $f; done"), ["rm a"]);
    assert_eq!(plains("git\tstatus  -s >/dev/null"), ["git status -s"]);
    assert_eq!(plains("bash -c 'rm x; ls'"), ["bash -c rm x; ls", "rm x", "ls"]);
}

#[test]
fn wrappers_and_settings_are_looked_through() {
    assert_eq!(plains("LC_ALL=C timeout 5 nice -n 3 sort a"), ["sort a"]);
    assert_eq!(plains("env TZ=UTC date"), ["date"]);
    assert_eq!(plains("command git status"), ["git status"]);
    assert_eq!(plains("PATH=. git status"), ["PATH=. git status"]);
    assert_eq!(plains("find . | xargs -n 1 rm"), ["find .", "xargs -n 1 rm"]);
    let forms = |line: &str| analyse(line, WORLD).commands.remove(0).forms;
    assert!(forms("X_Y=1 rm a").contains(&"rm a".to_owned()));
    assert!(forms("timeout 5 env rm a").contains(&"rm a".to_owned()));
    assert!(forms("/bin/rm a").contains(&"rm a".to_owned()));
    assert!(forms("find . -exec rm {} +").iter().any(|form| form.starts_with("rm ")));
}

#[test]
fn variables_are_followed() {
    assert_eq!(paths("p=~/.ssh; cat $p/id_ed25519"), [at("/home/me/.ssh/id_ed25519", Access::Read)]);
    assert_eq!(paths("f=a/b.rs; cat \"${f%/*}/c\""), [at("/w/project/a/c", Access::Read)]);
    assert_eq!(
        paths("for f in a b; do cat $f; done"),
        [at("/w/project/a", Access::Read), at("/w/project/b", Access::Read)]
    );
    assert_eq!(paths("if x=a; then x=b; fi; cat \"$x\"").last(), Some(&(None, Access::Read)));
    assert_eq!(paths("x=a; (x=b); cat $x"), [at("/w/project/a", Access::Read)]);
    assert_eq!(paths("x=a; ls | x=b; cat $x").last(), Some(&at("/w/project/a", Access::Read)));
    assert_eq!(paths("for f in src/*.rs; do cat \"$f\"; done"), [at("/w/project/src", Access::Read)]);
    assert_eq!(paths("x=a; while read -r x; do cat \"$x\"; done < l").last(), Some(&(None, Access::Read)));
    assert_eq!(paths("cat {a,b}.rs"), [at("/w/project/a.rs", Access::Read), at("/w/project/b.rs", Access::Read)]);
}

#[test]
fn names_that_come_down_a_pipe_to_xargs_are_below_the_folder() {
    let below = |line: &str| {
        let used = analyse(line, WORLD).commands.pop().unwrap().paths;
        used.iter().all(|used| used.path.as_deref().is_some_and(|path| path.starts_with("/w/project")))
            && used.iter().any(|used| used.below)
    };
    for line in [
        "find . -name '*.rs' -print0 | xargs -0 grep -n x",
        "find src -type f -print0 | xargs -0 -n1 cat",
        "cd sub && find . -print0 | xargs -0 cat",
        "find src -name '*.rs' -exec grep -l x {} \\;",
        "find . -type f -exec wc -l {} +",
    ] {
        assert!(below(line), "{line}: {:?}", analyse(line, WORLD));
    }
    for line in [
        // A name with a blank is taken for two, of which the second may be anywhere.
        "git ls-files | xargs cat",
        "git ls-files | xargs wc -c",
        "rg -l main src | xargs -r wc -l",
        "git ls-files -z | xargs -0 cat",
        "git ls-files -z docs | xargs -0 cat",
        "git ls-files -z | xargs -0 wc -c",
        "git ls-files -z | xargs -0 grep -n x",
        "find . | xargs -0 cat",
        "find . -print0 | xargs cat",
        "find /etc -print0 | xargs -0 cat",
        "find .. -print0 | xargs -0 cat",
        "find . -printf '/etc/%p' -print0 | xargs -0 cat",
        "find . -print0 | cat x | xargs -0 cat",
        "find . -print0 | xargs -0 cat < x",
        "find . -print0 | { xargs -0 cat; } < x",
        "find . -print0 | xargs -0 -a x cat",
        "find . -print0 | xargs -0 -d / cat",
        "git ls-files --format=/etc/x | xargs wc",
        "git ls-files | grep -o '/.*' | xargs wc",
        "git ls-files | tail -c 9 | xargs wc",
        "find $x -print0 | xargs -0 cat",
        "find . -print0 | xargs -0 -I{} cat {}/../../x",
        "find a ../b -exec cat {} \\;",
        "find a -exec cat {}/../../../x \\;",
        "find /etc -exec cat {} \\;",
        "find $x a -exec cat {} \\;",
    ] {
        assert!(!below(line), "{line}");
    }
}

#[test]
fn options_that_a_word_may_become_count() {
    for line in [
        "sort *.txt",
        "x=$(ls); sort $x",
        "sort \"$1\"",
        "a=-delete; find . $a",
        "find . -{print,delete}",
        "sort ${x:-a}",
    ] {
        assert!(!read_only(line), "{line}");
    }
    for line in
        ["sort ./*.txt", "sort -- *.txt", "x=a.txt; sort $x", "n=3; head -n \"$n\" a", "for f in a b; do sort $f; done"]
    {
        assert!(read_only(line), "{line}");
    }
}

/// Found by comparing random lines with bash.
#[test]
fn what_bash_reads_as_more_than_it_seems_counts() {
    for line in [
        "declare -a 'a=($(touch x))'",
        "declare -A a='([b]=$(touch x))'",
        "x='($(touch y))'; declare -a a=\"$x\"",
        "f() { local -a a=\"$1\"; }; f '($(touch x))'",
        "a=(1); declare a='($(touch x))'",
        "read -ra a; declare a=\"$b\"",
        "command declare -a a='($(touch x))'",
        "echo \"$\\\n(touch x)\"",
        "x='a[$(touch y)]'; echo $\\\n{b[x]}",
        "xy=-o; x=-; sort $x\\\ny z",
        "sed -n -e p -e 'w x' a --version",
        "awk '1system(\"touch x\")' a",
        "awk '{print 1e+system(\"touch x\")}' a",
        "awk '{x=0xsystem(\"touch x\")}' a",
        "[[<(ls) ]] && ls",
        "[[>(cat) ]]",
        "time<(ls) ls",
        "if<(ls); then ls; fi",
        "ls<(id)",
        "echo a<(id)",
    ] {
        assert!(!read_only(line), "{line}");
    }
    for line in [
        "declare -a a=(1 2) b=c; echo \"${a[0]}\"",
        "declare a='(x)'",
        "a=b; declare a=c",
        "x=$(ls); declare y=\"$x\"",
        "ls \\\n  -la \"$x\" \\\n  | wc",
        "echo \"a \\\n b\"",
        "sed --version",
    ] {
        assert!(read_only(line), "{line}: {:?}", analyse(line, WORLD));
    }
}

#[test]
fn a_value_that_grows_for_ever_is_let_go() {
    let line = format!("x=aaaaaaaa; {}echo $x", "x+=$x; ".repeat(45));
    assert_eq!(analyse(&line, WORLD).refused, None);
}

#[test]
fn what_may_be_evaluated_counts() {
    for line in [
        "x='a[$(touch y)]'; echo $((x))",
        "read x; echo $((x + 1))",
        "[[ $x -eq 1 ]]",
        "echo ${a[$x]}",
        "echo ${x:$y}",
        "((x[$y]++))",
        "let x=1",
        "test -v \"$x\"",
        "declare -i x=$y",
        "m=(1); declare -A m; m[x]=2",
        "a=([x]=1)",
        "declare y=(1) 'y=($(touch x))'",
        "f() { declare cd y=\"$1\" y=(1) 'y=($(touch x))'; }; f",
        "declare -a m=([x]=1)",
        "(sleep 1 &); wait $!",
        "echo $((x#1))",
        "echo ${!x}",
        "echo ${x@P}",
        "x=$(cat a); (( x > 1 ))",
    ] {
        assert!(!read_only(line), "{line}");
    }
    for line in [
        "x=1; echo $((x + 1))",
        "n=$(wc -l < a); (( n > 1 )) && echo many",
        "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done",
        "[[ $? -eq 0 ]]",
        "x=abc; echo ${x:1:2} ${#x}",
        "for ((i=0; i<9; i++)); do echo $((i*i)); done",
        "declare -A m=([a]=1); m[b]=2; echo \"${m[a]}\" ${m[$x]}",
        "echo $((16#ff))",
        "sleep 1 & wait $!",
    ] {
        assert!(read_only(line), "{line}");
    }
}

/// What is set where it may not happen, or where bash may have given up, may also be as it was.
#[test]
fn what_may_not_happen_counts() {
    let set = "y='a[$(touch x)]'";
    for between in [
        "{ y=1; } < nosuch",
        "declare y=1 < nosuch",
        "export y=1 <&9",
        "((y=1)) < nosuch",
        "for y in 1 2; do :; done < nosuch",
        "{ y=1; } >&- 2>&1",
        "exec >&-; { y=1; } 2>&1",
        "{ y=1; } <&3-",
        "local y=1",
        "for ((y=1/0;;)); do break; done",
        "for ((y=1/n;;)); do break; done",
        ": ${x+$((y=1))}",
        ": ${x:-$((y=1))}",
        ": ${x:y=1}",
        ": ${x:0:y=1}",
        ": ${#a[y=1]}",
        ": ${a[y=1]}",
        ": ${x/${z:-$((y=1))}/b}",
        ": ${x#$((y=1))}",
        "[[ a == b && $((y=1)) ]]",
        "cat <<< $((y=1))",
        "cat < $((y=1))",
        "x=$((y=1)) true",
        "case a in a) ;; $((y=1)) ) ;; esac",
        ": $((--y=))",
        "echo $((y=))\n",
        "echo $((1/0)); y=1\n",
        "echo $((1/n)); y=1\n",
        "echo $((08)); y=1\n",
        "x=08; echo $((x)); y=1\n",
        "x=abc; echo ${x:2:-9}; y=1\n",
        "a[-9]=1; y=1\n",
        "f() { echo $((1/0)); }; f; y=1\n",
        "{ echo $((1/0)); y=1; }\n",
        "if echo $((1/0)); then y=1; else y=2; fi\n",
        "while echo $((1/0)); do break; done; y=1\n",
        ": {1..$((1/0))}; y=1\n",
        "x=$(( $(echo 08) )); y=1\n",
        "z=$((2**$((0-1)))); y=1\n",
        "i=-1; : $((2**${i})); y=1\n",
        "c=$(wc -l < nosuch); : $((2 + $c)); y=1\n",
        ": $(($(wc -l < nosuch) + 2)); y=1\n",
        "q[1]=(1 2); y=1\n",
        "declare -A q; q[k]=(3); y=1\n",
        ": ${q[]}; y=1\n",
        "declare -A q; q[]=1; y=1\n",
        "echo $((1/0)); y=1; echo $((1/0)); y=2\n",
        "y=1; echo $((1/0)); y='a[$(touch x)]'; echo $((1/0)); y=2\n",
    ] {
        let line = format!("{set}; {between}; echo $((y))").replace("\n;", "\n");
        assert!(!read_only(&line), "{line}");
    }
    for between in [
        "y=1",
        "y=1 > /dev/null 2>&1",
        "{ y=1; } 2>&1",
        "y=$((3 / 2))",
        "y=$((1 + n)) # n\n",
        "echo $((10 / 2)); y=1\n",
        "echo ${x:0:2}; y=1\n",
        "echo $((1/0))\ny=1\n",
        "(echo $((1/0))); y=1\n",
        "x=$(echo $((1/0)) ); y=1\n",
    ] {
        let line = format!("x=ab; n=3; {set}; {between}; echo $((y))").replace("\n;", "\n");
        assert!(read_only(&line), "{line}");
    }
    assert!(!read_only("f=/etc/shadow; { f=a; } < nosuch; cat $f; echo $((f))"));
    let paths = paths("f=b; { f=a; } < nosuch; cat \"$f\"");
    assert!(paths.contains(&(None, Access::Read)), "{paths:?}");
    assert!(read_only("f() { local n=5; echo $((n)); }; f"));
}

/// A value without quotes is split and taken for a pattern as bash does it, and a number may be missing.
#[test]
fn a_value_without_quotes_is_what_bash_makes_of_it() {
    for line in [
        "n=$(wc -l < nosuch); find . ! -name $n -name -delete",
        "find . ! -name $(grep -c x nosuch) -name -delete",
        "n=$(wc -l < nosuch); env -u $n cat touch x",
        "n=$(nproc < nosuch); awk -F $n 1 'BEGIN{system(\"touch x\")}'",
        "n=$(git rev-list --count nosuch); rg -e $n -- --pre=./x",
        "n=$(wc -l < nosuch); find . $n-delete",
        "uniq {A..B}",
        "uniq a{01..02}",
        "xxd {1..2..1}",
        "a=(p ';wx'); sed -n \"${a[*]}\" a",
        "x=$'1\\r{print>\"x\"} a'; awk $x",
        "x=$'b\\f;wx a'; sed -n $x",
        "a=$(cat f); true & wait \"$a\"",
        "ls | while read -r f; do exec < list; cat \"$f\"; done",
        "ls | while exec < list; read -r f; do cat \"$f\"; break; done",
        "exec <<< x",
    ] {
        assert!(!read_only(line), "{line}");
    }
    for line in [
        "n=$(wc -l < a); [ $n -gt 3 ] && echo many",
        "n=$(wc -l < a); if [ \"$n\" -gt 3 ]; then echo $n; fi; exit $n",
        "n=$(wc -l < a); head -n \"$n\" a; echo $((n + 1))",
        "sleep 1 & p=$!; wait $p; wait $!",
        "echo {a..c} {1..3} {x} {$a..3}",
        "a=(x y); printf '%s\\n' \"${a[*]}\" \"${a[@]}\"",
    ] {
        assert!(read_only(line), "{line}");
    }
    for line in ["x='\\.\\./o/*'; cat $x", "x='\\.en?'; cat $x", "a=('\\.\\./o/*'); cat ${a[@]}"] {
        assert_eq!(paths(line), [(None, Access::Read)], "{line}");
    }
}

/// A value that is set where that may not happen is not the only one, neither beside a number nor beside one of the
/// environment.
#[test]
fn a_value_that_may_not_be_set_is_not_known() {
    for between in [
        "cat <<< $((f=1))",
        "cat < $((f=1))",
        "{ :; } < nosuch <<< $((f=1))",
        "[[ a == b && $((f=1)) ]]",
        "x=$((f=1)) true",
        "case a in a) ;; $((f=1)) ) ;; esac",
        ": ${x#$((f=1))}",
        ": ${x/b/$((f=1))}",
        ": ${x+$((f=1))}",
        ": ${x:-$((f=1))}",
        ": ${x:f=1}",
        ": ${x:0:f=1}",
        ": ${a[f=1]}",
        ": ${#a[f=1]}",
        "declare -A m=([a]=1); : ${m[$((f=1))]}",
    ] {
        for before in ["f=7", ":"] {
            let line = format!("{before}; {between}; cat \"$f\"");
            let used = paths(&line);
            assert_eq!(used.last().unwrap().1, Access::Read, "{line}");
            assert_ne!(used.last(), Some(&at("/w/project/1", Access::Read)), "{line}");
        }
    }
    assert!(!read_only(": ${x+$((f=1))}; echo $((f))"), "it may be one of the environment");
    let inner = "f=7; : ${x+$( ((f=1)); cat \"$f\")}";
    assert_eq!(paths(inner).last(), Some(&at("/w/project/1", Access::Read)), "if it runs at all, f is 1 there");
}

/// What comes after `&&`, `||` and `!` knows what held where the command before it failed.
#[test]
fn what_held_where_a_command_failed_counts() {
    let last = |line: &str| paths(&format!("f=b; {line}")).pop().unwrap();
    for line in [
        "{ f=a; } < nosuch || cat \"$f\"",
        "! { f=a; } < nosuch && cat \"$f\"",
        "{ f=a; false; } < x || cat \"$f\"",
        "read -r f < x || cat \"$f\"",
        "{ f=a; } < nosuch && f=c || cat \"$f\"",
        "{ f=c; { f=a; } < nosuch; } < nosuch || cat \"$f\"",
        "true || f=c; cat \"$f\"",
    ] {
        assert_eq!(last(line), (None, Access::Read), "{line}");
    }
    // It may have failed before it began, or at its end.
    assert!(!read_only("y=1; { y='a[$(touch x)]'; false; } < a || echo $((y))"));
    assert!(!read_only("y=1; read -r y < a || echo $((y))"));
    assert!(read_only("y=1; { y=2; false; } < a || echo $((y))"));
    assert!(!read_only("y='a[$(touch x)]'; { y=1; true && y=2; } < nosuch || echo $((y))"));
}

#[test]
fn redirections_count() {
    for line in [
        "ls > a",
        "ls >> a",
        "ls 2> a",
        "ls &> a",
        "ls >& a",
        "ls > \"$x\"",
        "> a",
        "{ ls; } > a",
        "cat < /dev/tcp/h/1",
        "wc < \"$x\"",
        "ls >&$x",
    ] {
        assert!(!read_only(line), "{line}");
    }
    for line in [
        "ls > /dev/null 2>&1",
        "ls 2>&-",
        "wc < a",
        "cat <<< \"$x\"",
        "for f in *.c; do wc -l < \"$f\"; done",
        "echo x >&2",
    ] {
        assert!(read_only(line), "{line}");
    }
    assert_eq!(analyse("cat a > b", WORLD).commands[0].class, Class::Edits);
    assert_eq!(paths("cat < a > b"), [at("/w/project/a", Access::Read), at("/w/project/b", Access::Write)]);
}

#[test]
fn the_environment_is_neither_changed_nor_shown() {
    for line in [
        "PATH=. ls",
        "PATH=.; ls",
        "IFS=:; ls",
        "export FOO=1",
        "LD_PRELOAD=x ls",
        "http_proxy=x; ls",
        "read PATH < a",
        "for PATH in a; do ls; done",
        "echo $SECRET_TOKEN",
        "declare -p",
        "export -p",
        "set",
        "env",
        "printenv",
        ": ${PATH:=x}",
        "((PATH=1))",
        "getopts a PATH",
        "mapfile PATH < a",
        "LANGUAGE=de:tmp/x ls",
        "LC_ALL=tmp/x.UTF-8 sort a",
    ] {
        assert!(!read_only(line), "{line}");
    }
    for line in [
        "LANG=C ls",
        "LC_ALL=en_US.UTF-8 sort a",
        "x=1 ls",
        "export LC_ALL=C; sort a",
        "echo $HOME $USER",
        "FILE=a; cat \"$FILE\"",
        "while IFS= read -r l; do echo \"$l\"; done < a",
    ] {
        assert!(read_only(line), "{line}");
    }
}

#[test]
fn names_are_what_they_seem() {
    for line in [
        "$x a",
        "x=ls; $x",
        "l{s,s} a",
        "/tmp/ls",
        "./ls",
        "eval ls",
        "exec ls",
        "source a",
        ". a",
        "trap ls EXIT",
        "alias ls=x",
        "cd(){ ls; }; cd",
        "f(){ rm x; }",
    ] {
        assert!(!read_only(line), "{line}");
    }
    for line in ["\"ls\" a", "l\\s a", "/usr/bin/ls a", "command ls", "f() { ls \"$1\"; }; f a"] {
        assert!(read_only(line), "{line}");
    }
}

/// Pieces of lines that mean something to bash.
fn piece() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "ls", "cat", "x=1", "$x", "\"", "'", "`", "$(", ")", "((", "))", "${", "}", "{", "[[", "]]", "if", "then",
        "fi", "for", "in", "do", "done", "while", "case", "esac", ";;", "|", "||", "&&", "&", ";", "\n", "<<E", "E",
        "<", ">", ">>", "*", "{a,b}", "~", "\\", "#", "a", "-x", "!", " ", "function", "f()", "time", "cd", "=", "[",
        "]", "read", "declare", "echo", "$((", "1", "+", "@", "%", ":", "/",
    ])
    .prop_map(str::to_owned)
}

fn line() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec((piece(), prop::bool::ANY), 0..40);
    let joined =
        pieces.prop_map(|all| all.iter().map(|(p, blank)| format!("{p}{}", if *blank { " " } else { "" })).collect());
    prop_oneof![joined, any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Nothing makes the analysis fail, and a line that is taken is a line of commands that are in it.
    #[test]
    fn any_line_is_judged(line in line()) {
        let analysis = analyse(&line, WORLD);
        if !line.contains(['`', '\'', '"', '\\']) {
            for command in &analysis.commands {
                prop_assert!(line.contains(&command.text), "{:?} is not in {:?}", command.text, line);
            }
        }
        prop_assert!(analysis.refused.is_none() || analysis.commands.is_empty());
    }

    /// A writer after any line makes the whole no reading.
    #[test]
    fn a_writer_is_never_lost(line in line()) {
        for joint in [";", "\n", "&&", "|", "||", "&"] {
            let whole = format!("{line}{joint} touch x");
            // In quotes and comments it is text.
            let analysis = analyse(&whole, WORLD);
            let hidden = line.contains(['#', '\'', '"', '\\']) || line.contains("<<");
            prop_assert!(hidden || !analysis.is_read_only(), "{:?}", whole);
        }
    }
}
