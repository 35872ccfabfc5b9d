//! "Yes, and remember it": which rule, and for how long. A part of `ask`.

use super::typed::{Step, Typed};
use crate::render::escape::one_line;
use crate::render::style::Style;
use proto::permission::{PermissionRequest, Remember, RuleScope, Suggestion};

/// Suggestions that can be chosen by a digit.
const CHOICES: usize = 9;
/// Keys side by side, as many as a plain terminal has room for.
const KEYS_A_LINE: usize = 3;

/// For how long, each with its key and its words.
const SCOPES: [(RuleScope, &str, &str); 4] = [
    (RuleScope::Session, "s", "[s] this session"),
    (RuleScope::Local, "l", "[l] you, in this folder"),
    (RuleScope::Project, "p", "[p] all, in this folder"),
    (RuleScope::User, "u", "[u] you, everywhere"),
];

/// How agentd ends what it says of a suggestion: for how long is chosen by a key here.
const PLACES: [&str; 3] = [" in this session", " in this folder from now on", " in every folder from now on"];

/// The choice under way.
#[derive(Debug)]
pub struct Choice {
    suggestions: Vec<Suggestion>,
    /// Where rules can be remembered; empty if an older agentd did not say.
    scopes: Vec<RuleScope>,
    /// The rules that are offered for the session and for nowhere else.
    session_only: Vec<Vec<String>>,
    /// The rules that would be written, at least one.
    rules: Vec<String>,
    /// The same, a line each, while they are being changed.
    typing: Option<Typed>,
}

/// What a key press comes to.
#[derive(Debug, PartialEq, Eq)]
pub enum Chosen {
    /// There is more to choose.
    More,
    /// Back to the question.
    Back,
    /// This is to be remembered.
    Done(Remember),
}

impl Choice {
    /// A choice that starts with the first suggestion; none if nothing is suggested.
    pub fn of(request: &PermissionRequest) -> Option<Self> {
        let suggestions = distinct(&request.suggestions);
        let rules = rules_of(suggestions.first()?);
        let session_only = suggestions.iter().map(rules_of).filter(|rules| {
            let mut offers = request.suggestions.iter().filter(|offer| rules_of(offer) == *rules);
            offers.all(|offer| offer.scope == RuleScope::Session)
        });
        let session_only = session_only.collect();
        Some(Self { suggestions, scopes: request.scopes.clone(), session_only, rules, typing: None })
    }

    fn offered(&self) -> impl Iterator<Item = &(RuleScope, &'static str, &'static str)> {
        let everywhere = !self.session_only.contains(&self.rules);
        let offered = move |scope: &RuleScope| match scope {
            RuleScope::Session => true,
            _ => everywhere && (self.scopes.is_empty() || self.scopes.contains(scope)),
        };
        SCOPES.iter().filter(move |(scope, ..)| offered(scope))
    }

    /// Takes in a key press.
    pub fn press(&mut self, pressed: &str) -> Chosen {
        if let Some(typing) = &mut self.typing {
            match typing.press(pressed) {
                Step::More => return Chosen::More,
                Step::Back => {}
                Step::Done(rules) if rules.trim().is_empty() => {}
                Step::Done(rules) => self.rules = rules.lines().map(str::to_owned).collect(),
            }
            self.typing = None;
            return Chosen::More;
        }
        let small = pressed.to_ascii_lowercase();
        let scope = self.offered().find(|(_, key, _)| *key == small).map(|(scope, ..)| *scope);
        if let Some(scope) = scope {
            return Chosen::Done(remember(scope, &self.rules));
        }
        match small.as_str() {
            "\u{1b}" => return Chosen::Back,
            "r" => self.typing = Some(Typed::of(&self.rules.join("\n"))),
            digit => {
                let at = digit.parse::<usize>().ok().and_then(|digit| digit.checked_sub(1));
                if let Some(suggestion) = at.and_then(|at| self.suggestions.iter().take(CHOICES).nth(at)) {
                    self.rules = rules_of(suggestion);
                }
            }
        }
        Chosen::More
    }

    /// What is to be chosen.
    pub fn lines(&self, style: Style, width: usize) -> Vec<String> {
        if let Some(typing) = &self.typing {
            let shown = typing.shown(style, width.saturating_sub(8));
            return vec![format!("  rule: {shown}"), "  [Enter] take it   [Esc] leave it as it was".to_owned()];
        }
        let chosen = self.suggestions.iter().find(|suggestion| rules_of(suggestion) == self.rules);
        let mut lines = Vec::new();
        if chosen.is_none() {
            lines.push(format!("  allow from now on: {}", style.bold(&one_line(&self.rules.join(", ")))));
        }
        lines.extend((1..).zip(self.suggestions.iter().take(CHOICES)).filter_map(|(number, offer)| {
            let (is_chosen, offer) = (chosen == Some(offer), described(offer, style));
            match self.suggestions.len() {
                1 => is_chosen.then(|| format!("  {offer}")),
                _ => Some(format!("  {} [{number}] {offer}", if is_chosen { '*' } else { ' ' })),
            }
        }));
        let keys: Vec<&str> =
            self.offered().map(|(.., words)| *words).chain(["[r] change the rule", "[Esc] back"]).collect();
        let rows = keys.chunks(KEYS_A_LINE).zip(["  for  "].into_iter().chain(std::iter::repeat("       ")));
        lines.extend(rows.map(|(row, indent)| format!("{indent}{}", row.join("   "))));
        lines
    }
}

/// What a suggestion says of itself, but for how long, and its rules where that does not name them.
fn described(suggestion: &Suggestion, style: Style) -> String {
    let label = PLACES.iter().find_map(|place| suggestion.label.strip_suffix(place)).unwrap_or(&suggestion.label);
    let (label, rules) = (one_line(label), one_line(&rules_of(suggestion).join(", ")));
    match label.as_str() {
        "" => style.bold(&rules),
        label if label.contains(&rules) => style.bold(label),
        label => format!("{}  {}", style.bold(label), style.dim(&rules)),
    }
}

/// The suggestions that differ in more than their scope, which is chosen anyway.
pub fn distinct(suggestions: &[Suggestion]) -> Vec<Suggestion> {
    let mut out: Vec<Suggestion> = Vec::new();
    for suggestion in suggestions {
        if !out.iter().any(|other| rules_of(other) == rules_of(suggestion)) {
            out.push(suggestion.clone());
        }
    }
    out
}

/// All rules of a suggestion.
pub fn rules_of(suggestion: &Suggestion) -> Vec<String> {
    let all = Remember::suggested(suggestion, suggestion.scope);
    all.all().into_iter().map(str::to_owned).collect()
}

/// These rules for so long.
pub fn remember(scope: RuleScope, rules: &[String]) -> Remember {
    match rules {
        [rule] => Remember::one(scope, rule),
        rules => Remember { scope, rule: String::new(), rules: rules.to_vec() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::request::tests::request;

    fn choice_of(suggestions: Vec<Suggestion>, scopes: Vec<RuleScope>) -> Choice {
        Choice::of(&PermissionRequest { suggestions, scopes, ..request("make", None) }).unwrap()
    }

    fn choice() -> Choice {
        let suggestion = |rule: &str| Suggestion::one(rule, rule, RuleScope::Local);
        let again = Suggestion { scope: RuleScope::Session, ..suggestion("Bash(git status)") };
        choice_of(vec![suggestion("Bash(git status)"), again, suggestion("Bash(git *)")], Vec::new())
    }

    fn done(scope: RuleScope, rule: &str) -> Chosen {
        Chosen::Done(Remember::one(scope, rule))
    }

    #[test]
    fn a_letter_says_for_how_long() {
        for (key, scope) in
            [("s", RuleScope::Session), ("l", RuleScope::Local), ("p", RuleScope::Project), ("u", RuleScope::User)]
        {
            assert_eq!(choice().press(key), done(scope, "Bash(git status)"));
        }
        assert_eq!(choice().press("\u{1b}"), Chosen::Back);
        for key in ["a", "y", "\n", "ss", "0", "3", ""] {
            assert_eq!(choice().press(key), Chosen::More, "{key:?}");
        }
    }

    #[test]
    fn where_nothing_can_be_remembered_it_is_not_offered() {
        let make = Suggestion::one("make", "Bash(make)", RuleScope::User);
        let mut choice = choice_of(vec![make], vec![RuleScope::Session, RuleScope::User]);
        let shown = choice.lines(Style::PLAIN, 80).concat();
        assert!(shown.contains("[s]") && shown.contains("[u]"), "{shown}");
        assert!(!shown.contains("[l]") && !shown.contains("[p]"), "{shown}");
        for key in ["l", "p", "L", "P"] {
            assert_eq!(choice.press(key), Chosen::More, "{key:?}");
        }
        assert_eq!(choice.press("U"), done(RuleScope::User, "Bash(make)"));
    }

    #[test]
    fn what_is_offered_for_the_session_alone_goes_nowhere_else() {
        let offer = |rule: &str, scope| Suggestion::one(rule, rule, scope);
        let offers = vec![
            offer("Edit", RuleScope::Session),
            offer("Bash(make)", RuleScope::Session),
            offer("Bash(make)", RuleScope::User),
        ];
        let mut choice = choice_of(offers, Vec::new());
        let shown = choice.lines(Style::PLAIN, 80).concat();
        assert!(shown.contains("[s]") && !shown.contains("[l]") && !shown.contains("[u]"), "{shown}");
        for key in ["l", "p", "u"] {
            assert_eq!(choice.press(key), Chosen::More, "{key}");
        }
        choice.press("2");
        assert!(choice.lines(Style::PLAIN, 80).concat().contains("[u]"));
        assert_eq!(choice.press("u"), done(RuleScope::User, "Bash(make)"));
        choice.press("1");
        assert_eq!(choice.press("s"), done(RuleScope::Session, "Edit"));
    }

    #[test]
    fn a_number_chooses_the_rule_and_it_can_be_changed() {
        let mut choice = choice();
        choice.press("2");
        assert_eq!(choice.lines(Style::PLAIN, 80)[..2], ["    [1] Bash(git status)", "  * [2] Bash(git *)"]);
        for key in ["r", "\u{7f}\u{7f}", "log *)", "\n"] {
            assert_eq!(choice.press(key), Chosen::More);
        }
        assert_eq!(choice.press("u"), done(RuleScope::User, "Bash(git log *)"));
        let edited = choice.lines(Style::PLAIN, 80);
        assert_eq!(edited[0], "  allow from now on: Bash(git log *)", "no label speaks of it");
        for key in ["r", "x", "\u{1b}"] {
            choice.press(key);
        }
        assert_eq!(choice.press("s"), done(RuleScope::Session, "Bash(git log *)"), "escape leaves it as it was");
    }

    #[test]
    fn a_compound_command_is_remembered_by_several_rules() {
        let mut suggestion = Suggestion::one("both parts", "Bash(make)", RuleScope::Local);
        suggestion.rules = vec!["Bash(make)".to_owned(), "Bash(git push)".to_owned()];
        let mut choice = choice_of(vec![suggestion], Vec::new());
        assert_eq!(choice.lines(Style::PLAIN, 80)[0], "  both parts  Bash(make), Bash(git push)");
        let Chosen::Done(remember) = choice.press("l") else { panic!("it is chosen") };
        assert_eq!(remember.all(), ["Bash(make)", "Bash(git push)"]);
        for key in ["r", "\u{17}", "\u{17}", "x)", "\n"] {
            choice.press(key);
        }
        let Chosen::Done(remember) = choice.press("s") else { panic!("it is chosen") };
        assert_eq!(remember.all().len(), 1, "{remember:?}");
    }

    #[test]
    fn a_suggestion_is_shown_by_its_label_without_a_place() {
        let edit = Suggestion::one("allow all edits of files in this session", "Edit", RuleScope::Session);
        let exact = Suggestion::one("allow Bash(make) in this folder from now on", "Bash(make)", RuleScope::Local);
        let there = Suggestion::one("allow this command in every folder from now on", "Bash(ls)", RuleScope::User);
        let shown = choice_of(vec![edit, exact, there], Vec::new()).lines(Style::PLAIN, 80);
        let expected = [
            "  * [1] allow all edits of files  Edit",
            "    [2] allow Bash(make)",
            "    [3] allow this command  Bash(ls)",
        ];
        assert_eq!(shown.get(..3).unwrap(), expected);
    }

    #[test]
    fn the_choice_fits_a_plain_terminal() {
        for line in choice().lines(Style::PLAIN, 80) {
            assert!(line.chars().count() < 80, "{line}");
        }
    }
}
