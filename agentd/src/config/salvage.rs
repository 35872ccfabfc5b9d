//! What can be saved of a settings file that can't be parsed: the rules that tighten, for a slip must not open what was
//! closed. Called by `file`. Pure.

/// The entries of every list that follows this key, or the one text that does, as far as they can be read.
pub(super) fn rules(text: &str, key: &str) -> Vec<String> {
    let key = format!("\"{key}\"");
    let mut rules = Vec::new();
    for (at, _) in text.match_indices(&key) {
        let rest = text.get(at.saturating_add(key.len())..).unwrap_or_default();
        let Some(rest) = skip_blank(rest).strip_prefix(':').map(skip_blank) else { continue };
        let Some(mut rest) = rest.strip_prefix('[') else {
            rules.extend(serde_json::Deserializer::from_str(rest).into_iter::<String>().next().and_then(Result::ok));
            continue;
        };
        loop {
            rest = skip_blank(rest);
            rest = rest.strip_prefix(',').map_or(rest, skip_blank);
            let mut strings = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let Some(Ok(rule)) = strings.next() else { break };
            rules.push(rule);
            rest = rest.get(strings.byte_offset()..).unwrap_or_default();
        }
    }
    rules
}

/// The text after white space and comments.
fn skip_blank(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let end = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| at.saturating_add(2))
        } else {
            return rest;
        };
        rest = rest.get(end.unwrap_or(rest.len())..).unwrap_or_default().trim_start();
    }
}
