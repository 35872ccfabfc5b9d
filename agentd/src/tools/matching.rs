//! Which rules speak of a call, by its fields and by its path. Called by tools for `Tool::matcher`. It is for rules
//! that tighten: what it does not understand it says to be spoken of. Reads links, opens nothing.

use super::paths::locate;
use super::tool::{PermissionMatcher, ToolContext};
use crate::base::paths::home;
use crate::policy::wildcard;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// `field:value`: a field of the input has this value, in which `*` is any text. Any other content is not understood.
pub(super) fn by_field(input: &Value) -> PermissionMatcher {
    let fields: Vec<(String, String)> = input
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| match value {
            Value::String(text) => Some((name.clone(), text.clone())),
            Value::Bool(_) | Value::Number(_) => Some((name.clone(), value.to_string())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        })
        .collect();
    Box::new(move |pattern| match pattern.split_once(':') {
        Some((name, wanted)) => fields.iter().any(|(field, value)| field == name && wildcard(wanted.trim(), value)),
        None => true,
    })
}

/// A path, as `.gitignore` files write it: `//p` from the root of the file system, `~/p` from home, `/p` and `p` from
/// the session's folder. It speaks of the path as written and of where its links lead.
pub(super) fn by_path(input: &Value, field: &str, context: &ToolContext) -> PermissionMatcher {
    let path = input.get(field).and_then(Value::as_str).unwrap_or(".");
    // What leads nowhere fails before it runs.
    let Ok(place) = locate(path, context) else { return Box::new(|_| true) };
    let (root, home) = (context.root.clone(), home(&context.env));
    Box::new(move |pattern| {
        let (base, pattern) = anchored(pattern, &root, &home);
        let Some(rules) = rules(&base, &pattern) else { return true };
        [&place.path, &place.real].into_iter().any(|path| is_named(&rules, &base, path))
    })
}

fn anchored(pattern: &str, root: &Path, home: &Path) -> (PathBuf, String) {
    if let Some(rest) = pattern.strip_prefix("//") {
        return (PathBuf::from("/"), format!("/{rest}"));
    }
    if let Some(rest) = pattern.strip_prefix("~/") {
        return (home.to_owned(), format!("/{rest}"));
    }
    let pattern = pattern.strip_prefix("./").map_or_else(|| pattern.to_owned(), |rest| format!("/{rest}"));
    (root.to_owned(), pattern)
}

fn rules(base: &Path, pattern: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(base);
    builder.add_line(None, pattern).ok()?;
    builder.build().ok()
}

fn is_named(rules: &Gitignore, base: &Path, path: &Path) -> bool {
    // Its own matcher strips the base as it is written, so a path with `..` is cleaned first.
    let clean = lexically_clean(path);
    let base = lexically_clean(base);
    let Ok(inner) = clean.strip_prefix(&base) else { return false };
    !inner.as_os_str().is_empty() && rules.matched_path_or_any_parents(inner, clean.is_dir()).is_ignore()
}

fn lexically_clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                clean.pop();
            }
            std::path::Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Scratch;
    use serde_json::json;
    use std::os::unix::fs::symlink;

    #[test]
    fn fields_are_compared_by_name() {
        let matches = by_field(&json!({"owner": "me", "draft": true, "count": 2, "list": ["x"]}));
        for (pattern, expected) in [
            ("owner:me", true),
            ("owner:m*", true),
            ("owner:you", false),
            ("draft:true", true),
            ("count:2", true),
            ("list:x", false),
            ("absent:x", false),
            ("not understood", true),
        ] {
            assert_eq!(matches(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn paths_are_compared_as_gitignore_does() {
        let scratch = Scratch::new();
        scratch.write("secret/key", "");
        symlink(scratch.path("secret"), scratch.path("open")).unwrap();
        let context = scratch.context();
        let matches = |path: &str, pattern: &str| by_path(&json!({"file_path": path}), "file_path", &context)(pattern);
        let absolute = format!("//{}", scratch.path("src").to_str().unwrap().trim_start_matches('/'));
        for (path, pattern, expected) in [
            ("src/a.rs", "src/**", true),
            ("src/a.rs", "/src/*.rs", true),
            ("src/a.rs", "./src/a.rs", true),
            ("src/a.rs", "*.rs", true),
            ("src/deep/a.rs", "/src/*.rs", false),
            ("src/a.rs", "lib/**", false),
            ("x/../src/a.rs", "/src/**", true),
            ("src/a.rs", &format!("{absolute}/**"), true),
            ("/etc/passwd", "//etc/**", true),
            ("/etc/passwd", "etc/**", false),
            ("~/.ssh/id", "~/.ssh/**", true),
            ("open/key", "secret/**", true),
            ("secret", "secret/", true),
        ] {
            assert_eq!(matches(path, pattern), expected, "{path} {pattern}");
        }
    }
}
