//! What kind of place a path leads to: inside the session's folders, the system's, secret, protected, critical.
//! Called by the tools that use files, for `Tool::subject`. Looks names up, opens nothing.

use super::paths::{Place, is_inside, lexically_clean, locate, steps};
use super::secrets::{holds_secret_place, holds_secrets, is_secret_name, is_secret_place};
use super::tool::{ToolContext, ToolVerdict};
use crate::base::paths::home;
use crate::policy::{FileUse, Subject, Zone};
use crate::shell::Access;
use std::path::Path;

/// Folders in which other programs keep what they run or obey (claude-facts B.4, with agentd's own and ssh's).
const PROTECTED_DIRS: [&str; 11] =
    [".git", ".vscode", ".idea", ".husky", ".cargo", ".devcontainer", ".yarn", ".mvn", ".claude", ".agentd", ".ssh"];
/// Such files.
const PROTECTED_FILES: [&str; 36] = [
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_aliases",
    ".bash_logout",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".profile",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".pnpmfile.cjs",
    "bunfig.toml",
    ".bunfig.toml",
    ".bazelrc",
    ".bazelversion",
    ".bazeliskrc",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    "gradle-wrapper.properties",
    "maven-wrapper.properties",
    ".devcontainer.json",
    ".ripgreprc",
    "pyrightconfig.json",
    ".mcp.json",
    ".claude.json",
];

/// The system's folders that hold programs, their data and settings for everybody.
const SYSTEM_DIRS: [&str; 12] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc", "/sys", "/nix/store", "/proc/sys"];
/// Facts on the machine, the same for all processes.
const SYSTEM_FILES: [&str; 24] = [
    "/proc",
    "/proc/buddyinfo",
    "/proc/cpuinfo",
    "/proc/crypto",
    "/proc/devices",
    "/proc/diskstats",
    "/proc/filesystems",
    "/proc/interrupts",
    "/proc/loadavg",
    "/proc/locks",
    "/proc/meminfo",
    "/proc/misc",
    "/proc/modules",
    "/proc/partitions",
    "/proc/stat",
    "/proc/swaps",
    "/proc/uptime",
    "/proc/version",
    "/proc/vmstat",
    "/dev",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
];
/// What a process has open anyway, and what takes anything: writing there changes nothing.
const STREAMS: [&str; 5] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// A use of one file or, with `below`, of what is below a folder.
pub(super) fn file_use(place: &Place, access: Access, below: bool, context: &ToolContext) -> FileUse {
    let path = lexically_clean(&place.path);
    let zone = zone(&path, &place.real, access, below, context);
    FileUse { path, real: place.real.clone(), below, access, zone }
}

/// What a call of a file tool is about. What leads nowhere fails before it runs.
pub(super) fn subject(place: Result<Place, String>, access: Access, below: bool, context: &ToolContext) -> Subject {
    match place {
        Ok(place) => Subject::Files(vec![file_use(&place, access, below, context)]),
        Err(_) => Subject::Fields,
    }
}

/// What a call that writes one file is about, by the path that its input names.
pub(super) fn written(path: Result<String, String>, context: &ToolContext) -> Subject {
    subject(path.and_then(|path| locate(&path, context)), Access::Write, false, context)
}

/// What a file tool itself thinks of a call: nothing, since all that counts is where the file is.
pub(super) fn place_decides() -> ToolVerdict {
    ToolVerdict::Allow { detail: "what counts is where the file is".to_owned() }
}

/// Whether writing to a path changes nothing, and reading it gives nothing that is kept anywhere.
pub(super) fn is_stream(path: &Path) -> bool {
    let name = path.to_string_lossy();
    STREAMS.contains(&name.as_ref())
        || name.strip_prefix("/dev/fd/").is_some_and(|fd| fd.chars().all(|digit| digit.is_ascii_digit()))
}

fn zone(path: &Path, real: &Path, access: Access, below: bool, context: &ToolContext) -> Zone {
    let place = if is_inside(real, context) || is_own_output(real, context) {
        Zone::Inside
    } else if is_stream(path) || is_system(real) {
        Zone::System
    } else {
        Zone::Outside
    };
    let either = |test: &dyn Fn(&Path) -> bool| test(path) || test(real);
    match access {
        Access::Look | Access::Read if is_own_output(real, context) => place,
        // Of what is below, the environment of each process is a part.
        Access::Read if below && Path::new("/proc").starts_with(real) => Zone::Secret,
        Access::Look if either(&|path| is_secret_place(path, context)) => Zone::Secret,
        Access::Read
            if either(&|path| is_secret_place(path, context) || (place != Zone::System && is_secret_name(path))) =>
        {
            Zone::Secret
        }
        Access::Look | Access::Read => place,
        Access::Remove if either(&|path| is_critical(path, context)) => Zone::Critical,
        Access::Write | Access::Remove if leads_through_protected(path, real) || (below && holds_protected(real)) => {
            Zone::Protected
        }
        Access::Write | Access::Remove if either(&|path| is_secret_place(path, context)) => Zone::Secret,
        Access::Remove if either(&|path| holds_secret_place(path, context)) => Zone::Secret,
        Access::Write | Access::Remove => place,
    }
}

fn is_own_output(real: &Path, context: &ToolContext) -> bool {
    super::paths::in_folder(real, &context.outputs_dir)
}

fn is_system(real: &Path) -> bool {
    SYSTEM_DIRS.iter().any(|dir| real.starts_with(dir)) || SYSTEM_FILES.iter().any(|file| real == Path::new(file))
}

/// Whether other programs run or obey what is at this path. Letter case is ignored, as some file systems do.
pub(super) fn is_protected(path: &Path) -> bool {
    let names: Vec<String> =
        path.components().map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase()).collect();
    let next_is = |at: usize, wanted: &str| names.get(at + 1).is_some_and(|name| name == wanted);
    let in_protected_dir = names.iter().enumerate().any(|(at, name)| match name.as_str() {
        ".claude" => !next_is(at, "worktrees"),
        ".config" => next_is(at, "git"),
        name => PROTECTED_DIRS.contains(&name),
    });
    in_protected_dir || names.last().is_some_and(|name| PROTECTED_FILES.contains(&name.as_str()))
}

/// Whether a path is protected by its name, by that of a link on the way, or by where it leads.
fn leads_through_protected(path: &Path, real: &Path) -> bool {
    is_protected(path)
        || is_protected(real)
        || steps(path).is_none_or(|steps| steps.iter().any(|step| is_protected(step)))
}

/// Whether a folder holds what is protected, so that changing all of it changes that too.
fn holds_protected(folder: &Path) -> bool {
    PROTECTED_DIRS.iter().chain(&PROTECTED_FILES).any(|name| folder.join(name).symlink_metadata().is_ok())
}

/// Whether removing it would be a disaster: the root and what is right below it, home, and the session's folders with
/// all above them.
fn is_critical(path: &Path, context: &ToolContext) -> bool {
    let homes = resolved(&home(&context.env));
    let folders = context.additional_directories.iter().chain([&context.root, &context.cwd]);
    let mut kept = homes.into_iter().chain(folders.flat_map(|folder| resolved(folder)));
    path.parent().is_none_or(|parent| parent == Path::new("/")) || kept.any(|folder| folder.starts_with(path))
}

/// A folder as it is named and where it leads.
fn resolved(folder: &Path) -> [std::path::PathBuf; 2] {
    let real = super::paths::resolve(folder).unwrap_or_else(|| folder.to_owned());
    [folder.components().collect(), real]
}

/// A use of a path of a command: absolute, and of a pattern the folder before its first wildcard. `None` if it leads
/// nowhere that can be told.
pub(super) fn command_use(
    path: &str,
    text: &str,
    access: Access,
    below: bool,
    context: &ToolContext,
) -> Option<FileUse> {
    let place = locate(path, context).ok()?;
    let text = text.replace(['"', '\''], "");
    if !below || !text.contains(['*', '?', '[', '{']) || takes_all(&text, access) {
        // Of a folder that is read, all that is below may be.
        let below = below || (access == Access::Read && place.real.is_dir());
        return Some(file_use(&place, access, below, context));
    }
    let path = lexically_clean(&place.path);
    let zone = match access {
        Access::Write | Access::Remove
            if is_protected(Path::new(&text)) || (takes_hidden(&text) && holds_protected(&place.real)) =>
        {
            Zone::Protected
        }
        Access::Read if is_secret_pattern(&text) || (takes_hidden(&text) && holds_secrets(&place.real)) => Zone::Secret,
        _ => zone(&path.join("*"), &place.real.join("*"), access, false, context),
    };
    Some(FileUse { path, real: place.real, below, access, zone })
}

/// Whether removing what a pattern names removes all that is in a folder, as if the folder were named.
fn takes_all(text: &str, access: Access) -> bool {
    let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    access == Access::Remove && (matches!(last, "*" | "**") || takes_hidden(last))
}

/// Whether a pattern may name hidden files: others leave them out.
pub(super) fn takes_hidden(text: &str) -> bool {
    text.split('/').any(|part| part.contains('{') || (part.starts_with('.') && part.contains(['*', '?', '['])))
}

/// Whether a pattern of names says that what it names holds secrets.
pub(super) fn is_secret_pattern(text: &str) -> bool {
    is_secret_name(Path::new(text)) || is_secret_name(Path::new(&text.replace('*', "")))
}

#[cfg(test)]
mod tests;
