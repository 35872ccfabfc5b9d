//! L1: what the model is told beside the transcript: the system prompt with the environment. Pure, so
//! that the same session always gives the same bytes.

use proto::methods::SystemPrompt;

/// What the system prompt says of the surroundings. All of it holds for the session's whole life.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The session's folder, absolute.
    pub cwd: &'a str,
    /// Folders beside it.
    pub additional_directories: &'a [String],
    /// When the session was created, RFC 3339.
    pub created_at: &'a str,
}

const ROLE: &str = "\
You are a coding agent. You work in the person's folder through the tools you are given, and you tell the person \
shortly and plainly what you find and do.

Use the file tools rather than shell commands to read, search and change files. Read a file before you change it. \
Make the smallest change that does the job, in the style of the code around it. Calls that only read may be made \
together in one answer; they run side by side. A call may be refused by the person: then don't try it another way, \
ask or go on without it. Never claim that something was done or tested if it was not.";

/// What the system prompt ends with in a turn whose answer is to fit a schema.
pub const ANSWER_AS_DATA: &str = "\n\n# Answer\nThe answer to this prompt is read by a program. When all work is done, \
give it by calling the tool StructuredOutput exactly once; what you write beside it is not read.";

/// What the system prompt ends with in a turn that begins in mode `plan`.
pub const PLAN: &str = "\n\n# Plan mode\nThe person wants a plan before anything is changed. Until it is approved you only \
read: look at files, search, run commands that only read. Everything else is refused. Find out what is needed, ask \
where the task leaves a choice that matters, then give the whole plan to the tool ExitPlanMode. If the person approves \
it, plan mode is over and you begin; if not, revise it. A question that needs no change is simply answered.";

/// The system prompt.
#[must_use]
pub fn system_prompt(change: Option<&SystemPrompt>, surroundings: Surroundings<'_>) -> String {
    let environment = environment(surroundings);
    match change {
        None => format!("{ROLE}\n\n{environment}"),
        Some(SystemPrompt::Append(text)) => format!("{ROLE}\n\n{environment}\n\n{text}"),
        Some(SystemPrompt::Replace(text)) => format!("{text}\n\n{environment}"),
    }
}

fn environment(surroundings: Surroundings<'_>) -> String {
    let mut lines = vec![
        "# Environment".to_owned(),
        format!("Working directory: {}", surroundings.cwd),
        format!("Platform: {}", std::env::consts::OS),
        format!("Date: {}", surroundings.created_at.get(..10).unwrap_or_default()),
    ];
    lines.extend(surroundings.additional_directories.iter().map(|dir| format!("Further directory: {dir}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(change: Option<SystemPrompt>) -> String {
        let further = ["/lib".to_owned()];
        let surroundings =
            Surroundings { cwd: "/src", additional_directories: &further, created_at: "2026-11-30T09:00:00.000Z" };
        system_prompt(change.as_ref(), surroundings)
    }

    #[test]
    fn it_names_the_folders_and_the_day() {
        let text = prompt(None);
        assert!(text.starts_with(ROLE));
        for line in ["Working directory: /src", "Date: 2026-11-30", "Further directory: /lib"] {
            assert!(text.lines().any(|found| found == line), "{line}");
        }
    }

    #[test]
    fn it_can_be_added_to_and_replaced() {
        assert!(prompt(Some(SystemPrompt::Append("Be kind.".into()))).ends_with("\n\nBe kind."));
        let replaced = prompt(Some(SystemPrompt::Replace("You sing.".into())));
        assert!(replaced.starts_with("You sing.\n\n# Environment\n") && !replaced.contains(ROLE));
    }
}
