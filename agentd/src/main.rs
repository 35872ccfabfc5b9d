//! The `agentd` program.

fn main() {
    agentd::process::run_if_asked(std::env::args_os());
}
