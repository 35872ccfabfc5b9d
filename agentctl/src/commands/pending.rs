//! `agentctl pending`: the questions that wait for an answer.

use super::ls::age_of;
use super::{print, print_json};
use crate::args::Pending;
use crate::ask;
use crate::connect::Connection;
use crate::environment;
use crate::failure::{Failure, Outcome};
use crate::history;
use crate::render::escape::one_line;
use crate::render::request::{self, headline};
use crate::render::style::Style;
use crate::session_ref;
use crate::start::Target;
use crate::terminal;
use proto::methods::{MaybeSessionParams, PermissionList, SessionGet, SessionParams};
use proto::permission::PermissionRequest;
use std::collections::HashMap;
use std::io::{self, Write};

/// Runs the command.
pub fn run(args: &Pending, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let session = args.session.as_deref().map(|reference| session_ref::resolve(&mut connection, reference));
    let session_id = session.transpose()?.map(|session| session.id);
    let requests = connection.call::<PermissionList>(MaybeSessionParams { session_id })?.requests;
    if args.json {
        requests.iter().try_for_each(print_json)?;
        return Ok(0);
    }
    if requests.is_empty() && terminal::stdout_is_terminal() {
        writeln!(io::stderr(), "no question waits")?; // a program that reads the list gets an empty one
    }
    let moments = moments(&mut connection, &requests)?;
    let now = environment::now();
    for request in &requests {
        let id = request.request_id.as_str();
        let age = moments.get(id).map_or_else(|| "?".to_owned(), |at| age_of(at, now));
        print(&format!("{id}  {age}  {}  {}", request.session_id, headline(request)))?;
        details(request).iter().try_for_each(|line| print(line))?;
    }
    Ok(0)
}

/// What would run or change, why it is asked, and what can be remembered.
fn details(request: &PermissionRequest) -> Vec<String> {
    let style = Style { colour: terminal::stdout_is_terminal() && terminal::wants_colour() };
    let mut lines: Vec<String> = request::lines(request, "", style).into_iter().skip(1).collect();
    lines.extend(ask::distinct(&request.suggestions).iter().map(|suggestion| {
        style.dim(&one_line(&format!("  can be remembered: {}", ask::rules_of(suggestion).join(", "))))
    }));
    lines
}

/// When each request was made; the wire tells it in the log only.
fn moments(connection: &mut Connection, requests: &[PermissionRequest]) -> Result<HashMap<String, String>, Failure> {
    let mut sessions: Vec<_> = requests.iter().map(|request| &request.session_id).collect();
    sessions.sort();
    sessions.dedup();
    let mut moments = HashMap::new();
    for session_id in sessions {
        let session = connection.call::<SessionGet>(SessionParams { session_id: session_id.clone() })?.session;
        moments.extend(history::requested_at(connection, &session)?);
    }
    Ok(moments)
}
