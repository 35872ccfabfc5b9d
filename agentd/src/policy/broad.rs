//! Allow rules that are so broad that mode `auto` would have nothing left to judge: they are set aside while it lasts.
//! Called by `layers`.

use super::rule::{Meaning, Rule};

/// Tools that run what they are told.
const RUN_ANYTHING: [&str; 3] = ["Bash", "Agent", "Monitor"];

/// Programs that run code from their arguments.
const INTERPRETERS: [&str; 22] = [
    "python",
    "node",
    "deno",
    "bun",
    "ruby",
    "perl",
    "php",
    "lua",
    "bash",
    "sh",
    "zsh",
    "dash",
    "fish",
    "ksh",
    "pwsh",
    "osascript",
    "env",
    "xargs",
    "sudo",
    "eval",
    "exec",
    "ssh",
];
/// Commands of package managers and build tools that run what a folder says.
const RUNNERS: [&str; 14] = [
    "npm run",
    "npm exec",
    "npx",
    "yarn",
    "pnpm run",
    "pnpm exec",
    "pnpm dlx",
    "bunx",
    "uv run",
    "uvx",
    "poetry run",
    "pipx run",
    "cargo run",
    "make",
];

/// Whether a rule allows whole tools that run anything, interpreters with any code, or scripts of package managers.
pub(super) fn is_broad(rule: &Rule) -> bool {
    match rule.meaning() {
        Meaning::Every => RUN_ANYTHING.iter().any(|tool| rule.names(tool)),
        Meaning::Command(pattern) if !pattern.is_exact() => {
            let beginning = pattern.beginning().trim_end();
            let program = beginning.split(' ').next().unwrap_or_default();
            let program = program.rsplit('/').next().unwrap_or(program);
            let program = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
            let starts = |runner: &str| beginning == runner || beginning.starts_with(&format!("{runner} "));
            // `py*` may be `python`.
            let cut = !beginning.contains(' ') && INTERPRETERS.iter().any(|name| name.starts_with(program));
            INTERPRETERS.contains(&program) || cut || RUNNERS.iter().any(|runner| starts(runner))
        }
        Meaning::Name(_) => rule.tool() == "Agent",
        Meaning::Command(_) | Meaning::Path(_) | Meaning::Host(_) | Meaning::Field => false,
    }
}
