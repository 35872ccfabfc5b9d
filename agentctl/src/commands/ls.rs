//! `agentctl ls`: sessions, newest first.

use super::{print, print_json};
use crate::args::Ls;
use crate::duration;
use crate::environment;
use crate::failure::{Failure, Outcome};
use crate::render::escape::one_line;
use crate::render::screen::fit;
use crate::session_ref;
use crate::start::Target;
use crate::terminal;
use proto::methods::SessionListParams;
use proto::session::{SessionInfo, SessionStatus};
use std::time::SystemTime;
use unicode_width::UnicodeWidthStr;

/// Sessions that are listed to a person who did not say how many.
const USUAL: usize = 50;

/// Runs the command.
pub fn run(args: &Ls, target: &Target) -> Outcome {
    let cwd = args.here.then(|| std::env::current_dir().map(|dir| dir.to_string_lossy().into_owned())).transpose();
    let cwd = cwd.map_err(|error| Failure::new(format!("cannot tell the current folder: {error}")))?;
    let params = SessionListParams { cwd, query: args.query.clone(), ..SessionListParams::default() };
    let limit = args.limit.or((!args.json).then_some(USUAL));
    let sessions = session_ref::all(&mut target.connect()?, params, limit)?;
    if args.json {
        sessions.iter().try_for_each(print_json)?;
        return Ok(0);
    }
    let width = if terminal::stdout_is_terminal() { terminal::width() } else { usize::MAX };
    table(&sessions, environment::now()).iter().try_for_each(|line| print(&fit(line, width)))?;
    if sessions.is_empty() {
        eprint_hint()?;
    }
    Ok(0)
}

fn eprint_hint() -> Result<(), Failure> {
    use std::io::Write;
    Ok(writeln!(std::io::stderr(), "no sessions; `agentctl chat` starts one")?)
}

/// The lines of the list, in columns.
pub fn table(sessions: &[SessionInfo], now: SystemTime) -> Vec<String> {
    let rows: Vec<[String; 5]> = sessions.iter().map(|session| row(session, now)).collect();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let widths: Vec<usize> = (0..5).map(|column| width(column).unwrap_or(0)).collect();
    rows.iter()
        .map(|row| {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| pad(cell, *width)).collect();
            cells.join("  ").trim_end().to_owned()
        })
        .collect()
}

fn row(session: &SessionInfo, now: SystemTime) -> [String; 5] {
    [
        session.id.to_string(),
        status(session),
        age_of(&session.updated_at, now),
        one_line(&session.model),
        format!("{}  {}", one_line(&session.cwd), one_line(&session.title)),
    ]
}

fn pad(cell: &str, width: usize) -> String {
    format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width())))
}

/// A session's status as a word.
pub fn status(session: &SessionInfo) -> String {
    match session.status {
        SessionStatus::Idle => "idle",
        SessionStatus::Running => "running",
        SessionStatus::Waiting => "waiting",
        SessionStatus::Interrupted => "interrupted",
        SessionStatus::Closed => "closed",
    }
    .to_owned()
}

/// How long ago a moment of the wire is.
pub fn age_of(at: &str, now: SystemTime) -> String {
    let at = humantime::parse_rfc3339_weak(at).ok();
    at.map_or_else(|| "?".to_owned(), |at| duration::age(now.duration_since(at).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn ages_count_from_the_wires_moments() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        assert_eq!(age_of("1970-01-01T00:15:00.250Z", now), "1m");
        assert_eq!(age_of("1970-01-01T00:17:00.000Z", now), "0s");
        assert_eq!(age_of("yesterday", now), "?");
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(pad("世", 4), "世  ");
        assert_eq!(pad("long", 2), "long");
    }
}
