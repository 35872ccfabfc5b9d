//! The names of settings: agentd's own, and those of Claude Code, whose files agentd reads too. Used by
//! `sift` to tell a typing error from a key that is another program's business.

/// The keys of a settings file.
pub(super) const OWN: [&str; 10] = [
    "model",
    "fallbackModel",
    "smallModel",
    "providers",
    "apiKeyHelper",
    "allowManagedPermissionRulesOnly",
    "permissions",
    "env",
    "tools",
    "limits",
];

/// Keys that a settings file may hold for Claude Code, or for a later version of agentd.
const FOREIGN: [&str; 58] = [
    "$schema",
    "advisorModel",
    "agent",
    "allowManagedHooksOnly",
    "allowManagedMcpServersOnly",
    "allowedHttpHookUrls",
    "alwaysThinkingEnabled",
    "attribution",
    "autoCompactEnabled",
    "autoCompactWindow",
    "autoMemoryEnabled",
    "autoMode",
    "autoUpdatesChannel",
    "availableModels",
    "awsAuthRefresh",
    "awsCredentialExport",
    "cleanupPeriodDays",
    "companyAnnouncements",
    "crossSessionInbound",
    "disableAllHooks",
    "disableClaudeAiConnectors",
    "disabledMcpjsonServers",
    "effortLevel",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "enabledPlugins",
    "extraKnownMarketplaces",
    "fastMode",
    "feedbackSurveyState",
    "fileSuggestion",
    "forceLoginMethod",
    "forceLoginOrgUUID",
    "gcpAuthRefresh",
    "gitAttribution",
    "hooks",
    "httpHookAllowedEnvVars",
    "includeCoAuthoredBy",
    "includeGitInstructions",
    "isolatePeerMachines",
    "language",
    "mcpServers",
    "otelHeadersHelper",
    "outputStyle",
    "plansDirectory",
    "prefersReducedMotion",
    "respectGitignore",
    "sandbox",
    "showTurnDuration",
    "skipDangerousModePermissionPrompt",
    "spinnerTipsEnabled",
    "spinnerVerbs",
    "statusLine",
    "strictKnownMarketplaces",
    "teammateMode",
    "theme",
    "verbose",
    "voiceEnabled",
    "worktree",
];

/// Whether a top-level key is another program's, or a later version's.
pub(super) fn is_foreign(key: &str) -> bool {
    FOREIGN.contains(&key)
}

/// The top-level keys that agentd or another program uses; agentd's own come first.
pub(super) fn all() -> Vec<&'static str> {
    OWN.iter().chain(&FOREIGN).copied().collect()
}

/// The keys that an object of the settings may hold; none where every key is allowed.
pub(super) fn children(path: &[&str]) -> Option<&'static [&'static str]> {
    match path {
        ["permissions"] => Some(&[
            "allow",
            "ask",
            "deny",
            "defaultMode",
            "additionalDirectories",
            "disableBypassPermissionsMode",
            "disableAutoMode",
            "bypassProtectedPaths",
        ]),
        ["providers", _] => Some(&[
            "api",
            "baseUrl",
            "apiKeyEnv",
            "apiKeyFile",
            "apiKeyCredential",
            "apiKeyHelper",
            "headers",
            "models",
        ]),
        ["tools"] => Some(&[
            "maxConcurrency",
            "cascade",
            "simple",
            "search",
            "strict",
            "eagerInput",
            "interrupt",
            "batchResultChars",
            "bash",
        ]),
        ["tools", "bash"] => Some(&["timeoutMs", "maxTimeoutMs"]),
        ["limits"] => {
            Some(&["streamIdleMs", "answerMs", "retries", "retryTotalMs", "maxTurns", "drainMs", "killGraceMs"])
        }
        _ => None,
    }
}

/// How alike two names must be for one to be taken for the other, from 0 to 1.
const NEAR: f32 = 0.75;

/// The name that was probably meant.
pub(super) fn nearest<'a>(key: &str, names: &[&'a str]) -> Option<&'a str> {
    let likeness = |name: &str| similar::TextDiff::from_chars(key, name).ratio();
    names
        .iter()
        .map(|name| (*name, likeness(name)))
        .filter(|(_, ratio)| *ratio >= NEAR)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(name, _)| name)
}
