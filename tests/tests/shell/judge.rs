//! The judge that is tried: agentd's analysis of a line.

use agentd::base::environment::Environment;
use agentd::process::for_tools;
use agentd::shell::{Analysis, Command, PathUse, World, analyse};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tests::shell::fuzz::Judged;
use tests::shell::sandbox::{HOME, PATH, SECRETS, Sandbox, WORK};

/// How long a line may run; what it does in that time is what is seen of it.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What agentd knows of a line, in the sandbox's folders.
pub fn analysis_of(line: &str) -> Analysis {
    analyse(line, World { cwd: WORK, home: HOME })
}

/// What it says of a line that it takes for mere reading.
pub fn judge(line: &str) -> Option<Judged> {
    let analysis = analysis_of(line);
    if !analysis.is_read_only() {
        return None;
    }
    // Each text of a command begins with its program, one that it runs, or one that runs it.
    let names = |command: &Command| {
        let runs = command.forms.iter().filter_map(|form| form.split(' ').next());
        command.program.as_deref().into_iter().chain(runs).map(str::to_owned).collect::<Vec<_>>()
    };
    let paths: Vec<&PathUse> = analysis.commands.iter().flat_map(|command| &command.paths).collect();
    let known: Vec<&str> = paths.iter().filter_map(|used| used.path.as_deref()).collect();
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    // Of a folder all that is in it may be used, and what git tracks is git's to show.
    let below = SECRETS.into_iter().filter(|secret| known.iter().any(|path| Path::new(secret).starts_with(path)));
    let git = analysis.commands.iter().flat_map(names).any(|name| name.rsplit('/').next() == Some("git"));
    Some(Judged {
        files: known.iter().copied().chain(below).map(last).collect(),
        any_file: git
            || paths.iter().any(|used| used.path.as_deref().is_none_or(|path| path.contains("..")))
            || paths.iter().any(|used| used.below),
        programs: analysis.commands.iter().flat_map(names).collect(),
        texts: analysis.commands.into_iter().flat_map(|command| command.forms).collect(),
    })
}

/// A sandbox whose lines get the variables that agentd gives to its tools.
pub fn sandbox() -> Sandbox {
    let client = [("PATH", PATH), ("HOME", HOME), ("USER", "ann"), ("LANG", "C.UTF-8")];
    let client = BTreeMap::from(client.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Sandbox::new(for_tools(&Environment::from(client), "ses_lines", "call_line"), TIMEOUT)
}
