//! The folders whose settings a session takes: its own, the root of its git repository, and of a worktree the main
//! checkout. Called by `loader`. Reads git's small files and runs nothing.

use crate::base::files::read_text;
use std::path::{Path, PathBuf};

/// No file of git's that names a folder is longer.
const MAX_BYTES: u64 = 8 << 10;

/// The folders of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folders {
    /// The session's own.
    pub(super) cwd: PathBuf,
    /// The root of the repository, if that is another.
    pub(super) root: Option<PathBuf>,
    /// The main checkout, if the repository's root is a worktree of it.
    pub(super) main: Option<PathBuf>,
}

impl Folders {
    /// Looks for them. The user's home, and what is above it, is no project of its own.
    pub(super) fn of(cwd: &Path, home: &Path) -> Self {
        let top = cwd.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
        let top = top.filter(|top| *top == cwd || !home.starts_with(top));
        let main = top.and_then(main_checkout).filter(|main| Some(main.as_path()) != top);
        let root = top.filter(|top| *top != cwd).map(Path::to_owned);
        Self { cwd: cwd.to_owned(), root, main }
    }

    /// The root of the repository, else the session's own folder.
    pub(super) fn top(&self) -> &Path {
        self.root.as_deref().unwrap_or(&self.cwd)
    }
}

/// The main checkout of a worktree. It must know of the worktree: anybody can write a file that points to it.
fn main_checkout(worktree: &Path) -> Option<PathBuf> {
    let link = worktree.join(".git");
    if !link.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let text = read_text(&link, MAX_BYTES).ok()?;
    let own = worktree.join(text.strip_prefix("gitdir:")?.trim());
    let back = own.join(read_text(&own.join("gitdir"), MAX_BYTES).ok()?.trim());
    if back.canonicalize().ok()? != link.canonicalize().ok()? {
        return None;
    }
    let common = own.join(read_text(&own.join("commondir"), MAX_BYTES).ok()?.trim()).canonicalize().ok()?;
    if common.file_name()? != ".git" {
        return None;
    }
    // The worktree's folder in the repository is one of those that git makes.
    own.canonicalize().ok()?.strip_prefix(common.join("worktrees")).ok()?;
    common.parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn worktree(base: &Path, back: &str) -> (PathBuf, PathBuf) {
        let (main, tree) = (base.join("main"), base.join("tree"));
        let own = main.join(".git/worktrees/tree");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(tree.join("sub")).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("gitdir"), format!("{back}\n")).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        (main, tree)
    }

    #[test]
    fn a_worktree_leads_to_its_main_checkout_if_that_knows_it() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (main, tree) = worktree(&base, &base.join("tree/.git").display().to_string());
        let home = base.join("home");
        let folders = Folders::of(&tree.join("sub"), &home);
        assert_eq!(folders, Folders { cwd: tree.join("sub"), root: Some(tree.clone()), main: Some(main.clone()) });
        assert_eq!(Folders::of(&main, &home), Folders { cwd: main.clone(), root: None, main: None });
        // Another folder that claims to be its worktree.
        let (_, tree) = worktree(&base, "/elsewhere/.git");
        assert_eq!(Folders::of(&tree, &home), Folders { cwd: tree, root: None, main: None });
    }

    #[test]
    fn home_and_above_are_no_project() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        fs::create_dir_all(home.join("project")).unwrap();
        for git in [dir.path().join(".git"), home.join(".git")] {
            fs::create_dir_all(git).unwrap();
            let cwd = home.join("project");
            assert_eq!(Folders::of(&cwd, &home), Folders { cwd, root: None, main: None });
        }
        assert_eq!(Folders::of(&home, &home).top(), home);
    }
}
