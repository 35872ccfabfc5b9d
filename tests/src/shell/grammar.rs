//! Random texts in the small languages that a line can hold: scripts of sed and awk, expressions of find, arithmetic,
//! tests, parameters, here-documents, and the builtins that evaluate what they are given.

use super::random::Random;

/// How a text of a language stands in a line, and what it is made of.
struct Language {
    /// `@` is the text.
    frames: &'static [&'static str],
    parts: &'static [&'static str],
    most: usize,
}

#[rustfmt::skip] // tables of words read better than columns
const LANGUAGES: [Language; 10] = [
    Language {
        frames: &[
            "sed '@' a.txt", "sed -n '@' a.txt", "sed -E '@' a.txt", "sed -e '@' a.txt", "sed -e p -e '@' a.txt", "sed -e '@' -e p a.txt",
            "sed -ne '@' a.txt", "sed \"@\" a.txt", "sed -z '@' a.txt", "sed --posix '@' a.txt", "sed --expression='@' a.txt", "sed '@' a.txt --version",
            "sed -s '@' a.txt b.txt", "sed '@'", "cat a.txt | sed '@'",
        ],
        parts: &[
            "1", "2", "$", "/a/", "/a\\/b/", "\\%x%", ",", ",+1", ",~2", "0~2", "!", " ", "{", "}", ";", "\n", "p", "d", "s/a/b/", "s/a/b/w pwn", "s/a/b/e",
            "s,a\\,b,c,", "s/[/]/x/", "s/a/b\\\nc/", "g", "I", "M", "m", "e", "w pwn", "w", "W pwn", "r a.txt", "R a.txt", "a x", "a\\\n", "a\\", "i\\", "i x", "c x", "c\\\n",
            "y/ab/cd/", "y/e\\//w /", "=", "l", "l 5", "q", "Q1", "n", "N", "D", "P", "x", "h", "H", "G", "b", "b x", ":x", ": x", "t", "T", "F", "z", "v", "#", "# c",
            "#n", "e touch pwn", "touch pwn", "s/.*/touch pwn/", "w /dev/stdout", "\\", "/", "\\n", "&", "3",
        ],
        most: 7,
    },
    Language {
        frames: &[
            "awk '@' a.txt", "awk '{@}' a.txt", "awk 'BEGIN{@}'", "awk \"@\" a.txt", "awk -F: '@' a.txt", "awk -v x=1 '@' a.txt", "mawk '@' a.txt", "gawk '@' a.txt",
            "cat a.txt | awk '@'", "awk -e '@' a.txt", "awk 'function f(x){@} {f(1)}' a.txt", "awk --posix '@' a.txt", "awk -v 'x=@' 'BEGIN{print x}'",
        ],
        parts: &[
            "BEGIN", "END", "{", "}", "(", ")", "print", "print ", "printf ", " ", "\"a\"", "\"pwn\"", ">", ">>", "|", "|&", "<", "getline", "getline x", "system",
            "system(\"touch pwn\")", "system (\"touch pwn\")", "$1", "$NF", "NR", "==", "~", "/a/", "/[/]/", "/", "x", "=", "+=", "+", "-", "*", "%", "^", "!", "&&", "||", "?",
            ":", " in ", "[", "]", ",", ";", "\n", "for(i=0;i<2;i++)", "while(i++<2)", "if(x)", "else ", "delete x", "length", "substr(x,1)", "split(x,a)", "gsub(/a/,\"b\")",
            "close(\"a\")", "function f(a){", "f(1)", "@f()", "return", "next", "exit", "@include \"prog.awk\"", "@load \"filefuncs\"", "ENVIRON[\"HOME\"]", "ARGV[1]=\"b.txt\"",
            "\"/dev/stdout\"", "\"cat\"", "# c", "#", "\\\n", "\\", "print > \"pwn\"", "print | \"sh\"", "\"touch pwn\" | getline", "1", "\"touch pwn\"", "x=\"system\"", "fflush()",
            "printf(\"%s\", 1)", "(1 > 2)", "print(1) > 2", "print 1, 2 > \"pwn\"", "getline < \"a.txt\"",
        ],
        most: 9,
    },
    Language {
        frames: &["find . @", "find src @", "find @", "find . -maxdepth 1 @", "find . \\( @ \\)", "find . -name x @", "find . -type f @ -print"],
        parts: &[
            " -name '*.rs'", " -delete", " -exec ls {} \\;", " -exec ls {} +", " -exec", " rm {} +", " {}", " \\;", " ';'", " +", " -execdir ls {} \\;", " -ok ls {} \\;", " -print",
            " -print0", " -printf '%p'", " -fprint pwn", " -fprintf pwn %p", " -fls pwn", " -ls", " -o", " -a", " !", " -not", " \\(", " \\)", " ,", " -type d", " -newer a.txt",
            " -prune", " -quit", " -regex x", " -path x", " -size +1", " -mtime -1", " -maxdepth 1", " -L", " -H", " -D", " -O3", " --", " -files0-from a.txt", " -exec grep a {} \\;",
            " -exec sort {} \\;", " -exec sh -c 'ls' \\;", " -exec touch pwn \\;", " -name", " -delete*", " \"$x\"", " $x", " *", " -exec sed -n 1p {} +", " -exec awk 1 {} +", " src", " pwn",
            " -exec xargs ls \\;", " -exec env ls \\;", " -exec git log {} \\;", " -exec ls \\; -delete", " -context x", " -fstype x", " -used 1", " -exec cat {} + -o -delete",
        ],
        most: 5,
    },
    Language {
        frames: &[
            "echo $((@))", "((@))", "for ((@;@;@)); do ls; break; done", "a=(1 2 3); echo ${a[@]}", "x=abc; echo ${x:@}", "[[ @ -eq 1 ]]", "let '@'", "echo $[@]", "x=1; echo $((@))",
            "y='a[$(touch pwn)]'; echo $((@))", "x=1; y=2; ((@)); ls", "x='a[$(touch pwn)]'; ls; echo \"$((@))\"", "cat <<E\n$((@))\nE", "a[@]=1", "x=$(wc -l < a.txt); echo $((@))",
            "i=0; while ((@)); do ls; break; done", "declare -i x; x='@'",
        ],
        parts: &[
            "1", "x", "y", "$x", "$y", "${x}", "+", "-", "*", "/", "%", "<", ">", "=", "==", "+=", "++", "--", "(", ")", "[", "]", "a", "a[0]", "a[x]", "a[$(touch pwn)]", "$(touch pwn)",
            "`touch pwn`", "'a[$(touch pwn)]'", "\"1\"", "?", ":", ",", ";", "&", "|", "^", "~", "!", "#", "16#ff", "0x1", "PATH=1", "RANDOM", "SECONDS", "$#", "$?", "${#x}", " ", "\n", "\\\n", "**", "<<",
            "x=1", "y=x", "BASH_ARGV0", "$((1))", "{", "}", "$",
        ],
        most: 5,
    },
    Language {
        frames: &["[[ @ ]]", "[ @ ]", "test @", "[[ @ ]] && ls", "if [[ @ ]]; then ls; fi", "[[ ( @ ) ]]", "x='a[$(touch pwn)]'; [[ @ ]]", "x='a[$(touch pwn)]'; [ @ ]", "! [[ @ ]]"],
        parts: &[
            " -f", " -v", " -n", " -z", " -R", " -o", " -t", " a.txt", " x", " $x", " \"$x\"", " 'a[$(touch pwn)]'", " x[0]", " =", " ==", " !=", " =~", " <", " >", " \\<", " -eq", " -gt", " -nt", " -ef", " -a",
            " &&", " ||", " !", " (", " )", " \\(", " \\)", " 1", " *", " a*", " (a|b)", " [a]", " $(ls)", " $(touch pwn)", " 'a b'", " ''", " a\\ b", "\n", " ]]", " ]", " ;", " ^a$", " ${x}", " {a,b}", " ~", " <(ls)", " #",
        ],
        most: 6,
    },
    Language {
        frames: &[
            "echo ${@}", "echo \"${@}\"", "x=a; echo ${@}", "x='$(touch pwn)'; echo \"${@}\"", "x='a[$(touch pwn)]'; echo ${@}", "cat <<E\n${@}\nE", "ls ${@}", "sort ${@} a.txt", "x=-opwn; sort \"${@}\" a.txt",
            "a=(-o pwn); sort \"${@}\" a.txt", "x=PATH; : ${@}; ls", "cat <<< \"${@}\"", "y=${@}; sort $y a.txt", "echo \"a${@}b\"",
        ],
        parts: &[
            "x", "y", "a[0]", "a[@]", "a[*]", "a[x]", "a[$(touch pwn)]", "!", "#", "@", "*", "1", "?", "-", "$", ":-", ":=", ":?", ":+", "-", "=", "+", "#", "##", "%", "%%", "/", "//", "/#", "^", "^^", ",", ",,", "@P", "@Q", "@A",
            "@E", "@a", "@U", "@k", ":", ":1", ":x", ":0:1", "a", "$(touch pwn)", "`touch pwn`", "$(ls)", "'", "\"", "\\", "}", "{", "${x}", "$x", "'}'", "\"}\"", "\\}", "$'}'", "PATH", "IFS", "-opwn", "~", "*.txt", " ", "\n", "\\\n",
        ],
        most: 5,
    },
    Language {
        frames: &["cat <<E\n@\nE", "cat <<'E'\n@\nE", "cat <<-E\n@\nE", "cat <<\\E\n@\nE", "cat <<@", "wc -l <<E | cat\n@\nE\nls", "cat <<A <<B\n@\nA\n@\nB", "echo $(cat <<E\n@\nE\n)", "{ cat; } <<E\n@\nE", "while read -r x; do ls; done <<E\n@\nE", "cat <<\"E\"F\n@\nEF"],
        parts: &[
            "a", " ", "\n", "\t", "E", "\nE\n", "\n\tE\n", "\nE \n", "\\\nE\n", "\nEF\n", "EOF", "'EOF'", "\"E\"", "\\E", "$x", "$(ls)", "$(touch pwn)", "`touch pwn`", "\\$(touch pwn)", "\\\\$(touch pwn)", "$((1+1))", "${x:-a}", "'", "\"", "\\", "\\\n",
            "\ntouch pwn\n", "\nls\n", "$'a'", "$\"a\"", "$", "<<F\n", ")", "\nA\n", "\nB\n", "#", "${x:-$(touch pwn)}", "$\\\n(touch pwn)",
        ],
        most: 7,
    },
    Language {
        frames: &["@", "@; ls", "f() { @; }; f", "f() { @; }; f '($(touch pwn))'", "a=(1); @", "x='($(touch pwn))'; @", "x='a[$(touch pwn)]'; @; echo $((y))", "@; sort $y a.txt", "y=a.txt; @; sort $y", "y=a.txt; { @; } < a.txt; sort \"$y\"", "for y in a.txt; do @; sort $y; done", "y=1; @; echo $((y))", "if ls; then @; fi; sort $y"],
        parts: &[
            "declare ", "local ", "export ", "typeset ", "readonly ", "read ", "printf ", "mapfile ", "readarray ", "getopts ", "unset ", "set ", "shopt ", "let ", "eval ", "test ", "type ", "command ", "builtin ", "hash ", "trap ", "wait ", "shift ", "cd ",
            "-a ", "-A ", "-i ", "-n ", "-x ", "-r ", "-g ", "-p ", "-v ", "-t ", "-u ", "-e ", "-s ", "-o ", "-f ", "-- ", "+x ", "y ", "y=1 ", "y=-opwn ", "y='-o pwn' ", "y=$x ", "y=\"$x\" ", "y=\"$1\" ", "y='($(touch pwn))' ", "'y=($(touch pwn))' ", "y=(1 2) ", "y=(-opwn) ",
            "y+=-opwn ", "'a[$(touch pwn)]' ", "'a[$(touch pwn)]=1' ", "PATH ", "PATH=. ", "y[0]=1 ", "a=$x ", "a='($(touch pwn))' ", "$x ", "\"$x\" ", "'%n' ", "'%s' ", "-opwn ", "< a.txt ", "<<< -opwn ", "<<< \"$x\" ", "expand_aliases ", "lastpipe ", "posix ", "errexit ",
            "IFS= ", "; ", "| ", "&& ", "|| ", "& ", "y ", "y ", "src ",
        ],
        most: 6,
    },
    Language {
        frames: &["xargs @ < a.txt", "ls | xargs @", "git ls-files | xargs @", "find src -print0 | xargs -0 @", "echo a.txt | xargs @", "timeout @", "env @", "nice @", "nohup @", "stdbuf @", "command @", "bash @", "sh @", "time @"],
        parts: &[
            " ls", " cat", " sort", " touch", " touch pwn", " -n1", " -n", " 1", " -I{}", " -I", " {}", " -i", " -0", " -r", " -t", " -p", " -P2", " -a a.txt", " -E x", " -d ,", " --", " -L1", " -s 99", " env", " xargs", " sh -c 'ls'", " bash -c 'ls \"$1\"' _", " grep a",
            " head -1", " git log", " git log --", " sed -n 1p", " wc -l", " 5", " 1m", " -k 1", " -s KILL", " --foreground", " -5", " -oL", " -i0", " -u HOME", " X=1", " PATH=.", " LC_ALL=C", " -C src", " -S 'touch pwn'", " -c", " 'ls'", " 'touch pwn'", " -p", " -v", " -V",
            " -ec", " -x", " -l", " --norc", " rm --help", " echo", " -c 'echo $0' x", " $x", " \"$x\"", " *", " -", " -opwn", " --version", " file", " ls {} {}", " awk 1", " find",
        ],
        most: 6,
    },
    Language {
        frames: &["git @", "git @ HEAD", "git @ -- a.txt", "git --no-pager @", "git @ | cat", "git @ \"$x\"", "git @ *"],
        parts: &[
            "log", "show", "diff", "status", "branch", "tag", "stash", "stash list", "stash show", "remote", "remote show", "config", "reflog", "blame", "grep", "ls-files", "ls-tree", "cat-file", "rev-parse", "rev-list", "describe", "shortlog", "for-each-ref",
            "symbolic-ref", "worktree list", "notes", "apply", "clean", "archive", "hash-object", "merge-base", "name-rev", "diff-tree", "diff-index", "range-diff", "whatchanged", "submodule", "bisect log", "fsck", "count-objects", "check-ignore", "show-ref", "show-branch",
            " -p", " -1", " -n", " -nd", " -l", " -a", " -v", " -vv", " -d", " -D", " -m", " -f", " -w", " -u", " -S x", " -G", " -O", " -Oless", " -o", " -o pwn", " --output=pwn", " --outp=pwn", " --output", " --ext-diff", " --textconv", " --show-signature", " --format=%G?", " --format=%h",
            " --pretty=%GK", " --remerge-diff", " --diff-merges=r", " --open-files-in-pager=ls", " --stat", " --check", " --index", " --stat --apply", " --cached", " --dirty", " --list", " --get x", " --edit", " --add", " --unset", " --contains", " --sort=x", " --points-at", " new", " old", " HEAD",
            " HEAD~1", " main..old", " a.txt", " fix.patch", " --all", " --stdin", " --no-index", " b.txt", " --help", " -h", " --", " --batch", " --filters", " expire", " drop", " x", " x y", " user.name", " show", " --lost-found", " -n1", " -c", " -L1,2:a.txt", " --patch", " --submodule=diff",
            " --recurse-submodules", " -C src", " -i", " -ns", " --interactive", " exists", " delete", " --exclude-existing", " --delete", " --verify", " -q",
        ],
        most: 5,
    },
];

/// A line that holds a random text of one of the languages.
pub fn line(random: &mut Random) -> String {
    let language = &LANGUAGES[random.below(LANGUAGES.len())];
    let frame = random.pick(language.frames);
    frame.split('@').enumerate().fold(String::new(), |line, (place, piece)| {
        let count = if place == 0 { 0 } else { 1 + random.below(language.most) };
        let text: String = (0..count).map(|_| random.pick(language.parts)).collect();
        line + &text + piece
    })
}
