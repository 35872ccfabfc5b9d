//! Keys that a command prints (`apiKeyHelper`), kept for a while. Used by `http` and `discover` when a request needs
//! one. How a command is run is the caller's: this layer starts no process.

use super::endpoint::{Scheme, Secret};
use crate::base::clock::Stopwatch;
use crate::base::environment::Environment;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a key is used, unless `CLAUDE_CODE_API_KEY_HELPER_TTL_MS` says otherwise: that of Claude Code.
const USUAL_AGE: Duration = Duration::from_secs(300);
const AGE_VARIABLE: &str = "CLAUDE_CODE_API_KEY_HELPER_TTL_MS";

/// Runs a command and gives what it prints, or why there is nothing.
pub type RunHelper = Arc<dyn Fn(String) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// A command that prints a key.
#[derive(Debug, Clone)]
pub(super) struct Helper {
    command: String,
    pub(super) scheme: Scheme,
    /// The keys that were sent last, so that no message repeats them.
    sent: Arc<Mutex<Vec<Secret>>>,
}

impl Helper {
    pub(super) fn new(command: &str, scheme: Scheme) -> Self {
        Self { command: command.to_owned(), scheme, sent: Arc::default() }
    }

    /// The same, sent as `of` says of its scheme.
    pub(super) fn with_scheme(self, of: impl FnOnce(Scheme) -> Scheme) -> Self {
        Self { scheme: of(self.scheme), ..self }
    }

    pub(super) fn sent(&self) -> Vec<Secret> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, key: &Secret) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if !sent.contains(key) {
            // The key that was refused, and the one that took its place.
            let old = sent.len().saturating_sub(1);
            sent.drain(..old);
            sent.push(key.clone());
        }
    }
}

/// The keys that commands have printed.
pub(super) struct HelperKeys {
    run: Option<RunHelper>,
    age: Duration,
    known: Mutex<HashMap<String, (Secret, Stopwatch)>>,
    /// Held while a command runs, so that calls at the same time share its answer.
    running: tokio::sync::Mutex<()>,
}

impl HelperKeys {
    pub(super) fn new(own: &Environment, run: Option<RunHelper>) -> Self {
        let age = own.get(AGE_VARIABLE).and_then(|ms| ms.trim().parse().ok()).map(Duration::from_millis);
        Self { run, age: age.unwrap_or(USUAL_AGE), known: Mutex::default(), running: tokio::sync::Mutex::default() }
    }

    /// The key; not `refused`, which a server did not take.
    ///
    /// # Errors
    /// Why there is none, without anything that the command has printed.
    pub(super) async fn key(&self, helper: &Helper, refused: Option<&Secret>) -> Result<Secret, String> {
        let key = match self.known(helper, refused) {
            Some(key) => key,
            None => {
                let _running = self.running.lock().await;
                match self.known(helper, refused) {
                    Some(key) => key,
                    None => self.ask(helper).await?,
                }
            }
        };
        helper.send(&key);
        Ok(key)
    }

    fn known(&self, helper: &Helper, refused: Option<&Secret>) -> Option<Secret> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, since) = known.get(&helper.command)?;
        (since.elapsed() < self.age && Some(key) != refused).then(|| key.clone())
    }

    async fn ask(&self, helper: &Helper) -> Result<Secret, String> {
        let Some(run) = &self.run else { return Err("this agentd runs no commands".to_owned()) };
        let printed = run(helper.command.clone()).await?;
        let key = printed.trim();
        if key.is_empty() {
            return Err("it printed nothing".to_owned());
        }
        if key.contains(char::is_control) {
            return Err("it printed more than one line".to_owned());
        }
        let key = Secret::new(key);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (_, since)| since.elapsed() < self.age);
        known.insert(helper.command.clone(), (key.clone(), Stopwatch::start()));
        Ok(key)
    }
}

impl fmt::Debug for HelperKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HelperKeys(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn keys(age_ms: &str, answer: fn(usize) -> Result<String, String>) -> (HelperKeys, Arc<AtomicUsize>) {
        let env = BTreeMap::from([(AGE_VARIABLE.to_owned(), age_ms.to_owned())]);
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        let run: RunHelper = Arc::new(move |_| {
            let run = counted.fetch_add(1, Ordering::Relaxed);
            Box::pin(async move { answer(run) })
        });
        (HelperKeys::new(&Environment::from(env), Some(run)), runs)
    }

    #[tokio::test]
    async fn a_key_is_asked_for_once_until_it_is_old_or_refused() {
        let (keys, runs) = keys("3600000", |run| Ok(format!(" key{run}\n")));
        let helper = Helper::new("cmd", Scheme::ApiKey);
        let (one, two) = tokio::join!(keys.key(&helper, None), keys.key(&helper, None));
        let first = Secret::new("key0");
        assert_eq!((one.as_ref(), two.as_ref(), runs.load(Ordering::Relaxed)), (Ok(&first), Ok(&first), 1));
        assert_eq!(helper.sent(), std::slice::from_ref(&first));
        // Two calls that were refused the same key get one new one.
        for _ in 0..2 {
            assert_eq!(keys.key(&helper, Some(&first)).await, Ok(Secret::new("key1")));
        }
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        let (keys, runs) = self::keys("0", |run| Ok(format!("key{run}")));
        for run in 0..3 {
            assert_eq!(keys.key(&helper, None).await, Ok(Secret::new(format!("key{run}"))));
        }
        assert_eq!(runs.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn what_is_no_key_is_refused_without_being_shown() {
        let helper = Helper::new("cmd", Scheme::ApiKey);
        for (answer, why) in [
            ((|_| Ok(" \n".to_owned())) as fn(usize) -> Result<String, String>, "nothing"),
            (|_| Ok("canary\nmore".to_owned()), "more than one line"),
            (|_| Err("it ended with code 1".to_owned()), "code 1"),
        ] {
            let error = keys("1000", answer).0.key(&helper, None).await.unwrap_err();
            assert!(error.contains(why) && !error.contains("canary"), "{error}");
        }
    }
}
