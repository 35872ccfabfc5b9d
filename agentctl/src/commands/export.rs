//! `agentctl export`: a session's log, as it is or as a document.

use crate::args::{Export, ExportFormat};
use crate::failure::Outcome;
use crate::history;
use crate::render::markdown;
use crate::render::reading_order::ReadingOrder;
use crate::session_ref;
use crate::start::Target;
use std::io::{self, BufWriter, Write};

/// Runs the command.
pub fn run(args: &Export, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let session = session_ref::resolve(&mut connection, &args.session.session)?;
    let mut out = BufWriter::new(io::stdout().lock());
    match args.format {
        ExportFormat::Jsonl => {
            history::each(&mut connection, &session.id, 0, |raw, _| {
                out.write_all(raw.get().as_bytes())?;
                Ok(out.write_all(b"\n")?)
            })?;
        }
        ExportFormat::Markdown => {
            out.write_all(markdown::head(&session).as_bytes())?;
            let mut order = ReadingOrder::default();
            history::each(&mut connection, &session.id, 0, |_, item| {
                let ready = order.push(&item.event);
                Ok(ready.iter().try_for_each(|event| out.write_all(markdown::event(event).as_bytes()))?)
            })?;
            let rest = order.rest();
            rest.iter().try_for_each(|event| out.write_all(markdown::event(event).as_bytes()))?;
        }
    }
    out.flush()?;
    Ok(0)
}
