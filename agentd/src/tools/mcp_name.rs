//! Names of MCP tools: `mcp__server__tool`, in letters that every provider takes (row R06). Pure.

use crate::base::text::head;

/// The longest name that every provider takes: OpenAI's limit for the name of a function.
const MAX_CHARS: usize = 64;
/// Of a name that is too long, what its server keeps.
const MAX_SERVER_CHARS: usize = 32;
const PREFIX: &str = "mcp__";
const SEPARATOR: &str = "__";
/// Characters of the sum that tells long names apart.
const SUM_CHARS: usize = 8;

/// The name by which models call a tool of a server. What is no letter, digit, `-` or `_` becomes `_`; a server has no
/// two `_` side by side, so that the name can be taken apart again. A name that is too long ends with a sum of all of it.
#[must_use]
pub fn mcp_name(server: &str, tool: &str) -> String {
    let (own, rest) = (server_part(server), normal(tool));
    let name = format!("{PREFIX}{own}{SEPARATOR}{rest}");
    if name.len() <= MAX_CHARS {
        return name;
    }
    let sum = format!("{:08x}", crc32fast::hash(format!("{server}\0{tool}").as_bytes()));
    let own = head(&own, MAX_SERVER_CHARS).trim_end_matches('_');
    let name = format!("{PREFIX}{own}{SEPARATOR}{rest}");
    format!("{}_{sum}", head(&name, MAX_CHARS - SUM_CHARS - 1))
}

/// The server and the tool of a name, as they stand in it; `None` if it is no name of an MCP tool.
#[must_use]
pub fn split_mcp_name(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix(PREFIX)?.split_once(SEPARATOR)?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

fn normal(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' });
    let name: String = letters.collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

fn server_part(server: &str) -> String {
    let server = normal(server);
    let parts: Vec<&str> = server.split('_').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "server".to_owned() } else { parts.join("_") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Row R06: a name gives back its server and tool; characters that providers refuse are replaced.
    #[test]
    fn names_round_trip_and_odd_characters_are_replaced() {
        for (server, tool, name, parts) in [
            ("github", "create_issue", "mcp__github__create_issue", ("github", "create_issue")),
            ("my server", "do.it!", "mcp__my_server__do_it_", ("my_server", "do_it_")),
            ("a__b_", "_x__y", "mcp__a_b___x__y", ("a_b", "_x__y")),
            ("größe", "日本", "mcp__gr_e____", ("gr_e", "__")),
            ("", "", "mcp__server___", ("server", "_")),
        ] {
            let made = mcp_name(server, tool);
            assert_eq!(made, name);
            assert_eq!(split_mcp_name(&made), Some(parts));
        }
        for other in ["Bash", "mcp__", "mcp__a", "mcp__a__", "mcp____b"] {
            assert_eq!(split_mcp_name(other), None, "{other}");
        }
        let long = |end: &str| mcp_name("server", &format!("{}{end}", "x".repeat(80)));
        assert!(long("a") != long("b") && long("a").len() == MAX_CHARS);
        let far = |end: &str| mcp_name(&format!("{}{end}", "s".repeat(40)), &"x".repeat(30));
        assert!(far("a") != far("b") && split_mcp_name(&far("a")).is_some());
    }

    proptest! {
        #[test]
        fn every_name_is_one_that_providers_take(server in ".{0,90}", tool in ".{0,90}") {
            let name = mcp_name(&server, &tool);
            prop_assert!(name.len() <= MAX_CHARS);
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'));
            let (own, rest) = split_mcp_name(&name).unwrap();
            prop_assert_eq!(name.clone(), format!("mcp__{own}__{rest}"));
            prop_assert!(server_part(&server).starts_with(own) && !own.ends_with('_'));
        }
    }
}
