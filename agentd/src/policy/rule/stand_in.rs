//! What stands in for a deny or ask rule that can't be used: questions about every call that it may have meant. Called by
//! `config` for such entries of settings. Pure.

use super::{PATH_TOOLS, Rule};

/// Tools that have rules of their own kind, beside those on paths. Another word may be no tool at all.
const TOOLS: [&str; 6] = ["Bash", "WebFetch", "WebSearch", "Agent", "Task", "Skill"];
/// Every tool.
const ALL: &str = "*";

impl Rule {
    /// The ask rules for an entry that is no rule: for every call of the tool that it names at its start, or, where it
    /// names none, for every call of every tool. A rule on reading may also have been about commands and changes.
    #[must_use]
    pub fn stand_ins(entry: &str) -> &'static [&'static str] {
        match named(entry) {
            Some("Read" | "Glob" | "Grep" | "LSP") => &["Read", "Edit", "Read(//**)", "Edit(//**)"],
            Some("Edit" | "Write" | "NotebookEdit" | "MultiEdit") => &["Edit", "Edit(//**)"],
            Some("Bash") => &["Bash"],
            Some("WebFetch") => &["WebFetch"],
            Some("WebSearch") => &["WebSearch"],
            Some("Agent" | "Task") => &["Agent"],
            Some("Skill") => &["Skill"],
            Some(_) | None => &[ALL],
        }
    }
}

/// The known tool that an entry begins with.
fn named(entry: &str) -> Option<&str> {
    let entry = entry.trim();
    let end = entry.find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '-' | '*'));
    let name = entry.get(..end.unwrap_or(entry.len()))?;
    (TOOLS.contains(&name) || PATH_TOOLS.contains(&name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_covers_the_tool_that_is_named_and_else_every_tool() {
        for (entry, covered, free) in [
            ("Bash(rm", Some("Bash"), Some("Read")),
            (" Bash rm *", Some("Bash"), Some("Read")),
            ("Bash()", Some("Bash"), Some("Edit")),
            ("WebFetch(example.org)", Some("WebFetch"), Some("Bash")),
            ("Read(.env", Some("Write"), Some("WebFetch")),
            ("Write(src", Some("Edit"), Some("Read")),
            ("Task(x", Some("Agent"), Some("Bash")),
            ("Do not run rm", Some("Bash"), None),
            ("bash(rm", Some("Bash"), None),
            ("mcp__x(", Some("mcp__x__y"), None),
            ("", Some("Read"), None),
        ] {
            let rules: Vec<Rule> = Rule::stand_ins(entry).iter().map(|text| Rule::parse(text).unwrap()).collect();
            let covers = |tool: &str| rules.iter().any(|rule| rule.covers(tool));
            assert!(covered.is_none_or(covers), "{entry}");
            assert!(!free.is_some_and(covers), "{entry}");
        }
    }
}
