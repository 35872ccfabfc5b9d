//! Line editing with history, on a thread of its own, so that the connection is served meanwhile. Owned by
//! `chat`; it reads only when asked. Of lines that come at once it hands out one each time: the terminal's buffer
//! outlives a line (rustyline's feature `buffer-redux`).

use super::slash;
use crate::failure::Failure;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, ExternalPrinter, Helper};
use std::path::{Path, PathBuf};
use std::sync::mpsc as blocking;
use tokio::sync::mpsc;

const PROMPT: &str = "› ";
/// Lines of history that are kept.
const HISTORY: usize = 2000;

/// What a person entered.
pub enum Line {
    /// A line, or several that were pasted or joined with a backslash.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the input.
    Eof,
    /// The terminal failed.
    Failed(String),
}

/// The editor.
pub struct LineReader {
    /// Asks the thread for a line that begins with a text.
    turn: blocking::SyncSender<String>,
    lines: mpsc::Receiver<Line>,
    /// Prints above the line that is being edited; none without a terminal.
    printer: Option<Box<dyn ExternalPrinter + Send>>,
}

impl LineReader {
    /// Starts the editor with the history of that folder.
    pub fn start(state_dir: &Path) -> Result<Self, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::new(format!("cannot edit lines here: {error}"));
        let config = Config::builder()
            .max_history_size(HISTORY)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(|error| failed(&error))?
            .build();
        let mut editor = Editor::<Words, FileHistory>::with_config(config).map_err(|error| failed(&error))?;
        editor.set_helper(Some(Words));
        let history = state_dir.join("history");
        let _ = editor.load_history(&history); // the first time there is none
        let printer = editor.create_external_printer().ok();
        let printer = printer.map(|printer| Box::new(printer) as Box<dyn ExternalPrinter + Send>);
        let (turn, turns) = blocking::sync_channel(1);
        let (sender, lines) = mpsc::channel(1);
        let serve = move || edit(editor, &history, &turns, &sender);
        std::thread::Builder::new().name("lines".to_owned()).spawn(serve).map_err(|error| failed(&error))?;
        Ok(Self { turn, lines, printer })
    }

    /// Asks for a line. It begins with what was typed already.
    pub fn ask(&self, typed: String) {
        let _ = self.turn.try_send(typed); // one that was asked for already comes first
    }

    /// The line that was asked for. Cancel-safe.
    pub async fn line(&mut self) -> Line {
        self.lines.recv().await.unwrap_or(Line::Eof)
    }

    /// Prints above the line that is being edited; false if that cannot be.
    pub fn tell(&mut self, text: &str) -> bool {
        self.printer.as_mut().is_some_and(|printer| printer.print(format!("{text}\n")).is_ok())
    }
}

fn edit(
    mut editor: Editor<Words, FileHistory>,
    history: &PathBuf,
    turns: &blocking::Receiver<String>,
    lines: &mpsc::Sender<Line>,
) {
    while let Ok(typed) = turns.recv() {
        let line = match editor.readline_with_initial(PROMPT, (&typed, "")) {
            Ok(text) => {
                let text = text.replace("\\\n", "\n");
                if !text.trim().is_empty() {
                    let _ = editor.add_history_entry(text.as_str()); // losing history loses no prompt
                    let _ = editor.append_history(history);
                }
                Line::Text(text)
            }
            Err(ReadlineError::Interrupted) => Line::Interrupted,
            Err(ReadlineError::Eof) => Line::Eof,
            Err(error) => Line::Failed(error.to_string()),
        };
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Completes slash commands, and takes a backslash at the end as "there is more".
struct Words;

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..at).unwrap_or_default();
        let names = slash::HELP.iter().map(|(usage, _)| usage.split(' ').next().unwrap_or_default());
        let fitting = names.filter(|name| typed.starts_with('/') && name.starts_with(typed));
        Ok((0, fitting.map(str::to_owned).collect()))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if context.input().ends_with('\\') { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Helper for Words {}
