//! Programs that say their version. Called by the dispatch, for a word that is the only one.

use super::Arg;

/// A word, and the programs that with it alone say their version and end, whatever else they may do. Programs that obey
/// a file of the folder even then are not among them (`cargo`, `go`, `dotnet`, `mvn`, `yarn`, `pnpm`: another version of
/// the program may be started), nor are those that write or try the network even then (`java`, `pip`).
const VERSIONS: &[(&str, &str)] = &[
    ("--version", LONG),
    ("-V", "python python3 zip ssh tmux curl wget rg fd bat xz gzip"),
    ("-v", "git node npm ruby perl php lua nginx gcc g++ clang zip"),
    ("-version", "ffmpeg ffprobe sqlite3"),
    ("version", "openssl"),
];

const LONG: &str = "ag as autoconf automake awk bash bat bison bun bzip2 c++ cc clang clang++ clang-format clang-tidy cmake \
                    cpp ctags curl dash delta docker emacs env fd fdfind find fish flex fzf g++ gawk gcc ghc git grep \
                    egrep fgrep guile gzip htop hyperfine jq julia just ld less lldb lua luajit make gmake man mawk meson \
                    mysql nano nice ninja node nohup npm nvim ocaml openssl parallel patch perl php pkg-config \
                    protoc psql python python2 python3 redis-cli redis-server rg rpm rsync ruby ruff sed sh shellcheck socat \
                    sqlite3 stdbuf strace swift systemctl tar timeout tmux tsc uv valgrind vi vim watch wget xargs xz yq \
                    zig zsh zstd";

/// Whether these words ask a program for its version and nothing else.
pub(super) fn is_asked(name: &str, args: &[Arg]) -> bool {
    let [Arg::Literal(word)] = args else { return false };
    VERSIONS.iter().any(|(option, programs)| option == word && programs.split(' ').any(|listed| listed == name))
}

/// Whether a program says its version when asked so.
pub(super) fn is_listed(name: &str) -> bool {
    VERSIONS.iter().any(|(_, programs)| programs.split(' ').any(|listed| listed == name))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read};

    #[test]
    fn versions_are_told_alone() {
        only_read(&["node --version", "node -v", "python3 --version", "python3 -V", "gcc --version", "make --version"]);
        only_read(&[
            "perl -v",
            "git --version",
            "bash --version",
            "curl --version",
            "openssl version",
            "npm --version",
        ]);
        ask(&[
            "node --version x",
            "node -v -e 1",
            "cargo --version",
            "go version",
            "dotnet --version",
            "yarn --version",
        ]);
        ask(&["make -v --version", "python3 -c x", "node …", "make", "python3 -v", "perl -V:x", "rustc --version"]);
        ask(&["gh --version", "java -version", "mvn --version", "pip --version"]);
    }
}
