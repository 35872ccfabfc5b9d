//! `agentctl rewind`: back to just before a turn, chosen by its id, by how many turns it is back, or from a list.

use super::print;
use crate::args::Rewind;
use crate::failure::{Failure, Outcome, code};
use crate::render::escape::one_line;
use crate::session_ref;
use crate::start::Target;
use crate::terminal;
use crate::turns::{Turn, Turns};
use proto::methods::{SessionRewind, SessionRewindParams, SessionRewindResult};
use proto::session::SessionInfo;
use std::io::{self, Write};

/// Runs the command.
pub fn run(args: &Rewind, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let session = session_ref::resolve(&mut connection, &args.session.session)?;
    let turns = Turns::of(&mut connection, &session.id)?;
    let turn = match (&args.turn, args.last) {
        (Some(turn), _) => turns.named(turn)?.clone(),
        (None, Some(count)) => turns.back(count)?.clone(),
        (None, None) => choose(&session, &turns)?,
    };
    if terminal::can_ask() && !args.yes && !is_confirmed(&turns, &turn, args.files)? {
        return Err(Failure::silent(code::CANCELLED));
    }
    let params = SessionRewindParams { session_id: session.id, to_turn_id: turn.id, files: args.files };
    for line in told(&connection.call::<SessionRewind>(params)?) {
        print(&line)?;
    }
    Ok(0)
}

/// What became of the files, a line each.
pub fn told(result: &SessionRewindResult) -> Vec<String> {
    let restored = result.restored.iter().map(|path| format!("restored {}", one_line(path)));
    let kept = result.kept.iter().map(|path| format!("left as it is, since it was changed: {}", one_line(path)));
    restored.chain(kept).collect()
}

/// Lets a person choose; without a terminal the list is the answer.
fn choose(session: &SessionInfo, turns: &Turns) -> Result<Turn, Failure> {
    if turns.is_empty() {
        return Err(Failure::new(format!("session {} has no turn to go back before", session.id)));
    }
    let mut list = turns.lines().join("\n");
    list.push('\n');
    if !terminal::can_ask() {
        io::stderr().lock().write_all(list.as_bytes())?;
        let id = &session.id;
        let how = format!("name one of these turns: `agentctl rewind {id} TURN` or `agentctl rewind {id} --last N`");
        return Err(Failure::usage(how));
    }
    let answer = ask(&format!("{list}Go back to before which? (1 is the newest; Enter leaves all as it is) "))?;
    match answer.parse::<usize>() {
        Ok(count) => turns.back(count).cloned(),
        Err(_) if answer.is_empty() => Err(Failure::silent(code::CANCELLED)),
        Err(_) => turns.named(&answer).cloned(),
    }
}

fn is_confirmed(turns: &Turns, turn: &Turn, files: bool) -> Result<bool, Failure> {
    let files = if files { ", and restore the files that Edit and Write have changed since" } else { "" };
    let what = match turns.from(&turn.id) {
        1 => format!("Take back the turn \"{}\"", turn.prompt),
        count => format!("Take back {count} turns, from \"{}\" on", turn.prompt),
    };
    let answer = ask(&format!("{what}{files}? [y/N] "))?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Asks on the terminal; an end of input is no answer.
fn ask(question: &str) -> Result<String, Failure> {
    let mut err = io::stderr().lock();
    err.write_all(question.as_bytes())?;
    err.flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}
