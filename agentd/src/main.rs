//! The `agentd` program.

fn main() {}
