//! Grep on real files: what it finds, and how much of it is told.

use super::*;
use crate::tools::testing::{Scratch, assert_error, assert_ok};
use serde_json::json;

fn tree() -> Scratch {
    let scratch = Scratch::new();
    scratch.write(".gitignore", "target/\n*.log\n");
    scratch.write("b.rs", "fn main() {\n    let x = 1;\n}\n");
    scratch.write("a.rs", "fn a() {}\nfn b() {}\n// FN\n");
    scratch.write("src/lib.py", "def fn():\n    pass\n");
    scratch.write(".hidden/c.rs", "fn hidden() {}\n");
    scratch.write("target/d.rs", "fn ignored() {}\n");
    scratch.write("x.log", "fn log\n");
    scratch.write(".git/config", "fn git\n");
    scratch.write("bin.rs", b"fn bin\0\n");
    scratch.write("late.bin", [b"fn late\n".repeat(20_000).as_slice(), b"\0"].concat());
    scratch
}

#[test]
fn every_mode_and_option() {
    let scratch = tree();
    std::fs::remove_file(scratch.path("late.bin")).unwrap();
    for (input, expected) in [
        (json!({"pattern": "fn "}), ".hidden/c.rs\na.rs\nb.rs"),
        (json!({"pattern": "fn", "type": "py"}), "src/lib.py"),
        (json!({"pattern": "fn", "glob": "*.py"}), "src/lib.py"),
        (json!({"pattern": "fn", "glob": "src/**/*.{py,rs}"}), "src/lib.py"),
        (json!({"pattern": "fn", "glob": "*.py, b.*"}), "b.rs\nsrc/lib.py"),
        (json!({"pattern": "fn", "glob": "!*.rs"}), "src/lib.py"),
        (json!({"pattern": "fn ", "path": ".hidden"}), ".hidden/c.rs"),
        (json!({"pattern": "fn ", "output_mode": "count"}), ".hidden/c.rs:1\na.rs:2\nb.rs:1"),
        (json!({"pattern": "^fn [ab]", "output_mode": "content"}), "a.rs:1:fn a() {}\na.rs:2:fn b() {}"),
        (json!({"pattern": "^fn [ab]", "output_mode": "content", "-n": false}), "a.rs:fn a() {}\na.rs:fn b() {}"),
        (json!({"pattern": "^fn [ab]", "output_mode": "content", "path": "a.rs"}), "1:fn a() {}\n2:fn b() {}"),
        (json!({"pattern": "// fn", "-i": true}), "a.rs"),
        (json!({"pattern": "fn [a-z]+", "output_mode": "content", "-o": true, "path": "a.rs"}), "1:fn a\n2:fn b"),
        (json!({"pattern": "let", "output_mode": "content", "-A": 1}), "b.rs:2:    let x = 1;\nb.rs-3-}"),
        (json!({"pattern": "let", "output_mode": "content", "-B": 1}), "b.rs-1-fn main() {\nb.rs:2:    let x = 1;"),
        (
            json!({"pattern": "let|FN", "output_mode": "content", "-C": 1}),
            "a.rs-2-fn b() {}\na.rs:3:// FN\n--\nb.rs-1-fn main() {\nb.rs:2:    let x = 1;\nb.rs-3-}",
        ),
        (
            json!({"pattern": "let", "output_mode": "content", "context": 1, "-A": 0}),
            "b.rs-1-fn main() {\nb.rs:2:    let x = 1;",
        ),
        (json!({"pattern": "\\{.*\\}", "multiline": true}), ".hidden/c.rs\na.rs\nb.rs"),
        (
            json!({"pattern": "main.*\\n.*let", "multiline": true, "output_mode": "content"}),
            "b.rs:1:fn main() {\nb.rs:2:    let x = 1;",
        ),
        (json!({"pattern": "nothing at all"}), "No match."),
        (json!({"pattern": "fn", "path": "bin.rs"}), "No match."),
    ] {
        assert_eq!(assert_ok(&scratch.run(&Grep, input.clone())), expected, "{input}");
    }
}

#[test]
fn limits_say_that_there_is_more() {
    let scratch = Scratch::new();
    scratch.write("f", "x\n".repeat(300));
    let output = scratch.run(&Grep, json!({"pattern": "x", "output_mode": "content"}));
    let text = assert_ok(&output);
    assert!(
        text.ends_with(
            "\n250:x\n\n[There is more; go on with offset 250, or search for less]"
                .replace("250:x", "f:250:x")
                .as_str()
        ),
        "{text}"
    );
    assert_eq!(output.summary, "250+ lines");
    for (input, expected) in [
        (json!({"pattern": "x", "output_mode": "content", "offset": 298}), "f:299:x\nf:300:x"),
        (json!({"pattern": "x", "output_mode": "content", "offset": 300}), "[There is no more: 300 lines in all]"),
        (json!({"pattern": "x", "output_mode": "content", "head_limit": 1, "offset": 299}), "f:300:x"),
    ] {
        assert_eq!(assert_ok(&scratch.run(&Grep, input.clone())), expected, "{input}");
    }
    let all = assert_ok(&scratch.run(&Grep, json!({"pattern": "x", "output_mode": "content", "head_limit": 0})));
    assert_eq!(all.lines().count(), 300);
}

#[test]
fn a_nul_byte_far_into_a_file_makes_it_binary() {
    let scratch = tree();
    let text = assert_ok(&scratch.run(&Grep, json!({"pattern": "fn late", "output_mode": "count"})));
    assert_eq!(text, "No match.");
}

#[test]
fn long_lines_are_cut_and_utf16_is_text() {
    let scratch = Scratch::new();
    scratch.write("long", format!("{}\n", "y".repeat(600)));
    scratch.write("wide", b"\xFF\xFEh\0i\0\n\0");
    let text = assert_ok(&scratch.run(&Grep, json!({"pattern": "y", "output_mode": "content"})));
    assert_eq!(text, format!("long:1:{} [… line cut]", "y".repeat(500)));
    assert_eq!(assert_ok(&scratch.run(&Grep, json!({"pattern": "hi", "output_mode": "content"}))), "wide:1:hi");
}

#[test]
fn mistakes_are_explained() {
    let scratch = tree();
    for (input, message) in [
        (json!({"pattern": "("}), "the field `pattern` is not a valid regular expression"),
        (json!({"pattern": "a\\nb"}), "set `multiline`"),
        (json!({"pattern": "a", "glob": "a["}), "the field `glob` is not a valid pattern"),
        (json!({"pattern": "a", "type": "klingon"}), "unknown type of file, `klingon`"),
        (json!({"pattern": "a", "path": "none"}), "none does not exist"),
        (json!({"pattern": "a", "output_mode": "x"}), "must be one of \"content\", \"files_with_matches\", \"count\""),
        (json!({"pattern": "a", "-A": -1}), "the field `-A` must be a whole number"),
    ] {
        let error = assert_error(&scratch.run(&Grep, input));
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_cancelled_search_says_so() {
    let scratch = tree();
    scratch.cancel.cancel();
    assert!(assert_error(&scratch.run(&Grep, json!({"pattern": "a"}))).contains("cancelled"));
}

#[test]
fn summaries_count_in_plain_words() {
    let scratch = Scratch::new();
    scratch.write("a", "x\n");
    scratch.write("b", "y\ny\n");
    for (pattern, mode, summary) in [
        ("x", "content", "1 line"),
        ("x", "files_with_matches", "1 file"),
        ("x", "count", "1 match in 1 file"),
        ("y", "content", "2 lines"),
        ("y", "count", "2 matches in 1 file"),
        ("[xy]", "files_with_matches", "2 files"),
    ] {
        let output = scratch.run(&Grep, json!({"pattern": pattern, "output_mode": mode}));
        assert_eq!(output.summary, summary, "{pattern} {mode}");
    }
    let output = scratch.run(&Grep, json!({"pattern": "x", "offset": 5}));
    assert_eq!(assert_ok(&output), "[There is no more: 1 file in all]");
    for pattern in ["x\ny", "x\\ny"] {
        assert!(
            assert_error(&scratch.run(&Grep, json!({"pattern": pattern}))).contains("set `multiline`"),
            "{pattern:?}"
        );
    }
}

/// What a rule denies reading is come upon by no search.
#[test]
fn hidden_files_are_left_out() {
    let scratch = tree();
    let hidden: crate::tools::Hidden = std::sync::Arc::new(|path, _| path.ends_with("src/lib.py"));
    for (tool, input) in [
        (&Grep as &dyn Tool, json!({"pattern": "fn", "type": "py"})),
        (&crate::tools::glob::Glob, json!({"pattern": "**/*.py"})),
    ] {
        assert!(assert_ok(&scratch.run(tool, input.clone())).contains("src/lib.py"));
        let context = ToolContext { hidden: Some(hidden.clone()), ..scratch.context() };
        assert!(!assert_ok(&scratch.run_in(context, tool, input)).contains("lib.py"));
    }
}
