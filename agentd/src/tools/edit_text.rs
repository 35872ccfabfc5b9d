//! One replacement in a text, to the letter: everything outside the replaced places stays as it is, and so
//! do the file's line ends. Pure. Called by Edit.

use std::ops::{Range, RangeInclusive};

/// Why a text can't be edited.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The old text is not in it.
    NotFound,
    /// The old text is in it more than once, in these lines.
    Ambiguous(Vec<u64>),
}

/// An edited text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edited {
    pub text: String,
    /// The lines of each place that was replaced, counted in the old text.
    pub places: Vec<RangeInclusive<u64>>,
    /// By how many lines each place grew.
    pub growth: i64,
}

/// Replaces `old` by `new`, once or everywhere. Line ends don't matter for finding it: models write LF.
///
/// # Errors
/// `old` is not there, or more than once where only once is meant.
pub(super) fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<Edited, Refusal> {
    let haystack = Unified::of(text);
    let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    let places = find(&haystack.text, &old);
    if places.is_empty() {
        return Err(Refusal::NotFound);
    }
    if !all {
        let overlapping = find_overlapping(&haystack.text, &old);
        if overlapping.len() > 1 {
            return Err(Refusal::Ambiguous(overlapping.iter().map(|at| line_at(&haystack.text, *at)).collect()));
        }
    }
    let mut edited = String::with_capacity(text.len());
    let mut done = 0;
    for place in &places {
        let raw = haystack.raw(place.start)..haystack.raw(place.end);
        edited.push_str(text.get(done..raw.start).unwrap_or_default());
        if haystack.uses_crlf(place) {
            edited.push_str(&new.replace('\n', "\r\n"));
        } else {
            edited.push_str(&new);
        }
        done = raw.end;
    }
    edited.push_str(text.get(done..).unwrap_or_default());
    let lines = |place: &Range<usize>| {
        let last = place.end.saturating_sub(1).max(place.start);
        line_at(&haystack.text, place.start)..=line_at(&haystack.text, last)
    };
    let growth = breaks(&new) - breaks(&old);
    Ok(Edited { text: edited, places: places.iter().map(lines).collect(), growth })
}

/// A text with all CRLF made LF, and the way back.
struct Unified {
    text: String,
    /// Where in `text` an LF stands that was a CRLF.
    crlf: Vec<usize>,
    /// Whether most line ends were CRLF.
    mostly_crlf: bool,
}

impl Unified {
    fn of(text: &str) -> Self {
        let mut unified = String::with_capacity(text.len());
        let mut crlf = Vec::new();
        for (number, line) in text.split("\r\n").enumerate() {
            if number > 0 {
                crlf.push(unified.len());
                unified.push('\n');
            }
            unified.push_str(line);
        }
        let all = unified.bytes().filter(|byte| *byte == b'\n').count();
        let mostly_crlf = crlf.len() * 2 > all;
        Self { text: unified, crlf, mostly_crlf }
    }

    /// The offset in the original text.
    fn raw(&self, at: usize) -> usize {
        at + self.crlf.partition_point(|position| *position < at)
    }

    /// Which line ends the replacement gets: those of the place itself, else those of the text.
    fn uses_crlf(&self, place: &Range<usize>) -> bool {
        let within = self.text.get(place.clone()).unwrap_or_default();
        match within.find('\n') {
            Some(first) => self.crlf.binary_search(&(place.start + first)).is_ok(),
            None => self.mostly_crlf,
        }
    }
}

fn find(text: &str, old: &str) -> Vec<Range<usize>> {
    text.match_indices(old).map(|(at, found)| at..at + found.len()).collect()
}

/// Also those that overlap: which of them is meant can't be told.
fn find_overlapping(text: &str, old: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        found.push(from + at);
        let step = text.get(from + at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        from += at + step;
    }
    found
}

fn line_at(text: &str, at: usize) -> u64 {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() as u64 + 1
}

fn breaks(text: &str) -> i64 {
    i64::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn once(text: &str, old: &str, new: &str) -> String {
        replace(text, old, new, false).unwrap().text
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        assert_eq!(once("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc\r\n");
        assert_eq!(once("a\r\nb\r\n", "a", "x\ny"), "x\r\ny\r\nb\r\n", "the file's, where the place has none");
        assert_eq!(once("a\nb\nc\r\n", "a\nb", "x\ny"), "x\ny\nc\r\n", "mixed: the place's own");
        assert_eq!(once("a\nb\nc\r\nd\r\n", "c\n", "x\n"), "a\nb\nx\r\nd\r\n");
        assert_eq!(once("a\r\nb", "a\r\nb", "x\r\ny"), "x\r\ny", "a model that writes CRLF");
        assert_eq!(once("a\rb", "a", "x"), "x\rb", "a lone CR is not a line end");
    }

    #[test]
    fn the_old_text_must_be_there_once() {
        assert_eq!(replace("abc", "x", "y", false), Err(Refusal::NotFound));
        assert_eq!(replace("a\nb\na\n", "a", "y", false), Err(Refusal::Ambiguous(vec![1, 3])));
        assert_eq!(replace("aaa", "aa", "y", false), Err(Refusal::Ambiguous(vec![1, 1])), "overlapping");
        let all = replace("a\nb\na\n", "a", "y\nz", true).unwrap();
        assert_eq!((all.text.as_str(), all.places, all.growth), ("y\nz\nb\ny\nz\n", vec![1..=1, 3..=3], 1));
    }

    #[test]
    fn places_are_the_lines_that_were_touched() {
        assert_eq!(replace("a\nb\nc\n", "b\nc\n", "", false).unwrap().places, [2..=3]);
        assert_eq!(replace("a\nb\nc\n", "b\n", "", false).unwrap().places, [2..=2]);
    }

    proptest! {
        #[test]
        fn replacing_a_place_by_itself_changes_nothing(
            parts in prop::collection::vec("[aéb/]{1,6}", 1..8),
            from in 0usize..8,
            line_end in prop::sample::select(vec!["\n", "\r\n"]),
        ) {
            let text = parts.concat().replace('/', line_end);
            let old = parts[from % parts.len()].replace('/', "\n");
            prop_assert_eq!(replace(&text, &old, &old, true).unwrap().text, text);
        }
    }
}
