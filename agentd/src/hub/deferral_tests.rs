//! Deferred tools through a whole session: a hub with tools such as an MCP server brings, and a model over HTTP that
//! searches for one.

use super::Hub;
use crate::base::environment::Environment;
use crate::config::Loader;
use crate::model::Models;
use crate::model::test_server::{Reply, Server};
use crate::process::Processes;
use crate::session::Services;
use crate::store::StateDir;
use crate::tools::Registry;
use crate::tools::testing::Fake;
use proto::event::EndReason;
use proto::methods::{SessionCreateParams, TurnStartParams, TurnWaitParams};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

const SEND: &str = "mcp__mail__send";

fn sse(events: &[Value]) -> Reply {
    let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    Reply::stream(events.iter().map(line).collect::<String>())
}

fn answer(block: &Value, delta: &Value, stop_reason: &str) -> Reply {
    sse(&[
        json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ])
}

fn calls(id: &str, tool: &str, input: &Value) -> Reply {
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
    answer(&block, &json!({"type": "input_json_delta", "partial_json": input.to_string()}), "tool_use")
}

fn says(text: &str) -> Reply {
    answer(&json!({"type": "text", "text": ""}), &json!({"type": "text_delta", "text": text}), "end_turn")
}

async fn hub(home: &Path, model: &Server) -> Arc<Hub> {
    let env = BTreeMap::from([("HOME".to_owned(), home.join("home").to_str().unwrap().to_owned())]);
    let env = Environment::from(env);
    std::fs::write(home.join("key"), "k").unwrap();
    std::fs::set_permissions(home.join("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let settings = json!({
        "model": "mine/m",
        "providers": {"mine": {"api": "anthropic", "baseUrl": model.url, "apiKeyFile": home.join("key")}},
    });
    let loader = Loader::new(&env, Some(settings.to_string())).with_managed(home.join("none"));
    let (tools, _) = Registry::builtin().with([SEND, "mcp__mail__read"].map(|name| Fake::named(name).registered()));
    let services = Services::new(Models::new(env.clone()), loader, tools, Arc::new(Processes::default()));
    Hub::open(Arc::new(services), StateDir::prepare(&home.join("state")).unwrap(), env).await.unwrap()
}

async fn run(hub: &Hub, session: &str) -> EndReason {
    let handle = hub.get(&session.into()).await.unwrap();
    let params: TurnStartParams = serde_json::from_value(json!({"sessionId": session, "prompt": "go"})).unwrap();
    let turn_id = handle.start_turn(params, "test").await.unwrap().turn_id;
    let params = TurnWaitParams { session_id: session.into(), turn_id, timeout_ms: None };
    handle.wait_turn(params).await.unwrap().reason
}

fn told(model: &Server) -> Vec<Vec<String>> {
    let names = |body: &Value| -> Vec<String> {
        let tools = body["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).filter(|name| name.contains("mcp__")).collect()
    };
    model.requests().iter().map(|request| names(&request.json())).collect()
}

/// Rows T09, A06: what a search finds is in the next request of the same turn, and after a restart in those of the next
/// turn; `tool/list` says which tools have to be searched for.
#[tokio::test]
async fn a_tool_that_was_found_stays_found() {
    let home = tempfile::tempdir().unwrap();
    let search = calls("t1", "ToolSearch", &json!({"query": format!("select:{SEND}")}));
    let model = Server::start(vec![search, says("found"), says("again")]).await;
    let hub_before = hub(home.path(), &model).await;
    let cwd = home.path().to_str().unwrap().to_owned();
    let params = SessionCreateParams { cwd, ..serde_json::from_value(json!({"cwd": "/"})).unwrap() };
    let session = hub_before.create(params).await.unwrap().id;
    let listed = hub_before.tools(&session).await.unwrap().tools;
    let deferred: Vec<&str> = listed.iter().filter(|tool| tool.deferred).map(|tool| tool.name.as_str()).collect();
    assert_eq!(deferred, ["mcp__mail__read", SEND]);
    assert!(listed.iter().any(|tool| tool.name == "ToolSearch" && tool.read_only_hint && !tool.deferred));
    assert!(listed.iter().any(|tool| tool.name == SEND && tool.source == "mail" && !tool.read_only_hint));

    assert_eq!(run(&hub_before, session.as_str()).await, EndReason::Completed);
    assert_eq!(told(&model), [vec![], vec![SEND.to_owned()]]);
    hub_before.stop().await;
    drop(hub_before);

    let hub_after = hub(home.path(), &model).await;
    assert_eq!(run(&hub_after, session.as_str()).await, EndReason::Completed);
    assert_eq!(told(&model).last().unwrap(), &[SEND.to_owned()]);
    hub_after.stop().await;
}
