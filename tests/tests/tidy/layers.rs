//! The layers of agentd: which module may name which. A new edge is a visible change of this table.

use crate::source::{Repository, Source, attributes_of, is_test_item, line_of};
use proc_macro2::{TokenStream, TokenTree};
use std::fs;
use syn::visit::{self, Visit};

/// Each module with those that it may name, lowest first.
const LAYERS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("event", &["base"]),
    ("turn", &["base", "event"]),
    ("shell", &["base"]),
    ("policy", &["base", "event", "shell"]),
    ("prompt", &["base", "event"]),
    ("config", &["base", "policy"]),
    ("store", &["base", "event"]),
    ("process", &["base"]),
    ("model", &["base", "event", "turn", "config"]),
    ("tools", &["base", "event", "shell", "policy", "process", "config"]),
    (
        "session",
        &["base", "event", "turn", "shell", "policy", "prompt", "config", "store", "process", "model", "tools"],
    ),
    ("hub", &["base", "event", "policy", "config", "store", "process", "model", "tools", "session"]),
    ("server", &["base", "event", "config", "hub"]),
    ("daemon", &["base", "event", "config", "store", "process", "model", "tools", "session", "hub", "server"]),
];

/// Modules without async, I/O and clock.
const PURE: &[&str] = &["event", "turn", "shell", "policy", "prompt"];

/// What a pure module may not name.
const IMPURE: &[&str] = &[
    "tokio",
    "reqwest",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "crate::base::clock",
];

/// Every edge of a file that the table does not allow.
pub fn check(source: &Source) -> Vec<String> {
    let Some(module) = module_of(&source.path) else { return Vec::new() };
    let allowed = LAYERS.iter().find(|(name, _)| *name == module).map_or(&[][..], |(_, allowed)| allowed);
    let named = names(source).into_iter().filter_map(|(line, path)| {
        let target = path.strip_prefix("crate::")?.split("::").next()?.to_owned();
        (target != module && !allowed.contains(&target.as_str())).then_some((line, target))
    });
    named.map(|(line, target)| source.complain(line, &format!("`{module}` may not name `{target}`"))).collect()
}

/// Everything that a file of the pure layer must not do.
pub fn check_pure(source: &Source) -> Vec<String> {
    if !module_of(&source.path).is_some_and(|module| PURE.contains(&module)) {
        return Vec::new();
    }
    let impure = |path: &str| IMPURE.iter().any(|bad| path == *bad || path.starts_with(&format!("{bad}::")));
    let paths = names(source).into_iter().filter(|(_, path)| impure(path));
    let mut complaints: Vec<String> =
        paths.map(|(line, path)| source.complain(line, &format!("a pure module names `{path}`"))).collect();
    let mut waiting = Async { source, complaints: Vec::new() };
    waiting.visit_file(&source.items);
    complaints.extend(waiting.complaints);
    complaints
}

/// Folders of agentd that the table does not know.
pub fn unknown_modules(repository: &Repository) -> Vec<String> {
    let entries = fs::read_dir(repository.root.join("agentd/src")).expect("agentd has sources");
    let names = entries.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !known(name)).map(|name| format!("agentd/src/{name} has no layer")).collect()
}

fn known(name: &str) -> bool {
    ["lib.rs", "main.rs"].contains(&name) || LAYERS.iter().any(|(module, _)| *module == name)
}

/// The module of agentd that a file belongs to.
fn module_of(path: &str) -> Option<&str> {
    path.strip_prefix("agentd/src/")?.split_once('/').map(|(module, _)| module)
}

/// Every path that a file names, from the crate's root where it leads there, with its line.
fn names(source: &Source) -> Vec<(usize, String)> {
    let inner = source.path.split_once("/src/").map_or("", |(_, inner)| inner);
    let inner = inner.strip_suffix(".rs").unwrap_or(inner);
    let module: Vec<String> = inner.split('/').filter(|part| *part != "mod").map(str::to_owned).collect();
    let mut names = Names { module, found: Vec::new() };
    names.visit_file(&source.items);
    names.found
}

struct Names {
    /// Where we are, from the crate's root.
    module: Vec<String>,
    found: Vec<(usize, String)>,
}

impl Names {
    fn add(&mut self, line: usize, parts: &[String]) {
        let ups = parts.iter().take_while(|part| *part == "super").count();
        let own = usize::from(parts.first().is_some_and(|part| part == "self"));
        let path = if ups + own == 0 {
            parts.join("::")
        } else {
            let kept = self.module.len().saturating_sub(ups);
            let base = std::iter::once("crate".to_owned()).chain(self.module[..kept].iter().cloned());
            base.chain(parts[ups + own..].iter().cloned()).collect::<Vec<_>>().join("::")
        };
        self.found.push((line, path));
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) => self.add(line_of(name), &with(&name.ident)),
            syn::UseTree::Rename(rename) => self.add(line_of(rename), &with(&rename.ident)),
            syn::UseTree::Glob(glob) => self.add(line_of(glob), before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, before)),
        }
    }

    /// `crate::x` in the arguments of a macro, which have no syntax of their own.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if path.is_empty() && ident == "crate" => {
                    line = ident.span().start().line;
                    path.push("crate".to_owned());
                }
                TokenTree::Ident(ident) if !path.is_empty() => path.push(ident.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == ':' => {}
                other => {
                    self.flush(line, &mut path);
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.flush(line, &mut path);
    }

    fn flush(&mut self, line: usize, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.add(line, path);
            path.clear();
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test_item(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(line_of(path), &parts);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.tokens(mac.tokens.clone());
        visit::visit_macro(self, mac);
    }
}

struct Async<'a> {
    source: &'a Source,
    complaints: Vec<String>,
}

impl<'ast> Visit<'ast> for Async<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test_item(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if signature.asyncness.is_some() {
            self.complaints.push(self.source.complain(line_of(signature), "a pure module has an async function"));
        }
    }

    fn visit_expr_async(&mut self, expression: &'ast syn::ExprAsync) {
        self.complaints.push(self.source.complain(line_of(expression), "a pure module has an async block"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        check(&Source::parse(path, text))
    }

    #[test]
    fn each_way_to_name_a_higher_layer_is_found() {
        let bad = [
            "use crate::hub::Hub;",
            "use crate::{base::ids, hub};",
            "use super::super::hub::Hub;",
            "fn f(hub: &crate::hub::Hub) {}",
            "fn f() { crate::hub::start(); }",
            "fn f() { x!(a, crate::hub::start()); }",
            "mod inner { use super::super::super::hub; }",
        ];
        for text in bad {
            let found = complaints("agentd/src/store/journal.rs", text);
            assert_eq!(found, ["agentd/src/store/journal.rs:1: `store` may not name `hub`"], "{text}");
        }
    }

    #[test]
    fn what_the_table_allows_passes() {
        let good = "use crate::base::ids;\nuse super::recover;\nuse crate::store::lock;\nuse self::x;\nuse tokio::fs;\n\
                    #[cfg(test)]\nmod tests { use crate::hub::Hub; }";
        assert_eq!(complaints("agentd/src/store/journal.rs", good), Vec::<String>::new());
        assert_eq!(complaints("agentd/src/lib.rs", "use crate::hub;"), Vec::<String>::new());
        assert_eq!(complaints("agentctl/src/store/x.rs", "use crate::hub;"), Vec::<String>::new());
    }

    #[test]
    fn io_in_a_pure_module_is_found() {
        let bad = [
            "use std::fs;",
            "use std::{fmt, time::Instant};",
            "fn f() { std::env::var(\"x\"); }",
            "use tokio::sync::mpsc;",
            "use crate::base::clock;",
            "async fn f() {}",
            "fn f() { async { 1 }; }",
        ];
        for text in bad {
            assert_eq!(check_pure(&Source::parse("agentd/src/turn/machine.rs", text)).len(), 1, "{text}");
            assert_eq!(check_pure(&Source::parse("agentd/src/store/journal.rs", text)).len(), 0, "{text}");
        }
        assert_eq!(check_pure(&Source::parse("agentd/src/turn/machine.rs", "use std::time::Duration;")).len(), 0);
    }

    #[test]
    fn a_module_without_a_layer_is_found() {
        assert!(known("store") && known("lib.rs") && !known("util"));
    }
}
