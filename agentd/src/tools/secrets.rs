//! Where secrets are kept: what is read goes to the model, so that no mode lets it be read unasked. Called by `zones`.
//! Compares names, opens nothing. The lists are of well-known places; they can't be whole.

use super::tool::ToolContext;
use crate::base::paths::{config_dir, home};
use std::path::{Path, PathBuf};

/// Folders of any home, and in it, that hold secrets.
const DIRS_ANYWHERE: [&str; 6] = [".ssh", ".aws", ".gnupg", ".kube", ".azure", ".password-store"];
/// Folders and files below home.
const IN_HOME: [&str; 32] = [
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".config/doctl",
    ".config/agentd",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/git/credentials",
    ".config/rclone",
    ".config/Bitwarden CLI",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/state/agentd",
    ".mozilla",
    ".thunderbird",
    ".docker/config.json",
    ".netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".s3cfg",
];
/// The system's.
const IN_SYSTEM: [&str; 13] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/NetworkManager/system-connections",
    "/etc/wireguard",
    "/etc/ppp",
    "/etc/credstore",
    "/run/secrets",
];
/// Files anywhere.
const NAMES: [&str; 16] = [
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".git-credentials",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
];
/// Endings of files that hold private keys.
const ENDINGS: [&str; 9] = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", "_sk"];
/// Endings of files that show what a `.env` file holds, without its secrets.
const EXAMPLES: [&str; 5] = [".example", ".sample", ".template", ".dist", ".defaults"];

/// Whether a path is in a place that is there for secrets.
pub(super) fn is_secret_place(path: &Path, context: &ToolContext) -> bool {
    let lower = Path::new(&path.to_string_lossy().to_lowercase()).to_owned();
    let mut parts = lower.iter().filter_map(|part| part.to_str());
    parts.any(|part| DIRS_ANYWHERE.contains(&part))
        || in_home(&lower, context)
        || IN_SYSTEM.iter().any(|place| lower.starts_with(place.to_lowercase()))
        || is_host_key(&lower)
        || is_of_a_process(path)
        || path.starts_with(config_dir(&context.env))
        || is_of_another_session(path, context)
        || path == trust_file(context)
}

/// Whether such a place is below a folder, so that removing or moving that takes it away: with agentd's own settings go
/// the rules that deny. Of those in home, and of agentd's.
pub(super) fn holds_secret_place(folder: &Path, context: &ToolContext) -> bool {
    let named = home(&context.env);
    let real = super::paths::resolve(&named).unwrap_or_else(|| named.clone());
    let in_homes = [named, real].into_iter().flat_map(|home| IN_HOME.map(|place| home.join(place)));
    let own = [config_dir(&context.env), trust_file(context)];
    in_homes.chain(own).any(|place| place.starts_with(folder) && place.symlink_metadata().is_ok())
}

/// The folders that a person trusts.
fn trust_file(context: &ToolContext) -> PathBuf {
    let state = context.outputs_dir.ancestors().nth(3);
    state.map(|state| state.join("trust.json")).unwrap_or_default()
}

/// Whether a file's name says that it holds secrets.
pub(super) fn is_secret_name(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else { return false };
    let dotenv = name == ".env" || name.starts_with(".env.") || name.ends_with(".env");
    let key = ENDINGS.iter().any(|ending| name.ends_with(ending) && (*ending != "_sk" || name.starts_with("id_")));
    (dotenv && !EXAMPLES.iter().any(|ending| name.ends_with(ending))) || key || NAMES.contains(&name.as_str())
}

/// Whether a folder holds a hidden file of such a name.
pub(super) fn holds_secrets(folder: &Path) -> bool {
    NAMES.iter().chain(&[".env"]).any(|name| folder.join(name).symlink_metadata().is_ok())
}

fn in_home(lower: &Path, context: &ToolContext) -> bool {
    let named = home(&context.env);
    let real = super::paths::resolve(&named).unwrap_or_else(|| named.clone());
    [named, real].iter().any(|home| {
        let home = home.to_string_lossy().to_lowercase();
        let inner = lower.strip_prefix(&home).ok();
        inner.is_some_and(|inner| IN_HOME.iter().any(|place| inner.starts_with(place.to_lowercase())))
    })
}

fn is_host_key(lower: &Path) -> bool {
    let name = lower.file_name().map(|name| name.to_string_lossy());
    lower.starts_with("/etc/ssh") && name.is_some_and(|name| name.starts_with("ssh_host_") && name.ends_with("_key"))
}

/// Its variables, its memory and its open files, of whichever process.
fn is_of_a_process(path: &Path) -> bool {
    let of = path.strip_prefix("/proc").ok().and_then(|inner| inner.iter().next()).map(|name| name.to_string_lossy());
    of.is_some_and(|name| {
        matches!(name.as_ref(), "self" | "thread-self" | "kcore" | "kmsg" | "keys" | "key-users")
            || name.chars().all(|letter| letter.is_ascii_digit())
    })
}

/// The logs of other sessions tell what was read there. Where the session works among them, nothing can be told apart.
fn is_of_another_session(path: &Path, context: &ToolContext) -> bool {
    let sessions = context.outputs_dir.parent().and_then(Path::parent);
    sessions.is_some_and(|sessions| path.starts_with(sessions) && !context.root.starts_with(sessions))
}
