//! The corpus of shell lines through the whole path of permission, as a client sees it: what only reads may run
//! unasked, whatever may do more, or reads what is secret, is asked for.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use tests::shell::corpus::{Class, FILES, Line, load};
use tests::shell::fixture::Fixture;
use tests::{Client, Daemon, ModelServer};

/// Of the lines that only read, how many may be asked for, in per cent.
const ASKED_PERCENT: usize = 2;

struct Explainer {
    client: Client,
    cwd: PathBuf,
    _daemon: Daemon,
    _model: ModelServer,
}

impl Explainer {
    /// In a copy of this, or in an empty folder.
    fn start(fixture: Option<&Fixture>) -> Self {
        let model = ModelServer::start();
        let daemon = Daemon::with_model(&model);
        let cwd = daemon.workspace().join("work");
        match fixture {
            Some(fixture) => fixture.copy_to(&daemon.workspace()),
            None => std::fs::create_dir(&cwd).expect("a folder in the workspace"),
        }
        let client = Client::connect(&daemon);
        Self { client, cwd, _daemon: daemon, _model: model }
    }

    /// What would be decided, and why; a line that is refused as no command at all does not run either.
    fn explain(&self, line: &str) -> (bool, String) {
        let params = json!({"cwd": self.cwd, "tool": "Bash", "input": {"command": line}});
        match self.client.call("permission/explain", &params) {
            Ok(Value::Object(answer)) => (answer["decision"] == "allow", answer["reason"].to_string()),
            Ok(other) => panic!("{line:?}: {other}"),
            Err(error) if line.contains('\0') || line.trim().is_empty() => (false, format!("{error:?}")),
            Err(error) => panic!("{line:?}: {error:?}"),
        }
    }

    /// The lines of a class that are decided otherwise than as they should be.
    fn wrong(&self, file: &str, class: Class) -> (usize, Vec<(Line, String)>) {
        let lines: Vec<Line> = load(file).into_iter().filter(|line| line.class == class).collect();
        let count = lines.len();
        let explained = lines.into_iter().map(|line| (self.explain(&line.cmd), line));
        let wrong = explained.filter(|((allowed, _), _)| *allowed != (class == Class::ReadOnly));
        (count, wrong.map(|((_, why), line)| (line, why)).collect())
    }
}

fn list(lines: &[(Line, String)]) -> String {
    lines.iter().fold(String::new(), |mut text, (line, why)| {
        let _ = write!(text, "\n{} {:?}  {why}", line.why, line.cmd);
        text
    })
}

#[test]
fn no_line_of_the_corpus_that_may_do_more_than_read_runs_unasked() {
    // What may be harmful is asked about whether or not a file is there by which it would be.
    for fixture in [Some(Fixture::new()), Some(Fixture::plain()), None] {
        let explainer = Explainer::start(fixture.as_ref());
        for file in FILES {
            let (count, wrong) = explainer.wrong(file, Class::Ask);
            assert!(wrong.is_empty(), "{file}: {} of {count} lines run unasked:{}", wrong.len(), list(&wrong));
        }
    }
}

#[test]
fn nearly_all_lines_of_the_corpus_that_only_read_run_unasked() {
    let explainer = Explainer::start(Some(&Fixture::plain()));
    for file in FILES {
        let (count, wrong) = explainer.wrong(file, Class::ReadOnly);
        let few = wrong.len() * 100 <= count * ASKED_PERCENT;
        assert!(few, "{file}: {} of {count} lines are asked for:{}", wrong.len(), list(&wrong));
    }
}
