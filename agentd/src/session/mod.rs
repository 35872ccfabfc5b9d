//! L3: the session actor. It drives the turn machine, and turns its effects into work on the doors.
//! Called by `hub` through its mailbox.
