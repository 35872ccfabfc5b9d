//! Reasoning that a server leaves in the text, between `<think>` and `</think>`. The tags may be cut anywhere by
//! the stream. Only at the start of an answer are they tags: elsewhere they are what the model talks about. Used by
//! `decode`. Pure.

use proto::event::DeltaKind;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Where the text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing but white space and thinking has come.
    Start,
    Thinking,
    Answer,
}

/// Tells thinking from text, part by part.
pub(super) struct ThinkTags {
    place: Place,
    /// What may be the beginning of a tag, or white space before one.
    held: String,
    /// Whether there was thinking: the white space after it is its own.
    has_thought: bool,
}

/// Pieces of thinking and of text, in order.
type Pieces = Vec<(DeltaKind, String)>;

impl Default for ThinkTags {
    fn default() -> Self {
        Self { place: Place::Start, held: String::new(), has_thought: false }
    }
}

impl ThinkTags {
    /// Takes a part of the text.
    pub(super) fn take(&mut self, part: &str) -> Pieces {
        let mut pieces = Pieces::new();
        self.held.push_str(part);
        loop {
            let before = self.place;
            match before {
                Place::Start => self.start(&mut pieces),
                Place::Thinking => self.thinking(&mut pieces),
                Place::Answer => give(DeltaKind::Text, std::mem::take(&mut self.held), &mut pieces),
            }
            if self.place == before {
                return pieces;
            }
        }
    }

    /// The text ends here, or something else comes between: what was held back was no tag. White space alone is
    /// no answer.
    pub(super) fn finish(&mut self) -> Option<(DeltaKind, String)> {
        let kind = if self.place == Place::Thinking { DeltaKind::Thinking } else { DeltaKind::Text };
        let held = std::mem::take(&mut self.held);
        (!held.trim().is_empty()).then_some((kind, held))
    }

    fn start(&mut self, pieces: &mut Pieces) {
        let begun = self.held.trim_start();
        if let Some(rest) = begun.strip_prefix(OPEN) {
            self.held = rest.to_owned();
            (self.place, self.has_thought) = (Place::Thinking, true);
        } else if !OPEN.starts_with(begun) {
            let text = if self.has_thought { begun } else { &self.held };
            give(DeltaKind::Text, text.to_owned(), pieces);
            self.held.clear();
            self.place = Place::Answer;
        }
    }

    fn thinking(&mut self, pieces: &mut Pieces) {
        if let Some((thought, rest)) = self.held.split_once(CLOSE) {
            give(DeltaKind::Thinking, thought.to_owned(), pieces);
            self.held = rest.to_owned();
            self.place = Place::Start;
            return;
        }
        let ends_in = |length: &usize| CLOSE.get(..*length).is_some_and(|begun| self.held.ends_with(begun));
        let tag = (1..CLOSE.len()).rev().find(ends_in).unwrap_or(0);
        let rest = self.held.split_off(self.held.len().saturating_sub(tag));
        give(DeltaKind::Thinking, std::mem::replace(&mut self.held, rest), pieces);
    }
}

fn give(kind: DeltaKind, text: String, pieces: &mut Pieces) {
    if !text.is_empty() {
        pieces.push((kind, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All thinking and all text of a content that comes in these parts.
    fn split(parts: &[&str]) -> (String, String) {
        let mut tags = ThinkTags::default();
        let mut pieces: Pieces = parts.iter().flat_map(|part| tags.take(part)).collect();
        pieces.extend(tags.finish());
        let of = |wanted| pieces.iter().filter(|(kind, _)| *kind == wanted).map(|(_, text)| text.as_str()).collect();
        (of(DeltaKind::Thinking), of(DeltaKind::Text))
    }

    #[test]
    fn a_tag_is_found_wherever_the_stream_is_cut() {
        for (content, thinking, text) in [
            ("<think>hm ü</think>\n\nhello", "hm ü", "hello"),
            (" \n<think>a < b</thin></think>so", "a < b</thin>", "so"),
            ("<think>one</think>\n<think>two</think>so", "onetwo", "so"),
            ("<think>never closed", "never closed", ""),
            ("<think>cut in the tag</thi", "cut in the tag</thi", ""),
            ("<think></think>so", "", "so"),
            ("no tags", "", "no tags"),
            ("the tag <think> is</think> quoted", "", "the tag <think> is</think> quoted"),
            (" <thin ice", "", " <thin ice"),
            ("<thi", "", "<thi"),
            ("\n \n", "", ""),
        ] {
            assert_eq!(split(&[content]), (thinking.to_owned(), text.to_owned()), "{content}");
            for (at, _) in content.char_indices() {
                let (one, two) = content.split_at(at);
                assert_eq!(split(&[one, two]), (thinking.to_owned(), text.to_owned()), "{one}|{two}");
            }
            let chars: Vec<String> = content.chars().map(String::from).collect();
            let chars: Vec<&str> = chars.iter().map(String::as_str).collect();
            assert_eq!(split(&chars), (thinking.to_owned(), text.to_owned()), "{content}, by characters");
        }
    }

    #[test]
    fn what_can_be_no_tag_is_not_held_back() {
        let mut tags = ThinkTags::default();
        assert_eq!(tags.take("hi <"), [(DeltaKind::Text, "hi <".to_owned())]);
        let mut tags = ThinkTags::default();
        assert_eq!(tags.take("<think>a<b"), [(DeltaKind::Thinking, "a<b".to_owned())]);
    }
}
