//! Whether rules speak of a call, for what is not permission, such as the condition of a hook. The call is taken apart
//! once, for many rules (row T13). Made for hooks, of which there are none yet: only tests call it.

use super::decide::Call;
use super::judge::{About, Unit, units};
use super::matching::{Matching, Tightens, may_speak_of_lines};
use super::places::Places;
use super::source::SourcedRule;
use proto::session::Mode;

/// A call taken apart.
pub struct Matcher<'a> {
    call: &'a Call<'a>,
    places: &'a Places,
    units: Vec<Unit<'a>>,
}

impl<'a> Matcher<'a> {
    /// Takes a call apart.
    #[must_use]
    pub fn new(call: &'a Call<'a>, places: &'a Places) -> Self {
        Self { call, places, units: units(call, places) }
    }

    /// Whether a rule speaks of any part of the call. It is read as one that denies is: broadly, and of a line that is
    /// not understood any rule on commands may speak. Nothing may be allowed by it.
    #[must_use]
    pub fn is_spoken_of(&self, rule: &SourcedRule) -> bool {
        let matching = Matching { call: self.call, places: self.places, mode: Mode::Default };
        let rules = std::slice::from_ref(rule);
        self.units.iter().any(|unit| {
            matching.tightening(rules, unit, Tightens::Denies).is_some()
                || (matches!(unit.about, About::Line(_)) && may_speak_of_lines(rule))
        })
    }
}
