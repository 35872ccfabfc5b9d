# Makes, in the folder that it runs in, the repository that lines are tried in: what a developer has, and names and
# content that want to be taken for options, commands and configuration. With a word as `$1` the names are plain.
set -eu
umask 022
git init -q -b main .
git config user.name 'Ann Example'
git config user.email ann@example.invalid
git config commit.gpgsign false
mkdir -p src tests docs tmpd out bin vendor/lib src/deep/er node_modules/.bin
printf 'alpha foo\nbeta\tTODO x\ngamma we write\nalpha\n42\n' > a.txt
printf 'alpha\nbeta\ndelta\n' > b.txt
printf 'fn main() {\n    println!("foo main secret_name");\n    // TODO later\n}\n' > src/main.rs
printf 'pub fn foo() -> u32 { 2 }\npub fn FOO() {}\n' > src/lib.rs
cp src/lib.rs src/deep/er/mod.rs
printf 'use x::foo;\n#[test]\nfn t() { foo(); }\n' > tests/basic.rs
printf '[package]\nname = "x"\nversion = "0.1.0"\n\n[dependencies]\nserde = "1"\n' > Cargo.toml
printf '# Title\n\nSome text about foo.\n\n日本語のテキスト\n\n## Part\n\n- one\n- two\n' > README.md
cp README.md docs/guide.md
printf 'name,age,city\nann,30,Paris\nbob,4,Oslo\n' > data.csv
printf '3\n1\n2\n' > nums.txt
printf 'a b\nb c\n' > deps.txt
printf '{"name":"x","version":"1.0.0","scripts":{"test":"true"},"dependencies":{"left-pad":"^1.0.0"}}\n' > package.json
printf 'a: 1\nlist:\n  - x\n' > x.yml
printf '\211PNG\r\n\032\n\0\0\0\rIHDR' > logo.png
seq 1 5000 > big.txt
printf '00000000: 6869 0a                                  hi.\n' > hex.txt
printf 'BEGIN { system("touch pwn") }\n' > prog.awk
printf '1e touch pwn\n' > script.sed
printf '0 string x x\n' > magic
printf 'all:\n\ttouch pwn\n' > Makefile
printf -- '--pre=./pwn.sh\n' > rc
printf 'API_TOKEN=canary\n' > .env
printf 'target/\n*.log\n' > .gitignore
printf '*.txt diff=words\n*.rs text\n' > .gitattributes
printf 'x\n' > tmpd/x.old
if [ $# = 0 ]; then
    mkdir 'a b'
    printf 'x\n' > 'a b/c d.txt'
fi
for program in pwn.sh bin/ls bin/git bin/cat bin/touch node_modules/.bin/rg; do
    printf '#!/bin/sh\ntouch /work/pwn\n' > "$program"
    chmod +x "$program"
done
git add -A
git commit -qm 'First'
git tag v1
printf 'more foo\n' >> src/lib.rs
git commit -qam 'Second: more foo'
git branch old HEAD~1
git checkout -q -b side HEAD~1
printf 'side\n' > side.txt
git add side.txt
git commit -qm 'Aside'
git checkout -q main
git merge -q --no-ff -m 'Merge side' side
git remote add origin https://example.invalid/x.git
# Names that want to be options; some are tracked.
if [ $# = 0 ]; then
    for name in -i.txt -opwn.txt --pre=sh --output=pwn -delete '-exec' ';' '{}' -rf '$(touch pwn)' '`touch pwn`' '*' \
        "new
line.txt" '-e touch pwn' '--compress-program=sh' '-fprint' '-w' '~' '=ls' '-'; do
        printf 'alpha\nalpha\n' > "./$name"
    done
    git add -- ./-i.txt ./-opwn.txt './--pre=sh'
    git commit -qm 'Odd names'
fi
printf 'stashed\n' >> a.txt
git stash -q
printf 'changed\n' >> b.txt
printf 'staged\n' >> nums.txt
git add nums.txt
printf 'untracked\n' > new.txt
git diff HEAD~1 HEAD > fix.patch
ln -s a.txt link.txt
ln -s /etc etc
tar cf bundle.tar a.txt src
# Repositories inside, which nobody vouches for.
git init -q -b main vendor/lib
git -C vendor/lib -c user.name=e -c user.email=e@example.invalid commit -q --allow-empty -m inner
printf '[core]\n\tfsmonitor = touch /work/pwn;false\n\tpager = touch /work/pwn\n[diff]\n\texternal = /work/pwn.sh\n' >> vendor/lib/.git/config
git clone -q --bare . evil.git
printf '[core]\n\tfsmonitor = touch /work/pwn;false\n[diff]\n\texternal = /work/pwn.sh\n' >> evil.git/config
