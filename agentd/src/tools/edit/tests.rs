//! Edit on real files: what it matches, keeps and refuses.

use super::*;
use crate::tools::read::Read;
use crate::tools::testing::{Scratch, assert_error, assert_ok};
use serde_json::json;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn edit(scratch: &Scratch, path: &str, old: &str, new: &str) -> ToolOutput {
    scratch.run(&Edit, json!({"file_path": path, "old_string": old, "new_string": new}))
}

fn read(scratch: &Scratch, path: &str) {
    assert_ok(&scratch.run(&Read, json!({"file_path": path})));
}

/// A file that was written and read.
fn with_file(content: impl AsRef<[u8]>) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("f", content);
    read(&scratch, "f");
    scratch
}

#[test]
fn one_replacement() {
    let scratch = with_file("a\nb\nc\n");
    let output = edit(&scratch, "f", "b", "x\ny");
    assert_eq!(assert_ok(&output), "Edited f: 1 replacement (line 2).");
    assert_eq!(output.summary, "+2 -1");
    assert_eq!(scratch.read("f"), b"a\nx\ny\nc\n");
    let change = output.file_change.unwrap();
    assert_eq!(change.path, scratch.path("f"));
    assert_eq!(change.diff, "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n");
    assert_eq!(assert_ok(&edit(&scratch, "f", "y", "z")), "Edited f: 1 replacement (line 3).", "without a new read");
}

#[test]
fn every_occurrence() {
    let scratch = with_file("a b a\na\n");
    let input = json!({"file_path": "f", "old_string": "a", "new_string": "x", "replace_all": true});
    assert_eq!(assert_ok(&scratch.run(&Edit, input)), "Edited f: 3 replacements (line 1, 1, 2).");
    assert_eq!(scratch.read("f"), b"x b x\nx\n");
}

#[test]
fn an_empty_old_string_makes_a_file() {
    let scratch = Scratch::new();
    let output = edit(&scratch, "new/f", "", "a\n");
    assert_eq!(assert_ok(&output), "Created new/f.");
    assert_eq!(scratch.read("new/f"), b"a\n");
    assert_eq!(output.file_change.unwrap().diff, "--- /dev/null\n+++ b/new/f\n@@ -0,0 +1 @@\n+a\n");
    assert!(assert_error(&edit(&scratch, "new/f", "", "b")).contains("exists already"));
}

#[test]
fn each_refusal_names_its_remedy_and_changes_nothing() {
    let scratch = with_file("a\nb\na\n");
    scratch.write("unread", "a\n");
    scratch.write("bin", b"a\0");
    scratch.write("dir/f", "");
    for (path, old, new, message) in [
        ("f", "a", "a", "`new_string` is the same as `old_string`"),
        ("f", "x", "y", "`old_string` is not in f; copy it exactly"),
        (
            "f",
            "a",
            "y",
            "`old_string` is in f 2 times (lines 1, 3); add lines around it to make it unique, or set `replace_all`",
        ),
        ("none", "a", "y", "none does not exist; find it with Glob"),
        ("unread", "a", "y", "unread has not been read yet; Read it first"),
        ("bin", "a", "y", "bin is a binary file"),
        ("dir", "a", "y", "is a folder"),
        ("", "a", "y", "the path is empty"),
    ] {
        let error = assert_error(&edit(&scratch, path, old, new));
        assert!(error.contains(message), "{error}");
    }
    assert_eq!(scratch.read("f"), b"a\nb\na\n");
    scratch.write("f", "a\nb\nc\n");
    assert!(
        assert_error(&edit(&scratch, "f", "b", "y")).contains("f has changed since it was read; Read it again first")
    );
    assert_eq!(scratch.read("f"), b"a\nb\nc\n");
}

#[test]
fn only_lines_that_were_read_can_be_edited() {
    let scratch = Scratch::new();
    let lines: String = (1..=100).map(|number| format!("line {number}\n")).collect();
    scratch.write("f", lines);
    assert_ok(&scratch.run(&Read, json!({"file_path": "f", "offset": 10, "limit": 10})));
    let error = assert_error(&edit(&scratch, "f", "line 50\n", "x\n"));
    assert!(error.contains("lines 50 to 50 of f, which have not been read"), "{error}");
    assert_ok(&edit(&scratch, "f", "line 11\n", "x\ny\nz\n"));
    assert_ok(&edit(&scratch, "f", "line 19\n", "w\n"));
    assert!(edit(&scratch, "f", "line 20\n", "v\n").is_error);
    assert!(edit(&scratch, "f", "line 9\n", "v\n").is_error);
}

#[test]
fn bytes_outside_the_place_stay() {
    for (before, old, new, after) in [
        (&b"a\r\nb\r\n"[..], "a\nb", "x\ny\nz", &b"x\r\ny\r\nz\r\n"[..]),
        (b"\xEF\xBB\xBFa\n", "a", "\u{e9}", b"\xEF\xBB\xBF\xC3\xA9\n"),
        (b"\xFF\xFEa\0\r\0\n\0b\0", "b", "\u{e9}\nc", b"\xFF\xFEa\0\r\0\n\0\xE9\0\r\0\n\0c\0"),
        (b"\xFE\xFF\0a", "a", "b", b"\xFE\xFF\0b"),
        (b"caf\xE9 \x81 a", "a", "", b""),
        (b"caf\xE9 \x81 tea", "tea", "th\u{e9}", b"caf\xE9 \x81 th\xE9"),
        (b"no end of line", "end", "END", b"no END of line"),
    ] {
        let scratch = with_file(before);
        let output = edit(&scratch, "f", old, new);
        if after.is_empty() {
            assert!(output.is_error, "ambiguous");
            assert_eq!(scratch.read("f"), before);
        } else {
            assert_ok(&output);
            assert_eq!(scratch.read("f"), after);
        }
    }
    let scratch = with_file(b"caf\xE9");
    assert!(assert_error(&edit(&scratch, "f", "caf", "→")).contains("can't hold the character `→`"));
}

#[test]
fn mode_and_links_stay_and_no_temporary_file_is_left() {
    let scratch = Scratch::new();
    let target = scratch.write("real/script", "#!/bin/sh\necho a\n");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o4751)).unwrap();
    symlink("real/script", scratch.path("link")).unwrap();
    read(&scratch, "link");
    let output = edit(&scratch, "link", "echo a", "echo b");
    assert_ok(&output);
    assert_eq!(output.file_change.unwrap().path, target, "the file itself");
    assert!(scratch.path("link").symlink_metadata().unwrap().is_symlink());
    assert_eq!(scratch.read("real/script"), b"#!/bin/sh\necho b\n");
    assert_eq!(target.metadata().unwrap().permissions().mode() & 0o7777, 0o4751);
    assert_eq!(std::fs::read_dir(scratch.path("real")).unwrap().count(), 1);
}

#[test]
fn a_cancelled_edit_changes_nothing() {
    let scratch = with_file("a\n");
    scratch.cancel.cancel();
    assert!(assert_error(&edit(&scratch, "f", "a", "b")).contains("nothing was changed"));
    assert_eq!(scratch.read("f"), b"a\n");
}

#[test]
fn the_preview_is_the_change() {
    let scratch = with_file("a\n");
    let input = json!({"file_path": "f", "old_string": "a", "new_string": "b"});
    let preview = Edit.preview(&input, &scratch.context());
    assert_eq!(preview, Some(Preview::Diff { diff: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n".to_owned() }));
    assert_eq!(scratch.read("f"), b"a\n");
    assert_eq!(Edit.preview(&json!({"file_path": "f"}), &scratch.context()), None);
}
