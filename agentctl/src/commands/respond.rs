//! `agentctl allow` and `agentctl deny`: permission answers from any terminal.

use super::{print, print_pretty};
use crate::args::{Allow, Deny};
use crate::ask;
use crate::connect::{CallError, Connection};
use crate::failure::{Failure, Outcome};
use crate::render::escape::one_line;
use crate::session_ref::{Trouble, unique_prefix};
use crate::start::Target;
use proto::ErrorKind;
use proto::ids::RequestId;
use proto::methods::{MaybeSessionParams, PermissionList, PermissionRespond, PermissionRespondParams};
use proto::permission::PermissionRequest;

/// `agentctl allow`.
pub fn allow(args: Allow, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let (id, request) = find(&mut connection, &args.request)?;
    let remember = match (args.remember, request) {
        (None, _) => None,
        (Some(scope), _) if !args.rules.is_empty() => Some(ask::remember(scope.into(), &args.rules)),
        (Some(scope), Some(request)) => Some(ask::suggested(&request, scope.into()).ok_or_else(|| {
            Failure::new(format!("the request {id} suggests no rule to remember; give one with --rule"))
        })?),
        (Some(_), None) => None, // agentd knows more to say about it
    };
    respond(&mut connection, ask::allow(&id, remember), args.json)
}

/// `agentctl deny`.
pub fn deny(args: Deny, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let (id, _) = find(&mut connection, &args.request)?;
    respond(&mut connection, PermissionRespondParams { message: args.message, ..ask::deny(&id) }, args.json)
}

fn respond(connection: &mut Connection, answer: PermissionRespondParams, json: bool) -> Outcome {
    let (id, remember) = (answer.request_id.clone(), answer.remember.clone());
    match connection.call::<PermissionRespond>(answer) {
        Ok(result) => {
            if json {
                print_pretty(&result)?;
            } else if let Some(remember) = remember {
                let place = result.file.as_deref().map_or("for this session".to_owned(), |file| format!("in {file}"));
                print(&one_line(&format!("remembered {place}: {}", remember.all().join(", "))))?;
            }
            Ok(0)
        }
        Err(CallError::Refused(body)) if body.code == ErrorKind::RequestNotFound.code() => {
            Err(Failure::new(format!("no open request {id}; `agentctl pending` lists them")))
        }
        Err(error) => Err(error.into()),
    }
}

/// The open request that is meant. If no open one is, the daemon knows more to say about it than we do.
fn find(connection: &mut Connection, reference: &str) -> Result<(RequestId, Option<PermissionRequest>), Failure> {
    let mut requests = connection.call::<PermissionList>(MaybeSessionParams::default())?.requests;
    let ids: Vec<&str> = requests.iter().map(|request| request.request_id.as_str()).collect();
    match unique_prefix(&ids, reference) {
        Ok(at) => {
            let request = requests.swap_remove(at);
            Ok((request.request_id.clone(), Some(request)))
        }
        Err(Trouble::None) => Ok((RequestId::from(reference), None)),
        Err(trouble) => Err(trouble.tell("request", reference, "agentctl pending")),
    }
}
