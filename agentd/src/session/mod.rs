//! L3: the session actor. It drives the turn machine, and turns its effects into work on the doors.
//! Called by `hub` through its mailbox; it never waits for a client.

mod actor;
mod approvals;
mod attachments;
mod classifier;
mod effects;
mod ending;
mod explain;
mod hooks;
mod judging;
mod log;
mod mailbox;
mod nearest;
mod pipeline;
mod recovery;
mod remembering;
mod rewind;
mod services;
mod stop_hooks;
mod toolset;
mod turns;
mod update;

pub use actor::Actor;
pub use attachments::{changed_files, expand, names_files};
pub use explain::Standing;
pub use hooks::{
    AfterTool, BeforeTool, CallView, HookDecision, Hooks, NoHooks, PermissionSaid, ResultView, StopDecision, StopView,
};
pub use log::{Announce, Log, Room, View};
pub use mailbox::{Command, Mailbox, Urgent, mailbox};
pub use recovery::{Recovery, forked, plan};
pub use services::Services;
pub use toolset::{Toolset, next_toolset};
pub use turns::storage_failed;
pub use update::check_mode;
