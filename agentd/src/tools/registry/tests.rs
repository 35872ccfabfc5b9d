//! The stages of the registry, and the built-in tools as models see them.

use super::*;
use crate::policy::testing::rules;
use crate::tools::testing::{Fake, Scratch, assert_ok};
use crate::tools::{ToolOutput, ToolSearch, ToolVerdict};
use proptest::prelude::*;
use proto::event::ToolKind;
use serde_json::json;

fn names(registry: &Registry) -> Vec<&str> {
    registry.iter().map(|tool| tool.name()).collect()
}

fn builtin_without_gated() -> Registry {
    Registry::builtin().permitted(Permitted { deny: &rules(&["Sleep"]), simple: false })
}

/// Row T01: a built-in tool and one of an MCP server are validated, judged and called through one trait.
#[test]
fn a_built_in_tool_and_a_foreign_one_run_through_the_same_trait() {
    let scratch = Scratch::new();
    scratch.write("f", "text");
    let (registry, _) = Registry::builtin().with([Fake::named("mcp__s__make").registered()]);
    for (name, input, verdict) in
        [("Read", json!({"file_path": "f"}), "allow"), ("mcp__s__make", json!({"title": "t"}), "ask")]
    {
        let tool = registry.get(name).unwrap();
        let judged = tool.check_permission(&input, &scratch.context());
        assert_eq!(matches!(judged, ToolVerdict::Allow { .. }), verdict == "allow", "{name}");
        assert_ok(&scratch.run(tool.as_ref(), input));
    }
}

/// Row T02: a call by an alias reaches the tool, which has one name; a tool's own name comes before an alias.
#[test]
fn an_alias_leads_to_the_tool() {
    let aliased = Fake { alias: Some("OldName"), ..Fake::named("NewName") };
    let shadowed = Fake { alias: Some("Read"), ..Fake::named("Zebra") };
    let (registry, _) = Registry::builtin().with([aliased.registered(), shadowed.registered()]);
    assert_eq!(registry.get("OldName").unwrap().name(), "NewName");
    assert_eq!(registry.get("Read").unwrap().name(), "Read");
    assert!(registry.get("oldname").is_none() && registry.get("bash").is_none());
}

/// Row T03: a tool that has only a JSON Schema refuses an input that does not fit it, and names the field.
#[test]
fn a_tool_with_nothing_but_a_schema_refuses_a_bad_input() {
    let (context, fake) = (Scratch::new().context(), Fake::named("mcp__s__make"));
    assert_eq!(fake.validate(&json!({"title": "t", "labels": ["a"]}), &context), Ok(()));
    for (input, field) in [
        (json!({}), "`title` is missing"),
        (json!({"title": 5}), "`title` must be a string"),
        (json!({"title": "t", "labels": [1]}), "`labels[0]` must be a string"),
        (json!({"title": "t", "other": 1}), "`other` is unknown"),
    ] {
        assert!(fake.validate(&input, &context).unwrap_err().contains(field), "{input}");
    }
    assert_eq!(fake.output_schema(), None);
}

/// A tool that says nothing of itself.
struct Bare;

impl Tool for Bare {
    fn name(&self) -> &str {
        "Bare"
    }
    fn prompt(&self, _options: &PromptOptions) -> String {
        "Nothing.".to_owned()
    }
    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }
    fn title(&self, _input: &Value) -> String {
        "Bare".to_owned()
    }
    fn call(&self, _input: Value, _context: crate::tools::ToolContext) -> futures::future::BoxFuture<'_, ToolOutput> {
        Box::pin(async { ToolOutput::default() })
    }
}

/// Rows T06, T15: a tool that says nothing of itself writes, may destroy, runs alone, is asked about, and goes on
/// through an interrupt.
#[test]
fn the_defaults_fail_closed() {
    let input = json!({});
    assert!(!Bare.read_only(&input) && !Bare.concurrency_safe(&input) && Bare.destructive(&input));
    assert!(Bare.blocks_interrupt(&input));
    assert!(matches!(Bare.check_permission(&input, &Scratch::new().context()), ToolVerdict::Ask { .. }));
    assert!(!Bare.strict() && !Bare.is_mcp() && !Bare.should_defer() && !Bare.requires_user_interaction());
}

/// Row T12: the compact form of a call says what a judge has to know: the command, or the file with what goes into
/// it; for a tool that says nothing of itself, its whole input.
#[test]
fn a_call_in_few_words() {
    let (registry, _) = Registry::builtin().with([Fake::named("mcp__s__make").registered()]);
    for (tool, input, expected) in [
        ("Bash", json!({"command": "rm -r x", "description": "Cleans up"}), "rm -r x"),
        ("Write", json!({"file_path": "a", "content": "x\ny"}), "Write a: x\ny"),
        ("Edit", json!({"file_path": "a", "old_string": "x", "new_string": "y"}), "Edit a: y"),
        ("Read", json!({"file_path": "a", "limit": 5}), "Read a"),
        ("Grep", json!({"pattern": "x", "path": "b"}), "Grep x"),
        ("mcp__s__make", json!({"title": "t"}), r#"mcp__s__make {"title":"t"}"#),
    ] {
        assert_eq!(registry.get(tool).unwrap().classifier_input(&input), expected);
    }
}

/// Row T16: observers of a file tool see an absolute path; what is no path, or absolute, is left alone.
#[test]
fn observers_see_absolute_paths() {
    let context = Scratch::new().context();
    let registry = Registry::builtin();
    let absolute = |path: &str| context.cwd.join(path).to_str().unwrap().to_owned();
    for tool in ["Read", "Edit", "Write"] {
        let tool = registry.get(tool).unwrap();
        for (path, expected) in [
            ("a/b", Some(absolute("a/b"))),
            ("./a//b", Some(absolute("a/b"))),
            ("../b", Some(absolute("../b"))),
            ("~/b", Some(format!("{}/b", context.env.get("HOME").unwrap()))),
            ("/a/b", None),
            ("", None),
        ] {
            let input = json!({"file_path": path, "other": 1});
            let observable = tool.observable_input(&input, &context);
            let expected = expected.map(|path| json!({"file_path": path, "other": 1}));
            assert_eq!(observable, expected, "{} {path}", tool.name());
        }
        assert_eq!(tool.observable_input(&json!({"file_path": 5}), &context), None);
        assert_eq!(tool.observable_input(&json!("broken"), &context), None);
    }
    assert_eq!(registry.get("Bash").unwrap().observable_input(&json!({"command": "ls"}), &context), None);
}

/// Row T10: each tool has a limit of what goes to the model; pages of Read have their own, so none of them goes to a
/// file that would have to be read in turn.
#[test]
fn limits_of_results() {
    for tool in Registry::builtin().iter() {
        let expected = if tool.name() == "Read" { usize::MAX } else { crate::base::limits::MAX_RESULT_CHARS };
        assert_eq!(tool.max_result_chars(), expected, "{}", tool.name());
    }
}

/// Row C05: which calls of the built-in tools may run beside others, and which only read.
#[test]
fn which_calls_may_run_beside_others() {
    let (registry, _) = Registry::builtin().with([Fake::named("mcp__s__make").registered()]);
    for (tool, input, safe) in [
        ("Read", json!({"file_path": "a"}), true),
        ("Glob", json!({"pattern": "*"}), true),
        ("Grep", json!({"pattern": "x"}), true),
        ("Edit", json!({"file_path": "a"}), false),
        ("Write", json!({"file_path": "a"}), false),
        ("mcp__s__make", json!({"title": "t"}), false),
        ("Bash", json!({"command": "ls"}), true),
        ("Bash", json!({"command": "rm x"}), false),
        ("Bash", json!({"command": 5}), false),
        ("Bash", json!("{\"comm"), false),
    ] {
        let tool = registry.get(tool).unwrap();
        assert_eq!(tool.concurrency_safe(&input), safe, "{} {input}", tool.name());
        assert_eq!(tool.read_only(&input), safe, "{} {input}", tool.name());
        assert_eq!(tool.destructive(&input), !safe, "{} {input}", tool.name());
    }
}

/// Row I10: readers are stopped by an interrupt, writers run to their end; Bash is the one or the other by its command.
#[test]
fn what_an_interrupt_waits_for() {
    let registry = Registry::builtin();
    for (tool, input, blocks) in [
        ("Read", json!({"file_path": "a"}), false),
        ("Glob", json!({"pattern": "*"}), false),
        ("Grep", json!({"pattern": "x"}), false),
        ("Edit", json!({"file_path": "a"}), true),
        ("Write", json!({"file_path": "a"}), true),
        ("Bash", json!({"command": "ls"}), false),
        ("Bash", json!({"command": "make"}), true),
        ("Bash", json!({}), true),
    ] {
        assert_eq!(registry.get(tool).unwrap().blocks_interrupt(&input), blocks, "{tool} {input}");
    }
    let runs: Vec<&str> = registry.iter().filter(|tool| tool.runs_commands()).map(|tool| tool.name()).collect();
    assert_eq!(runs, ["Bash"]);
}

/// Row R01: each stage is a value that can be looked at: all, the permitted ones, those with MCP's, each name once.
#[test]
fn the_stages_of_a_registry() {
    let base = builtin_without_gated();
    assert_eq!(names(&base), ["Bash", "Edit", "Glob", "Grep", "Read", "Write"]);

    let deny = rules(&["Glob", "Bash(rm *)", "mcp__mail"]);
    let by = Permitted { deny: &deny, simple: false };
    let permitted = base.permitted(by);
    assert_eq!(names(&permitted), ["Bash", "Edit", "Grep", "Read", "Write"], "a rule with content takes no tool away");

    let off = Fake { disabled: true, ..Fake::named("mcp__git__off") };
    let further = ["mcp__mail__send", "mcp__git__push", "mcp__git__log"].map(|name| Fake::named(name).registered());
    let (all, dropped) = base.with(further.into_iter().chain([off.registered()]));
    assert_eq!(dropped, [""; 0]);
    let expected = ["Bash", "Edit", "Grep", "Read", "Write", "mcp__git__log", "mcp__git__push"];
    assert_eq!(names(&all.permitted(by)), expected);
    assert_eq!(names(&all.permitted(Permitted { deny: &rules(&["*"]), simple: false })), [""; 0]);
    let edits = all.permitted(Permitted { deny: &rules(&["Edit", "mcp__*"]), simple: false });
    assert_eq!(names(&edits), ["Bash", "Glob", "Grep", "Read"], "Edit stands for all that changes files");
}

/// Row R02: Bash is there with every feature off and in simple mode.
#[test]
fn bash_is_always_there() {
    for simple in [false, true] {
        assert!(Registry::builtin().permitted(Permitted { deny: &[], simple }).get("Bash").is_some());
    }
}

/// Row R07: simple mode leaves exactly three tools, whatever else there is.
#[test]
fn simple_mode_has_three_tools() {
    let (all, _) = Registry::builtin().with([Fake::named("mcp__s__make").registered()]);
    assert_eq!(names(&all.permitted(Permitted { deny: &[], simple: true })), ["Bash", "Edit", "Read"]);
}

/// Row R05: a foreign tool with the name of a built-in one is dropped, and said to be.
#[test]
fn a_built_in_tool_wins_over_one_of_its_name() {
    let twice = ["Read", "mcp__s__x", "mcp__s__x"].map(|name| Fake::named(name).registered());
    let (registry, dropped) = builtin_without_gated().with(twice);
    assert_eq!(names(&registry), ["Bash", "Edit", "Glob", "Grep", "Read", "Write", "mcp__s__x"]);
    assert!(!registry.get("Read").unwrap().is_mcp());
    assert_eq!(dropped, ["Read", "mcp__s__x"]);
}

/// What models are told of the built-in tools and eight further ones, found in this order.
fn told(base: &Registry, order: &[usize]) -> String {
    let further = order.iter().map(|at| Fake::named(&format!("mcp__s{}__t{at}", at % 3)).registered());
    let (registry, _) = base.with(further);
    let tools = registry.iter().map(|tool| tool.name().to_owned()).collect();
    let options = Arc::new(PromptOptions { model: "a/m".to_owned(), tools, simple: false });
    let told = registry.entries().map(|entry| {
        let definition = registry.define(entry, &options, false);
        json!([definition.name, definition.description, definition.input_schema]).to_string()
    });
    told.collect::<Vec<_>>().join("\n")
}

/// Row R04: in whatever order servers bring their tools, models are told the same bytes.
#[test]
fn the_order_of_discovery_does_not_show() {
    let sorted: Vec<usize> = (0..8).collect();
    let expected = told(&Registry::builtin(), &sorted);
    let base = Registry::builtin();
    let orders = Just(sorted).prop_shuffle();
    proptest!(ProptestConfig::with_cases(64), |(order in orders)| {
        prop_assert_eq!(told(&base, &order), expected.clone());
    });
}

/// Row A08: the schemas of all built-in tools are those of the golden file: required fields named, no further ones
/// allowed, nothing that is agentd's own.
#[test]
fn the_schemas_of_the_built_in_tools() {
    let (with_fake, _) = builtin_without_gated().with([Fake::named("mcp__s__make").registered()]);
    let search = ToolSearch::over(&with_fake, &PromptOptions::default()).unwrap();
    let mut schemas: serde_json::Map<String, Value> = builtin_without_gated()
        .entries()
        .map(|entry| (entry.tool().name().to_owned(), entry.schema().clone()))
        .collect();
    schemas.insert(search.name().to_owned(), search.input_schema());
    for (name, schema) in &schemas {
        assert_eq!(schema["type"], "object", "{name}");
        assert_eq!(schema["additionalProperties"], json!(false), "{name}");
        assert!(schema["required"].as_array().is_some_and(|required| !required.is_empty()), "{name}");
        for (field, schema) in schema["properties"].as_object().unwrap() {
            assert!(!field.starts_with('_'), "{name}.{field} is agentd's own");
            assert!(schema["type"].is_string(), "{name}.{field} has one type: {schema}");
            assert!(schema["description"].is_string(), "{name}.{field} is described");
        }
    }
    let found = serde_json::to_string_pretty(&schemas).unwrap() + "\n";
    assert!(
        found == include_str!("schemas.json"),
        "the schemas changed: if that is meant, this is schemas.json:\n{found}"
    );
}

/// Rows T05, A03: what models are told of a tool follows the tools beside it.
#[test]
fn texts_name_only_tools_that_are_there() {
    let told = |simple: bool| {
        let registry = builtin_without_gated().permitted(Permitted { deny: &[], simple });
        let tools = registry.iter().map(|tool| tool.name().to_owned()).collect();
        let options = Arc::new(PromptOptions { model: "a/m".to_owned(), tools, simple });
        let text = |name: &str| {
            let entry = registry.entries().find(|entry| entry.tool().name() == name).unwrap();
            registry.define(entry, &options, false).description.clone()
        };
        format!("{} {}", text("Bash"), text("Read"))
    };
    for tool in ["Grep", "Glob", "Write"] {
        assert!(told(false).contains(tool) && !told(true).contains(tool), "{tool}");
    }
    assert!(told(true).contains("Read to read files") && told(true).contains("Edit to change files"));
}
