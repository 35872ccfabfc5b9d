//! Programs that say their version. Called by the dispatch, for a word that is the only one.

use super::Arg;

/// Programs that may do anything else, but with this word alone say their version and end. Programs that obey a file of
/// the folder even then (`cargo`, `go`, `dotnet`, `yarn`, `pnpm`: another version of the program is started) are not
/// among them.
const VERSIONS: &[(&str, &[&str])] = &[
    ("--version", LONG),
    ("-V", &["python", "python3", "zip", "ssh", "tmux", "curl", "wget", "rg", "fd", "bat", "xz", "gzip", "java"]),
    ("-v", &["git", "node", "ruby", "perl", "php", "lua", "nginx", "gcc", "g++", "clang", "zip"]),
    ("-version", &["java", "javac", "ffmpeg", "ffprobe", "sqlite3", "ant"]),
    ("version", &["openssl"]),
];

const LONG: &[&str] = &[
    "ag",
    "as",
    "autoconf",
    "automake",
    "awk",
    "bash",
    "bat",
    "bison",
    "bzip2",
    "c++",
    "cc",
    "clang",
    "clang++",
    "clang-format",
    "clang-tidy",
    "cmake",
    "cpp",
    "ctags",
    "curl",
    "dash",
    "delta",
    "docker",
    "emacs",
    "env",
    "fd",
    "fdfind",
    "find",
    "fish",
    "flex",
    "fzf",
    "g++",
    "gawk",
    "gcc",
    "gdb",
    "ghc",
    "git",
    "grep",
    "egrep",
    "fgrep",
    "guile",
    "gzip",
    "htop",
    "hyperfine",
    "java",
    "javac",
    "jq",
    "julia",
    "just",
    "ld",
    "less",
    "lldb",
    "lua",
    "luajit",
    "make",
    "gmake",
    "man",
    "mawk",
    "meson",
    "mysql",
    "nano",
    "nice",
    "ninja",
    "node",
    "nohup",
    "nvim",
    "ocaml",
    "openssl",
    "parallel",
    "patch",
    "perl",
    "php",
    "pip",
    "pip3",
    "pkg-config",
    "psql",
    "python",
    "python2",
    "python3",
    "qemu-system-x86_64",
    "redis-cli",
    "redis-server",
    "rg",
    "rpm",
    "rsync",
    "ruby",
    "sed",
    "sh",
    "shellcheck",
    "socat",
    "sqlite3",
    "stdbuf",
    "strace",
    "systemctl",
    "tar",
    "timeout",
    "tmux",
    "valgrind",
    "vi",
    "vim",
    "watch",
    "wget",
    "xargs",
    "xz",
    "yq",
    "zig",
    "zsh",
    "zstd",
];

/// Whether these words ask a program for its version and nothing else.
pub(super) fn is_asked(name: &str, args: &[Arg]) -> bool {
    let [Arg::Literal(word)] = args else { return false };
    VERSIONS.iter().any(|(option, programs)| option == word && programs.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read};

    #[test]
    fn versions_are_told_alone() {
        only_read(&["node --version", "node -v", "python3 --version", "python3 -V", "gcc --version", "make --version"]);
        only_read(&[
            "perl -v",
            "java -version",
            "git --version",
            "bash --version",
            "curl --version",
            "openssl version",
        ]);
        ask(&[
            "node --version x",
            "node -v -e 1",
            "cargo --version",
            "go version",
            "dotnet --version",
            "yarn --version",
        ]);
        ask(&[
            "make -v --version",
            "python3 -c x",
            "node …",
            "make",
            "python3 -v",
            "perl -V:x",
            "rustc --version",
            "gh --version",
        ]);
    }
}
