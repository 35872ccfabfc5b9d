//! `[[ … ]]`, and where `cd` leads. Part of the walk.

use super::paths::{absolute, normal};
use super::{Walk, Walked};
use crate::shell::analysis::{Access, Class, Command, Doing, PathUse};
use crate::shell::ast::{Operation, Part, Test, Word};
use crate::shell::expand::Expanded;
use crate::shell::names;
use crate::shell::state::{Value, is_plain_number};

/// Tests that evaluate both sides as arithmetic.
const NUMERIC: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Whether these parts are one variable and nothing that is evaluated. A test whether it is empty tells nothing else of
/// it, so that it may hold a secret.
fn is_lone_variable(parts: &[Part]) -> bool {
    let [Part::Parameter(parameter)] = parts else { return false };
    let plain = |word: &[Part]| word.iter().all(|part| matches!(part, Part::Text(_) | Part::Quoted(_)));
    parameter.subscript.is_none()
        && match &parameter.operation {
            Operation::Plain => true,
            Operation::Default { kind: '-', word } => plain(word),
            _ => false,
        }
}

/// Whether a word is `"$x"`, so that it stays one word.
fn is_quoted_variable(word: &Word) -> bool {
    matches!(word.parts.as_slice(), [Part::Double(inner)] if is_lone_variable(inner) && !is_all(inner))
}

fn is_all(parts: &[Part]) -> bool {
    matches!(parts, [Part::Parameter(parameter)] if matches!(parameter.name.as_str(), "@" | "*"))
}

/// Whether the last word that is tested by `[` or `test` is asked only whether it is empty.
pub(super) fn is_asked_whether_empty(words: &[Word]) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let tested = match texts.as_slice() {
        ["[", "-n" | "-z", _, "]"] | ["test", "-n" | "-z", _] => words.get(2),
        ["[", "!", "-n" | "-z", _, "]"] | ["test", "!", "-n" | "-z", _] => words.get(3),
        _ => None,
    };
    tested.is_some_and(is_quoted_variable)
}

impl Walk<'_> {
    /// A condition, which is a command of its own.
    pub(super) fn condition(&mut self, text: &str, tests: &[Test]) -> Walked<()> {
        self.step()?;
        let at = self.commands.len();
        let paths = self.perhaps(|this| this.tests(tests))?;
        let harm = self.harm.take();
        let class = if harm.is_some() { Class::Unknown } else { Class::ReadOnly };
        self.commands.insert(
            at,
            Command {
                text: text.to_owned(),
                program: Some("[[".to_owned()),
                plain: text.to_owned(),
                forms: vec![text.to_owned()],
                class,
                doing: Doing::Other,
                why: harm.unwrap_or_else(|| "a test only looks".to_owned()),
                paths,
                named: Vec::new(),
                hidden: false,
            },
        );
        Ok(())
    }

    /// The paths that tests look at. Of tests with `&&` and `||` some may not be made.
    fn tests(&mut self, tests: &[Test]) -> Walked<Vec<PathUse>> {
        let mut paths = Vec::new();
        for test in tests {
            match test {
                Test::Text(word) => drop(self.expand_one(word)?),
                Test::Unary(operator, word) => match operator.as_str() {
                    "-n" | "-z" if is_lone_variable(&word.parts) || is_quoted_variable(word) => {}
                    "-n" | "-z" | "-t" | "-o" => drop(self.expand_one(word)?),
                    "-v" | "-R" => {
                        if !names::is_name(&word.text) {
                            self.harm(format!("`{}` may be evaluated", word.text));
                        }
                    }
                    _ => paths.extend(self.looked_at(word)?),
                },
                Test::Binary(first, operator, second) if NUMERIC.contains(&operator.as_str()) => {
                    for word in [first, second] {
                        self.numeric(word)?;
                    }
                }
                Test::Binary(first, operator, second) if matches!(operator.as_str(), "-nt" | "-ot" | "-ef") => {
                    for word in [first, second] {
                        paths.extend(self.looked_at(word)?);
                    }
                }
                Test::Binary(first, _, second) => {
                    self.expand_one(first)?;
                    self.expand_one(second)?;
                }
            }
        }
        Ok(paths)
    }

    fn looked_at(&mut self, word: &Word) -> Walked<Vec<PathUse>> {
        let path = self.expand_one(word)?;
        Ok(self.uses(&path, Access::Look, &word.text))
    }

    /// A side that is evaluated: only a number is harmless.
    fn numeric(&mut self, word: &Word) -> Walked<()> {
        let value = self.expand_one(word)?;
        let number = match value.exact() {
            Some(text) => is_plain_number(text.trim()),
            None => {
                let inner = match word.parts.as_slice() {
                    [Part::Double(inner)] => inner.as_slice(),
                    parts => parts,
                };
                matches!(inner, [part] if self.is_number_part(part, None))
            }
        };
        if !number {
            self.harm(format!("`{}` is evaluated, which may run a command", word.text));
        }
        Ok(())
    }

    /// What is known after `cd`.
    pub(super) fn change_folder(&mut self, arguments: &[Expanded], physical: bool) {
        let before = self.state.clone();
        let target = arguments.last().filter(|word| !matches!(word.exact(), Some("-P" | "-L" | "--")));
        let old = self.state.folder().map(str::to_owned);
        let folders = match target.map(Expanded::exact) {
            None => self.home().map(|home| vec![home]),
            Some(Some("-")) => self.state.previous.clone().map(|previous| vec![previous]),
            Some(Some("")) => self.state.folders.clone(),
            Some(Some(path)) if path.starts_with('/') => Some(led("", path, physical)),
            Some(Some(path)) => {
                let from = self.state.folders.as_ref();
                from.map(|folders| folders.iter().flat_map(|folder| led(folder, path, physical)).collect())
            }
            Some(None) => None,
        };
        self.state.folders = folders.filter(|folders| folders.len() <= 4);
        self.state.previous = old;
        self.state.set("OLDPWD", Value::any());
        if self.state != before {
            let mut failed = before;
            failed.set("OLDPWD", Value::any());
            self.failed = Some(failed);
        }
    }
}

/// Where a path leads: by text, and also by the links on the way if that may be another place.
fn led(folder: &str, path: &str, physical: bool) -> Vec<String> {
    let whole = absolute(folder, path);
    let by_text = normal(&whole);
    let plain = path.split('/').skip_while(|part| *part == ".." || *part == ".").all(|part| part != "..");
    if physical && whole != by_text {
        vec![whole]
    } else if plain && !physical {
        vec![by_text]
    } else if whole == by_text {
        vec![whole]
    } else {
        vec![by_text, whole]
    }
}
