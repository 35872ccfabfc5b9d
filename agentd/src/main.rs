//! The `agentd` program: reads its arguments and hands over to the daemon; nothing else.

fn main() {}
