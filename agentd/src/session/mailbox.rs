//! What a session can be asked. Two lanes: cancels and permission answers never wait behind prompts.
//! Both are bounded; who asks waits.

use super::explain::Standing;
use proto::RpcError;
use proto::content::ContentBlock;
use proto::ids::TurnId;
use proto::methods::{
    PermissionRespondParams, PermissionRespondResult, SessionRewindResult, SessionUpdateParams, TurnCancelParams,
    TurnCancelResult, TurnResumeResult, TurnStartParams, TurnStartResult, TurnWaitResult,
};
use proto::session::SessionInfo;
use tokio::sync::{mpsc, oneshot};

/// Requests that may wait in each lane: as many as one connection may have under way, so that a client
/// that sends many at once never waits for room here, where the order in which it sent them would be lost.
const LANE: usize = crate::base::limits::MAX_REQUESTS_IN_FLIGHT;

/// Where an answer goes.
pub type Reply<T> = oneshot::Sender<Result<T, RpcError>>;

/// A request that may wait its turn.
pub enum Command {
    /// `turn/start`.
    StartTurn {
        /// The request.
        params: Box<TurnStartParams>,
        /// What the prompt's files hold.
        attachments: Vec<ContentBlock>,
        /// Who sends it.
        client: String,
        /// The answer.
        reply: Reply<TurnStartResult>,
    },
    /// `turn/resume`.
    ResumeTurn {
        /// Who sends it.
        client: String,
        /// The answer.
        reply: Reply<TurnResumeResult>,
    },
    /// `turn/wait`: the answer comes with the turn's end; `None` at once if it neither runs nor waits.
    WaitTurn {
        /// The turn.
        turn_id: TurnId,
        /// The answer.
        reply: oneshot::Sender<Option<TurnWaitResult>>,
    },
    /// `session/rewind`.
    Rewind {
        /// The turn to go back before.
        to: TurnId,
        /// Whether files are restored too.
        files: bool,
        /// The answer.
        reply: Reply<SessionRewindResult>,
    },
    /// A person has judged a folder.
    LookAtTrust {
        /// Sent once the session has written down what that means for it.
        reply: oneshot::Sender<()>,
    },
    /// `permission/explain`: what a call would be decided by now.
    Stand {
        /// The answer.
        reply: Reply<Standing>,
    },
    /// `session/update`.
    Update {
        /// The request.
        params: Box<SessionUpdateParams>,
        /// The answer.
        reply: Reply<SessionInfo>,
    },
}

/// A request that must not wait.
pub enum Urgent {
    /// `turn/cancel`. The answer comes when the turn has ended; `None` if the turn is not known here.
    Cancel {
        /// The request.
        params: TurnCancelParams,
        /// The answer.
        reply: oneshot::Sender<Option<TurnCancelResult>>,
    },
    /// `permission/respond`.
    Respond {
        /// The request.
        params: Box<PermissionRespondParams>,
        /// Who answers.
        by: String,
        /// The answer.
        reply: Reply<PermissionRespondResult>,
    },
    /// Ends the turn for good, then the session; answered when the log says so.
    Close {
        /// The answer.
        reply: Reply<()>,
    },
    /// agentd is about to stop: ends the actor; a turn that runs is interrupted.
    Stop,
}

/// The sending side.
#[derive(Debug, Clone)]
pub struct Mailbox {
    /// For what may wait.
    pub commands: mpsc::Sender<Command>,
    /// For what must not.
    pub urgent: mpsc::Sender<Urgent>,
}

/// The receiving side.
#[derive(Debug)]
pub struct Inbox {
    /// What may wait.
    pub commands: mpsc::Receiver<Command>,
    /// What must not.
    pub urgent: mpsc::Receiver<Urgent>,
}

/// A new mailbox.
#[must_use]
pub fn mailbox() -> (Mailbox, Inbox) {
    let (commands, commands_in) = mpsc::channel(LANE);
    let (urgent, urgent_in) = mpsc::channel(LANE);
    (Mailbox { commands, urgent }, Inbox { commands: commands_in, urgent: urgent_in })
}
