//! `permission/explain`: the decision that a call would get, without running anything or writing anything down. Called by
//! `hub`, for a session or for a plain folder, where reading files holds nobody up.

use super::judging::{Looked, policy_of};
use super::nearest::nearest;
use super::services::Services;
use super::toolset::Toolset;
use crate::base::environment::Environment;
use crate::base::text;
use crate::policy::{self, Policy, Verdict};
use crate::tools::{ExitPlanMode, Permitted, Tool, ToolContext};
use proto::methods::{PermissionExplainParams, PermissionExplainResult, TraceStep, Verdict as Told};
use proto::session::Mode;
use proto::{ErrorKind, RpcError};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Characters of a tool's name that a message repeats.
const QUOTED_CHARS: usize = 200;

/// What a call is decided by.
pub struct Standing {
    /// What the call would have.
    pub(super) context: ToolContext,
    /// Rules and mode.
    pub(super) policy: Policy,
    /// The tools that there are.
    pub(super) tools: Arc<Toolset>,
}

impl Standing {
    /// That of a new session in a folder, with nothing said by a client but its environment.
    #[must_use]
    pub fn of_folder(services: &Arc<Services>, folder: &Path, env: &Arc<Environment>) -> Self {
        let loaded = services.loader.load_for(folder);
        let settings = &loaded.settings;
        let tools = settings.tools.clone().with_environment(env);
        let permitted = Permitted { deny: &settings.rules.deny, simple: tools.simple };
        let mode = settings.permissions.default_mode.unwrap_or(Mode::Default);
        let directories = &settings.permissions.additional_directories;
        Self {
            context: ToolContext {
                trusted: loaded.trusted,
                additional_directories: Arc::from(directories.as_slice()),
                ..plain_context(services, folder, env)
            },
            policy: policy_of(settings, folder, mode, env),
            tools: Arc::new(Toolset::new(&services.tools, Vec::new(), &tools, permitted, "")),
        }
    }

    /// What would become of a call.
    ///
    /// # Errors
    /// `InvalidParams`: there is no such tool, or it does not take such an input.
    pub fn explain(&self, params: &PermissionExplainParams) -> Result<PermissionExplainResult, RpcError> {
        let mode = params.mode.unwrap_or(self.policy.mode);
        let tool = self.tool(&params.tool, mode)?;
        tool.check_input(&params.input).map_err(|problem| {
            let message = format!("input: InputValidationError: {}: {problem}", tool.name());
            RpcError::new(ErrorKind::InvalidParams, message).with("field", "input")
        })?;
        let seen = tool.observable_input(&params.input, &self.context).unwrap_or_else(|| params.input.clone());
        let looked = Looked::at(tool.as_ref(), &seen, &self.context);
        let policy = Policy { mode, ..self.policy.clone() };
        let (decision, steps) = policy::explain(&policy, looked.call(tool.as_ref(), &seen));
        let step = |step: policy::Step| TraceStep {
            layer: step.layer,
            outcome: step.outcome.name().to_owned(),
            detail: step.detail,
        };
        Ok(PermissionExplainResult {
            decision: match decision.verdict {
                Verdict::Allow => Told::Allow,
                Verdict::Ask => Told::Ask,
                Verdict::Deny => Told::Deny,
            },
            reason: decision.reason,
            trace: steps.into_iter().map(step).collect(),
        })
    }

    /// A tool as a turn in that mode would have it.
    fn tool(&self, name: &str, mode: Mode) -> Result<Arc<dyn Tool>, RpcError> {
        let plans = mode == Mode::Plan;
        if plans && name == ExitPlanMode::NAME {
            return Ok(Arc::new(ExitPlanMode::back_to(Mode::Default)));
        }
        self.tools.get(name).ok_or_else(|| {
            let mut names: BTreeSet<&str> = self.tools.registry.iter().map(|tool| tool.name()).collect();
            names.extend(plans.then_some(ExitPlanMode::NAME));
            let names = Vec::from_iter(names);
            let meant = nearest(name, &names).map_or_else(String::new, |near| format!(" Did you mean {near}?"));
            let message = format!(
                "tool: no such tool: {}.{meant} The tools are: {}",
                text::one_line(name, QUOTED_CHARS),
                names.join(", ")
            );
            RpcError::new(ErrorKind::InvalidParams, message).with("field", "tool")
        })
    }
}

/// A context that no call runs with.
fn plain_context(services: &Services, folder: &Path, env: &Arc<Environment>) -> ToolContext {
    ToolContext {
        session_id: "none".into(),
        tool_call_id: "none".into(),
        root: folder.to_owned(),
        cwd: folder.to_owned(),
        additional_directories: Arc::from([]),
        env: Arc::clone(env),
        outputs_dir: PathBuf::from("/nonexistent/outputs"),
        checkpoints_dir: PathBuf::from("/nonexistent/checkpoints"),
        files: Arc::default(),
        processes: Arc::clone(&services.processes),
        cancel: tokio_util::sync::CancellationToken::new(),
        progress: Arc::new(|_| {}),
        bash: services.settings().tools.bash,
        kill_grace: services.kill_grace(),
        user_modified: false,
        hidden: None,
        trusted: false,
    }
}
