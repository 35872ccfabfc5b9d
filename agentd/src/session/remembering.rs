//! A yes that is to be remembered: its rules are checked against the call that was asked about, written into their
//! settings file if they are to outlast the session, and only then the question is resolved. Part of the actor, which
//! waits for no file: both happen on a thread of their own, and further answers to the question wait behind them.

use super::actor::Actor;
use super::approvals::Given;
use super::judging::Looked;
use super::pipeline::ToolMessage;
use super::services::Services;
use crate::policy::{self, Behaviour, Policy, Rule, Rules, Source, SourcedRule, Verdict};
use crate::tools::{ExitPlanMode, Tool, ToolContext};
use proto::permission::{MAX_RULES, PermissionRequest, Remember, RuleScope};
use proto::{ErrorKind, RpcError};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Rules that were remembered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Remembered {
    scope: RuleScope,
    rules: Vec<Rule>,
    /// The file that they are in.
    pub file: Option<PathBuf>,
}

impl Remembered {
    /// The rules, for people.
    pub fn text(&self) -> String {
        self.rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// Where they are: the file, or the session.
    pub fn source(&self) -> String {
        self.file.as_ref().map_or_else(|| "session".to_owned(), |file| file.display().to_string())
    }

    /// Those that the session's log is to keep.
    pub fn into_session_rules(self) -> Vec<String> {
        match self.scope {
            RuleScope::Session => self.rules.iter().map(ToString::to_string).collect(),
            RuleScope::Local | RuleScope::Project | RuleScope::User => Vec::new(),
        }
    }
}

/// What is to be remembered, with all that it takes to check it.
struct Task {
    wish: Remember,
    shown: PermissionRequest,
    /// The person's own input, if it is another one.
    input: Option<Value>,
    tool: Arc<dyn Tool>,
    context: ToolContext,
    services: Arc<Services>,
}

impl Actor {
    /// Takes the rules of an answer to their place; the answer itself counts when they are there.
    pub(super) fn remember(&mut self, given: Given) {
        let Some(task) = self.task(&given) else {
            let message = "the call that was asked about is not there any more";
            let _ = given.reply.send(Err(RpcError::new(ErrorKind::RequestNotFound, message)));
            return;
        };
        self.remembering.insert(given.params.request_id.clone(), Vec::new());
        let messages = self.tool_sender.clone();
        tokio::spawn(async move {
            let written = tokio::task::spawn_blocking(move || carry_out(&task)).await;
            let written = written.unwrap_or_else(|_| {
                let message = "the rule could not be checked, by a fault of agentd itself; its log tells more";
                Err(RpcError::new(ErrorKind::Internal, message))
            });
            // An actor that is gone leaves the question open.
            let _ = messages.send(ToolMessage::Remembered { given: Box::new(given), written }).await;
        });
    }

    fn task(&self, given: &Given) -> Option<Task> {
        let wish = given.params.remember.clone()?;
        let mut requests = self.log.state().permissions.iter().map(|open| &open.request);
        let shown = requests.find(|open| open.request_id == given.params.request_id)?.clone();
        Some(Task {
            wish,
            input: given.params.updated_input.clone().filter(|input| *input != shown.input),
            tool: self.running.as_ref()?.tools.get(&shown.tool)?,
            context: self.tool_context(&shown.tool_call_id),
            services: Arc::clone(&self.services),
            shown,
        })
    }

    /// The rules are in their place, or can't be: the answer counts or is refused, and those behind it are looked at.
    pub(super) fn remembered(&mut self, given: Given, written: Result<Remembered, RpcError>) {
        let behind = self.remembering.remove(&given.params.request_id).unwrap_or_default();
        match written {
            Ok(remembered) => self.settle(given, Some(remembered)),
            Err(error) => drop(given.reply.send(Err(error))),
        }
        for given in behind {
            self.respond(given);
        }
    }
}

/// Checks the rules, and writes them.
fn carry_out(task: &Task) -> Result<Remembered, RpcError> {
    let rules = checked(task)?;
    let scope = task.wish.scope;
    let cwd = &task.context.root;
    let loader = &task.services.loader;
    let refused = |rule: &Rule, why: String| {
        let message = format!("{rule} was not remembered: {why}. The question is still open");
        RpcError::new(ErrorKind::StorageFailed, message)
    };
    if scope == RuleScope::Session {
        let rule = rules.first();
        rule.map_or(Ok(()), |rule| loader.may_remember(cwd).map_err(|why| refused(rule, why)))?;
        return Ok(Remembered { scope, rules, file: None });
    }
    let mut file = None;
    for rule in &rules {
        file = Some(loader.remember(scope, cwd, rule).map_err(|why| refused(rule, why))?);
    }
    Ok(Remembered { scope, rules, file })
}

/// Whether a rule says anything of a call: what it would deny of it, it can allow.
fn speaks_of(rule: &Rule, task: &Task, input: &Value) -> bool {
    let (tool, context) = (task.tool.as_ref(), &task.context);
    let seen = tool.observable_input(input, context).unwrap_or_else(|| input.clone());
    let looked = Looked::at(tool, &seen, context);
    let places = crate::tools::places(&context.root, &context.env);
    let folder = context.root.clone();
    let deny = vec![SourcedRule { rule: rule.clone(), source: Source::session(folder) }];
    let rules = Arc::new(Rules { deny, ..Rules::default() });
    let decision = policy::decide(&Policy { rules, places, ..Policy::default() }, looked.call(tool, &seen));
    (decision.verdict, decision.reason.layer) == (Verdict::Deny, 1)
}

/// The rules of an answer, each of which can allow something and speaks of the call.
fn checked(task: &Task) -> Result<Vec<Rule>, RpcError> {
    let invalid = |message: String| Err(RpcError::new(ErrorKind::InvalidParams, message));
    let texts = task.wish.all();
    if texts.is_empty() {
        return invalid("remember.rule: it is empty; give a rule such as Edit or Bash(npm test)".to_owned());
    }
    if texts.len() > MAX_RULES {
        return invalid(format!("remember.rules: {} rules, where one answer may add {MAX_RULES}", texts.len()));
    }
    let mut rules = Vec::new();
    for text in texts {
        let rule = match Rule::parse(text) {
            Ok(rule) => rule,
            Err(error) => return invalid(format!("remember.rule: {error}")),
        };
        if let Some(warning) = rule.warnings(Behaviour::Allow).first() {
            return invalid(format!("remember.rule: {rule}: {warning}"));
        }
        if rule.names(ExitPlanMode::NAME) {
            return invalid(format!("remember.rule: {rule}: each plan is approved by itself; remember nothing"));
        }
        if !belongs(&rule, text, task) {
            let tool = &task.shown.tool;
            let remedy = match &task.input {
                Some(_) => "give one for the input as it was edited, or remember nothing",
                None => "see its suggestions",
            };
            return invalid(format!("remember.rule: {rule} does not speak of this call of {tool}; {remedy}"));
        }
        rules.push(rule);
    }
    Ok(rules)
}

/// Whether a rule may be remembered with this answer: it speaks of the call as it is to run, or was offered with the
/// question. An offer that speaks of the call as it was shown counts for nothing once the input is another one; one that
/// does not is about what comes after the call.
fn belongs(rule: &Rule, text: &str, task: &Task) -> bool {
    let mut offers = task.shown.suggestions.iter().flat_map(|offer| offer.rules.iter().chain([&offer.rule]));
    let is_offered = offers.any(|offer| offer == text);
    match &task.input {
        None => is_offered || speaks_of(rule, task, &task.shown.input),
        Some(edited) => speaks_of(rule, task, edited) || is_offered && !speaks_of(rule, task, &task.shown.input),
    }
}
