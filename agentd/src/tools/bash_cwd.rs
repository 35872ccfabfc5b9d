//! The folder that a session's shell stands in, from one command to the next (row X16). Called by Bash.

use super::paths::is_inside;
use super::tool::{ToolContext, ToolOutput};
use crate::event::ContextChange;
use crate::process::{End, Finished, LastFolder};
use proto::content::ContentBlock;
use std::path::{Path, PathBuf};

/// Where a command runs, and what the model is told of that.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The folder.
    pub cwd: PathBuf,
    changed: bool,
    sentence: Option<String>,
}

impl Place {
    /// Where the shell stands; the session's folder if that is gone.
    pub fn of(context: &ToolContext) -> Self {
        let cwd = &context.cwd;
        if *cwd == context.root || cwd.is_dir() {
            return Self { cwd: cwd.clone(), changed: false, sentence: None };
        }
        let sentence = format!(
            "The command ran in {}: the shell's folder {} does not exist any more.",
            context.root.display(),
            cwd.display()
        );
        Self { cwd: context.root.clone(), changed: true, sentence: Some(sentence) }
    }

    /// Where the shell stands after a command. It does not leave the session's folders, since what runs unasked and
    /// what is asked for is judged by them; a command that was stopped moves it nowhere.
    pub fn after(self, finished: &Finished, context: &ToolContext) -> Self {
        let Some(folder) = finished.folder.as_ref().filter(|_| matches!(finished.end, End::Exited(_))) else {
            return self;
        };
        let why = match folder {
            LastFolder::At(folder) if is_usable(folder, context) => {
                return Self { cwd: folder.clone(), changed: true, ..self };
            }
            LastFolder::At(folder) => format!("{} is not in the session's folders", folder.display()),
            LastFolder::Unknown => "where the command left it can't be told, and may be gone".to_owned(),
        };
        let sentence = format!("The shell's folder was reset to {}: {why}.", self.cwd.display());
        let sentences = self.sentence.iter().chain([&sentence]).cloned().collect::<Vec<_>>().join(" ");
        Self { sentence: Some(sentences), ..self }
    }

    /// The output with what is to be told.
    pub fn tell(self, mut output: ToolOutput) -> ToolOutput {
        if let (true, Some(cwd)) = (self.changed, self.cwd.to_str()) {
            output.context = Some(ContextChange { shell_cwd: Some(cwd.to_owned()), ..Default::default() });
        }
        if let Some(sentence) = self.sentence {
            match output.content.last_mut() {
                Some(ContentBlock::Text { text, .. }) => {
                    text.push_str("\n\n");
                    text.push_str(&sentence);
                }
                _ => output.content.push(ContentBlock::text(sentence)),
            }
        }
        output
    }
}

/// Whether the shell may stand there: in the session's folders, and by a name that events can hold.
fn is_usable(folder: &Path, context: &ToolContext) -> bool {
    folder.to_str().is_some() && folder.is_dir() && is_inside(folder, context)
}
