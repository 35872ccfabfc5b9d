//! Which rule speaks of a unit of a call. Rules that tighten are read broadly, rules that widen to the letter. Called by
//! `layers`. The forms of a rule's content are in `rule`.

use super::decide::Call;
use super::judge::{About, Rank, Unit, judge_file};
use super::places::Places;
use super::rule::{CommandPattern, Meaning, PathPattern, Rule, Start, Use, wildcard};
use super::source::{Rules, SourcedRule};
use super::subject::{CommandUse, FileUse};
use crate::shell::{Access, Class};
use proto::session::Mode;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// How a rule tightens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tightens {
    /// It denies.
    Denies,
    /// It asks, of every call of a tool.
    AsksAlways,
    /// It asks, of some calls.
    AsksSome,
}

/// What rules are compared with.
#[derive(Clone, Copy)]
pub(super) struct Matching<'a> {
    pub call: &'a Call<'a>,
    pub places: &'a Places,
    pub mode: Mode,
}

impl<'a> Matching<'a> {
    /// The rule of a list that tightens a unit, of several the first by source.
    pub fn tightening<'r>(self, rules: &'r [SourcedRule], unit: &Unit<'_>, how: Tightens) -> Option<&'r SourcedRule> {
        let spoken = rules.iter().enumerate().filter(|(at, rule)| self.tightens(rules, *at, rule, unit, how));
        spoken.map(|(_, rule)| rule).min_by_key(|rule| rule.source.kind)
    }

    fn tightens(&self, rules: &[SourcedRule], at: usize, rule: &SourcedRule, unit: &Unit<'_>, how: Tightens) -> bool {
        let whole = rule.rule.covers(self.call.tool);
        match how {
            Tightens::AsksAlways => return whole,
            Tightens::AsksSome if whole => return false,
            Tightens::Denies if whole => return true,
            Tightens::AsksSome | Tightens::Denies => {}
        }
        if rule.rule.names(self.call.tool) && self.speaks_of_field(&rule.rule) {
            return true;
        }
        match (rule.rule.meaning(), unit.about) {
            (Meaning::Command(pattern), About::Command { part, line }) => {
                part.forms.iter().chain([&part.plain, &part.text]).any(|form| pattern.fits_loosely(form))
                    || pattern.fits_loosely(line)
            }
            (Meaning::Command(pattern), About::Line(commands)) => pattern.fits_loosely(&commands.line),
            (Meaning::Host(pattern), About::Host(host)) => pattern.fits(host),
            (Meaning::Name(pattern), About::Name(name)) => {
                let first = name.split_whitespace().next().unwrap_or_default();
                rule.rule.names(self.call.tool) && (pattern.fits_loosely(name) || pattern.fits_loosely(first))
            }
            (Meaning::Path(_) | Meaning::Every, about) => {
                files_of(about).iter().any(|file| self.tightens_file(rules, at, rule, file, how))
            }
            _ => false,
        }
    }

    /// Whether a rule is about an input field that has this value.
    fn speaks_of_field(&self, rule: &Rule) -> bool {
        let Some((name, wanted)) = rule.field() else { return false };
        match self.call.input.get(name) {
            Some(Value::String(text)) => wildcard(wanted, text),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => wildcard(wanted, &value.to_string()),
            _ => false,
        }
    }

    /// A denial of reading covers changing too; other rules cover what they name.
    fn tightens_file(
        &self,
        rules: &[SourcedRule],
        at: usize,
        rule: &SourcedRule,
        file: &FileUse,
        how: Tightens,
    ) -> bool {
        let changes = matches!(file.access, Access::Write | Access::Remove);
        let covers = match (rule.rule.tool(), rule.rule.meaning()) {
            ("Read", Meaning::Path(_)) => how == Tightens::Denies || !changes,
            ("Read", Meaning::Every) => file.access == Access::Read,
            ("Edit", _) => changes,
            _ => false,
        };
        covers
            && match rule.rule.meaning() {
                Meaning::Every => true,
                Meaning::Path(pattern) if !pattern.is_negated() => {
                    self.path(pattern, rule, file, Use::Tighten) && !self.excepted(rules, at, file, Use::Widen)
                }
                _ => false,
            }
    }

    /// Whether a later rule `!path` of the same source takes the file out of what an earlier one speaks of.
    fn excepted(&self, rules: &[SourcedRule], at: usize, file: &FileUse, way: Use) -> bool {
        let Some(rule) = rules.get(at) else { return false };
        let later = rules.iter().skip(at + 1);
        let same = later.filter(|other| other.source == rule.source && other.rule.tool() == rule.rule.tool());
        same.into_iter().any(|other| match other.rule.meaning() {
            Meaning::Path(pattern) => pattern.is_negated() && self.path(pattern, other, file, way),
            _ => false,
        })
    }

    fn bases(&self, pattern: &PathPattern, rule: &SourcedRule) -> [PathBuf; 2] {
        self.places.both(match pattern.start() {
            Start::Root => Path::new("/"),
            Start::Home => &self.places.home,
            Start::Source => &rule.source.base,
            Start::Folder => &self.places.folder,
        })
    }

    /// The rule that denies reading what a command may come upon below a folder.
    pub fn denying_below<'r>(self, deny: &'r [SourcedRule], unit: &Unit<'_>) -> Option<&'r SourcedRule> {
        let About::Command { part, .. } = unit.about else { return None };
        let searched = |file: &&FileUse| file.below && file.access == Access::Read;
        let folders: Vec<&Path> =
            part.files.iter().filter(searched).flat_map(|file| [file.path.as_path(), file.real.as_path()]).collect();
        deny.iter().find(|rule| match rule.rule.meaning() {
            Meaning::Path(pattern) if rule.rule.tool() == "Read" && !pattern.is_negated() => {
                let bases = self.bases(pattern, rule);
                folders.iter().any(|folder| bases.iter().any(|base| pattern.may_speak_below(folder, base)))
            }
            _ => false,
        })
    }

    /// A file that a command names of which it is not known what it does, with the rule that denies it or wants a
    /// question.
    pub fn named<'u, 'r>(self, rules: &'r Rules, unit: &Unit<'u>) -> Option<(&'u FileUse, &'r SourcedRule)> {
        let About::Command { part, .. } = unit.about else { return None };
        part.named.iter().find_map(|file| {
            let speaks = |rules: &'r [SourcedRule], how| {
                let mut each = rules.iter().enumerate();
                each.find(|(at, rule)| self.tightens_file(rules, *at, rule, file, how)).map(|(_, rule)| rule)
            };
            let rule = speaks(&rules.deny, Tightens::Denies).or_else(|| speaks(&rules.ask, Tightens::AsksSome))?;
            Some((file, rule))
        })
    }

    /// The rule on commands that may speak of one which can't be told.
    pub fn of_hidden<'r>(self, rules: &'r Rules, unit: &Unit<'_>) -> Option<&'r SourcedRule> {
        let About::Command { part, .. } = unit.about else { return None };
        let about_commands =
            |rule: &&SourcedRule| matches!(rule.rule.meaning(), Meaning::Command(_)) && rule.rule.names(self.call.tool);
        rules.deny.iter().chain(&rules.ask).find(about_commands).filter(|_| part.hidden)
    }

    fn path(&self, pattern: &PathPattern, rule: &SourcedRule, file: &FileUse, way: Use) -> bool {
        let bases = self.bases(pattern, rule);
        let speaks = |path: &Path| bases.iter().any(|base| pattern.speaks_of(path, file.below, base, way));
        match way {
            Use::Widen => speaks(&file.path) && speaks(&file.real),
            Use::Tighten => speaks(&file.path) || speaks(&file.real),
        }
    }

    /// The rule that lets a unit run, if one does.
    pub fn allowing<'r>(self, rules: &[&'r SourcedRule], unit: &Unit<'_>) -> Option<&'r SourcedRule> {
        let by_itself = rules.iter().filter(|rule| self.allows(rules, rule, unit));
        let first = by_itself.min_by_key(|rule| rule.source.kind).copied();
        first.or_else(|| self.allowing_files(rules, unit))
    }

    fn allows(&self, rules: &[&SourcedRule], rule: &SourcedRule, unit: &Unit<'_>) -> bool {
        if !rule.rule.may_allow() {
            return false;
        }
        match (rule.rule.meaning(), unit.about) {
            (Meaning::Every, _) => rule.rule.names(self.call.tool),
            (Meaning::Command(pattern), About::Command { part, line }) => {
                is_exactly(pattern, line)
                    || is_exactly(pattern, part.text.trim())
                    || (pattern.fits(&part.plain)
                        && pattern.may_allow(&part.plain)
                        && (!redirects(part) || self.may_change_files(rules, part)))
            }
            (Meaning::Command(pattern), About::Line(commands)) => is_exactly(pattern, commands.line.trim()),
            (Meaning::Host(pattern), About::Host(host)) => pattern.fits(host),
            (Meaning::Name(pattern), About::Name(name)) => rule.rule.names(self.call.tool) && pattern.fits(name),
            _ => false,
        }
    }

    /// The rule on paths that lets a unit run of which nothing but its files is in question.
    fn allowing_files<'r>(&self, rules: &[&'r SourcedRule], unit: &Unit<'_>) -> Option<&'r SourcedRule> {
        let known = match unit.about {
            About::File(_) => true,
            About::Command { part, .. } => part.class != Class::Unknown && part.unknown_path.is_none(),
            _ => false,
        };
        if !known || !unit.tool_agrees {
            return None;
        }
        let mut named = None;
        for file in files_of(unit.about).iter().filter(|file| !self.is_free(file)) {
            let rule = self.allowing_file(rules, file)?;
            named = named.or(Some(rule));
        }
        named
    }

    /// An allowed edit may be read too.
    fn allowing_file<'r>(&self, rules: &[&'r SourcedRule], file: &FileUse) -> Option<&'r SourcedRule> {
        let reads = matches!(file.access, Access::Look | Access::Read);
        let allows = |(at, rule): &(usize, &&SourcedRule)| match (rule.rule.tool(), rule.rule.meaning()) {
            ("Read", Meaning::Every) => reads,
            ("Edit", Meaning::Every) => reads || (file.access == Access::Write && self.is_inside(file)),
            ("Edit", Meaning::Path(pattern)) | ("Read", Meaning::Path(pattern))
                if reads || rule.rule.tool() == "Edit" =>
            {
                !pattern.is_negated()
                    && self.path(pattern, rule, file, Use::Widen)
                    && !self.taken_back(rules, *at, file)
            }
            _ => false,
        };
        rules.iter().enumerate().filter(allows).map(|(_, rule)| *rule).min_by_key(|rule| rule.source.kind)
    }

    fn taken_back(&self, rules: &[&SourcedRule], at: usize, file: &FileUse) -> bool {
        let Some(rule) = rules.get(at) else { return false };
        rules.iter().skip(at + 1).any(|other| match other.rule.meaning() {
            Meaning::Path(pattern) => {
                other.source == rule.source
                    && other.rule.tool() == rule.rule.tool()
                    && pattern.is_negated()
                    && self.path(pattern, other, file, Use::Tighten)
            }
            _ => false,
        })
    }

    /// Whether all that a command changes may be changed by itself: a rule on the command does not speak of where its
    /// output goes.
    fn may_change_files(&self, rules: &[&SourcedRule], part: &CommandUse) -> bool {
        let changed = |file: &&FileUse| matches!(file.access, Access::Write | Access::Remove);
        part.unknown_path.is_none()
            && part
                .files
                .iter()
                .filter(changed)
                .all(|file| self.is_free(file) || self.allowing_file(rules, file).is_some())
    }

    /// Whether a use of a file needs no rule.
    pub fn is_free(&self, file: &FileUse) -> bool {
        match judge_file(file, self.places).rank {
            Rank::Reads => true,
            Rank::Edits => matches!(self.mode, Mode::AcceptEdits | Mode::Auto),
            _ => false,
        }
    }

    fn is_inside(&self, file: &FileUse) -> bool {
        judge_file(file, self.places).rank == Rank::Edits
    }
}

/// Whether any rule with a content might speak of a line that is not understood.
pub(super) fn may_speak_of_lines(rule: &SourcedRule) -> bool {
    match rule.rule.meaning() {
        Meaning::Command(_) => true,
        Meaning::Path(pattern) => matches!(rule.rule.tool(), "Read" | "Edit") && !pattern.is_negated(),
        Meaning::Every | Meaning::Host(_) | Meaning::Name(_) | Meaning::Field => false,
    }
}

fn files_of(about: About<'_>) -> &[FileUse] {
    match about {
        About::File(file) => std::slice::from_ref(file),
        About::Command { part, .. } => &part.files,
        About::Call | About::Line(_) | About::Host(_) | About::Name(_) => &[],
    }
}

fn is_exactly(pattern: &CommandPattern, text: &str) -> bool {
    pattern.is_exact() && pattern.fits(text)
}

/// Whether a command may send its output into a file. A quoted `>` counts too, which costs a question at most.
pub(super) fn redirects(part: &CommandUse) -> bool {
    part.text.contains('>')
}
