//! The repository's files, read once for each check. Knows no rule.

use proc_macro2::LineColumn;
use std::fs;
use std::path::{Path, PathBuf};
use syn::Attribute;
use syn::spanned::Spanned;

/// The repository that the test was built from.
#[derive(Debug)]
pub struct Repository {
    /// Its root.
    pub root: PathBuf,
}

/// A file with its text.
#[derive(Debug, Clone)]
pub struct Text {
    /// From the root, with `/`.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// A Rust file, parsed.
#[derive(Debug)]
pub struct Source {
    /// From the root, with `/`.
    pub path: String,
    /// All of it.
    pub text: String,
    /// Its items.
    pub items: syn::File,
}

/// The repository of this crate.
pub fn repository() -> Repository {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate lies in the workspace").to_owned();
    Repository { root }
}

impl Repository {
    /// Every Rust file.
    pub fn rust_files(&self) -> Vec<Source> {
        let rust = self.text_files().into_iter().filter(|file| is_rust(&file.path));
        rust.map(|file| Source::parse(&file.path, &file.text)).collect()
    }

    /// Every file that people write.
    pub fn text_files(&self) -> Vec<Text> {
        let mut files = Vec::new();
        self.collect(&self.root, &mut files);
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files
    }

    /// One file; none if it is not there.
    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    fn collect(&self, folder: &Path, files: &mut Vec<Text>) {
        for entry in fs::read_dir(folder).expect("a folder of the repository").filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            if path.is_dir() {
                if name != "target" && name != ".git" {
                    self.collect(&path, files);
                }
            } else if name != "Cargo.lock"
                && name != ".git"
                && let Ok(text) = fs::read_to_string(&path)
            {
                let path = path.strip_prefix(&self.root).expect("it lies in the root");
                files.push(Text { path: path.to_string_lossy().into_owned(), text });
            }
        }
    }
}

impl Source {
    /// Parses a file.
    pub fn parse(path: &str, text: &str) -> Self {
        let items = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { path: path.to_owned(), text: text.to_owned(), items }
    }

    /// Whether the whole file is test code, by its place in a crate's `src`.
    pub fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs")
            || self.path.split_once("/src/").is_some_and(|(_, inner)| inner.contains("tests/"))
    }

    /// A complaint about a line of this file.
    pub fn complain(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path)
    }

    /// The lines from one place to another that hold code: neither blank nor comment only.
    pub fn code_lines(&self, from: LineColumn, to: LineColumn) -> usize {
        let lines = self.text.lines().skip(from.line - 1).take(to.line + 1 - from.line).map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
    }
}

/// Whether an item is compiled for tests only.
pub fn is_test_item(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

/// The attributes of an item.
pub fn attributes_of(item: &syn::Item) -> &[Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The first line of a piece of syntax.
pub fn line_of(syntax: &impl Spanned) -> usize {
    syntax.span().start().line
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}
