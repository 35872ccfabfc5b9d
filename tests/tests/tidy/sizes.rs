//! How long a file, a function and a list of arguments may be.

use crate::source::{Source, attributes_of, is_test_item, line_of};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Lines of code in a file, its tests left out.
const FILE: usize = 500;
/// Lines of code in a function.
const FUNCTION: usize = 60;
/// Arguments of a function beside `self`.
const ARGUMENTS: usize = 5;

/// Everything in a file that is too long.
pub fn check(source: &Source) -> Vec<String> {
    if source.is_test() {
        return Vec::new();
    }
    let mut sizes = Sizes { source, test_lines: 0, complaints: Vec::new() };
    sizes.visit_file(&source.items);
    let all = source.text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count();
    let code = all - sizes.test_lines;
    if code > FILE {
        sizes.complaints.push(source.complain(1, &format!("{code} lines of code, {FILE} are allowed")));
    }
    sizes.complaints
}

struct Sizes<'a> {
    source: &'a Source,
    test_lines: usize,
    complaints: Vec<String>,
}

impl Sizes<'_> {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let lines = self.source.code_lines(signature.span().start(), block.span().end());
        let name = &signature.ident;
        if lines > FUNCTION {
            let what = format!("`{name}` has {lines} lines of code, {FUNCTION} are allowed");
            self.complaints.push(self.source.complain(line_of(signature), &what));
        }
        self.arguments(signature);
    }

    fn arguments(&mut self, signature: &syn::Signature) {
        let arguments = signature.inputs.iter().filter(|input| matches!(input, syn::FnArg::Typed(_))).count();
        if arguments > ARGUMENTS {
            let what = format!("`{}` has {arguments} arguments, {ARGUMENTS} are allowed", signature.ident);
            self.complaints.push(self.source.complain(line_of(signature), &what));
        }
    }
}

impl<'ast> Visit<'ast> for Sizes<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_test_item(attributes_of(item)) {
            self.test_lines += self.source.code_lines(item.span().start(), item.span().end());
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        match &item.default {
            Some(block) => self.function(&item.sig, block),
            None => self.arguments(&item.sig),
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> usize {
        check(&Source::parse("agentd/src/x.rs", text)).len()
    }

    #[test]
    fn what_is_too_long_is_found() {
        let body = |lines| "let x = 1;\n".repeat(lines);
        assert_eq!(complaints(&format!("fn f() {{\n{}}}", body(58))), 0);
        assert_eq!(complaints(&format!("fn f() {{\n{}}}", body(59))), 1);
        assert_eq!(complaints(&format!("fn f() {{\n// why\n\n{}}}", body(58))), 0);
        assert_eq!(complaints(&format!("impl X {{ fn f() {{\n{}}} }}", body(60))), 1);
        assert_eq!(complaints("fn f(a: u8, b: u8, c: u8, d: u8, e: u8) {}"), 0);
        assert_eq!(complaints("impl X { fn f(&self, a: u8, b: u8, c: u8, d: u8, e: u8) {} }"), 0);
        assert_eq!(complaints("trait X { fn f(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8); }"), 1);
        assert_eq!(complaints(&"const X: u8 = 1;\n".repeat(501)), 1);
        assert_eq!(complaints(&"const X: u8 = 1;\n// x\n\n".repeat(500)), 0);
        let tests = format!("#[cfg(test)]\nmod tests {{\nfn f() {{\n{}}}\n}}", body(600));
        assert_eq!(complaints(&tests), 0);
    }
}
