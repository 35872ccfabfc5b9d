//! The command line of agentd.

fn main() {}
