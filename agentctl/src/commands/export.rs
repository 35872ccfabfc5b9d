//! `agentctl export`: a session's log, as it is or as a document.

use crate::args::{Export, ExportFormat};
use crate::connect::Connection;
use crate::failure::{Failure, Outcome};
use crate::history;
use crate::render::markdown;
use crate::render::reading_order::ReadingOrder;
use crate::session_ref;
use crate::start::Target;
use crate::turns::Turns;
use proto::session::SessionInfo;
use std::io::{self, BufWriter, Write};

/// Runs the command.
pub fn run(args: &Export, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let session = session_ref::resolve(&mut connection, &args.session.session)?;
    let mut out = BufWriter::new(io::stdout().lock());
    match args.format {
        ExportFormat::Jsonl => lines(&mut connection, &session, &mut out)?,
        ExportFormat::Json => object(&mut connection, &session, &mut out)?,
        ExportFormat::Markdown => document(&mut connection, &session, &mut out)?,
    }
    out.flush()?;
    Ok(0)
}

/// Each event as it is: the params of `session/event`.
fn lines(connection: &mut Connection, session: &SessionInfo, out: &mut impl Write) -> Result<(), Failure> {
    history::each(connection, &session.id, 0, |raw, _| {
        out.write_all(raw.get().as_bytes())?;
        Ok(out.write_all(b"\n")?)
    })?;
    Ok(())
}

/// `{session, events}`, an event a line.
fn object(connection: &mut Connection, session: &SessionInfo, out: &mut impl Write) -> Result<(), Failure> {
    let info = serde_json::to_string(session).map_err(|error| Failure::new(error.to_string()))?;
    write!(out, "{{\"session\":{info},\"events\":[")?;
    let mut separator = "\n";
    history::each(connection, &session.id, 0, |raw, _| {
        write!(out, "{}{}", std::mem::replace(&mut separator, ",\n"), raw.get())?;
        Ok(())
    })?;
    Ok(out.write_all(b"\n]}\n")?)
}

/// A document for people. The log is read twice: what is rewound away is known at its end only.
fn document(connection: &mut Connection, session: &SessionInfo, out: &mut impl Write) -> Result<(), Failure> {
    let turns = Turns::of(connection, &session.id)?;
    out.write_all(markdown::head(session).as_bytes())?;
    let (mut order, mut document) = (ReadingOrder::default(), markdown::Document::new(&turns));
    history::each(connection, &session.id, 0, |_, item| {
        let ready = order.push(&item.event);
        Ok(ready.iter().try_for_each(|event| out.write_all(document.event(event).as_bytes()))?)
    })?;
    let rest = order.rest();
    Ok(rest.iter().try_for_each(|event| out.write_all(document.event(event).as_bytes()))?)
}
