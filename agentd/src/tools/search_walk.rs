//! Walking folders for Glob and Grep: what both leave out, and how they are cancelled. Follows no links.

use super::paths::{Place, lexically_clean};
use super::tool::ToolContext;
use ignore::WalkBuilder;
use std::path::Path;

/// Folders of version control systems: never searched.
const VCS_DIRS: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// What a cancelled search says.
pub(super) const CANCELLED: &str = "the search was cancelled";

/// A walk through `root` in a fixed order, hidden files included. `gitignore`: whether ignore files count.
pub(super) fn builder(root: &Path, gitignore: bool) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(false)
        .parents(gitignore)
        .ignore(gitignore)
        .git_ignore(gitignore)
        .git_exclude(gitignore)
        .require_git(false)
        .sort_by_file_path(Ord::cmp)
        .filter_entry(|entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            !(is_dir && entry.depth() > 0 && entry.file_name().to_str().is_some_and(|name| VCS_DIRS.contains(&name)))
        });
    builder
}

/// The plain files of a walk through `root`. What can't be read is left out, and so is what no search may come upon.
///
/// # Errors
/// The search was cancelled.
pub(super) fn for_each_file(
    builder: &WalkBuilder,
    root: &Place,
    context: &ToolContext,
    mut visit: impl FnMut(&Path) -> Result<bool, String>,
) -> Result<(), String> {
    for entry in builder.build() {
        if context.cancel.is_cancelled() {
            return Err(CANCELLED.to_owned());
        }
        let Ok(entry) = entry else { continue };
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && !is_hidden(entry.path(), root, context) && !visit(entry.path())? {
            break;
        }
    }
    Ok(())
}

fn is_hidden(real: &Path, root: &Place, context: &ToolContext) -> bool {
    let Some(hidden) = &context.hidden else { return false };
    let below = real.strip_prefix(&root.real).unwrap_or(real);
    hidden(&lexically_clean(&root.path.join(below)), real)
}
