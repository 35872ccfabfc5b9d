//! The three faces of a call's input: what the model wrote, what observers see, what the tool gets. Made by `validate`;
//! knows no tool.

use serde_json::{Map, Value};

/// A validated input.
pub(super) struct CallInput {
    model: Value,
    call: Value,
    seen: Value,
    /// What the tool gets in place of `call`, once it was shown and allowed.
    shown: Option<Value>,
}

impl CallInput {
    /// The model's own input, and what observers see of it where that is more.
    pub(super) fn new(model: Value, observable: Option<Value>) -> Self {
        let seen = observable.unwrap_or_else(|| model.clone());
        Self { call: model.clone(), model, seen, shown: None }
    }

    /// What a hook or a person wrote in its place, and what observers see of that.
    pub(super) fn with(self, call: Value, observable: Option<Value>) -> Self {
        let seen = observable.unwrap_or_else(|| call.clone());
        Self { model: self.model, call, seen, shown: None }
    }

    /// What hooks, permission and people see (rows T16, X06).
    pub(super) fn seen(&self) -> &Value {
        &self.seen
    }

    /// What the tool gets, as the model, a hook or a person wrote it.
    pub(super) fn call(&self) -> &Value {
        &self.call
    }

    /// The same, to be run as it was worked out for the person who allowed it (row B07).
    pub(super) fn run_as_shown(self, shown: Option<Value>) -> Self {
        Self { shown, ..self }
    }

    /// What the tool gets.
    pub(super) fn to_run(&self) -> &Value {
        self.shown.as_ref().unwrap_or(&self.call)
    }

    /// Whether a hook or a person changed it (row X08).
    pub(super) fn is_changed(&self) -> bool {
        self.call != self.model
    }

    /// What the tool gets of an input that an observer wrote: a field that was derived for it, and that it only
    /// repeats, is again what the tool would have got (row X07).
    pub(super) fn restore(&self, mut written: Value) -> Value {
        let none = Map::new();
        let (seen, call) = (self.seen.as_object().unwrap_or(&none), self.call.as_object().unwrap_or(&none));
        let Some(fields) = written.as_object_mut() else { return written };
        for (name, derived) in seen.iter().filter(|(name, value)| call.get(*name) != Some(value)) {
            if fields.get(name) != Some(derived) {
                continue;
            }
            match call.get(name) {
                Some(original) => drop(fields.insert(name.clone(), original.clone())),
                None => drop(fields.shift_remove(name)),
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn edit() -> CallInput {
        CallInput::new(
            json!({"file_path": "a.rs", "text": "x"}),
            Some(json!({"file_path": "/w/a.rs", "text": "x", "exists": true})),
        )
    }

    /// Rows X06, X07, T16: nothing changed gives the model's own input, a change is kept, a derived field that is
    /// only repeated is the original again.
    #[test]
    fn an_observer_s_echo_is_no_change() {
        let input = edit();
        assert_eq!(input.call(), &json!({"file_path": "a.rs", "text": "x"}));
        assert_eq!(input.seen()["file_path"], "/w/a.rs");
        for (written, restored) in [
            (input.seen().clone(), json!({"file_path": "a.rs", "text": "x"})),
            (json!({"file_path": "/w/a.rs", "text": "y"}), json!({"file_path": "a.rs", "text": "y"})),
            (json!({"file_path": "/w/b.rs", "text": "x"}), json!({"file_path": "/w/b.rs", "text": "x"})),
            (json!({"file_path": "a.rs", "exists": false}), json!({"file_path": "a.rs", "exists": false})),
            (json!("broken"), json!("broken")),
        ] {
            assert_eq!(input.restore(written), restored);
        }
    }

    #[test]
    fn only_a_real_change_counts() {
        let input = edit();
        let echoed = input.restore(input.seen().clone());
        assert!(!edit().with(echoed, None).is_changed());
        assert!(edit().with(json!({"file_path": "b.rs", "text": "x"}), None).is_changed());
    }
}
