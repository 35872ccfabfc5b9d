//! Permission rules: `Tool` for every call of a tool, `Tool(content)` for some. What a content means depends on the
//! tool: a command, a path, a host, a name or a field. Called by `config` for what settings say, and by the layers.

mod command;
mod family;
mod host;
mod path;
mod stand_in;

pub(super) use command::CommandPattern;
use command::literal;
pub use command::wildcard;
pub(super) use path::{PathPattern, Start, Use};

use family::{is_server_of, literal_server};
use host::HostPattern;
use std::fmt;

/// Tools whose rules with a content are about paths.
const PATH_TOOLS: [&str; 8] = ["Read", "Edit", "Write", "NotebookEdit", "MultiEdit", "Glob", "Grep", "LSP"];
/// Fields that have rules of their own kind: they are not compared as `field:value`.
const CONTENT_FIELDS: [&str; 5] = ["command", "file_path", "path", "notebook_path", "url"];

/// What a rule does with the calls that it speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Behaviour {
    /// They never run.
    Deny,
    /// They are asked about.
    Ask,
    /// They run unasked.
    Allow,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    tool: String,
    content: Option<String>,
    meaning: Meaning,
}

/// What the content of a rule means.
#[derive(Debug, Clone)]
pub(super) enum Meaning {
    /// There is none: the rule speaks of every call.
    Every,
    /// `Bash(git *)`.
    Command(CommandPattern),
    /// `Read(src/**)`, `Edit(/docs/*)`.
    Path(Box<PathPattern>),
    /// `WebFetch(domain:example.org)`.
    Host(HostPattern),
    /// `Agent(Explore)`, `Skill(review *)`.
    Name(CommandPattern),
    /// Nothing but, perhaps, a field of the input.
    Field,
}

/// A rule that can't be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a permission rule: {why}")]
pub struct RuleError {
    /// The rule's text.
    pub text: String,
    /// What is wrong, and what to write.
    pub why: String,
}

impl Rule {
    /// Parses a rule. `Tool(*)` is the same as `Tool`. In a content `\(`, `\)` and `\\` stand for themselves.
    ///
    /// # Errors
    /// If it has another form, or its content is none that the tool's rules can have.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let error = |why: &str| RuleError { text: text.to_owned(), why: why.to_owned() };
        let form = || error("write Tool or Tool(content), such as Edit or Bash(npm test)");
        let (tool, content) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                let content = rest.strip_suffix(')').filter(|content| !ends_escaped(content)).ok_or_else(form)?;
                (tool, Some(unescaped(content).trim().to_owned()))
            }
        };
        let named = !tool.is_empty() && tool.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '*'));
        if !named || content.as_deref() == Some("") {
            return Err(form());
        }
        let content = content.filter(|content| content != "*");
        let tool = if tool == "Task" { "Agent" } else { tool }.to_owned();
        let meaning = content.as_deref().map_or(Ok(Meaning::Every), |content| meaning(&tool, content));
        let meaning = meaning.map_err(|why| error(&why))?;
        Ok(Self { text: text.to_owned(), tool, content, meaning })
    }

    /// The rule `tool(content)`; the content is written so that it is read back to the letter.
    ///
    /// # Errors
    /// As [`Rule::parse`].
    pub fn of(tool: &str, content: &str) -> Result<Self, RuleError> {
        Self::parse(&format!("{tool}({})", escaped(content)))
    }

    /// The rule for exactly this command.
    ///
    /// # Errors
    /// As [`Rule::parse`]: of an empty command.
    pub fn of_command(command: &str) -> Result<Self, RuleError> {
        Self::of("Bash", &literal(command))
    }

    /// The tool that the rule names.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What is in the parentheses, without escapes. `None` where the rule speaks of every call.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// What the content means.
    pub(super) fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// Whether the rule's name is this tool's, or stands for it. `Edit` covers all tools that change files, `Read`
    /// all that read them.
    #[must_use]
    pub fn names(&self, tool: &str) -> bool {
        match self.tool.as_str() {
            "Edit" => matches!(tool, "Edit" | "Write" | "NotebookEdit" | "MultiEdit"),
            "Read" => matches!(tool, "Read" | "Grep" | "Glob" | "LSP"),
            "Agent" => matches!(tool, "Agent" | "Task"),
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

    /// Whether the rule names its tool by a glob. Such a rule may tighten; it widens only within a named MCP server.
    #[must_use]
    pub fn is_glob(&self) -> bool {
        self.tool.contains('*')
    }

    /// Whether the rule can allow anything.
    pub(super) fn may_allow(&self) -> bool {
        !matches!(self.meaning, Meaning::Field) && (!self.is_glob() || literal_server(&self.tool))
    }

    /// The content as `field:value`, if it can be that.
    pub(super) fn field(&self) -> Option<(&str, &str)> {
        let (name, value) = self.content.as_deref()?.split_once(':')?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        (is_name && !CONTENT_FIELDS.contains(&name)).then_some((name, value.trim()))
    }

    /// Why the rule has no effect, or another one than it may seem, if it stands in the list of this behaviour. For the
    /// person who wrote it.
    #[must_use]
    pub fn warnings(&self, behaviour: Behaviour) -> Vec<String> {
        let mut warnings = Vec::new();
        if behaviour == Behaviour::Allow && self.is_glob() && !literal_server(&self.tool) {
            warnings.push("it allows nothing: name the tool, or the server as in mcp__server__*".to_owned());
        }
        match &self.meaning {
            Meaning::Path(_) if !matches!(self.tool.as_str(), "Read" | "Edit") => {
                let family = if matches!(self.tool.as_str(), "Glob" | "Grep" | "LSP") { "Read" } else { "Edit" };
                warnings.push(format!("it is never consulted: rules on paths are written as {family}(path)"));
            }
            Meaning::Field if behaviour == Behaviour::Allow => {
                warnings.push(format!("it allows nothing: a field of {}'s input can only deny or ask", self.tool));
            }
            Meaning::Field if self.field().is_none() => {
                warnings.push(format!("it speaks of no call: {} has no such rules; write field:value", self.tool));
            }
            Meaning::Command(pattern) if behaviour == Behaviour::Allow && pattern.is_never_allowed() => {
                warnings.push(
                    "it allows nothing: such a command runs others, so only its whole text can be allowed".to_owned(),
                );
            }
            _ => {}
        }
        warnings
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.tool == other.tool && self.content == other.content
    }
}

impl Eq for Rule {}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn meaning(tool: &str, content: &str) -> Result<Meaning, String> {
    Ok(match tool {
        "Bash" => Meaning::Command(CommandPattern::parse(content)?),
        "Agent" | "Skill" => Meaning::Name(CommandPattern::parse(content)?),
        "WebFetch" => match content.strip_prefix("domain:") {
            Some(host) => Meaning::Host(HostPattern::parse(host)?),
            None => return Err("write WebFetch(domain:host), such as WebFetch(domain:example.org)".to_owned()),
        },
        "WebSearch" => return Err("WebSearch has no content; write WebSearch alone".to_owned()),
        tool if PATH_TOOLS.contains(&tool) => Meaning::Path(Box::new(PathPattern::parse(content)?)),
        _ => Meaning::Field,
    })
}

/// Whether a text ends in an odd number of backslashes: the parenthesis after it is no end.
fn ends_escaped(text: &str) -> bool {
    text.chars().rev().take_while(|letter| *letter == '\\').count() % 2 == 1
}

fn unescaped(content: &str) -> String {
    let mut letters = content.chars().peekable();
    let mut plain = String::new();
    while let Some(letter) = letters.next() {
        let stands_for_itself = letter == '\\' && letters.peek().is_some_and(|next| matches!(next, '(' | ')' | '\\'));
        plain.push(if stands_for_itself { letters.next().unwrap_or(letter) } else { letter });
    }
    plain
}

fn escaped(content: &str) -> String {
    content.replace('\\', r"\\").replace('(', r"\(").replace(')', r"\)")
}

#[cfg(test)]
mod tests;
