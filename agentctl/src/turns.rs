//! The turns of a conversation as a person knows them, by their prompts, counted from the newest. Used by `rewind`,
//! by `chat`, and by `export` to tell what was rewound away.

use crate::connect::Connection;
use crate::failure::Failure;
use crate::history;
use crate::render::escape::one_line;
use crate::session_ref::unique_prefix;
use proto::event::{AnyEvent, Event, SessionEvent};
use proto::ids::{SessionId, TurnId};

/// Turns that a list shows.
const SHOWN: usize = 20;
/// Characters of a prompt in a list.
const PROMPT_CHARS: usize = 60;

/// A turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// The start of its prompt, on one line.
    pub prompt: String,
}

/// The turns of a session that were not rewound away, oldest first.
#[derive(Debug, Default)]
pub struct Turns(Vec<Turn>);

impl Turns {
    /// Those of a session, from its log.
    pub fn of(connection: &mut Connection, session: &SessionId) -> Result<Self, Failure> {
        let mut turns = Self::default();
        history::each(connection, session, 0, |_, item| {
            turns.apply(item);
            Ok(())
        })?;
        Ok(turns)
    }

    /// Takes in the next event of the log.
    pub fn apply(&mut self, item: &SessionEvent) {
        match &item.event {
            AnyEvent::Durable(Event::TurnStarted { turn_id, prompt, .. }) => {
                let prompt = prompt.as_ref().map(|prompt| short(&prompt.plain_text()));
                let prompt = prompt.unwrap_or_else(|| "(goes on with the turn before)".to_owned());
                self.0.push(Turn { id: turn_id.clone(), prompt });
            }
            AnyEvent::Durable(Event::SessionRewound { to_turn_id, .. }) => {
                if let Some(at) = self.0.iter().position(|turn| turn.id == *to_turn_id) {
                    self.0.truncate(at);
                }
            }
            _ => {}
        }
    }

    /// The turn that is so many back; 1 is the newest.
    pub fn back(&self, count: usize) -> Result<&Turn, Failure> {
        let at = self.0.len().checked_sub(count).filter(|_| count > 0);
        at.and_then(|at| self.0.get(at)).ok_or_else(|| {
            let there = self.0.len();
            Failure::new(format!("there is no turn {count} back: the session has {there}"))
        })
    }

    /// The turn with that id, or a unique prefix of it.
    pub fn named(&self, reference: &str) -> Result<&Turn, Failure> {
        let ids: Vec<&str> = self.0.iter().map(|turn| turn.id.as_str()).collect();
        let at = unique_prefix(&ids, reference)
            .map_err(|trouble| trouble.tell("turn of the conversation", reference, "agentctl rewind ID"))?;
        self.0.get(at).ok_or_else(|| Failure::new(format!("no turn {reference}")))
    }

    /// How many turns go with this one; 0 if it was rewound away.
    pub fn from(&self, turn: &TurnId) -> usize {
        self.0.iter().rev().position(|other| other.id == *turn).map_or(0, |after| after + 1)
    }

    /// The newest turns, a line each, with the number that `back` takes. The newest is the last line.
    pub fn lines(&self) -> Vec<String> {
        let numbered: Vec<String> = self.0.iter().rev().zip(1..).map(line).take(SHOWN).collect();
        let earlier = self.0.len().saturating_sub(SHOWN);
        let more = (earlier > 0).then(|| format!("     … {earlier} more before these"));
        more.into_iter().chain(numbered.into_iter().rev()).collect()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn line((turn, number): (&Turn, usize)) -> String {
    format!("{number:>4}  {}  {}", turn.id, turn.prompt)
}

fn short(prompt: &str) -> String {
    let line = one_line(prompt);
    match line.char_indices().nth(PROMPT_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn turns(events: &[Value]) -> Turns {
        let mut turns = Turns::default();
        for event in events {
            let item = json!({"sessionId": "s", "seq": 1, "at": "t", "event": event});
            turns.apply(&serde_json::from_value(item).unwrap());
        }
        turns
    }

    fn started(id: &str, prompt: &str) -> Value {
        json!({"type": "turn.started", "turnId": id, "prompt": prompt})
    }

    #[test]
    fn turns_are_counted_from_the_newest_and_those_rewound_away_are_left_out() {
        let rewound = json!({"type": "session.rewound", "toTurnId": "t2"});
        let turns = turns(&[
            started("t1", "one"),
            started("t2", "two"),
            started("t3", "three"),
            rewound,
            started("t4", "four\nmore"),
        ]);
        assert_eq!(turns.lines(), ["   2  t1  one", "   1  t4  four⏎more"]);
        assert_eq!(turns.back(2).unwrap().id, "t1".into());
        assert!(turns.back(3).unwrap_err().message.contains("the session has 2"));
        assert!(turns.back(0).is_err());
        assert_eq!(turns.named("t4").unwrap().prompt, "four⏎more");
        assert!(turns.named("t2").unwrap_err().message.contains("no turn of the conversation"));
        assert_eq!((turns.from(&"t1".into()), turns.from(&"t4".into())), (2, 1));
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let many: Vec<Value> = (0..25).map(|n| started(&format!("t{n}"), &"é".repeat(80))).collect();
        let lines = turns(&many).lines();
        assert_eq!((lines.len(), lines[0].as_str()), (SHOWN + 1, "     … 5 more before these"));
        assert!(lines[1].starts_with("  20  t5  é") && lines[1].ends_with("é…"));
    }
}
