//! What must be said in comments: heads of files, public items of `proto`, reasons of `#[allow]`.

use crate::source::{Source, attributes_of, is_test_item, line_of};
use syn::Attribute;
use syn::visit::{self, Visit};

/// A file opens with `//!`.
pub fn check_head(source: &Source) -> Vec<String> {
    if source.text.starts_with("//! ") { Vec::new() } else { vec![source.complain(1, "no `//!` at the start")] }
}

/// Each `#[allow]` and `#[expect]` has a comment on its line or on the line before.
pub fn check_allow(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
    let mut complaints = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let attribute =
            ["#[allow(", "#![allow(", "#[expect(", "#![expect("].iter().any(|start| line.starts_with(start));
        let before = at.checked_sub(1).map_or("", |before| lines[before]);
        let reason = line.contains("//") || before.starts_with("// ") || line.contains("reason = \"");
        if attribute && !reason {
            complaints.push(source.complain(at + 1, "a lint is turned off without a reason"));
        }
    }
    complaints
}

/// No test is ignored.
pub fn check_ignored(source: &Source) -> Vec<String> {
    struct Ignored<'a>(&'a Source, Vec<String>);
    impl<'ast> Visit<'ast> for Ignored<'_> {
        fn visit_attribute(&mut self, attribute: &'ast Attribute) {
            if attribute.path().is_ident("ignore") {
                self.1.push(self.0.complain(line_of(attribute), "a test is ignored"));
            }
        }
    }
    let mut ignored = Ignored(source, Vec::new());
    ignored.visit_file(&source.items);
    ignored.1
}

/// Each public item, field, variant and method of `proto` has a `///`.
pub fn check_documented(source: &Source) -> Vec<String> {
    if !source.path.starts_with("proto/src/") {
        return Vec::new();
    }
    let mut visitor = Documented { source, complaints: Vec::new() };
    visitor.visit_file(&source.items);
    visitor.complaints
}

struct Documented<'a> {
    source: &'a Source,
    complaints: Vec<String>,
}

impl Documented<'_> {
    fn need(&mut self, attributes: &[Attribute], name: &dyn ToString, line: usize) {
        if !attributes.iter().any(|attribute| attribute.path().is_ident("doc")) {
            self.complaints.push(self.source.complain(line, &format!("`{}` is not documented", name.to_string())));
        }
    }
}

impl<'ast> Visit<'ast> for Documented<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = attributes_of(item);
        if is_test_item(attributes) {
            return;
        }
        let (visibility, name) = match item {
            syn::Item::Const(item) => (&item.vis, &item.ident),
            syn::Item::Enum(item) => (&item.vis, &item.ident),
            syn::Item::Fn(item) => (&item.vis, &item.sig.ident),
            syn::Item::Struct(item) => (&item.vis, &item.ident),
            syn::Item::Trait(item) => (&item.vis, &item.ident),
            syn::Item::Type(item) => (&item.vis, &item.ident),
            // A module is documented by the head of its file.
            _ => return visit::visit_item(self, item),
        };
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.need(attributes, name, line_of(name));
            visit::visit_item(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let (Some(name), syn::Visibility::Public(_)) = (&field.ident, &field.vis) {
            self.need(&field.attrs, name, line_of(name));
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.need(&variant.attrs, &variant.ident, line_of(&variant.ident));
        // A variant's fields are as public as its enum.
        for field in &variant.fields {
            if let Some(name) = &field.ident {
                self.need(&field.attrs, name, line_of(name));
            }
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // What a trait asks for is documented at the trait.
        if item.trait_.is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if matches!(item.vis, syn::Visibility::Public(_)) {
            self.need(&item.attrs, &item.sig.ident, line_of(&item.sig.ident));
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.need(&item.attrs, &item.sig.ident, line_of(&item.sig.ident));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Source {
        Source::parse("proto/src/x.rs", text)
    }

    #[test]
    fn a_file_without_a_head_is_found() {
        assert_eq!(check_head(&parse("//! Head.\n")).len(), 0);
        assert_eq!(check_head(&parse("use x::y;\n//! Late.\n".split_once("//!").unwrap().0)).len(), 1);
        assert_eq!(check_head(&parse("// Not a head.\n")).len(), 1);
    }

    #[test]
    fn an_allow_without_a_reason_is_found() {
        assert_eq!(check_allow(&parse("#[allow(dead_code)]\nfn f() {}")).len(), 1);
        assert_eq!(check_allow(&parse("#![allow(dead_code)]\nfn f() {}")).len(), 1);
        assert_eq!(check_allow(&parse("/// Doc.\n#[expect(dead_code)]\nfn f() {}")).len(), 1);
        assert_eq!(check_allow(&parse("#[allow(dead_code)] // why\nfn f() {}")).len(), 0);
        assert_eq!(check_allow(&parse("// why\n#[allow(dead_code)]\nfn f() {}")).len(), 0);
    }

    #[test]
    fn an_ignored_test_is_found() {
        assert_eq!(check_ignored(&parse("mod m {\n#[test]\n#[ignore = \"slow\"]\nfn f() {}\n}")).len(), 1);
        assert_eq!(check_ignored(&parse("#[test]\nfn ignore() {}")).len(), 0);
    }

    #[test]
    fn an_undocumented_item_is_found() {
        let bad = ["pub struct X;", "/// X.\npub struct X { pub y: u8 }", "/// X.\npub enum X { Y }", "pub fn f() {}"];
        for text in bad {
            assert_eq!(check_documented(&parse(text)).len(), 1, "{text}");
        }
        let variant = "/// X.\npub enum X {\n/// Y.\nY { z: u8 } }";
        assert_eq!(check_documented(&parse(variant)).len(), 1);
        assert_eq!(check_documented(&parse("impl X { pub fn f() {} }")).len(), 1);
        assert_eq!(check_documented(&parse("/// T.\npub trait T { fn f(); }")).len(), 1);
        assert_eq!(check_documented(&parse("/// X.\npub struct X { y: u8 }")), Vec::<String>::new());
        let good = "struct X { y: u8 }\n/// Y.\npub struct Y(pub u8);\nimpl Z for X { fn f() {} }";
        assert_eq!(check_documented(&parse(good)), Vec::<String>::new());
    }
}
