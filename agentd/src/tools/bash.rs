//! Bash: a command in a shell of its own. Its processes are started, followed and stopped by `process`;
//! this file says what the model is told.

use super::bash_cwd::Place;
use super::bash_exit::{is_failure, signal_name};
use super::bash_lines::{Lines, commands, looks_at_files};
use super::bash_sed;
use super::input::{parse, schema};
use super::large_result::{Fitted, fit_file};
use super::tool::{Progress, PromptOptions, Simulated, Tool, ToolContext, ToolOutput, ToolVerdict};
use crate::policy::Subject;
use crate::process::{End, Finished, Limits, OutputPart, ShellSpec, search_path};
use crate::shell::Class;
use futures::future::BoxFuture;
use proto::content::ContentBlock;
use proto::event::{ProgressStream, ToolCause, ToolKind};
use proto::permission::{CommandPart, Preview};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

/// The longest single argument of a program on Linux, less the NUL byte at its end.
const MAX_COMMAND_BYTES: usize = (128 << 10) - 1;

/// Outputs up to this size are read in place.
const SMALL_OUTPUT_BYTES: u64 = 64 << 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // the model's fields are accepted as the field knows them, though nothing reads some yet
struct Input {
    /// The command, for bash. It has no standard input and no terminal.
    command: String,
    /// How long it may run, in milliseconds (two minutes if absent, ten at most).
    #[schemars(range(min = 1))]
    timeout: Option<u64>,
    /// What it does, in five to ten words, for the person who reads along.
    description: Option<String>,
    /// Not supported yet: leave it out.
    run_in_background: Option<bool>,
    /// Leave it out.
    #[serde(rename = "dangerouslyDisableSandbox")]
    dangerously_disable_sandbox: Option<bool>,
}

/// The tool.
#[derive(Default)]
pub(super) struct Bash {
    lines: Lines,
}

impl Tool for Bash {
    fn name(&self) -> &str {
        "Bash"
    }

    fn prompt(&self, options: &PromptOptions) -> String {
        let jobs = [
            ("read files", "Read"),
            ("search for text", "Grep"),
            ("find files", "Glob"),
            ("change files", "Edit"),
            ("write files", "Write"),
        ];
        let there = jobs.iter().filter(|(_, tool)| options.has(tool));
        let others: Vec<String> = there.map(|(job, tool)| format!("{tool} to {job}")).collect();
        let others = if others.is_empty() { String::new() } else { format!(" Rather use {}.", others.join(", ")) };
        format!(
            "Runs a command in bash. Each call starts a new shell: variables don't last, but the folder does: the next \
             call starts where `cd` went, as long as that is in the session's folders. There is no standard input and no terminal, so nothing can ask a question. Standard output and error \
             come together; what is too long goes to a file. The call ends when the shell does: what it left in the \
             background goes on until the session ends.{others}"
        )
    }

    fn strict(&self) -> bool {
        true
    }

    fn input_schema(&self) -> Value {
        schema::<Input>()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn read_only(&self, input: &Value) -> bool {
        command_of(input).is_some_and(|line| self.lines.anywhere(line).is_read_only())
    }

    fn concurrency_safe(&self, input: &Value) -> bool {
        self.read_only(input)
    }

    fn blocks_interrupt(&self, input: &Value) -> bool {
        !self.read_only(input)
    }

    fn runs_commands(&self) -> bool {
        true
    }

    fn check_input(&self, input: &Value) -> Result<(), String> {
        let input: Input = parse(input)?;
        if input.command.trim().is_empty() {
            return Err("the field `command` is empty; give a command".to_owned());
        }
        if input.command.contains('\0') {
            return Err("the field `command` holds a NUL byte; give a command without it".to_owned());
        }
        if input.command.len() > MAX_COMMAND_BYTES {
            return Err(format!(
                "the field `command` is longer than {MAX_COMMAND_BYTES} bytes, more than the system takes; put the \
                 text into a file with Write and use that"
            ));
        }
        if input.run_in_background == Some(true) {
            return Err("`run_in_background` is not supported yet; leave it out, and end the command with `&` if it \
                        is to go on after the call"
                .to_owned());
        }
        Ok(())
    }

    fn check_permission(&self, input: &Value, _context: &ToolContext) -> ToolVerdict {
        match input.get("dangerouslyDisableSandbox") {
            Some(Value::Bool(true)) => ToolVerdict::Ask {
                detail: "it asks to run without a sandbox; there is none yet, so it would run as any other".to_owned(),
            },
            _ => ToolVerdict::Allow { detail: "its commands decide".to_owned() },
        }
    }

    fn subject(&self, input: &Value, context: &ToolContext) -> Subject {
        match command_of(input) {
            Some(line) => Subject::Commands(commands(line, &self.lines.analysis(line, context), context)),
            None => Subject::Fields,
        }
    }

    fn classifier_input(&self, input: &Value) -> String {
        command_of(input).unwrap_or_default().to_owned()
    }

    fn progress_text(&self, input: &Value, progress: &Progress) -> String {
        let last = progress.text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let size = kibibytes(progress.total_bytes);
        format!("{} ({size}): {}", self.title(input), crate::base::text::one_line(last, 80))
    }

    fn title(&self, input: &Value) -> String {
        match command_of(input) {
            Some(command) => format!("Bash: {}", crate::base::text::one_line(command, 120)),
            None => "Bash".to_owned(),
        }
    }

    fn preview(&self, input: &Value, context: &ToolContext) -> Option<Preview> {
        let command = command_of(input)?.to_owned();
        let found = commands(&command, &self.lines.analysis(&command, context), context);
        let whole =
            found.refused.map(|why| part(&command, Class::Unknown, &format!("the line is not understood: {why}")));
        let parts = found.parts.iter().map(|found| part(&found.text, found.class, &found.why));
        Some(Preview::Command { parts: whole.into_iter().chain(parts).collect(), command })
    }

    fn simulate<'a>(&'a self, input: &'a Value, context: &'a ToolContext) -> BoxFuture<'a, Option<Simulated>> {
        Box::pin(bash_sed::simulate(input, context))
    }

    fn checks_read_files(&self, input: &Value) -> bool {
        command_of(input).is_some_and(|line| looks_at_files(&self.lines.anywhere(line)))
    }

    fn expect(&self, context: &ToolContext) {
        context.processes.prepare(&shell_spec(context, Place::of(context).cwd));
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let mut input = input;
            if let Some(edit) = bash_sed::take(&mut input) {
                let cancel = context.cancel.clone();
                return super::tool::off_the_runtime(cancel, move || bash_sed::apply(edit?, &context)).await;
            }
            match parse(&input) {
                Ok(input) => run(&input, &context).await.unwrap_or_else(ToolOutput::error),
                Err(message) => ToolOutput::error(message),
            }
        })
    }
}

fn command_of(input: &Value) -> Option<&str> {
    input.get("command").and_then(Value::as_str)
}

fn part(text: &str, class: Class, why: &str) -> CommandPart {
    let class = if class == Class::ReadOnly { "readonly" } else { "ask" };
    CommandPart { text: text.to_owned(), class: class.to_owned(), why: why.to_owned() }
}

async fn run(input: &Input, context: &ToolContext) -> Result<ToolOutput, String> {
    if context.cancel.is_cancelled() {
        return Ok(not_started());
    }
    let place = Place::of(context);
    let spec = shell_spec(context, place.cwd.clone());
    let timeout = input.timeout.unwrap_or(context.bash.timeout_ms).min(context.bash.max_timeout_ms);
    let limits =
        Limits { timeout: Duration::from_millis(timeout), grace: context.kill_grace, cancel: context.cancel.clone() };
    let running = tokio::select! {
        running = context.processes.run_line(&spec, &context.tool_call_id, &input.command) => running,
        // The shell does not take the command, as one that somebody has stopped: what it got of it is not run.
        () = context.cancel.cancelled() => return Ok(not_started()),
        () = tokio::time::sleep(limits.timeout) => Err(io::Error::new(io::ErrorKind::TimedOut, "its shell does not answer")),
    };
    let running = running.map_err(|error| format!("the command can't be started: {error}"))?;
    let path = running.output_path().to_owned();
    let progress = context.progress.clone();
    let pass_on = move |part: OutputPart| {
        let OutputPart { offset, text, total_bytes } = part;
        progress(Progress { stream: ProgressStream::Stdout, offset, text, total_bytes });
    };
    let finished = running
        .follow(&limits, &pass_on)
        .await
        .map_err(|error| format!("the command ran, but its output can't be read: {error}"))?;
    let moved = place.after(&finished, context);
    if matches!(finished.end, End::Exited(_)) {
        // The next command is mostly of the same kind: its shell starts while the model thinks.
        context.processes.prepare_early(&ShellSpec { cwd: moved.cwd.clone(), ..spec });
    }
    let output = report(&input.command, limits.timeout, finished, path).await?;
    Ok(moved.tell(output))
}

fn not_started() -> ToolOutput {
    let cause = Some(ToolCause::UserAbort);
    ToolOutput { cause, ..ToolOutput::error("The call was stopped before the command was started.") }
}

fn shell_spec(context: &ToolContext, cwd: PathBuf) -> ShellSpec {
    ShellSpec {
        session_id: context.session_id.clone(),
        shell: shell(context),
        cwd,
        env: Arc::clone(&context.env),
        outputs_dir: context.outputs_dir.clone(),
    }
}

/// The client's own bash, else the system's plain shell.
fn shell(context: &ToolContext) -> String {
    let candidates =
        search_path(&context.env).split(':').filter(|dir| dir.starts_with('/')).map(|dir| format!("{dir}/bash"));
    candidates
        .chain(["/bin/bash".to_owned()])
        .find(|file| Path::new(file).is_file())
        .unwrap_or_else(|| "/bin/sh".to_owned())
}

/// What the model and people are told of a command that has ended.
async fn report(command: &str, timeout: Duration, finished: Finished, path: PathBuf) -> Result<ToolOutput, String> {
    let verdict = Verdict::of(command, timeout, &finished.end);
    let fitted = fitted(&path, verdict.is_error, finished.total_bytes)
        .await
        .map_err(|error| format!("the command ran, but its output can't be read: {error}"))?;
    let left = [finished.survivors.as_slice(), &finished.still_running].concat();
    let keeps_file = fitted.whole.is_some() || !left.is_empty();
    if !keeps_file {
        // It is empty or the model sees all of it.
        let _ = std::fs::remove_file(&path);
    }
    let mut text = verdict.first_line.clone().map_or_else(String::new, |line| line + "\n");
    text.push_str(fitted.text.trim_end_matches('\n'));
    if fitted.text.trim().is_empty() {
        text = verdict.first_line.clone().unwrap_or_else(|| "(no output)".to_owned());
    }
    for sentence in verdict.last_line.iter().chain(processes_sentence(&finished, &path).iter()) {
        text.push_str("\n\n");
        text.push_str(sentence);
    }
    Ok(ToolOutput {
        content: vec![ContentBlock::text(text)],
        summary: verdict.summary.unwrap_or_else(|| size_of(&fitted, finished.total_bytes)),
        is_error: verdict.is_error,
        persisted_path: fitted.whole,
        cause: verdict.cause,
        still_running: finished.still_running,
        ..ToolOutput::default()
    })
}

/// The output for the model. What is small was written a moment ago and is in memory: a thread of its own would cost more.
async fn fitted(path: &Path, is_error: bool, total_bytes: u64) -> io::Result<Fitted> {
    if total_bytes <= SMALL_OUTPUT_BYTES {
        return fit_file(path, is_error);
    }
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || fit_file(&path, is_error)).await.map_err(io::Error::other)?
}

fn size_of(fitted: &Fitted, total_bytes: u64) -> String {
    if fitted.whole.is_some() {
        return format!("{} of output", kibibytes(total_bytes));
    }
    match fitted.text.lines().count() {
        0 => "no output".to_owned(),
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    }
}

fn kibibytes(bytes: u64) -> String {
    format!("{} KiB", bytes.div_ceil(1024))
}

fn processes_sentence(finished: &Finished, output: &Path) -> Option<String> {
    let list = |pids: &[u32]| pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    if !finished.still_running.is_empty() {
        return Some(format!("These processes could not be stopped: {}.", list(&finished.still_running)));
    }
    let (processes_go, they_are) = match finished.survivors.len() {
        0 => return None,
        1 => ("1 process goes".to_owned(), "it is"),
        count => (format!("{count} processes go"), "they are"),
    };
    Some(format!(
        "{processes_go} on in the background: pid {}. The output goes to {}; {they_are} stopped when the session ends.",
        list(&finished.survivors),
        output.display()
    ))
}

/// What the end of a command means.
struct Verdict {
    is_error: bool,
    first_line: Option<String>,
    last_line: Option<String>,
    summary: Option<String>,
    cause: Option<ToolCause>,
}

impl Verdict {
    fn of(command: &str, timeout: Duration, end: &End) -> Self {
        match end {
            End::Exited(status) => Self::of_exit(command, *status),
            End::TimedOut => Self {
                cause: Some(ToolCause::Timeout),
                ..Self::stopped(
                    format!("timed out after {}", humantime::format_duration(timeout)),
                    format!(
                        "The command was stopped since it ran longer than {}. What it did until then is done; a longer \
                         `timeout` can be given.",
                        humantime::format_duration(timeout)
                    ),
                )
            },
            End::Cancelled => Self {
                cause: Some(ToolCause::UserAbort),
                ..Self::stopped(
                    "stopped".to_owned(),
                    "The command was stopped before it ended; it may have changed things already.".to_owned(),
                )
            },
            End::TooMuchOutput => Self::stopped(
                "too much output".to_owned(),
                "The command was stopped since it wrote more than 5 GB; it may have changed things already.".to_owned(),
            ),
            End::Lost(error) => Self::stopped(
                "lost".to_owned(),
                format!("It is not known how the command ended ({error}); it may have changed things."),
            ),
        }
    }

    fn stopped(summary: String, sentence: String) -> Self {
        Self { is_error: true, first_line: None, last_line: Some(sentence), summary: Some(summary), cause: None }
    }

    fn of_exit(command: &str, status: ExitStatus) -> Self {
        let (is_error, first_line) = match (status.code(), status.signal()) {
            (Some(code), _) => (is_failure(command, code), (code != 0).then(|| format!("Exit code {code}"))),
            (None, signal) => (true, Some(format!("Killed by {}", signal_name(signal.unwrap_or(0))))),
        };
        let summary = first_line.as_deref().map(str::to_lowercase);
        Self { is_error, first_line, last_line: None, summary, cause: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Verdict as Permission;
    use crate::tools::testing::{Scratch, decided};
    use serde_json::json;
    use std::os::unix::fs::symlink;

    fn bash() -> Bash {
        Bash::default()
    }

    fn is_allowed(scratch: &Scratch, command: &str) -> bool {
        decided(&bash(), &json!({"command": command}), &scratch.context()).verdict == Permission::Allow
    }

    #[test]
    fn what_only_reads_inside_runs_unasked() {
        let scratch = Scratch::new();
        scratch.write("f", "");
        symlink("/home", scratch.path("out")).unwrap();
        let inside = format!("cat {}", scratch.path("f").display());
        for (command, allowed) in [
            ("ls", true),
            ("cat f", true),
            (inside.as_str(), true),
            ("git status", true),
            ("cat /home/f", false),
            ("cat ../f", false),
            ("cat out/f", false),
            ("rm f", false),
        ] {
            assert_eq!(is_allowed(&scratch, command), allowed, "{command}");
        }
        scratch.write(".git/config", "[core]\n\tfsmonitor = ./evil\n");
        assert!(!is_allowed(&scratch, "git status"), "the folder's own git would run a program");
        assert!(is_allowed(&scratch, "ls"));
    }

    /// Row B03: what only reads may run beside other calls, what may write does not.
    #[test]
    fn only_what_reads_runs_beside_others() {
        let is_safe = |command: &str| bash().concurrency_safe(&json!({"command": command}));
        assert!(is_safe("ls") && is_safe("git log --oneline"));
        assert!(!is_safe("rm f") && !is_safe("ls; rm f") && !is_safe("ls > f"));
        assert!(!bash().concurrency_safe(&json!({})), "what is not known is not safe");
    }

    #[test]
    fn a_command_that_the_system_would_refuse_is_refused_before() {
        let context = Scratch::new().context();
        let of = |bytes: usize| bash().validate(&json!({"command": "x".repeat(bytes)}), &context);
        assert_eq!(of(MAX_COMMAND_BYTES), Ok(()));
        assert!(of(MAX_COMMAND_BYTES + 1).unwrap_err().contains("put the text into a file with Write"));
    }

    /// Row T08: the four lines for people: what is called, how it goes, what it gave, why it failed.
    #[tokio::test]
    async fn the_four_lines_for_people() {
        let scratch = Scratch::new();
        let input = json!({"command": "printf 'one\\ntwo\\n'; exit 3"});
        let progress = Progress {
            stream: ProgressStream::Stdout,
            offset: 0,
            text: "compiling a\ncompiling b\n\n".to_owned(),
            total_bytes: 3000,
        };
        let mut reported = Vec::new();
        for code in [0, 3] {
            let status = ExitStatus::from_raw(code << 8);
            let end = End::Exited(status);
            let finished =
                Finished { end, total_bytes: 8, folder: None, survivors: Vec::new(), still_running: Vec::new() };
            let path = scratch.write("out", "one\ntwo\n");
            reported.push(report("make", Duration::from_secs(1), finished, path).await.unwrap());
        }
        let refused = bash().validate(&json!({}), &scratch.context()).unwrap_err();
        let lines = [
            bash().title(&input),
            bash().progress_text(&json!({"command": "make"}), &progress),
            bash().result_text(&reported[0]),
            bash().result_text(&reported[1]),
            bash().error_text(&refused),
        ];
        assert_eq!(
            lines,
            [
                "Bash: printf 'one\\ntwo\\n'; exit 3",
                "Bash: make (3 KiB): compiling b",
                "2 lines",
                "exit code 3",
                "the field `command` is missing; it must be a string",
            ]
        );
    }

    /// Row T12: a model that judges a command sees the command and nothing around it.
    #[test]
    fn the_classifier_gets_the_command() {
        let input = json!({"command": "make test", "description": "Runs the tests", "timeout": 5});
        assert_eq!(bash().classifier_input(&input), "make test");
    }

    #[test]
    fn titles_and_previews() {
        let scratch = Scratch::new();
        let input = json!({"command": "make  test"});
        assert_eq!(bash().title(&input), "Bash: make test");
        assert_eq!(bash().title(&json!({})), "Bash");
        let Some(Preview::Command { command, parts }) = bash().preview(&input, &scratch.context()) else {
            panic!("a command")
        };
        assert_eq!((command.as_str(), parts.len(), parts[0].class.as_str()), ("make  test", 1, "ask"));
        let Some(Preview::Command { parts, .. }) = bash().preview(&json!({"command": "ls"}), &scratch.context()) else {
            panic!("a command")
        };
        assert_eq!(parts[0].class, "readonly");
    }

    #[test]
    fn what_was_left_behind_is_said_in_plain_words() {
        let finished = |survivors: &[u32], still_running: &[u32]| Finished {
            end: End::TimedOut,
            total_bytes: 0,
            folder: None,
            survivors: survivors.to_vec(),
            still_running: still_running.to_vec(),
        };
        let say = |survivors: &[u32], still: &[u32]| processes_sentence(&finished(survivors, still), Path::new("/o"));
        assert_eq!(say(&[], &[]), None);
        assert_eq!(
            say(&[7], &[]).unwrap(),
            "1 process goes on in the background: pid 7. The output goes to /o; it is stopped when the session ends."
        );
        assert_eq!(
            say(&[7, 8], &[]).unwrap(),
            "2 processes go on in the background: pid 7, 8. The output goes to /o; they are stopped when the session ends."
        );
        assert_eq!(say(&[], &[9]).unwrap(), "These processes could not be stopped: 9.");
    }
}
