//! The judge that is tried: agentd's analysis of a line.

use agentd::base::environment::Environment;
use agentd::process::for_tools;
use agentd::shell::{Analysis, Command, World, analyse};
use std::collections::BTreeMap;
use std::time::Duration;
use tests::shell::fuzz::Judged;
use tests::shell::sandbox::{HOME, PATH, Sandbox, WORK};

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
    Some(Judged {
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
