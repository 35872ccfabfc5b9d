//! `agentctl run`: one turn, for scripts.

use super::place::{self, Place};
use super::{print, print_json, prompt};
use crate::args::{Following, OnAskArg, Output, Run};
use crate::failure::{Failure, Outcome, code};
use crate::follow::{self, Follow, Followed, OnAsk, TurnEnd, Which};
use crate::live::{self, Live};
use crate::prompt::params;
use crate::render::{Detail, Screen, Transcript};
use crate::start::Target;
use crate::terminal;
use jsonrpsee::core::client::Error;
use proto::ErrorKind;
use proto::event::EndReason;
use proto::ids::{SessionId, TurnId};
use proto::methods::{TurnStart, TurnStartParams, TurnStartResult, TurnState};
use serde_json::{Value, json};
use tokio::time::Instant;

/// Runs the command.
pub fn run(args: Run, target: &Target) -> Outcome {
    let text = prompt(&args.prompt)?;
    let mut connection = target.connect()?;
    let mut place = place::find(&mut connection, &args.place, args.record.clone(), target)?;
    if !place.new {
        place.session = place::update(&mut connection, place.session, None, args.place.mode)?;
    }
    let params = TurnStartParams {
        model: args.place.model.clone().filter(|_| !place.new), // a new session has it as its own
        max_turns: args.max_turns,
        output_schema: args.output_schema.clone(),
        on_ask: told_on_ask(&args),
        ..params(&place.session.id, text)?
    };
    if args.detach {
        let started = connection.call::<TurnStart>(params)?;
        return detached(&place.session.id, &started.turn_id, args.following.output);
    }
    drop(connection);
    live::block_on(start_and_follow(&args, target, &place, params))
}

fn detached(session: &SessionId, turn: &TurnId, output: Output) -> Outcome {
    match output {
        Output::Text => print(session.as_str())?,
        Output::Json | Output::StreamJson => print_json(&json!({"sessionId": session, "turnId": turn}))?,
    }
    Ok(0)
}

async fn start_and_follow(args: &Run, target: &Target, place: &Place, params: TurnStartParams) -> Outcome {
    let session = &place.session;
    let mut live = Live::open(target).await?;
    // attached before the turn starts, so that nothing of it is missed; a new session shows its creation too
    let after_seq = if place.new { 0 } else { session.last_seq };
    live.attach(&session.id, after_seq, args.following.output != Output::Json).await?;
    let interrupts = follow::interrupts()?;
    let started = start(&mut live, params).await?;
    let which = Which { session: session.id.clone(), folder: session.cwd.clone(), turn: started.turn_id, interrupts };
    follow_turn(&args.following, live, which, started.state == TurnState::Queued).await
}

/// Shows a turn to its end. Shared with `resume`.
pub async fn follow_turn(args: &Following, mut live: Live, which: Which, queued: bool) -> Outcome {
    let (session_id, turn_id) = (which.session.clone(), which.turn.clone());
    let mut transcript = Transcript::new(screen(args.output), detail(args));
    transcript.tell_resume(session_id.clone());
    let mut follow = Follow::new(&mut live, &mut transcript, which);
    follow.queued = queued;
    follow.whole_session = false;
    follow.show = args.output == Output::Text;
    follow.raw = args.output == Output::StreamJson;
    follow.on_ask = on_ask(args);
    follow.deadline = args.timeout.map(|timeout| Instant::now() + timeout);
    let Followed::Ended(end) = follow.until_end().await? else {
        return Err(Failure::silent(code::CANCELLED));
    };
    // a turn that our own Ctrl-C ended was not ended by an answer before it
    let exit = exit_code(&end, follow.timed_out, follow.denied && !follow.cancelling);
    if args.output == Output::Json {
        print_json(&result_object(session_id, turn_id, &end))?;
    } else if let (Output::Text, Some(answer)) = (args.output, &end.structured_output) {
        print_json(answer)?;
    }
    if exit == code::ERROR && args.output != Output::Text {
        let said = end.error.map_or_else(|| "the turn did not complete".to_owned(), |error| error.message);
        return Err(Failure::new(said));
    }
    Ok(exit)
}

/// How often a turn is started anew over a connection that was lost; more often, the prompt is what ends it.
const START_TRIES: u32 = 5;

/// Starts the turn; a connection lost meanwhile is no reason to start it twice or not at all.
async fn start(live: &mut Live, mut params: TurnStartParams) -> Result<TurnStartResult, Failure> {
    let mut tries = 0;
    loop {
        match live.call::<TurnStart>(params.clone()).await {
            Ok(started) => return Ok(started),
            // an older agentd refuses what it does not know; each question is denied from here all the same
            Err(error) if params.on_ask.is_some() && refuses_field(&error) => params.on_ask = None,
            Err(error) if live::is_disconnect(&error) && tries < START_TRIES => {
                tries += 1;
                live.repair().await?;
            }
            Err(error) => return Err(live::failure(&error)),
        }
    }
}

fn refuses_field(error: &Error) -> bool {
    let unknown = live::failure(error).message.contains("onAsk");
    unknown && live::kind(error).as_deref() == Some(ErrorKind::InvalidParams.word())
}

fn screen(output: Output) -> Screen {
    match output {
        Output::Text => Screen::split(),
        Output::Json | Output::StreamJson => Screen::aside_only(),
    }
}

fn detail(args: &Following) -> Detail {
    Detail { prompts: false, thinking: false, questions: on_ask(args) == OnAsk::Wait, totals: false }
}

/// What agentd is told. A turn that is left alone asks whoever comes, unless it is said otherwise.
fn told_on_ask(args: &Run) -> Option<proto::event::OnAsk> {
    let is_followed = args.following.on_ask.is_some() || !args.detach;
    (is_followed && on_ask(&args.following) == OnAsk::Deny).then_some(proto::event::OnAsk::Deny)
}

fn on_ask(args: &Following) -> OnAsk {
    match args.on_ask {
        Some(OnAskArg::Deny) => OnAsk::Deny,
        Some(OnAskArg::Wait) => OnAsk::Wait,
        None if terminal::can_ask() => OnAsk::Keys,
        None => OnAsk::Deny,
    }
}

/// The exit code of PROTOCOL.md §7.
pub fn exit_code(end: &TurnEnd, timed_out: bool, denied: bool) -> u8 {
    match end.reason {
        _ if timed_out => code::TIMED_OUT,
        EndReason::AbortedStreaming | EndReason::AbortedTools if denied => code::DENIED,
        EndReason::AbortedStreaming | EndReason::AbortedTools => code::CANCELLED,
        EndReason::MaxTurns => code::MAX_TURNS,
        EndReason::Completed if denied => code::DENIED,
        EndReason::Completed => 0,
        EndReason::ModelError
        | EndReason::PromptTooLong
        | EndReason::StopHookPrevented
        | EndReason::HookStopped
        | EndReason::TokenBudget
        | EndReason::Interrupted => code::ERROR,
    }
}

fn result_object(session: SessionId, turn: TurnId, end: &TurnEnd) -> Value {
    let mut object = json!({
        "sessionId": session,
        "turnId": turn,
        "reason": end.reason,
        "text": end.text,
        "usage": end.usage,
    });
    if let Some(fields) = object.as_object_mut() {
        if let Some(cost) = end.cost {
            fields.insert("cost".to_owned(), json!(cost));
        }
        fields.insert("durationMs".to_owned(), json!(end.duration_ms));
        if let Some(answer) = &end.structured_output {
            fields.insert("structuredOutput".to_owned(), answer.clone());
        }
    }
    object
}

/// A schema as it is given on the command line: a JSON text, or the file that holds one.
pub fn output_schema(given: &str) -> Result<Value, String> {
    if given.trim_start().starts_with('{') {
        return serde_json::from_str(given).map_err(|error| format!("not valid JSON: {error}"));
    }
    let text = std::fs::read_to_string(given).map_err(|error| format!("cannot read the file: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("the file does not hold valid JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::session::Usage;

    #[test]
    fn the_exit_code_tells_how_it_ended() {
        let table = [
            (EndReason::Completed, false, false, 0),
            (EndReason::Completed, false, true, 3),
            (EndReason::AbortedTools, false, true, 3),
            (EndReason::AbortedStreaming, false, false, 130),
            (EndReason::AbortedTools, true, false, 124),
            (EndReason::Completed, true, true, 124),
            (EndReason::MaxTurns, false, true, 4),
            (EndReason::ModelError, false, true, 1),
            (EndReason::Interrupted, false, false, 1),
        ];
        for (reason, timed_out, denied, exit) in table {
            let (usage, text) = (Usage::default(), String::new());
            let end = TurnEnd { reason, error: None, text, usage, cost: None, duration_ms: 0, structured_output: None };
            assert_eq!(exit_code(&end, timed_out, denied), exit, "{reason:?}");
        }
    }

    #[test]
    fn a_schema_is_a_text_or_a_file() {
        assert_eq!(output_schema(" {\"type\": \"object\"}").unwrap(), json!({"type": "object"}));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{\"type\": \"array\"}").unwrap();
        assert_eq!(output_schema(file.path().to_str().unwrap()).unwrap(), json!({"type": "array"}));
        std::fs::write(file.path(), "{").unwrap();
        for (given, error) in
            [("{", "not valid JSON"), ("/no/such", "cannot read"), (file.path().to_str().unwrap(), "hold")]
        {
            assert!(output_schema(given).unwrap_err().contains(error), "{given}");
        }
    }
}
