//! Names of MCP tools in rules: `mcp__server` and `mcp__server__*` stand for all tools of a server. Called by `rule`.

/// Whether a rule's name is an MCP server, and the tool one of its tools: `mcp__memory` stands for all of them.
pub(super) fn is_server_of(name: &str, tool: &str) -> bool {
    let server = name.strip_prefix("mcp__").filter(|server| !server.contains("__"));
    server.is_some() && tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"))
}

/// Whether a glob names its server to the letter, as `mcp__memory__get_*` does: only such a glob may allow.
pub(super) fn literal_server(name: &str) -> bool {
    let server = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map(|(server, _)| server);
    server.is_some_and(|server| !server.is_empty() && !server.contains('*'))
}
