//! `agentctl allow` and `agentctl deny`: permission answers from any terminal.

use crate::args::{Allow, Deny};
use crate::ask;
use crate::connect::{CallError, Connection};
use crate::failure::{Failure, Outcome};
use crate::session_ref::{Trouble, unique_prefix};
use crate::start::Target;
use proto::ErrorKind;
use proto::ids::RequestId;
use proto::methods::{MaybeSessionParams, PermissionList, PermissionRespond, PermissionRespondParams};
use proto::permission::PermissionRequest;

/// `agentctl allow`.
pub fn allow(args: &Allow, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let (id, request) = find(&mut connection, &args.request)?;
    let rule = match (args.remember, request) {
        (Some(scope), Some(request)) => Some(ask::remember(&request, scope.into()).ok_or_else(|| {
            Failure::new(format!("the request {id} suggests no rule to remember; leave out --remember"))
        })?),
        (_, None) | (None, _) => None,
    };
    respond(&mut connection, ask::allow(&id, rule))
}

/// `agentctl deny`.
pub fn deny(args: Deny, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let (id, _) = find(&mut connection, &args.request)?;
    respond(&mut connection, PermissionRespondParams { message: args.message, ..ask::deny(&id) })
}

fn respond(connection: &mut Connection, answer: PermissionRespondParams) -> Outcome {
    let id = answer.request_id.clone();
    match connection.call::<PermissionRespond>(answer) {
        Ok(_) => Ok(0),
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
