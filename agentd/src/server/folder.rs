//! The folder of the socket: private to the user, or agentd does not start. Called by `listen`.
//! It changes nothing about a folder that exists: that is the user's to decide.

use nix::unistd::Uid;
use std::fs::{DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// Creates the folder for the user alone, or checks that it is so. The error is a sentence with the remedy.
pub fn prepare(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    match folder.symlink_metadata() {
        Ok(metadata) => check(folder, &metadata, Uid::effective()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| {
                format!("the socket's folder {shown} can't be created: {error}; give --socket another path")
            })?;
            // Somebody else may have been quicker.
            let metadata = folder.symlink_metadata().map_err(|error| format!("{shown} can't be read: {error}"))?;
            check(folder, &metadata, Uid::effective())
        }
        Err(error) => Err(format!("the socket's folder {shown} can't be read: {error}; give --socket another path")),
    }
}

fn check(folder: &Path, metadata: &Metadata, own: Uid) -> Result<(), String> {
    let shown = folder.display();
    if metadata.is_symlink() {
        return Err(format!("the socket's folder {shown} is a symbolic link; give --socket a path in a real folder"));
    }
    if !metadata.is_dir() {
        return Err(format!("the socket's folder {shown} is not a folder; give --socket another path"));
    }
    if metadata.uid() != own.as_raw() {
        let owner = metadata.uid();
        return Err(format!(
            "the socket's folder {shown} belongs to user {owner}, not to {own}; give --socket a path in a folder of your own"
        ));
    }
    let mode = metadata.mode() & 0o777;
    if mode != 0o700 {
        return Err(format!(
            "the socket's folder {shown} has mode {mode:04o}, where 0700 is needed; run `chmod 700 {shown}` or give --socket another path"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check, prepare};
    use nix::unistd::Uid;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn a_missing_folder_is_made_private() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("a/b");
        prepare(&folder).unwrap();
        assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
        prepare(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_is_not_private_is_refused_and_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        for mode in [0o755, 0o710, 0o702, 0o777, 0o500] {
            fs::set_permissions(temp.path(), Permissions::from_mode(mode)).unwrap();
            let message = prepare(temp.path()).unwrap_err();
            assert!(message.contains(&format!("mode {mode:04o}")) && message.contains("chmod 700"), "{message}");
            assert_eq!(temp.path().metadata().unwrap().mode() & 0o777, mode);
        }
    }

    #[test]
    fn what_is_no_folder_of_ours_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let (real, link, file) = (temp.path().join("real"), temp.path().join("link"), temp.path().join("file"));
        prepare(&real).unwrap();
        symlink(&real, &link).unwrap();
        fs::write(&file, "").unwrap();
        assert!(prepare(&link).unwrap_err().contains("symbolic link"));
        assert!(prepare(&file).unwrap_err().contains("not a folder"));
        assert!(prepare(&file.join("below")).unwrap_err().contains("can't be read"));
        let stranger = Uid::from_raw(Uid::effective().as_raw() + 1);
        assert!(check(&real, &real.metadata().unwrap(), stranger).unwrap_err().contains("belongs to user"));
    }
}
