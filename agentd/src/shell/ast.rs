//! The tree of a bash line, as the parser gives it to the walk. Holds every word with its quoting, so that nothing of
//! the text is lost. Never judged here.

use std::cell::OnceCell;
use std::rc::Rc;

/// Commands one after another.
#[derive(Debug, Clone, Default)]
pub(super) struct List(pub Vec<AndOr>);

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, Clone)]
pub(super) struct AndOr {
    pub first: Pipeline,
    pub rest: Vec<(Joint, Pipeline)>,
    /// Whether `&` ends it: it runs in a shell of its own.
    pub background: bool,
    /// Whether it is the first on its line of the text.
    pub begins_line: bool,
}

/// When the next pipeline runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
}

/// Commands joined by `|`; with more than one each runs in a shell of its own.
#[derive(Debug, Clone)]
pub(super) struct Pipeline {
    pub negated: bool,
    pub stages: Vec<Stage>,
}

/// One command of a pipeline.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    Simple(Simple),
    Compound { body: Compound, redirects: Vec<Redirect> },
    Function { name: String, body: Box<Stage>, text: String },
}

/// Assignments, words and redirections.
#[derive(Debug, Clone, Default)]
pub(super) struct Simple {
    /// As it is written.
    pub text: String,
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
}

/// `name=value`, `name+=value`, `name[subscript]=value`, `name=(words)`.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub text: String,
    pub name: String,
    pub subscript: Option<Vec<Part>>,
    pub append: bool,
    pub value: AssignedValue,
}

#[derive(Debug, Clone)]
pub(super) enum AssignedValue {
    Scalar(Word),
    Array(Vec<Word>),
}

/// Commands with a structure of their own.
#[derive(Debug, Clone)]
pub(super) enum Compound {
    Group(List),
    Subshell(List),
    If {
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    /// Without words it goes over `"$@"`.
    For {
        text: String,
        name: String,
        words: Option<Vec<Word>>,
        body: List,
    },
    ArithmeticFor {
        text: String,
        parts: Vec<Vec<Part>>,
        body: List,
    },
    /// `while` and `until`.
    While {
        condition: List,
        until: bool,
        body: List,
    },
    Case {
        subject: Word,
        arms: Vec<(Vec<Word>, List)>,
    },
    /// `[[ … ]]`.
    Condition {
        text: String,
        tests: Vec<Test>,
    },
    /// `(( … ))`.
    Arithmetic {
        text: String,
        parts: Vec<Part>,
    },
}

/// One test within `[[ … ]]`; how they are joined makes no difference to what is judged.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Text(Word),
    Unary(String, Word),
    Binary(Word, String, Word),
}

/// A redirection.
#[derive(Debug, Clone)]
pub(super) struct Redirect {
    pub text: String,
    pub kind: RedirectKind,
}

impl Redirect {
    /// Whether it may change where is read from.
    pub fn is_input(&self) -> bool {
        !matches!(self.kind, RedirectKind::Write(_)) && !is_only_output(&self.text)
    }

    /// `< <(…)` and `<<< "$(…)"`.
    pub fn is_substitution(&self) -> bool {
        let alone = |parts: &[Part]| match parts {
            [Part::Command(_)] => true,
            [Part::Double(inner)] => matches!(inner.as_slice(), [Part::Command(_)]),
            _ => false,
        };
        self.text.starts_with('<')
            && match &self.kind {
                RedirectKind::Read(word) => {
                    matches!(word.parts.as_slice(), [Part::Process(_)]) && word.text.starts_with("<(")
                }
                RedirectKind::HereString(word) => alone(&word.parts),
                _ => false,
            }
    }

    /// Whether it may fail, so that what it belongs to does not run. A stream may only where one was closed before.
    pub fn may_fail(&self, closed: bool) -> bool {
        match &self.kind {
            RedirectKind::Here(_) | RedirectKind::HereString(_) => false,
            RedirectKind::Read(word) | RedirectKind::Write(word) => {
                word.text != "/dev/null" && !matches!(word.parts.as_slice(), [Part::Process(_)])
            }
            RedirectKind::Duplicate { target, .. } => closed || !matches!(target.text.as_str(), "0" | "1" | "2"),
        }
    }

    /// Whether all it does is to throw messages away.
    pub fn is_quieting(&self) -> bool {
        self.text.split_ascii_whitespace().collect::<String>() == "2>/dev/null"
    }
}

fn is_only_output(text: &str) -> bool {
    matches!(text, "2>&1" | ">&2" | "1>&2")
}

#[derive(Debug, Clone)]
pub(super) enum RedirectKind {
    /// `<`
    Read(Word),
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `<>`
    Write(Word),
    /// `>&word`, `<&word`; for `>&` without a number a file is meant unless the word is one or `-`.
    Duplicate { target: Word, file: bool },
    /// `<<` and `<<-`; empty until its body is read.
    Here(Rc<OnceCell<Vec<Part>>>),
    /// `<<<`
    HereString(Word),
}

/// A word with its quoting.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    /// As it is written.
    pub text: String,
    pub parts: Vec<Part>,
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Text without quotes, where patterns, braces and `~` mean something.
    Text(String),
    /// Text that stands for itself.
    Quoted(String),
    /// `"…"`
    Double(Vec<Part>),
    /// `$x`, `${x…}`
    Parameter(Box<Parameter>),
    /// `$(…)` and backticks.
    Command(List),
    /// `$((…))`
    Arithmetic(Vec<Part>),
    /// `<(…)` and `>(…)`.
    Process(List),
    /// `(…)` after `name=` among the words of `declare` and the like.
    Array(Vec<Word>),
}

/// `${…}`.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    /// A name, digits, or one of `@*#?-$!`.
    pub name: String,
    pub subscript: Option<Subscript>,
    pub operation: Operation,
}

#[derive(Debug, Clone)]
pub(super) enum Subscript {
    /// `[@]`.
    All,
    /// `[*]`.
    Joined,
    /// It is evaluated as arithmetic.
    At(Vec<Part>),
}

/// What `${x…}` does with the value.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Plain,
    /// `${#x}`
    Length,
    /// `${!x…}`
    Indirect,
    /// `-`, `=`, `?`, `+`, each also after a colon.
    Default {
        kind: char,
        word: Vec<Part>,
    },
    /// `${x:offset:length}`, arithmetic.
    Substring(Vec<Vec<Part>>),
    /// `#`, `##`, `%`, `%%`.
    Strip {
        front: bool,
        longest: bool,
        pattern: Vec<Part>,
    },
    /// `/`, and `^`, `,`: words that are expanded.
    Change(Vec<Vec<Part>>),
    /// `${x@Q}`.
    Transform(char),
}
