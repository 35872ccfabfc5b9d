//! Permission rules: `Tool` for every call of a tool, `Tool(content)` for some. In this version content is
//! compared to the letter, with a command or a path; patterns are not understood yet and fail closed.

use serde_json::Value;
use std::fmt;

/// The input fields that a rule's content is compared with (the main content fields of the tools).
const CONTENT_FIELDS: [&str; 5] = ["command", "file_path", "path", "pattern", "url"];

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    tool: String,
    content: Option<String>,
}

/// A rule that can't be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a permission rule: write Tool or Tool(content), such as Edit or Bash(npm test)")]
pub struct RuleError {
    /// The rule's text.
    pub text: String,
}

/// Whether a rule speaks of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It may: its content is a pattern, which this version can't judge.
    Unclear,
}

impl Rule {
    /// Parses a rule. `Tool(*)` is the same as `Tool`.
    ///
    /// # Errors
    /// If it has another form.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let error = || RuleError { text: text.to_owned() };
        let (tool, content) = match text.trim().split_once('(') {
            None => (text.trim(), None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(error)?)),
        };
        let named = !tool.is_empty() && tool.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '*'));
        if !named || content == Some("") {
            return Err(error());
        }
        let content = content.filter(|content| *content != "*").map(str::to_owned);
        Ok(Self { tool: tool.to_owned(), content })
    }

    /// Whether the rule speaks of a call of this tool with this input.
    #[must_use]
    pub fn matches(&self, tool: &str, input: &Value) -> Match {
        if !self.names(tool) {
            return Match::No;
        }
        let Some(content) = &self.content else { return Match::Yes };
        if self.is_pattern() {
            return Match::Unclear;
        }
        let same = CONTENT_FIELDS.iter().any(|field| input.get(field).and_then(Value::as_str) == Some(content));
        if same { Match::Yes } else { Match::No }
    }

    /// `Edit` rules cover all tools that change files, `Read` rules all that read them.
    fn names(&self, tool: &str) -> bool {
        match self.tool.as_str() {
            "*" => true,
            "Edit" => matches!(tool, "Edit" | "Write" | "NotebookEdit"),
            "Read" => matches!(tool, "Read" | "Grep" | "Glob"),
            name if name.contains('*') => wildcard(name, tool),
            name => name == tool || is_server_of(name, tool),
        }
    }

    /// Whether the rule, without any content, speaks of every call of this tool: such a deny rule takes the tool
    /// out of what the model is told of (row R01).
    #[must_use]
    pub fn covers(&self, tool: &str) -> bool {
        self.content.is_none() && self.names(tool)
    }

    /// Whether the rule's content is a pattern, which this version can't judge.
    #[must_use]
    pub fn is_pattern(&self) -> bool {
        let pattern = |text: &String| text.contains('*') || text.ends_with('/') || text.starts_with("domain:");
        self.content.as_ref().is_some_and(pattern)
    }

    /// The tool that the rule names.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Whether the rule names its tool by a glob, which may tighten but never widen.
    #[must_use]
    pub fn is_glob(&self) -> bool {
        self.tool.contains('*')
    }
}

/// Whether a rule's name is an MCP server, and the tool one of its tools: `mcp__memory` stands for all of them.
fn is_server_of(name: &str, tool: &str) -> bool {
    let server = name.strip_prefix("mcp__").filter(|server| !server.contains("__"));
    server.is_some() && tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"))
}

/// Whether a text fits a pattern in which `*` stands for any characters.
#[must_use]
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            None => f.write_str(&self.tool),
            Some(content) => write!(f, "{}({content})", self.tool),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rules_parse_or_say_why_not() {
        for good in ["Bash", "Bash(npm test)", "Edit(/a/b)", "mcp__server__tool", "mcp__*", "Bash(echo (a))"] {
            assert_eq!(Rule::parse(good).unwrap().to_string(), good);
        }
        assert_eq!(Rule::parse("Bash(*)").unwrap(), Rule::parse("Bash").unwrap());
        for bad in ["", "Bash(", "Bash()", "(x)", "Ba sh", "Bash(x) y"] {
            assert!(Rule::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn content_is_compared_to_the_letter_and_patterns_are_unclear() {
        let command = json!({"command": "npm test"});
        let matches = |rule: &str| Rule::parse(rule).unwrap().matches("Bash", &command);
        assert_eq!(matches("Bash"), Match::Yes);
        assert_eq!(matches("Bash(npm test)"), Match::Yes);
        assert_eq!(matches("Bash(npm)"), Match::No);
        assert_eq!(matches("Bash(npm *)"), Match::Unclear);
        assert_eq!(matches("Read"), Match::No);
    }

    #[test]
    fn edit_and_read_stand_for_their_families() {
        let matches = |rule: &str, tool: &str| Rule::parse(rule).unwrap().matches(tool, &json!({})) == Match::Yes;
        assert!(matches("Edit", "Write") && matches("Read", "Grep") && matches("*", "Bash"));
        assert!(!matches("Write", "Edit") && !matches("Edit", "Read"));
    }

    #[test]
    fn a_rule_may_name_a_server_or_a_pattern_of_tools() {
        for (rule, tool, covers) in [
            ("mcp__memory", "mcp__memory__store", true),
            ("mcp__memory", "mcp__memory2__store", false),
            ("mcp__memory", "mcp__memory", true),
            ("mcp__*", "mcp__memory__store", true),
            ("mcp__*", "Bash", false),
            ("mcp__memory__get_*", "mcp__memory__get_one", true),
            ("mcp__memory__get_*", "mcp__memory__store", false),
            ("*", "Bash", true),
            ("Bash", "Bash", true),
            ("Bash(rm)", "Bash", false),
        ] {
            assert_eq!(Rule::parse(rule).unwrap().covers(tool), covers, "{rule} {tool}");
        }
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, fits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "a", true),
            ("*b", "ab", true),
            ("a*a", "a", false),
            ("git * main", "git push origin main", true),
            ("git * main", "git main", false),
            ("*x*x*", "axbx", true),
            ("*", "", true),
        ] {
            assert_eq!(wildcard(pattern, text), fits, "{pattern} {text}");
        }
    }
}
