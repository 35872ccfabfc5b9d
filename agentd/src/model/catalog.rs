//! The models by name. Called by the session actor for its model and by the hub for `model/list`.
//! Holds the HTTP client and agentd's own environment; asks no model anything but for its server's list.

use super::Model;
use super::anthropic::Anthropic;
use super::demo::{self, Demo};
use super::discover::{self, Found};
use super::endpoint::Endpoint;
use super::helper::RunHelper;
use super::http::Http;
use super::openai_chat::OpenaiChat;
use super::openai_responses::OpenaiResponses;
use super::providers::{self, Variables};
use super::replay::Replay;
use crate::base::environment::Environment;
use crate::config::{ApiKind, Settings};
use futures::future::join_all;
use proto::methods::{ModelInfo, ModelSupports};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A local server answers at once or not at all.
const LOCAL_PROBE: Duration = Duration::from_millis(200);
/// One that a person has named may be elsewhere.
const NAMED_PROBE: Duration = Duration::from_secs(2);
/// How long a list of models may take.
const LIST_TIMEOUT: Duration = Duration::from_secs(3);
/// The servers that are looked for on this machine, in this order.
const LOCAL: [&str; 3] = ["ollama", "lmstudio", "llamacpp"];
/// Used with a key and no word on the model.
const ANTHROPIC_DEFAULT: &str = "claude-sonnet-5";
const OPENAI_DEFAULT: &str = "gpt-5";

/// Why a model can't be used: one sentence with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelUnavailable {
    /// The sentence.
    pub message: String,
}

impl ModelUnavailable {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Finds models.
pub struct Models {
    http: Arc<Http>,
    own: Environment,
    /// Context windows that servers have told, by base URL and model.
    windows: Mutex<HashMap<(String, String), u64>>,
}

impl Models {
    /// With agentd's own environment.
    #[must_use]
    pub fn new(env: Environment) -> Self {
        Self::with_helper(env, None)
    }

    /// The same, able to run the commands that print keys.
    #[must_use]
    pub fn with_helper(env: Environment, run: Option<RunHelper>) -> Self {
        Self { http: Arc::new(Http::with_helper(env.clone(), run)), own: env, windows: Mutex::default() }
    }

    /// The model of that name, with settings, then the session's environment, then agentd's own.
    ///
    /// # Errors
    /// If the name is none, the provider is not known, or its key is missing.
    pub fn resolve(
        &self,
        name: &str,
        settings: &Settings,
        session_env: &Environment,
    ) -> Result<Arc<dyn Model>, ModelUnavailable> {
        let full = canonical(name);
        let (provider, model) = match full.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => (provider, model),
            Some(_) | None => {
                return Err(ModelUnavailable::new(format!(
                    "{name:?} is not a model's name: write provider/model, such as anthropic/{ANTHROPIC_DEFAULT}; see `agentctl models`"
                )));
            }
        };
        match provider {
            "demo" if full == demo::ID => return Ok(Arc::new(Demo)),
            "demo" => {
                return Err(ModelUnavailable::new(format!(
                    "{full} does not exist: the only demonstration is {}",
                    demo::ID
                )));
            }
            "replay" => return Ok(Arc::new(Replay::new(model))),
            _ => {}
        }
        let (api, mut endpoint) = providers::endpoint(provider, model, settings, self.variables(session_env))?;
        if endpoint.context_window == 0 {
            endpoint.context_window = self.told_window(&endpoint);
        }
        match api {
            ApiKind::Anthropic => Ok(Arc::new(Anthropic::new(self.http.clone(), endpoint))),
            ApiKind::OpenaiChat => Ok(Arc::new(OpenaiChat::new(self.http.clone(), endpoint))),
            ApiKind::OpenaiResponses => Ok(Arc::new(OpenaiResponses::new(self.http.clone(), endpoint))),
        }
    }

    /// The name of the model for a session that names none.
    pub async fn default_name(&self, settings: &Settings, session_env: &Environment) -> String {
        let variables = self.variables(session_env);
        if let Some(name) = &settings.model {
            let full = canonical(name);
            // A bare alias in the settings of another program is a wish, not an order.
            if name.contains('/') || self.resolve(&full, settings, session_env).is_ok() {
                return full;
            }
        }
        if let Some(name) = variables.get("AGENTD_MODEL") {
            return canonical(name);
        }
        for environment in [session_env, &self.own] {
            let keys = [
                ("ANTHROPIC_API_KEY", "anthropic"),
                ("ANTHROPIC_AUTH_TOKEN", "anthropic"),
                ("OPENAI_API_KEY", "openai"),
            ];
            if let Some((_, provider)) = keys.iter().find(|(key, _)| environment.get(key).is_some()) {
                return default_of(provider, variables);
            }
        }
        if settings.api_key_helper.is_some() {
            return default_of("anthropic", variables);
        }
        self.first_local(settings, session_env).await.unwrap_or_else(|| demo::ID.to_owned())
    }

    /// The models that could be used now.
    pub async fn list(&self, settings: &Settings, session_env: &Environment) -> Vec<ModelInfo> {
        let default = self.default_name(settings, session_env).await;
        let variables = self.variables(session_env);
        let asking = providers::names(settings).into_iter().map(|provider| async move {
            let (api, endpoint) = providers::endpoint(provider, "", settings, variables).ok()?;
            Some((provider, api, self.models_of(provider, api, &endpoint, settings, variables).await))
        });
        let mut list = Vec::new();
        for (provider, api, found) in join_all(asking).await.into_iter().flatten() {
            list.extend(found.into_iter().map(|found| info(provider, api, found)));
        }
        list.push(info("demo", ApiKind::Anthropic, Found { id: "guide".to_owned(), context_window: 0 }));
        if let Some((provider, model)) =
            default.split_once('/').filter(|_| !list.iter().any(|model| model.id == default))
        {
            let found = Found { id: model.to_owned(), context_window: providers::context_window(model) };
            list.push(info(provider, ApiKind::OpenaiChat, found));
        }
        for model in &mut list {
            model.default = model.id == default;
            model.problem = self.resolve(&model.id, settings, session_env).err().map(|error| error.message);
        }
        list
    }

    /// The models that the settings name, else those that the server names, else the usual one.
    async fn models_of(
        &self,
        provider: &str,
        api: ApiKind,
        endpoint: &Endpoint,
        settings: &Settings,
        variables: Variables<'_>,
    ) -> Vec<Found> {
        let named: Vec<Found> = settings
            .providers
            .get(provider)
            .into_iter()
            .flat_map(|provider| &provider.models)
            .map(|model| Found {
                id: model.id.clone(),
                context_window: model.context_window.unwrap_or_else(|| providers::context_window(&model.id)),
            })
            .collect();
        if !named.is_empty() {
            return named;
        }
        let limit = if LOCAL.contains(&provider) { probe_limit(provider, settings, variables) } else { LIST_TIMEOUT };
        let found = self.ask(api, endpoint, limit).await;
        if found.is_empty() && matches!(provider, "anthropic" | "openai") {
            let usual = default_of(provider, variables);
            let id = usual.split_once('/').map_or(usual.as_str(), |(_, id)| id).to_owned();
            return vec![Found { context_window: providers::context_window(&id), id }];
        }
        found
    }

    /// The first model of the first local server that answers.
    async fn first_local(&self, settings: &Settings, session_env: &Environment) -> Option<String> {
        let variables = self.variables(session_env);
        let asking = LOCAL.into_iter().map(|provider| async move {
            let (api, endpoint) = providers::endpoint(provider, "", settings, variables).ok()?;
            let found = self.ask(api, &endpoint, probe_limit(provider, settings, variables)).await;
            found.first().map(|found| format!("{provider}/{}", found.id))
        });
        join_all(asking).await.into_iter().flatten().next()
    }

    /// Asks a server for its models, and remembers what it says of them.
    async fn ask(&self, api: ApiKind, endpoint: &Endpoint, limit: Duration) -> Vec<Found> {
        let models = discover::models(&self.http, api, endpoint, limit).await;
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        for found in models.iter().filter(|found| found.context_window > 0) {
            windows.insert((endpoint.base_url.clone(), found.id.clone()), found.context_window);
        }
        models
    }

    fn told_window(&self, endpoint: &Endpoint) -> u64 {
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.get(&(endpoint.base_url.clone(), endpoint.model.clone())).copied().unwrap_or(0)
    }

    fn variables<'a>(&'a self, session: &'a Environment) -> Variables<'a> {
        Variables { session, own: &self.own }
    }
}

fn probe_limit(provider: &str, settings: &Settings, variables: Variables<'_>) -> Duration {
    let named =
        settings.providers.contains_key(provider) || (provider == "ollama" && variables.get("OLLAMA_HOST").is_some());
    if named { NAMED_PROBE } else { LOCAL_PROBE }
}

fn default_of(provider: &str, variables: Variables<'_>) -> String {
    let (variable, usual) = match provider {
        "anthropic" => ("ANTHROPIC_MODEL", ANTHROPIC_DEFAULT),
        _ => ("OPENAI_MODEL", OPENAI_DEFAULT),
    };
    let model = variables.get(variable).unwrap_or(usual);
    let full = canonical(model);
    if full.starts_with(&format!("{provider}/")) { full } else { format!("{provider}/{model}") }
}

/// A name as `provider/model`: Claude's own short names, which its settings hold, are written out.
fn canonical(name: &str) -> String {
    let name = name.trim();
    if name.contains('/') {
        return name.to_owned();
    }
    let bare = name.strip_suffix("[1m]").unwrap_or(name);
    match bare {
        "sonnet" => "anthropic/claude-sonnet-5".to_owned(),
        "opus" | "opusplan" => "anthropic/claude-opus-5".to_owned(),
        "haiku" => "anthropic/claude-haiku-4-5".to_owned(),
        _ if bare.starts_with("claude-") => format!("anthropic/{bare}"),
        _ => name.to_owned(),
    }
}

fn info(provider: &str, api: ApiKind, found: Found) -> ModelInfo {
    ModelInfo {
        id: format!("{provider}/{}", found.id),
        provider: provider.to_owned(),
        context_window: found.context_window,
        // What a model of a compatible server can do is known to that server only; a picture that it
        // can't take is answered with its error.
        supports: ModelSupports {
            tools: true,
            images: provider != "demo",
            thinking: provider != "demo" && api != ApiKind::OpenaiChat,
        },
        default: false,
        problem: None,
    }
}

#[cfg(test)]
mod tests;
