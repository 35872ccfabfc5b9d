//! Brings files back to what they were before file tools changed them. Called by a rewind. A file that somebody
//! else has changed since is left as it is; each file is replaced whole or not at all, and doing all of it a
//! second time changes nothing more.

use super::checkpoint::{self, sha256};
use super::text_file::{self, Loaded};
use crate::event::changes::{Restoration, Undo};
use std::io;
use std::path::Path;

/// What became of the files.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Those that are as they were before.
    pub restored: Vec<String>,
    /// Those that were left alone, each with the reason.
    pub kept: Vec<(String, String)>,
}

/// Brings files back from the checkpoints of a session. Blocks for the disk.
#[must_use]
pub fn restore(checkpoints: &Path, files: Vec<Restoration>) -> Restored {
    let mut done = Restored::default();
    for Restoration { path, how } in files {
        let result = match &how {
            Some(undo) => bring_back(checkpoints, Path::new(&path), undo),
            None => Err("what it held before was not kept".to_owned()),
        };
        match result {
            Ok(()) => done.restored.push(path),
            Err(why) => done.kept.push((path, why)),
        }
    }
    done
}

fn bring_back(checkpoints: &Path, path: &Path, undo: &Undo) -> Result<(), String> {
    check_no_links(path)?;
    let now = text_file::load_if_exists(path)?;
    let holds = now.as_ref().map(|now| sha256(&now.bytes));
    if holds == undo.before {
        return Ok(()); // by an earlier attempt that was cut, or by somebody else
    }
    match (now, &undo.before) {
        (None, _) => Err("it was deleted since".to_owned()),
        (Some(_), _) if holds.as_ref() != Some(&undo.after_sha256) => Err("it was changed since".to_owned()),
        (Some(now), _) if now.is_read_only() => Err("it is read-only".to_owned()),
        (Some(_), None) => std::fs::remove_file(path).map_err(|error| text_file::describe(path, &error)),
        (Some(now), Some(name)) => replace(checkpoints, path, name, &now, undo.mode),
    }
}

fn replace(checkpoints: &Path, path: &Path, name: &str, now: &Loaded, mode: Option<u32>) -> Result<(), String> {
    let bytes =
        checkpoint::load(checkpoints, name).map_err(|error| format!("what it held before can't be read: {error}"))?;
    let mode = mode.unwrap_or_else(|| now.mode());
    text_file::put_back(path, &bytes, now, mode).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => "it was changed just now".to_owned(),
        _ => text_file::describe(path, &error),
    })
}

/// The path had all links followed when the file was changed. One that is there now leads to another file.
fn check_no_links(path: &Path) -> Result<(), String> {
    if path.is_symlink() {
        return Err("it is a link now".to_owned());
    }
    let parent = path.parent().unwrap_or(path);
    match parent.canonicalize() {
        Ok(real) if real != parent => Err("its folder is reached by a link now".to_owned()),
        // Without the folder there is no file, which is looked at next.
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::edit::Edit;
    use crate::tools::read::Read;
    use crate::tools::testing::{Scratch, assert_ok};
    use crate::tools::tool::FileChange;
    use crate::tools::write::Write;
    use serde_json::json;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn edit(scratch: &Scratch, path: &str, old: &str, new: &str) -> Restoration {
        assert_ok(&scratch.run(&Read, json!({"file_path": path})));
        let output = scratch.run(&Edit, json!({"file_path": path, "old_string": old, "new_string": new}));
        assert_ok(&output);
        restoration(output.file_change.unwrap())
    }

    fn write(scratch: &Scratch, path: &str, content: &str) -> Restoration {
        let output = scratch.run(&Write, json!({"file_path": path, "content": content}));
        assert_ok(&output);
        restoration(output.file_change.unwrap())
    }

    fn restoration(change: FileChange) -> Restoration {
        let checkpoint = change.checkpoint.unwrap();
        let undo = Undo { before: checkpoint.before, mode: checkpoint.mode, after_sha256: checkpoint.after_sha256 };
        Restoration { path: change.path.display().to_string(), how: Some(undo) }
    }

    /// The reason why a file was kept; empty if it was restored.
    fn why_kept(scratch: &Scratch, file: &Restoration) -> String {
        let mut done = restore(&scratch.context().checkpoints_dir, vec![file.clone()]);
        assert_eq!(done.restored.len() + done.kept.len(), 1);
        done.kept.pop().map(|(_, why)| why).unwrap_or_default()
    }

    #[test]
    fn content_and_mode_come_back_and_a_new_file_goes() {
        let scratch = Scratch::new();
        let path = scratch.write("f", b"\xEF\xBB\xBFone\r\n");
        fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
        let (edited, new) = (edit(&scratch, "f", "one", "two"), write(&scratch, "dir/new", "x"));
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let done = restore(&scratch.context().checkpoints_dir, vec![edited.clone(), new.clone()]);
        assert_eq!((done.restored.len(), done.kept), (2, vec![]));
        assert_eq!(scratch.read("f"), b"\xEF\xBB\xBFone\r\n");
        assert_eq!(mode(&path), 0o751);
        assert!(!scratch.path("dir/new").exists());
        for file in [edited, new] {
            assert_eq!(why_kept(&scratch, &file), "", "a second time nothing changes");
        }
        assert_eq!(scratch.read("f"), b"\xEF\xBB\xBFone\r\n");
    }

    #[test]
    fn what_others_have_changed_is_left_alone() {
        let scratch = Scratch::new();
        let path = scratch.write("f", "one");
        let file = edit(&scratch, "f", "one", "two");
        scratch.write("f", "mine");
        assert_eq!(why_kept(&scratch, &file), "it was changed since");
        assert_eq!(scratch.read("f"), b"mine");
        scratch.write("f", "two");
        fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        assert_eq!(why_kept(&scratch, &file), "it is read-only");
        fs::remove_file(&path).unwrap();
        assert_eq!(why_kept(&scratch, &file), "it was deleted since");
        fs::create_dir(&path).unwrap();
        assert!(why_kept(&scratch, &file).contains("is a folder"));
    }

    #[test]
    fn a_link_is_not_followed() {
        let scratch = Scratch::new();
        scratch.write("dir/f", "one");
        let file = edit(&scratch, "dir/f", "one", "two");
        fs::rename(scratch.path("dir"), scratch.path("other")).unwrap();
        symlink(scratch.path("other"), scratch.path("dir")).unwrap();
        assert!(why_kept(&scratch, &file).contains("by a link"));
        fs::remove_file(scratch.path("dir")).unwrap();
        fs::create_dir(scratch.path("dir")).unwrap();
        symlink(scratch.path("other/f"), scratch.path("dir/f")).unwrap();
        assert_eq!(why_kept(&scratch, &file), "it is a link now");
        assert_eq!(scratch.read("other/f"), b"two");
    }

    #[test]
    fn without_its_checkpoint_a_file_stays() {
        let scratch = Scratch::new();
        scratch.write("f", "one");
        let file = edit(&scratch, "f", "one", "two");
        fs::remove_dir_all(scratch.context().checkpoints_dir).unwrap();
        assert!(why_kept(&scratch, &file).contains("can't be read"));
        assert_eq!(why_kept(&scratch, &Restoration { how: None, ..file }), "what it held before was not kept");
        assert_eq!(scratch.read("f"), b"two");
    }

    #[test]
    fn a_file_behind_a_link_comes_back_where_it_is() {
        let scratch = Scratch::new();
        scratch.write("real", "one");
        symlink("real", scratch.path("link")).unwrap();
        let file = edit(&scratch, "link", "one", "two");
        assert_eq!(why_kept(&scratch, &file), "");
        assert_eq!(scratch.read("real"), b"one");
        assert!(scratch.path("link").is_symlink());
    }
}
