//! The environment of a tool's process: the client's, less what is secret or would change what a command
//! means. Pure. Called by `spawn`.

use crate::base::environment::Environment;
use std::collections::BTreeMap;

/// The variable that names the tool call in each of its processes, unless a program clears it.
pub(super) const CALL_VARIABLE: &str = "AGENTD_CALL";
/// The variable that names the session.
pub(super) const SESSION_VARIABLE: &str = "AGENTD_SESSION";
/// The variable that names the socket of the agentd that runs the tool: a client among its processes finds that one, where
/// it may look and no more, and starts none of its own.
pub(super) const SOCKET_VARIABLE: &str = "AGENTD_SOCKET";

/// Names that never reach a tool. Beside agentd's own: what programs that read obey so that they would do more than
/// read, or other than their words say. Left alone is what changes only how something looks (`LS_COLORS`, `TZ`), what
/// programs read that are asked for anyway (`PYTHONPATH`, `NODE_OPTIONS`), and what says whose account or machine is
/// meant (`DOCKER_HOST`, `KUBECONFIG`).
const DENIED: [&str; 40] = [
    // The shell: a script to run first, options, what `cd` and patterns find, the folder of another shell.
    "ENV",
    "SHELLOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "GLOBIGNORE",
    "EXECIGNORE",
    "OLDPWD",
    // All programs: options end at the first operand, old forms of options, code for an encoding, tuning of the library.
    "POSIXLY_CORRECT",
    "_POSIX2_VERSION",
    "GCONV_PATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    // Options, scripts and archives that a program takes as if they were written: ack, bc, dc, bzip2, file, gzip, man, more, tar, xz, zip.
    "ACKRC",
    "ACK_OPTIONS",
    "ACK_PAGER",
    "BC_ENV_ARGS",
    "DC_ENV_ARGS",
    "BZIP",
    "BZIP2",
    "MAGIC",
    "GZIP",
    "MANOPT",
    "MANROFFOPT",
    "MORE",
    "TAPE",
    "TAR_OPTIONS",
    "XZ_DEFAULTS",
    "XZ_OPT",
    "UNZIP",
    "UNZIPOPT",
    "ZIPINFO",
    "ZIPINFOOPT",
    "ZIPOPT",
    "RIPGREP_CONFIG_PATH",
    // Where awk finds what a program includes.
    "AWKPATH",
    "AWKLIBPATH",
    // Readiness and life signs are agentd's own.
    "NOTIFY_SOCKET",
    "WATCHDOG_USEC",
    "CREDENTIALS_DIRECTORY",
];
/// Beginnings of names that never reach a tool: keys, loaders, git's overrides, what bash itself obeys and functions
/// that a shell hands on, what belongs to agentd itself, and of programs that read: a helper for less, bat's and fzf's
/// commands, grep's and jq's options, gawk's file that it would keep its variables in, lsof's cache, the pager of
/// systemd, servers that readelf and objdump would ask.
const DENIED_PREFIXES: [&str; 17] = [
    "ANTHROPIC_",
    "OPENAI_",
    "LD_",
    "GIT_",
    "BASH",
    "AGENTD_",
    "LISTEN_",
    "WATCHDOG_",
    "LESS",
    "BAT_",
    "FZF_",
    "GREP_",
    "JQ_",
    "GAWK_",
    "LSOF",
    "SYSTEMD_",
    "DEBUGINFOD_",
];
/// Ends of names of secrets.
const DENIED_SUFFIXES: [&str; 9] =
    ["_KEY", "_APIKEY", "_TOKEN", "AUTHTOKEN", "PASSWORD", "PASSWD", "_PWD", "_CREDENTIALS", "_ACCESS_KEY_ID"];
/// What is a secret wherever it stands in a name.
const DENIED_PART: &str = "SECRET";
/// What is set whatever the client has: no colours, no pager; and git takes no lock, refreshes no index and runs no
/// helper of the repository for a mere look. `GIT_OPTIONAL_LOCKS` alone does not keep `git diff` from writing the index.
const SET: [(&str, &str); 13] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_CONFIG_COUNT", "3"),
    ("GIT_CONFIG_KEY_0", "diff.autoRefreshIndex"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "log.showSignature"),
    ("GIT_CONFIG_VALUE_2", "false"),
];

/// Where programs are looked up if the client does not say: an empty `PATH` would mean the folder of the command.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The `PATH` of tools.
#[must_use]
pub fn search_path(client: &Environment) -> &str {
    client.get("PATH").unwrap_or(DEFAULT_PATH)
}

/// The variables for a tool's process, tagged with its session and its call.
#[must_use]
pub fn for_tools(client: &Environment, session: &str, call: &str) -> BTreeMap<String, String> {
    let mut variables = for_session(client, session);
    variables.insert(CALL_VARIABLE.to_owned(), tag_text(call));
    variables
}

/// The same without a call, for a shell that still waits for one.
pub(super) fn for_session(client: &Environment, session: &str) -> BTreeMap<String, String> {
    let mut variables: BTreeMap<String, String> =
        client.iter().filter(|(name, value)| passes(name, value)).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
    variables.extend(SET.map(|(name, value)| (name.to_owned(), value.to_owned())));
    variables.insert("PATH".to_owned(), search_path(client).to_owned());
    variables.insert(SESSION_VARIABLE.to_owned(), tag_text(session));
    variables
}

/// An identifier as a variable holds it: ids of calls come from models, and a NUL byte or a line break in
/// one must not break the environment.
#[must_use]
pub fn tag_text(id: &str) -> String {
    id.chars().map(|c| if c.is_control() { '_' } else { c }).collect()
}

fn passes(name: &str, value: &str) -> bool {
    let usable = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
    let upper = name.to_ascii_uppercase();
    usable
        && !DENIED.contains(&upper.as_str())
        && !DENIED_PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
        && !DENIED_SUFFIXES.iter().any(|suffix| upper.ends_with(suffix))
        && !upper.contains(DENIED_PART)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools_get(name: &str) -> Option<String> {
        let client = Environment::from(BTreeMap::from([(name.to_owned(), "client".to_owned())]));
        for_tools(&client, "ses_1", "call_1").remove(name)
    }

    #[test]
    fn ordinary_variables_pass() {
        for name in [
            "PATH",
            "HOME",
            "USER",
            "LANG",
            "LC_ALL",
            "CARGO_HOME",
            "AWS_PROFILE",
            "AWS_REGION",
            "TOKENIZER",
            "PWD",
            "KEYBOARD",
            "LS_COLORS",
            "TIME_STYLE",
            "TZ",
            "TMPDIR",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "JAVA_HOME",
            "DOCKER_HOST",
            "KUBECONFIG",
            "EDITOR",
        ] {
            assert_eq!(tools_get(name).as_deref(), Some("client"), "{name}");
        }
    }

    #[test]
    fn secrets_and_hooks_into_programs_are_left_out() {
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "OPENAI_API_KEY",
            "MISTRAL_API_KEY",
            "GITHUB_TOKEN",
            "my_token",
            "CLIENT_SECRET",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "STRIPE_KEY",
            "SECRET_KEY_BASE",
            "npm_config__authToken",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "GIT_DIR",
            "GIT_SSH_COMMAND",
            "GIT_EXTERNAL_DIFF",
            "BASH_ENV",
            "ENV",
            "BASH_FUNC_ls%%",
            "SHELLOPTS",
            "AGENTD_SOCKET",
            "NOTIFY_SOCKET",
            "CREDENTIALS_DIRECTORY",
            "LISTEN_FDS",
            "LISTEN_PID",
        ] {
            assert_eq!(tools_get(name), None, "{name}");
        }
    }

    #[test]
    fn what_makes_a_program_do_more_than_its_words_say_is_left_out() {
        for name in [
            "ENV",
            "BASH_ENV",
            "BASH_COMPAT",
            "BASH_XTRACEFD",
            "BASHOPTS",
            "CDPATH",
            "GLOBIGNORE",
            "OLDPWD",
            "POSIXLY_CORRECT",
            "GCONV_PATH",
            "LESS",
            "LESSOPEN",
            "LESSKEY_SYSTEM",
            "RIPGREP_CONFIG_PATH",
            "GREP_OPTIONS",
            "BAT_PAGER",
            "FZF_DEFAULT_COMMAND",
            "AWKPATH",
            "GAWK_PERSIST_FILE",
            "TAR_OPTIONS",
            "XZ_OPT",
            "ZIPINFO",
            "MAGIC",
            "MANOPT",
            "DEBUGINFOD_URLS",
            "SYSTEMD_PAGER",
        ] {
            assert_eq!(tools_get(name), None, "{name}");
        }
    }

    #[test]
    fn fixed_variables_replace_the_clients() {
        for (name, value) in [
            ("PAGER", "cat"),
            ("GIT_PAGER", "cat"),
            ("MANPAGER", "cat"),
            ("TERM", "dumb"),
            ("NO_COLOR", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_CONFIG_COUNT", "3"),
            ("GIT_CONFIG_KEY_0", "diff.autoRefreshIndex"),
            ("GIT_CONFIG_VALUE_0", "false"),
            ("AGENTD_CALL", "call_1"),
            ("AGENTD_SESSION", "ses_1"),
        ] {
            assert_eq!(tools_get(name).as_deref(), Some(value), "{name}");
        }
    }

    #[test]
    fn an_id_with_control_characters_stays_a_valid_value() {
        assert_eq!(tag_text("a\0b\nc"), "a_b_c");
    }
}
