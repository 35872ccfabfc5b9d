//! Brace expansion, which bash does first and by text alone. Part of the expansion of words.

use crate::shell::ast::Part;

/// A word that becomes more words than this is not followed.
const MOST: usize = 128;

/// Each word that comes of the braces in these parts; `None` if that is not sure.
pub(super) fn expand(parts: &[Part]) -> Option<Vec<Vec<Part>>> {
    if !has_brace(parts) {
        return Some(vec![parts.to_vec()]);
    }
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => atoms.extend(text.chars().map(Atom::Char)),
            other => atoms.push(Atom::Part(other)),
        }
    }
    let words = alternatives(&atoms, 0)?;
    Some(words.into_iter().map(|word| assemble(&word)).collect())
}

/// Whether braces may mean something.
pub(super) fn has_brace(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Text(text) if text.contains('{')))
}

#[derive(Clone, Copy)]
enum Atom<'a> {
    /// A character without quotes.
    Char(char),
    /// A brace that stands for itself.
    Brace(char),
    Part(&'a Part),
}

fn alternatives<'a>(atoms: &[Atom<'a>], depth: usize) -> Option<Vec<Vec<Atom<'a>>>> {
    let Some(start) = atoms.iter().position(|atom| matches!(atom, Atom::Char('{'))) else {
        return Some(vec![atoms.to_vec()]);
    };
    if depth > 16 {
        return None;
    }
    let (end, commas) = matching(atoms, start)?;
    let before = atoms.get(..start)?;
    let after = alternatives(atoms.get(end + 1..)?, depth + 1)?;
    let inside = atoms.get(start + 1..end)?;
    let mut middles = Vec::new();
    if commas.is_empty() {
        match sequence(inside) {
            Some(items) => middles.extend(items?),
            // Without a comma, braces stand for themselves.
            None => middles.push([&[Atom::Brace('{')], inside, &[Atom::Brace('}')]].concat()),
        }
    } else {
        let mut from = start + 1;
        for to in commas.into_iter().chain([end]) {
            middles.extend(alternatives(atoms.get(from..to)?, depth + 1)?);
            from = to + 1;
        }
    }
    if middles.len() * after.len() > MOST {
        return None;
    }
    let join = |middle: &Vec<Atom<'a>>, rest: &Vec<Atom<'a>>| [before, middle, rest].concat();
    Some(middles.iter().flat_map(|middle| after.iter().map(|rest| join(middle, rest)).collect::<Vec<_>>()).collect())
}

/// The place of the `}` for the `{` at `start`, and of the commas between.
fn matching(atoms: &[Atom<'_>], start: usize) -> Option<(usize, Vec<usize>)> {
    let mut open = 0_usize;
    let mut commas = Vec::new();
    for (at, atom) in atoms.iter().enumerate().skip(start) {
        match atom {
            Atom::Char('{') => open += 1,
            Atom::Char('}') if open == 1 => return Some((at, commas)),
            Atom::Char('}') => open -= 1,
            Atom::Char(',') if open == 1 => commas.push(at),
            _ => {}
        }
    }
    None
}

/// The items of `a..b`; the outer `None` if it is no sequence, the inner one if that is not sure.
#[allow(clippy::option_option, reason = "two ways of having no items that mean different things to the one caller")]
fn sequence<'a>(inside: &[Atom<'_>]) -> Option<Option<Vec<Vec<Atom<'a>>>>> {
    let mut text = String::new();
    for atom in inside {
        match atom {
            Atom::Char(character) => text.push(*character),
            // `{$a..3}` stays as it is, but nested braces are not followed.
            Atom::Part(_) => text.push('\u{1}'),
            Atom::Brace(_) => return Some(None),
        }
    }
    if text.contains('{') {
        return Some(None);
    }
    let (first, last) = text.split_once("..")?;
    // An expansion comes later than braces, so that it is no end of a sequence.
    if text.contains('\u{1}') {
        return None;
    }
    let whole = |text: &str| text.parse::<i32>().ok().filter(|_| text.len() == 1 || !text.starts_with(['0', '+']));
    let items: Vec<String> = match (whole(first), whole(last)) {
        (Some(from), Some(to)) if from.abs_diff(to) as usize >= MOST => return Some(None),
        (Some(from), Some(to)) if from <= to => (from..=to).map(|n| n.to_string()).collect(),
        (Some(from), Some(to)) => (to..=from).rev().map(|n| n.to_string()).collect(),
        // Capitals, zeros in front and steps are not followed.
        _ => match letters(first, last) {
            Some(letters) => letters.iter().map(char::to_string).collect(),
            None => return Some(None),
        },
    };
    Some(Some(items.iter().map(|item| item.chars().map(Atom::Char).collect()).collect()))
}

fn letters(first: &str, last: &str) -> Option<Vec<char>> {
    let one = |text: &str| {
        let mut characters = text.chars();
        characters.next().filter(|c| c.is_ascii_lowercase() && characters.next().is_none())
    };
    let (from, to) = (one(first)?, one(last)?);
    Some(if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() })
}

fn assemble(atoms: &[Atom<'_>]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for atom in atoms {
        match (atom, parts.last_mut()) {
            (Atom::Char(character) | Atom::Brace(character), Some(Part::Text(text))) => text.push(*character),
            (Atom::Char(character) | Atom::Brace(character), _) => parts.push(Part::Text(character.to_string())),
            (Atom::Part(part), _) => parts.push((*part).clone()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<Vec<String>> {
        let text_of = |parts: &Vec<Part>| {
            parts.iter().map(|part| if let Part::Text(text) = part { text.as_str() } else { "?" }).collect::<String>()
        };
        expand(&[Part::Text(text.to_owned())]).map(|words| words.iter().map(text_of).collect())
    }

    #[test]
    fn braces_become_words() {
        for (text, expected) in [
            ("a", "a"),
            ("{a,b}", "a b"),
            ("x{a,b}y", "xay xby"),
            ("{a,b}{1,2}", "a1 a2 b1 b2"),
            ("{a,{b,c}}", "a b c"),
            ("-{print,delete}", "-print -delete"),
            ("{1..5}", "1 2 3 4 5"),
            ("{3..1}", "3 2 1"),
            ("{a..c}", "a b c"),
            ("{-1..1}", "-1 0 1"),
            ("{}", "{}"),
            ("a{b}c", "a{b}c"),
            ("src/{a,b}.rs", "src/a.rs src/b.rs"),
            ("{a,}", "a "),
        ] {
            assert_eq!(words(text).map(|w| w.join(" ")).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_sure_is_said() {
        for text in ["{a,b", "{1..100000}", "{a{b}c}"] {
            assert_eq!(words(text), None, "{text}");
        }
    }
}
