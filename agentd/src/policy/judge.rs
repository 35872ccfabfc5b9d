//! What there is to say of a call before any rule or mode: whether it reads, edits, or touches what no mode may touch
//! unasked. A call is judged in units, the commands of a line and the files of a call each by itself. Called by
//! `decide`.

use super::decide::{Call, OwnCheck};
use super::places::Places;
use super::subject::{CommandUse, Commands, FileUse, Subject, Zone};
use crate::base::text::one_line;
use crate::shell::{Access, Class};

/// Characters of a command in a reason.
const SHOWN_CHARS: usize = 100;
/// Words of a line that is not understood which may remove what can't be got back.
const REMOVERS: [&str; 3] = ["rm", "rmdir", "shred"];

/// How much a unit may do, from the least on: of two the greater counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It only reads what may be read.
    Reads,
    /// It changes files inside the session's folders.
    Edits,
    /// A person should look at it.
    Unsure,
    /// It changes what other programs run or obey.
    Protected,
    /// No mode lets it run without a person.
    Unsafe,
    /// It is itself a question to a person.
    NeedsPerson,
    /// It can't be allowed.
    Forbidden,
}

/// A rank with its reason, one sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judgement {
    pub rank: Rank,
    pub detail: String,
}

impl Judgement {
    fn new(rank: Rank, detail: impl Into<String>) -> Self {
        Self { rank, detail: detail.into() }
    }

    /// The greater of two; of equals the first.
    fn or(self, other: Self) -> Self {
        if other.rank > self.rank { other } else { self }
    }
}

/// A part of a call that rules and layers look at by itself.
#[derive(Debug, Clone)]
pub(super) struct Unit<'a> {
    pub about: About<'a>,
    pub judgement: Judgement,
    /// Whether the tool itself has nothing against it, so that only what it is about is in question.
    pub tool_agrees: bool,
}

/// What a unit is.
#[derive(Debug, Clone, Copy)]
pub(super) enum About<'a> {
    /// The call as a whole.
    Call,
    /// A file.
    File(&'a FileUse),
    /// A command of a line.
    Command { part: &'a CommandUse, line: &'a str },
    /// A line that is not understood, as a whole.
    Line(&'a Commands),
    /// A host.
    Host(&'a str),
    /// A name.
    Name(&'a str),
}

/// The units of a call, one at least.
pub(super) fn units<'a>(call: &Call<'a>, places: &Places) -> Vec<Unit<'a>> {
    let own = own(call.own);
    let tool_agrees = own.rank == Rank::Reads;
    let unit = |about, judgement: Judgement| Unit { about, judgement: judgement.or(own.clone()), tool_agrees };
    let whole = |about| vec![Unit { about, judgement: own.clone(), tool_agrees }];
    match call.subject {
        Subject::Fields => whole(About::Call),
        Subject::Host(host) => whole(About::Host(host)),
        Subject::Name(name) => whole(About::Name(name)),
        Subject::Files(files) if files.is_empty() => whole(About::Call),
        Subject::Files(files) => files.iter().map(|file| unit(About::File(file), judge_file(file, places))).collect(),
        Subject::Commands(commands) => {
            let line = commands.refused.as_ref().map(|why| unit(About::Line(commands), judge_line(commands, why)));
            let parts = commands
                .parts
                .iter()
                .map(|part| unit(About::Command { part, line: commands.line.trim() }, judge_command(part, places)));
            let units: Vec<Unit<'a>> = line.into_iter().chain(parts).collect();
            if units.is_empty() { whole(About::Call) } else { units }
        }
    }
}

/// A unit for people.
pub(super) fn shown(about: About<'_>, tool: &str, places: &Places) -> String {
    match about {
        About::Call => tool.to_owned(),
        About::File(file) => places.shown(&file.path),
        About::Command { part, .. } => one_line(&part.text, SHOWN_CHARS),
        About::Line(commands) => one_line(&commands.line, SHOWN_CHARS),
        About::Host(name) | About::Name(name) => name.to_owned(),
    }
}

fn own(check: &OwnCheck) -> Judgement {
    let (rank, detail) = match check {
        OwnCheck::Reads(detail) => (Rank::Reads, detail),
        OwnCheck::Edits(detail) => (Rank::Edits, detail),
        OwnCheck::Unsure(detail) => (Rank::Unsure, detail),
        OwnCheck::Unsafe(detail) => (Rank::Unsafe, detail),
        OwnCheck::NeedsPerson(detail) => (Rank::NeedsPerson, detail),
        OwnCheck::Forbidden(detail) => (Rank::Forbidden, detail),
    };
    Judgement::new(rank, detail.as_str())
}

/// A use of a file by itself, by where it is and what is done to it.
pub(super) fn judge_file(file: &FileUse, places: &Places) -> Judgement {
    let (path, real) = (places.shown(&file.path), file.real.display());
    let outside = || Judgement::new(Rank::Unsure, format!("{real} is outside the session's folders"));
    let protected =
        || Judgement::new(Rank::Protected, format!("{real} is protected: other programs run or obey what is in it"));
    match (file.access, &file.zone) {
        (Access::Look | Access::Read, Zone::Secret) => {
            Judgement::new(Rank::Unsafe, format!("{real} may hold secrets, and what is read goes to the model"))
        }
        (Access::Look, _) => Judgement::new(Rank::Reads, "it only looks at names"),
        (Access::Read, Zone::Inside) => Judgement::new(Rank::Reads, "it only reads, inside the session's folders"),
        (Access::Read, Zone::System) => Judgement::new(Rank::Reads, "it only reads, in the system's folders"),
        (Access::Read, Zone::Outside | Zone::Protected | Zone::Critical) => outside(),
        (Access::Remove, Zone::Critical) => {
            Judgement::new(Rank::Unsafe, format!("removing {real} would be a disaster"))
        }
        (Access::Write | Access::Remove, Zone::Protected) => protected(),
        (Access::Write | Access::Remove, Zone::Secret) => {
            Judgement::new(Rank::Unsafe, format!("{real} may hold secrets that programs rely on"))
        }
        (Access::Write, Zone::Inside) => Judgement::new(Rank::Edits, format!("it changes {path}")),
        (Access::Remove, Zone::Inside) => Judgement::new(Rank::Edits, format!("it removes {path}")),
        (Access::Write | Access::Remove, Zone::System | Zone::Outside | Zone::Critical) => outside(),
    }
}

fn judge_command(part: &CommandUse, places: &Places) -> Judgement {
    let why = if part.why.is_empty() { "it is not known what it does" } else { part.why.as_str() };
    let class = match part.class {
        Class::ReadOnly => Judgement::new(Rank::Reads, why),
        Class::Edits if part.files.is_empty() && part.unknown_path.is_none() => {
            Judgement::new(Rank::Unsure, "it is not known what it changes")
        }
        Class::Edits => Judgement::new(Rank::Reads, why),
        Class::Unknown => Judgement::new(Rank::Unsure, why),
    };
    let judged = part.files.iter().fold(class, |worst, file| worst.or(judge_file(file, places)));
    // Of what it names, only what it may write to a protected place counts: else nothing but its name is known.
    let written = part.named.iter().filter(|file| file.access == Access::Write && file.zone == Zone::Protected);
    let judged = written.fold(judged, |worst, file| worst.or(judge_file(file, places)));
    match &part.unknown_path {
        None => judged,
        Some(text) if part.removes_unknown => {
            judged.or(Judgement::new(Rank::Unsafe, format!("what it removes can't be known before it runs: {text}")))
        }
        Some(text) => {
            judged.or(Judgement::new(Rank::Unsure, format!("which file it uses can't be known before it runs: {text}")))
        }
    }
}

fn judge_line(commands: &Commands, why: &str) -> Judgement {
    let words = commands.line.split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '-'));
    let mut words = words.filter(|word| REMOVERS.contains(word));
    match words.next() {
        Some(word) => Judgement::new(
            Rank::Unsafe,
            format!("the line is not understood ({why}) and `{word}` is in it: it may remove anything"),
        ),
        None => Judgement::new(Rank::Unsure, format!("the line is not understood: {why}")),
    }
}

/// Whether a unit does nothing but look and read, wherever that is.
pub(super) fn only_reads(unit: &Unit<'_>) -> bool {
    if !unit.tool_agrees {
        return false;
    }
    let reads = |file: &FileUse| matches!(file.access, Access::Look | Access::Read);
    match unit.about {
        About::File(file) => reads(file),
        About::Command { part, .. } => part.class == Class::ReadOnly && part.files.iter().all(reads),
        About::Call | About::Line(_) | About::Host(_) | About::Name(_) => false,
    }
}
