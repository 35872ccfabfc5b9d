//! What models are told of the tools of a turn: which, in which words, with which flags.

use super::*;
use crate::event::state::SessionState;
use crate::model::{ModelRequest, ModelStream};
use crate::policy::testing::rules;
use crate::tools::ToolOutput;
use crate::tools::testing::Fake;
use proto::event::{Event, ToolEndedDetails, ToolStatus};
use proto::session::SessionInfo;
use serde_json::json;
use std::collections::BTreeMap;

/// A model that is never asked.
struct Silent {
    id: &'static str,
    features: ToolFeatures,
}

impl Model for Silent {
    fn stream(&self, _request: ModelRequest) -> ModelStream {
        Box::pin(futures::stream::empty())
    }
    fn id(&self) -> &str {
        self.id
    }
    fn context_window(&self) -> u64 {
        0
    }
    fn tool_features(&self) -> ToolFeatures {
        self.features
    }
}

const PLAIN: Silent =
    Silent { id: "a/m", features: ToolFeatures { strict: false, eager_input_streaming: false, defer_loading: false } };

fn fakes() -> Vec<Arc<Registered>> {
    let always = Fake { always_load: true, ..Fake::named("mcp__git__status") };
    vec![Fake::named("mcp__mail__send").registered(), always.registered(), Fake::named("mcp__git__push").registered()]
}

fn toolset(further: Vec<Arc<Registered>>, settings: &ToolSettings, deny: &[&str]) -> Toolset {
    let deny = rules(deny);
    let permitted = Permitted { deny: &deny, simple: settings.simple };
    Toolset::new(&builtin(), further, settings, permitted, "a/m")
}

/// The built-in tools that every build has.
fn builtin() -> Registry {
    Registry::builtin().permitted(Permitted { deny: &rules(&["Sleep"]), simple: false })
}

fn names(definitions: &[ToolDefinition]) -> Vec<&str> {
    definitions.iter().map(|definition| definition.name.as_str()).collect()
}

fn found(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Rows T09, X04: a deferred tool is absent from the first request, one that is always loaded is there; after a search
/// it is in the next request of the same turn, and until then a call of it is known to be one that needs a search.
#[test]
fn a_deferred_tool_is_told_of_once_it_was_found() {
    let tools = toolset(fakes(), &ToolSettings::default(), &[]);
    let first = tools.definitions(&found(&[]), &PLAIN);
    let base = ["Bash", "Edit", "Glob", "Grep", "Read", "ToolSearch", "Write", "mcp__git__status"];
    assert_eq!(names(&first), base);
    assert!(tools.is_undiscovered("mcp__mail__send") && tools.is_deferred("mcp__mail__send"));
    for other in ["mcp__git__status", "Read", "ToolSearch", "Absent"] {
        assert!(!tools.is_undiscovered(other) && !tools.is_deferred(other), "{other}");
    }

    let next = tools.definitions(&found(&["mcp__mail__send", "mcp__gone__tool"]), &PLAIN);
    assert_eq!(names(&next), [&base[..], &["mcp__mail__send"]].concat());
    assert!(!tools.is_undiscovered("mcp__mail__send") && tools.is_undiscovered("mcp__git__push"));
    assert_eq!(first[..], next[..first.len()], "what was found changes nothing of the others");
    assert!(tools.registry.get("mcp__git__push").is_some(), "it can be called all the same");
}

/// Row T09: what a search found is in the session's log, so the model is told of it after a restart too.
#[test]
fn what_was_found_survives_a_restart() {
    let tools = toolset(fakes(), &ToolSettings::default(), &[]);
    let search = tools.registry.get(TOOL_SEARCH).unwrap();
    let scratch = crate::tools::testing::Scratch::new();
    let ToolOutput { discovered, content, .. } =
        scratch.run(search.as_ref(), json!({"query": "select:mcp__git__push"}));
    let info = SessionInfo::new("ses_1".into(), "/w".into(), "a/m".into(), "2026-01-01T00:00:00Z".into());
    let mut state = SessionState::from_first(&Event::SessionCreated { session: info, system_prompt: None }).unwrap();
    let ended = Event::ToolEnded {
        tool_call_id: "call_1".into(),
        status: ToolStatus::Completed,
        is_error: false,
        content,
        summary: String::new(),
        persisted_path: None,
        duration_ms: 0,
        cause: None,
        details: ToolEndedDetails { discovered, ..ToolEndedDetails::default() },
    };
    let line = serde_json::to_string(&ended).unwrap();
    state.apply(2, "2026-01-01T00:00:01Z", &serde_json::from_str(&line).unwrap());
    assert_eq!(state.discovered, found(&["mcp__git__push"]));
    let anew = toolset(fakes(), &ToolSettings::default(), &[]).definitions(&state.discovered, &PLAIN);
    assert!(names(&anew).contains(&"mcp__git__push") && !names(&anew).contains(&"mcp__mail__send"));
}

#[test]
fn there_is_a_search_only_where_it_finds_something() {
    let told = |further, settings: &ToolSettings, deny: &[&str]| {
        let definitions = toolset(further, settings, deny).definitions(&found(&[]), &PLAIN);
        definitions.iter().map(|definition| definition.name.clone()).collect::<Vec<_>>()
    };
    let all = ToolSettings::default();
    assert!(!told(Vec::new(), &all, &[]).contains(&TOOL_SEARCH.to_owned()));
    assert!(!told(fakes(), &all, &["mcp__mail", "mcp__git__push"]).contains(&TOOL_SEARCH.to_owned()));
    let off = ToolSettings { search: false, ..ToolSettings::default() };
    for shown in [told(fakes(), &off, &[]), told(fakes(), &all, &["ToolSearch"])] {
        assert!(shown.contains(&"mcp__mail__send".to_owned()) && !shown.contains(&TOOL_SEARCH.to_owned()), "{shown:?}");
    }
    let simple = ToolSettings { simple: true, ..ToolSettings::default() };
    assert_eq!(told(fakes(), &simple, &[]), ["Bash", "Edit", "Read"]);
    assert_eq!(told(Vec::new(), &all, &["Write", "Bash(rm *)"]), ["Bash", "Edit", "Glob", "Grep", "Read"]);
    let denied = toolset(Vec::new(), &all, &["Write"]);
    assert!(denied.get("Write").is_some(), "a call of it is for the rule to answer");
    assert!(toolset(Vec::new(), &simple, &[]).get("Write").is_none(), "it is not there at all");
}

#[test]
fn a_tool_of_the_turn_itself_is_told_of_in_simple_mode_too() {
    let simple = ToolSettings { simple: true, ..ToolSettings::default() };
    let tools = toolset(fakes(), &simple, &["*"]).with(Arc::new(Fake { always_load: true, ..Fake::named("Answer") }));
    assert_eq!(names(&tools.definitions(&found(&[]), &PLAIN)), ["Answer"]);
}

/// Row A01: from one request of a turn to the next nothing is worked out again; another model is another matter.
#[test]
fn the_same_value_is_told_until_something_changes() {
    let fake = Fake::named("mcp__git__push");
    let prompts = fake.prompts.clone();
    let tools = toolset(vec![fake.registered()], &ToolSettings::default(), &[]);
    let all = found(&["mcp__git__push"]);
    let first = tools.definitions(&all, &PLAIN);
    let before = prompts.get();
    assert!(Arc::ptr_eq(&first, &tools.definitions(&all, &PLAIN)));
    let _ = tools.definitions(&found(&[]), &PLAIN);
    assert_eq!(tools.definitions(&all, &PLAIN), first);
    assert_eq!(prompts.get(), before, "kept by its content");
    let other = tools.definitions(&all, &Silent { id: "a/other", ..PLAIN });
    let push = |told: &[ToolDefinition]| told.iter().find(|tool| tool.name == "mcp__git__push").unwrap().clone();
    assert!(push(&other).description.contains("a/other") && !push(&first).description.contains("a/other"));
}

/// Rows A04, T11: strict exactly where the setting, the tool and the model all want it.
#[test]
fn strict_needs_the_setting_the_tool_and_the_model() {
    for at in 0..8 {
        let (gate, own, model) = (at & 1 != 0, at & 2 != 0, at & 4 != 0);
        let fake = Fake { strict: own, always_load: true, ..Fake::named("mcp__s__t") }.registered();
        let tools = toolset(vec![fake], &ToolSettings { strict: gate, ..ToolSettings::default() }, &[]);
        let model = Silent { id: "a/m", features: ToolFeatures { strict: model, ..PLAIN.features } };
        let told = tools.definitions(&found(&[]), &model);
        let strict = told.iter().find(|tool| tool.name == "mcp__s__t").unwrap().strict;
        assert_eq!(strict, at == 7, "{at:03b}");
    }
}

/// Row A05: eager input exactly where the setting wants it and the model's API takes it.
#[test]
fn eager_input_needs_the_setting_and_the_api() {
    for (gate, api) in [(false, false), (false, true), (true, false), (true, true)] {
        let tools = toolset(Vec::new(), &ToolSettings { eager_input: gate, ..ToolSettings::default() }, &[]);
        let features = ToolFeatures { eager_input_streaming: api, ..PLAIN.features };
        let told = tools.definitions(&found(&[]), &Silent { id: "a/m", features });
        assert!(told.iter().all(|tool| tool.eager_input_streaming == (gate && api)), "{gate} {api}");
    }
}

/// Row A06: loading is deferred exactly for a deferred tool that was found, where searching is on and the API takes it.
#[test]
fn defer_loading_needs_the_api_the_setting_and_a_deferred_tool() {
    for at in 0..8 {
        let (api, search, deferred) = (at & 1 != 0, at & 2 != 0, at & 4 != 0);
        let fake = Fake { always_load: !deferred, ..Fake::named("mcp__s__t") }.registered();
        let tools = toolset(vec![fake], &ToolSettings { search, ..ToolSettings::default() }, &[]);
        let features = ToolFeatures { defer_loading: api, ..PLAIN.features };
        let told = tools.definitions(&found(&["mcp__s__t"]), &Silent { id: "a/m", features });
        for tool in told.iter() {
            assert_eq!(tool.defer_loading, at == 7 && tool.name == "mcp__s__t", "{at:03b} {}", tool.name);
        }
        assert_eq!(told.len(), if search && deferred { 8 } else { 7 });
    }
}

/// Row I10: the setting by a tool's name decides what an interrupt does; without it the tool does.
#[test]
fn the_setting_overrides_what_an_interrupt_does() {
    let interrupt = BTreeMap::from([("Bash".to_owned(), Interrupt::Cancel), ("Read".to_owned(), Interrupt::Block)]);
    let with = toolset(Vec::new(), &ToolSettings { interrupt, ..ToolSettings::default() }, &[]);
    let without = toolset(Vec::new(), &ToolSettings::default(), &[]);
    for (tool, input, own, set) in [
        ("Bash", json!({"command": "make"}), true, false),
        ("Bash", json!({"command": "ls"}), false, false),
        ("Read", json!({"file_path": "a"}), false, true),
        ("Write", json!({"file_path": "a"}), true, true),
        ("Absent", json!({}), false, false),
    ] {
        assert_eq!(without.traits(tool, &input).blocks_interrupt, own, "{tool} {input}");
        assert_eq!(with.traits(tool, &input).blocks_interrupt, set, "{tool} {input}");
    }
    let traits = without.traits("Bash", &json!({"command": "make"}));
    assert!(traits.runs_command && !traits.read_only && !traits.concurrency_safe);
}

/// Row R04: whatever the order in which servers answer, the requests of two sessions hold the same tools.
#[test]
fn the_order_of_discovery_makes_no_difference() {
    let told = |further: Vec<Arc<Registered>>| {
        toolset(further, &ToolSettings::default(), &[]).definitions(&found(&["mcp__mail__send"]), &PLAIN)
    };
    assert_eq!(told(fakes()), told(fakes().into_iter().rev().collect()));
}
