//! The name that somebody may have meant. Pure.

use crate::base::text;

/// Characters of a name that are compared.
const COMPARED_CHARS: usize = 200;
/// How alike two names are that may be meant for each other, from 0 to 1.
const ALIKE: f64 = 0.7;

/// The name that is most like the wanted one, if one is like it at all. Case does not matter.
pub(super) fn nearest<'a>(wanted: &str, names: &[&'a str]) -> Option<&'a str> {
    let wanted = text::head(wanted, COMPARED_CHARS).to_lowercase();
    let rated = names.iter().map(|name| (strsim::normalized_damerau_levenshtein(&wanted, &name.to_lowercase()), *name));
    let near = rated.filter(|(likeness, _)| *likeness >= ALIKE);
    near.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_right_is_found() {
        let names = ["Bash", "Edit", "Glob", "Grep", "Read", "Write"];
        for (wanted, found) in
            [("bash", Some("Bash")), ("Reed", Some("Read")), ("Wriet", Some("Write")), ("Shell", None), ("", None)]
        {
            assert_eq!(nearest(wanted, &names), found, "{wanted}");
        }
    }
}
