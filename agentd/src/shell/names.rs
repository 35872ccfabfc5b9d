//! Which variables a line may set or show without harm. Lists of what is harmless, never of what is bad. Used by the
//! walk over a line.

/// Names in capitals that people give to their own variables and that no program which is judged harmless obeys.
const OWN: [&str; 48] = [
    "A", "ARG", "ARGS", "B", "BASE", "BRANCH", "C", "COMMIT", "COUNT", "DIR", "DIRS", "DST", "END", "EXT", "F", "FILE",
    "FILES", "FOUND", "HASH", "I", "ITEM", "J", "K", "KEY", "LIMIT", "LINE", "MAX", "MIN", "MSG", "N", "NAME", "NAMES",
    "NUM", "OUT", "PATTERN", "PREFIX", "REPLY", "RESULT", "ROOT", "SIZE", "SRC", "START", "SUFFIX", "SUM", "TEXT",
    "TOTAL", "VALUE", "X",
];
/// Variables of the environment that only choose the language. Programs make paths of their values.
const LOCALES: [&str; 14] = [
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_MONETARY",
    "LC_PAPER",
    "LC_NAME",
    "LC_ADDRESS",
    "LC_TELEPHONE",
    "LC_MEASUREMENT",
];
/// Variables of the environment that only choose zone or colours.
const SETTINGS: [&str; 7] = ["TZ", "NO_COLOR", "COLUMNS", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLORTERM"];
/// Variables with the only values that are harmless.
const VALUES: [(&str, &str); 8] = [
    ("GIT_PAGER", "cat"),
    ("GIT_PAGER", ""),
    ("PAGER", "cat"),
    ("PAGER", ""),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("TERM", "dumb"),
    ("TERM", "xterm"),
];
/// Variables of the environment and of bash that hold no secret.
const SHOWN: [&str; 52] = [
    "HOME",
    "PWD",
    "OLDPWD",
    "USER",
    "LOGNAME",
    "PATH",
    "SHELL",
    "HOSTNAME",
    "HOSTTYPE",
    "MACHTYPE",
    "OSTYPE",
    "UID",
    "EUID",
    "PPID",
    "BASHPID",
    "BASH_VERSION",
    "BASH_VERSINFO",
    "BASH",
    "SHLVL",
    "RANDOM",
    "SECONDS",
    "LINENO",
    "EPOCHSECONDS",
    "PIPESTATUS",
    "FUNCNAME",
    "REPLY",
    "OPTIND",
    "OPTARG",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "IFS",
    "TMPDIR",
    "DISPLAY",
    "EDITOR",
    "PAGER",
    "VIRTUAL_ENV",
    "TERM",
    "DIRSTACK",
    "VISUAL",
    "CI",
    "DEBUG",
    "LINES",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "JAVA_HOME",
    "CONDA_PREFIX",
];

/// Whether only the line itself sees a variable of this name: no program obeys it, even if it is exported already.
pub(super) fn is_own(name: &str) -> bool {
    let small = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && (name == "_" || name.contains(|c: char| c.is_ascii_lowercase()));
    let obeyed = name.ends_with("_proxy") || name.contains("config") && name.starts_with("npm_");
    small && !obeyed && !matches!(name, "histchars" | "auto_resume") || OWN.contains(&name)
}

/// Whether the programs may see this variable with this value; `None` is a value that is not known.
pub(super) fn is_setting(name: &str, value: Option<&str>) -> bool {
    if is_own(name) && !name.contains('_') {
        return true;
    }
    let Some(value) = value else { return false };
    if LOCALES.contains(&name) {
        return value.split(':').all(|one| one.is_empty() || is_locale(one));
    }
    // A value with a slash in front could name a file.
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "_.@+-,:/".contains(c))
        && !value.starts_with([':', '/', '.'])
        && !value.contains("..");
    SETTINGS.contains(&name) && plain || VALUES.contains(&(name, value))
}

/// Whether this is the plain name of a locale: `C`, `POSIX`, `de`, `de_DE` and these with UTF-8 behind a dot. Any other
/// name might lead a library to files of its own choice: it would look below a folder for what the name spells.
fn is_locale(name: &str) -> bool {
    let (place, letters) = name.split_once('.').unwrap_or((name, "UTF-8"));
    let (language, country) = place.split_once('_').unwrap_or((place, "XX"));
    let is_language = (2..=3).contains(&language.len()) && language.bytes().all(|letter| letter.is_ascii_lowercase());
    let is_country = country.len() == 2 && country.bytes().all(|letter| letter.is_ascii_uppercase());
    (matches!(place, "C" | "POSIX") || is_language && is_country)
        && matches!(letters, "UTF-8" | "utf-8" | "UTF8" | "utf8")
}

/// Whether a variable that the line has not set may be shown.
pub(super) fn is_shown(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        || name != "KEY" && OWN.contains(&name)
        || SHOWN.contains(&name)
        || LOCALES.contains(&name)
        || SETTINGS.contains(&name)
}

/// Whether bash gives this variable or parameter a whole number.
pub(super) fn is_number(name: &str) -> bool {
    matches!(
        name,
        "?" | "#"
            | "$"
            | "UID"
            | "EUID"
            | "PPID"
            | "BASHPID"
            | "SHLVL"
            | "RANDOM"
            | "SECONDS"
            | "LINENO"
            | "EPOCHSECONDS"
            | "OPTIND"
    )
}

/// Whether a text is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_only_the_line_sees() {
        for name in ["x", "file", "my_dir", "myFile", "_", "_tmp", "i2", "FILE", "REPLY"] {
            assert!(is_own(name), "{name}");
        }
        for name in [
            "PATH",
            "http_proxy",
            "IFS",
            "LD_PRELOAD",
            "GIT_DIR",
            "npm_config_x",
            "histchars",
            "__",
            "2x",
            "",
            "BASH_ENV",
        ] {
            assert!(!is_own(name), "{name}");
        }
    }

    #[test]
    fn settings_that_programs_may_see() {
        for (name, value) in
            [("LC_ALL", "C.UTF-8"), ("TZ", "Europe/Berlin"), ("NO_COLOR", "1"), ("GIT_PAGER", "cat"), ("x", "1")]
        {
            assert!(is_setting(name, Some(value)), "{name}={value}");
        }
        for (name, value) in [
            ("TZ", ":/etc/passwd"),
            ("LANG", "../x"),
            ("GIT_PAGER", "sh"),
            ("my_x", "1"),
            ("GIT_DIR", "x"),
            ("FOO", "1"),
        ] {
            assert!(!is_setting(name, Some(value)), "{name}={value}");
        }
        assert!(!is_setting("LANG", None));
    }

    #[test]
    fn a_locale_is_taken_by_its_plain_name_only() {
        for value in ["C", "POSIX", "C.UTF-8", "C.utf8", "en_US.UTF-8", "de_DE.utf8", "en_US", "de", "yue_HK", ""] {
            assert!(is_setting("LANG", Some(value)) && is_setting("LC_ALL", Some(value)), "{value}");
        }
        for value in ["de:en", "de_DE:en_US.UTF-8"] {
            assert!(is_setting("LANGUAGE", Some(value)), "{value}");
        }
        for value in [
            "a/b",
            "en_US/x",
            "en_US.UTF-8/x",
            "/tmp/x",
            "de:/tmp/x",
            "de:a/b",
            ".",
            "..",
            "x",
            "en_US.",
            ".UTF-8",
            "en_US.evil",
            "en_US.UTF-8@x",
            "en_US@x",
            "en_",
            "EN_us",
            "tmp_XX.UTF-8.UTF-8",
            "C.UTF-8.x",
            "en US",
            "$x",
        ] {
            for name in ["LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES"] {
                assert!(!is_setting(name, Some(value)), "{name}={value}");
            }
        }
        assert!(is_setting("TZ", Some("Europe/Berlin")), "of zones the slash is a part");
    }
}
