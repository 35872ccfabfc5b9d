//! An input that runs in place of the model's, since a person or a hook wrote another one. Used by `tool` and
//! `markdown`, which show what runs, and by `transcript`. It compares and tells; it asks nobody.

use super::escape::one_line;
use proto::permission::{DecisionReason, ReasonType};
use serde_json::{Map, Value};

/// Fields that a title is made of, one a tool.
const TITLES: [&str; 6] = ["command", "file_path", "notebook_path", "pattern", "url", "query"];
/// How agentd says of an answer that the person changed the input.
const BY_PERSON: (&str, &str) = ("allowed by ", ", who changed the input");
/// Fields that agentd adds for itself begin so.
const OWN_FIELD: char = '_';
/// Characters that are shown of a field.
const FIELD_CHARS: usize = 100;
/// Characters that are shown of what makes a title: most commands as a whole.
const TITLE_CHARS: usize = 1000;

/// Whether an answer says that the person changed the input.
pub fn is_by_person(reason: &DecisionReason) -> bool {
    reason.kind == ReasonType::User && reason.detail.ends_with(BY_PERSON.1)
}

/// Who wrote the input that runs.
pub fn by(decision: &DecisionReason) -> String {
    let person = decision.detail.strip_prefix(BY_PERSON.0).and_then(|rest| rest.strip_suffix(BY_PERSON.1));
    match person.filter(|_| is_by_person(decision)) {
        Some(person) => format!("edited by {}", one_line(person)),
        None => "changed by a hook".to_owned(),
    }
}

/// Whether something else runs than the model asked for.
pub fn differs(asked: &Value, runs: &Value) -> bool {
    !changed(asked, runs).is_empty()
}

/// The title of the call that runs, from that of the call that was asked for.
pub fn title(before: &str, asked: &Value, runs: &Value) -> String {
    let mut changed = changed(asked, runs);
    let main = TITLES.iter().find_map(|name| changed.remove(*name)?.as_str().map(|text| short(text, TITLE_CHARS)));
    let title = main.unwrap_or_else(|| before.to_owned());
    let others = changed.iter().map(|(name, value)| match value {
        Value::Null => format!("without {}", one_line(name)),
        Value::String(text) => format!("{}: {}", one_line(name), short(text, FIELD_CHARS)),
        value => format!("{}: {}", one_line(name), short(&value.to_string(), FIELD_CHARS)),
    });
    let parts = std::iter::once(title).chain(others).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" · ")
}

/// The fields that are others now, with what they are; those that are gone are null.
fn changed(asked: &Value, runs: &Value) -> Map<String, Value> {
    let none = Map::new();
    let (asked, runs) = (asked.as_object().unwrap_or(&none), runs.as_object().unwrap_or(&none));
    let new = runs.iter().filter(|(name, value)| asked.get(*name) != Some(value) && !name.starts_with(OWN_FIELD));
    let gone = asked.keys().filter(|name| !runs.contains_key(*name)).map(|name| (name.clone(), Value::Null));
    new.map(|(name, value)| (name.clone(), value.clone())).chain(gone).collect()
}

fn short(text: &str, most: usize) -> String {
    let cut: String = text.chars().take(most).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", one_line(&cut))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_title_is_of_what_runs() {
        let table = [
            ("rm x", json!({"command": "rm x"}), json!({"command": "ls\u{1b}"}), "ls^["),
            ("rm x", json!({"command": "rm x", "timeout": 5}), json!({"command": "rm x"}), "rm x · without timeout"),
            (
                "a",
                json!({"file_path": "a", "content": "x"}),
                json!({"file_path": "b", "content": "y"}),
                "b · content: y",
            ),
            ("a", json!({"file_path": "a", "n": 1}), json!({"file_path": "a", "n": 2}), "a · n: 2"),
        ];
        for (before, asked, runs, expected) in table {
            assert!(differs(&asked, &runs), "{runs}");
            assert_eq!(title(before, &asked, &runs), expected);
        }
    }

    #[test]
    fn what_agentd_adds_for_itself_is_no_change() {
        let asked = json!({"command": "sed -i s/a/b/ x"});
        assert!(!differs(&asked, &json!({"command": "sed -i s/a/b/ x", "_simulated": {}})));
        assert!(!differs(&asked, &asked));
    }

    #[test]
    fn who_changed_it_is_told() {
        let decision =
            |kind, detail: &str| DecisionReason { kind, layer: 9, detail: detail.to_owned(), rule: None, source: None };
        let edited = decision(ReasonType::User, "allowed by the editor\u{1b}, who changed the input");
        assert_eq!((by(&edited).as_str(), is_by_person(&edited)), ("edited by the editor^[", true));
        let hook = decision(ReasonType::Hook, "allowed by x, who changed the input");
        assert_eq!((by(&hook).as_str(), is_by_person(&hook)), ("changed by a hook", false));
        let plain = decision(ReasonType::User, "allowed by agentctl");
        assert_eq!(
            (by(&plain).as_str(), is_by_person(&plain)),
            ("changed by a hook", false),
            "by a hook before the question"
        );
    }
}
