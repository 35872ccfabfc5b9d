//! Read on real files: lines, limits, pictures and what is no text.

use super::*;
use crate::tools::testing::{Scratch, assert_error, assert_ok, text_of};
use serde_json::json;

fn read(scratch: &Scratch, input: Value) -> String {
    assert_ok(&scratch.run(&Read, input))
}

#[test]
fn lines_come_with_numbers() {
    let scratch = Scratch::new();
    scratch.write("f", "a\r\n\nc");
    let output = scratch.run(&Read, json!({"file_path": "f"}));
    assert_eq!(text_of(&output), "     1\ta\n     2\t\n     3\tc");
    assert_eq!(output.summary, "3 lines");
    assert_eq!(
        read(&scratch, json!({"file_path": "f", "offset": 2, "limit": 1})),
        "     2\t\n\n[lines 2 to 2 of 3; go on with offset 3]"
    );
    assert_eq!(read(&scratch, json!({"file_path": "f", "offset": 0, "limit": 9})), text_of(&output));
    assert_eq!(read(&scratch, json!({"file_path": scratch.path("f")})), text_of(&output));
}

#[test]
fn notices_for_nothing_to_show() {
    let scratch = Scratch::new();
    scratch.write("empty", "");
    scratch.write("f", "a\n");
    assert_eq!(read(&scratch, json!({"file_path": "empty"})), "[empty exists but is empty]");
    assert_eq!(
        read(&scratch, json!({"file_path": "f", "offset": 5})),
        "[The file has only 1 line; line 5 is past its end]"
    );
}

#[test]
fn a_long_file_comes_in_pages_that_say_so() {
    let scratch = Scratch::new();
    scratch.write("f", "x\n".repeat(2001));
    let text = read(&scratch, json!({"file_path": "f"}));
    assert!(text.ends_with("  2000\tx\n\n[PARTIAL: lines 1 to 2000 of 2001; go on with offset 2001]"));
    scratch.write("wide", format!("{}\n", "y".repeat(1000)).repeat(400));
    let text = read(&scratch, json!({"file_path": "wide"}));
    assert!(text.len() < MAX_PAGE_BYTES + 2000);
    assert!(text.ends_with("[PARTIAL: lines 1 to 261 of 400; go on with offset 262]"), "{}", &text[text.len() - 80..]);
}

#[test]
fn a_long_line_is_cut() {
    let scratch = Scratch::new();
    scratch.write("f", format!("{}\n{}\nend\n", "é".repeat(2000), "é".repeat(2001)));
    let text = read(&scratch, json!({"file_path": "f"}));
    let whole = "é".repeat(2000);
    assert_eq!(text, format!("     1\t{whole}\n     2\t{whole} [… line cut]\n     3\tend"));
}

#[test]
fn a_huge_file_is_read_without_being_held() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "first\n");
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    use std::os::unix::fs::FileExt as _;
    let filler = vec![b'z'; 64 << 10];
    for at in 0..260_u64 {
        file.write_all_at(&filler, 6 + at * filler.len() as u64).unwrap();
    }
    let text = read(&scratch, json!({"file_path": "f"}));
    assert!(text.starts_with("     1\tfirst\n     2\tzzz") && text.ends_with("z [… line cut]"));
    assert_eq!(text.len(), 7 + 6 + 7 + 2000 + " [… line cut]".len());
}

#[test]
fn pictures_come_as_pictures_whatever_their_name() {
    let scratch = Scratch::new();
    for (kind, bytes) in picture::tests::samples(20, 30) {
        scratch.write("p.txt", &bytes);
        let output = scratch.run(&Read, json!({"file_path": "p.txt"}));
        let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
        let expected = ContentBlock::Image { media_type: kind.media_type().to_owned(), data };
        assert_eq!(output.content, [expected]);
        assert_eq!(output.summary, format!("picture, 20 by 30 pixels, {} bytes", bytes.len()));

        scratch.write("p.txt", &bytes[..13]);
        let error = assert_error(&scratch.run(&Read, json!({"file_path": "p.txt"})));
        assert!(error.contains("p.txt looks like a picture, but is damaged"), "{error}");
    }
    let [(_, mut large), ..] = picture::tests::samples(20, 30);
    large.resize(usize::try_from(picture::MAX_BYTES).unwrap(), 0);
    scratch.write("p", &large);
    let output = scratch.run(&Read, json!({"file_path": "p"}));
    let [ContentBlock::Image { data, .. }] = output.content.as_slice() else { panic!("a picture: {output:?}") };
    assert_eq!(data.len(), 5 << 20, "what the API takes at most");
    large.push(0);
    scratch.write("p", large);
    let error = assert_error(&scratch.run(&Read, json!({"file_path": "p"})));
    assert!(error.contains("is a picture of 3.8 MiB") && error.contains("make a smaller copy"), "{error}");
}

#[test]
fn what_is_no_text_is_named_and_never_shown() {
    let scratch = Scratch::new();
    for (bytes, expected) in [
        (&b"%PDF-1.7\n1 0 obj\n<<>>"[..], "f is a PDF document of 21 bytes, not a text"),
        (b"\x1f\x8b\x08\x08abc", "f is a compressed file of 7 bytes"),
        (b"PK\x03\x04abc", "f is a ZIP archive or an Office document of 7 bytes"),
        (b"abc\0def", "f is a binary file of 7 bytes"),
    ] {
        scratch.write("f", bytes);
        let output = scratch.run(&Read, json!({"file_path": "f"}));
        let error = assert_error(&output);
        assert!(error.contains(expected) && error.contains("with a command in Bash"), "{error}");
        assert_eq!(output.content.len(), 1);
    }
    scratch.write("f", [&b"abc\0"[..], &[b'x'; 17 << 20]].concat());
    let error = assert_error(&scratch.run(&Read, json!({"file_path": "f"})));
    assert!(error.contains("f is a binary file of 17.0 MiB"), "{error}");
}

#[test]
fn encodings_are_decoded() {
    let scratch = Scratch::new();
    for (bytes, text) in [
        (&b"\xEF\xBB\xBFa"[..], "     1\ta"),
        (b"\xFF\xFEa\0\n\0b\0", "     1\ta\n     2\tb"),
        (b"caf\xE9", "     1\tcafé\n[The file is not UTF-8; its bytes above 127 are shown as in Windows-1252]"),
    ] {
        scratch.write("f", bytes);
        assert_eq!(read(&scratch, json!({"file_path": "f"})), text);
    }
}

#[test]
fn what_can_not_be_read_is_explained() {
    let scratch = Scratch::new();
    scratch.write("dir/f", "");
    scratch.write("bin", b"\x7fELF\0\0");
    nix::unistd::mkfifo(&scratch.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for (path, message) in [
        ("dir", "is a folder; list it with Glob"),
        ("bin", "is a compiled program of 6 bytes"),
        ("pipe", "only plain files"),
        ("none", "does not exist; find files with Glob"),
        ("bin/x", "a file, not a folder"),
    ] {
        let error = assert_error(&scratch.run(&Read, json!({"file_path": path})));
        assert!(error.contains(message), "{error}");
    }
}
