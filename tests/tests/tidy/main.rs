//! The tidy test: the project's measurable rules, held by code. Each rule is a function from sources
//! to complaints, with a test of its own that shows a bad example being found. CONTRIBUTING.md lists
//! the rules.

mod comments;
mod documents;
mod layers;
mod mechanisms;
mod protocol;
mod sizes;
mod source;
mod text;

use source::{Source, repository};

/// Fails with all complaints at once.
fn hold(rule: &str, complaints: &[String]) {
    assert!(complaints.is_empty(), "{rule}:\n{}\n", complaints.join("\n"));
}

/// A rule that each Rust file keeps by itself: the remedy, and the check.
type FileRule = (&'static str, fn(&Source) -> Vec<String>);

const FILE_RULES: &[FileRule] = &[
    ("a lower layer never names a higher one; the table is in tests/tests/tidy/layers.rs", layers::check),
    ("event, turn, shell, policy and prompt are pure", layers::check_pure),
    ("it is too long: split it by meaning", sizes::check),
    ("begin with `//!`: what it is, who calls it, what it never does", comments::check_head),
    ("document what is public in proto", comments::check_documented),
    ("say why in a comment on the line, or on the line before", comments::check_allow),
    ("mend the test or delete it", comments::check_ignored),
];

/// One test for all of them, since parsing is what takes time.
#[test]
fn every_rust_file_keeps_the_rules() {
    let sources = repository().rust_files();
    assert!(sources.len() > 100, "only {} sources were found", sources.len());
    let broken = |(remedy, check): &FileRule| {
        let complaints: Vec<String> = sources.iter().flat_map(check).collect();
        (!complaints.is_empty()).then(|| format!("{remedy}:\n  {}", complaints.join("\n  ")))
    };
    hold("rules are broken", &FILE_RULES.iter().filter_map(broken).collect::<Vec<_>>());
}

#[test]
fn every_module_has_a_layer() {
    hold("add the module to the table in tests/tests/tidy/layers.rs", &layers::unknown_modules(&repository()));
}

#[test]
fn texts_are_clean() {
    let complaints: Vec<String> = repository().text_files().iter().flat_map(text::check).collect();
    hold("clean it up", &complaints);
}

#[test]
fn the_schema_snapshot_is_the_code_s() {
    hold("run `agentctl schema > proto/schema.json`", &protocol::check_snapshot(&repository()));
}

#[test]
fn the_protocol_page_names_what_the_code_has() {
    hold("mend proto/PROTOCOL.md or proto/src", &protocol::check_page(&repository()));
}

#[test]
fn every_mechanism_has_its_tests() {
    hold("mend tests/MECHANISMS.md or the test", &mechanisms::check(&repository()));
}

#[test]
fn links_lead_somewhere() {
    hold("mend the link", &documents::check_links(&repository()));
}

#[test]
fn the_usual_documents_are_there() {
    hold("write it", &documents::check_present(&repository()));
}
