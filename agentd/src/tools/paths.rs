//! Where a path leads, all links followed, and whether that is in the session's folders. Called by the file tools and by
//! Bash; what kind of place it is is said by `zones`. Reads links, opens nothing.

use super::tool::ToolContext;
use crate::base::environment::Environment;
use crate::policy::Places;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Links on one path; the kernel's own limit.
const MAX_LINKS: usize = 40;

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

/// Whether a resolved path is in one of the session's folders.
pub(super) fn is_inside(real: &Path, context: &ToolContext) -> bool {
    std::iter::once(&context.root).chain(context.additional_directories.iter()).any(|folder| in_folder(real, folder))
}

/// Whether a resolved path is in a folder, whose links are followed.
pub(super) fn in_folder(real: &Path, folder: &Path) -> bool {
    resolve(folder).is_some_and(|folder| real.starts_with(folder))
}

/// Follows all links of an absolute path. Unlike `canonicalize` it also resolves what does not exist yet,
/// and a link to nothing: a write would create its target. `None` if there are too many links.
pub(super) fn resolve(path: &Path) -> Option<PathBuf> {
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

/// A path without `.` and `..`, by its text alone.
pub(super) fn lexically_clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Scratch;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_even_to_nothing() {
        let scratch = Scratch::new();
        symlink("/nowhere/file", scratch.path("dangling")).unwrap();
        symlink("loop", scratch.path("loop")).unwrap();
        let context = scratch.context();
        assert_eq!(locate("dangling", &context).unwrap().real, Path::new("/nowhere/file"));
        assert!(locate("loop/x", &context).unwrap_err().contains("too many links"));
        assert_eq!(locate("~", &context).unwrap().path, crate::base::paths::home(&context.env).join(""));
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
            assert!(!in_folder(&place(path).real, &context.outputs_dir), "{path}");
        }
    }
}
