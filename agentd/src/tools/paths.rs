//! Where a path leads: into the session's folders, out of them, or to a file that no mode may change
//! unasked. Called by the file tools and by Bash. Reads links, opens nothing.

use super::tool::{ToolContext, ToolVerdict};
use crate::base::environment::Environment;
use crate::policy::Places;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Links on one path; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// Folders in which other programs keep what they run or obey.
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

/// A path of a tool's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// As it was asked for, made absolute.
    pub path: PathBuf,
    /// Where it leads, all links followed, whether or not it exists.
    pub real: PathBuf,
}

/// The folders that patterns of paths in rules start from: the session's, and home. Follows links.
#[must_use]
pub fn places(folder: &Path, env: &Environment) -> Places {
    let home = crate::base::paths::home(env);
    let real = |path: &Path| resolve(path).unwrap_or_else(|| path.to_owned());
    Places { real_folder: real(folder), folder: folder.to_owned(), real_home: real(&home), home }
}

/// Finds out where a path of an input leads. Relative ones start at the session's folder, `~/` at home.
///
/// # Errors
/// One sentence: the path is empty, or its links go round in a circle.
pub(super) fn locate(path: &str, context: &ToolContext) -> Result<Place, String> {
    if path.is_empty() {
        return Err("the path is empty; give the path of a file".to_owned());
    }
    if path.contains('\0') {
        return Err("the path holds a NUL byte; give a path without it".to_owned());
    }
    let below_home = if path == "~" { Some("") } else { path.strip_prefix("~/") };
    let path = match below_home {
        Some(rest) => crate::base::paths::home(&context.env).join(rest),
        None => context.cwd.join(path),
    };
    let real = resolve(&path)
        .ok_or_else(|| format!("{}: too many links; give the path of the file itself", path.display()))?;
    let real = inherited(&real, context).unwrap_or(real);
    Ok(Place { path, real })
}

/// The past of a fork names large results by their paths in the session that it was forked from. The fork has them
/// too, in `outputs/<that session>/`, also when that session is deleted or its files may not be read.
fn inherited(real: &Path, context: &ToolContext) -> Option<PathBuf> {
    let outputs = resolve(&context.outputs_dir)?;
    let sessions = outputs.parent()?.parent()?;
    let mut parts = real.strip_prefix(sessions).ok()?.iter();
    let (session, folder, name) = (parts.next()?, parts.next()?, parts.next()?);
    let copy = outputs.join(session).join(name);
    (Some(folder) == outputs.file_name() && parts.next().is_none() && copy.is_file()).then_some(copy)
}

/// A path for people and models: relative where it is inside the session's folder.
pub(super) fn shown(path: &Path, context: &ToolContext) -> String {
    match path.strip_prefix(&context.cwd) {
        Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
        Ok(inner) => inner.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// The verdict on reading it.
pub(super) fn reading(place: &Place, context: &ToolContext) -> ToolVerdict {
    if is_inside(&place.real, context) || in_folder(&place.real, &context.outputs_dir) {
        ToolVerdict::Allow { detail: "it only reads, inside the session's folders".to_owned() }
    } else {
        ToolVerdict::Ask { detail: format!("{} is outside the session's folders", place.real.display()) }
    }
}

/// The verdict on changing it.
pub(super) fn changing(place: &Place, context: &ToolContext) -> ToolVerdict {
    if is_protected(&place.real) || is_protected(&place.path) {
        return ToolVerdict::Safety {
            detail: format!("{} is protected: other programs run or obey what is in it", place.real.display()),
        };
    }
    if is_inside(&place.real, context) {
        ToolVerdict::AskEdit { detail: format!("it changes {}", shown(&place.path, context)) }
    } else {
        ToolVerdict::Ask { detail: format!("{} is outside the session's folders", place.real.display()) }
    }
}

/// Whether a resolved path is in one of the session's folders.
pub(super) fn is_inside(real: &Path, context: &ToolContext) -> bool {
    std::iter::once(&context.root).chain(context.additional_directories.iter()).any(|folder| in_folder(real, folder))
}

fn in_folder(real: &Path, folder: &Path) -> bool {
    resolve(folder).is_some_and(|folder| real.starts_with(folder))
}

/// Whether other programs run or obey what is at this path. Letter case is ignored, as some file systems do.
fn is_protected(path: &Path) -> bool {
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

/// Follows all links of an absolute path. Unlike `canonicalize` it also resolves what does not exist yet,
/// and a link to nothing: a write would create its target. `None` if there are too many links.
fn resolve(path: &Path) -> Option<PathBuf> {
    steps(path)?.pop()
}

/// The links on an absolute path, each with none before it, and last where the path leads. `None` if there are too many.
pub(super) fn steps(path: &Path) -> Option<Vec<PathBuf>> {
    let mut followed = Vec::new();
    let mut real = PathBuf::from("/");
    let mut rest: Vec<OsString> = parts_reversed(path);
    while let Some(part) = rest.pop() {
        match part.to_str() {
            Some("/") => real = PathBuf::from("/"),
            Some(".") => {}
            Some("..") => {
                real.pop();
            }
            _ => {
                real.push(&part);
                if let Ok(target) = std::fs::read_link(&real) {
                    if followed.len() >= MAX_LINKS {
                        return None;
                    }
                    followed.push(real.clone());
                    real.pop();
                    rest.extend(parts_reversed(&target));
                }
            }
        }
    }
    followed.push(real);
    Some(followed)
}

fn parts_reversed(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .map(|part| match part {
            Component::RootDir | Component::Prefix(_) => OsString::from("/"),
            Component::CurDir | Component::ParentDir | Component::Normal(_) => part.as_os_str().to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Scratch;
    use std::os::unix::fs::symlink;

    fn change(scratch: &Scratch, path: &str) -> ToolVerdict {
        let context = scratch.context();
        changing(&locate(path, &context).unwrap(), &context)
    }

    #[test]
    fn inside_outside_and_protected() {
        let scratch = Scratch::new();
        for path in ["a", "new/deep/b", "./a/../b", "x/.claude/worktrees/f", ".config/other", "src/git/x"] {
            assert!(matches!(change(&scratch, path), ToolVerdict::AskEdit { .. }), "{path}");
        }
        for path in ["../a", "/etc/x", "a/../../b"] {
            assert!(matches!(change(&scratch, path), ToolVerdict::Ask { .. }), "{path}");
        }
        for path in [
            ".git/config",
            ".GIT/hooks/x",
            ".claude/settings.json",
            ".agentd/settings.json",
            "sub/.vscode/tasks.json",
            ".bashrc",
            ".mcp.json",
            ".config/git/config",
            "a/../.git/config",
            ".envrc",
            "/home/x/.bashrc",
        ] {
            assert!(matches!(change(&scratch, path), ToolVerdict::Safety { .. }), "{path}");
        }
    }

    #[test]
    fn links_are_followed_even_to_nothing() {
        let scratch = Scratch::new();
        symlink("/etc", scratch.path("out")).unwrap();
        symlink("/nowhere/file", scratch.path("dangling")).unwrap();
        symlink(".git/config", scratch.path("innocent")).unwrap();
        symlink("loop", scratch.path("loop")).unwrap();
        assert!(matches!(change(&scratch, "out/passwd"), ToolVerdict::Ask { .. }));
        assert!(matches!(change(&scratch, "dangling"), ToolVerdict::Ask { .. }));
        assert!(matches!(change(&scratch, "innocent"), ToolVerdict::Safety { .. }));
        assert!(locate("loop/x", &scratch.context()).unwrap_err().contains("too many links"));
    }

    #[test]
    fn reads_are_free_inside_and_in_the_outputs() {
        let scratch = Scratch::new();
        let context = scratch.context();
        let read = |path: &str| reading(&locate(path, &context).unwrap(), &context);
        assert!(matches!(read(".git/config"), ToolVerdict::Allow { .. }));
        assert!(matches!(read(context.outputs_dir.join("a.txt").to_str().unwrap()), ToolVerdict::Allow { .. }));
        assert!(matches!(read("/etc/passwd"), ToolVerdict::Ask { .. }));
        assert!(matches!(read("~/x"), ToolVerdict::Ask { .. }));
        assert!(matches!(read("~"), ToolVerdict::Ask { .. }), "home itself, not a folder of that name");
    }

    #[test]
    fn the_outputs_of_the_session_that_it_was_forked_from_are_its_own() {
        let scratch = Scratch::new();
        let context = scratch.context();
        let own = context.outputs_dir.join("ses_a/x.txt");
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        std::fs::write(&own, "").unwrap();
        let sessions = context.outputs_dir.parent().unwrap().parent().unwrap();
        let place = |path: &str| locate(sessions.join(path).to_str().unwrap(), &context).unwrap();
        assert_eq!(place("ses_a/outputs/x.txt").real, own.canonicalize().unwrap());
        for path in ["ses_a/outputs/y.txt", "ses_b/outputs/x.txt", "ses_a/checkpoints/x.txt", "ses_a/x.txt"] {
            let other = place(path);
            assert!(matches!(reading(&other, &context), ToolVerdict::Ask { .. }), "{path}: {other:?}");
        }
    }

    #[test]
    fn an_additional_folder_counts_as_inside() {
        let scratch = Scratch::new();
        let mut context = scratch.context();
        let other = tempfile::tempdir().unwrap();
        let file = other.path().join("f");
        let place = locate(file.to_str().unwrap(), &context).unwrap();
        assert!(matches!(changing(&place, &context), ToolVerdict::Ask { .. }));
        context.additional_directories = std::sync::Arc::from([other.path().to_owned()]);
        assert!(matches!(changing(&place, &context), ToolVerdict::AskEdit { .. }));
    }
}
