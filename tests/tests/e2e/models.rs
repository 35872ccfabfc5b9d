//! Models that refuse, break off or are not there: a clear message, and the session goes on. And the other wire
//! formats, and what a turn costs.

use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use tests::{Client, Daemon, ModelServer, Reply, assert_order};

/// Runs a prompt that must fail; the error of its end.
fn fail(client: &Client, session: &str) -> Value {
    let events = client.run(session, "go");
    let end = events.last().unwrap();
    assert_eq!(end.text("reason"), "model_error", "{}", end.body);
    end.body["error"].clone()
}

#[test]
fn errors_are_told_apart_and_the_session_goes_on() {
    let refusals = [
        (401, "authentication_error", "authentication"),
        (403, "permission_error", "authentication"),
        (404, "not_found_error", "modelNotFound"),
        (400, "invalid_request_error", "invalidRequest"),
    ];
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    for (status, kind, word) in refusals {
        model.reply(Reply::error(status, kind, "the provider's own words"));
        let error = fail(&client, &session);
        assert_eq!(error["kind"], word, "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(!message.contains("sk-test-key"), "a key in {message}");
        model.reply(Reply::says("fine"));
        assert_order(&client.run(&session, "again"), &["turn.ended(completed)"]);
    }
}

#[test]
fn an_overload_is_tried_again() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::error(529, "overloaded_error", "busy")).reply(Reply::says("now"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    assert_order(&client.run(&session, "go"), &["turn.ended(completed)"]);
    assert_eq!(model.requests()[0].bytes, model.requests()[1].bytes);
}

#[test]
fn only_what_may_pass_is_tried_again() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let soon = |reply: Reply| reply.header("retry-after-ms", "1");
    let passing = [
        Reply::error(408, "timeout_error", "too slow"),
        Reply::error(409, "conflict_error", "busy"),
        soon(Reply::error(429, "rate_limit_error", "slow down")),
        Reply::error(500, "api_error", "boom"),
        Reply::error(529, "overloaded_error", "busy"),
        Reply::new().cut_at(0),
    ];
    for reply in passing {
        let before = model.requests().len();
        model.reply(reply.clone()).reply(Reply::says("now"));
        assert_order(&client.run(&session, "go"), &["turn.ended(completed)"]);
        assert_eq!(model.requests().len(), before + 2, "{reply:?}");
    }
    let lasting = [
        Reply::error(429, "rate_limit_error", "no time is named"),
        soon(Reply::error(429, "insufficient_quota", "You exceeded your current quota.")),
        soon(Reply::error(400, "invalid_request_error", "Your credit balance is too low.")),
        soon(Reply::error(402, "billing_error", "pay")).header("x-should-retry", "true"),
        Reply::error(403, "permission_error", "no"),
        Reply::error(404, "not_found_error", "no"),
        soon(Reply::error(413, "request_too_large", "too much")),
        Reply::error(529, "overloaded_error", "busy").header("x-should-retry", "false"),
    ];
    for reply in lasting {
        let before = model.requests().len();
        model.reply(reply.clone());
        fail(&client, &session);
        assert_eq!(model.requests().len(), before + 1, "{reply:?}");
    }
}

#[test]
fn streams_that_break_off_end_the_turn_and_the_session_goes_on() {
    let half = || Reply::new().text("half a sen");
    let broken = [
        ("cut", half().cut()),
        ("missing end", half().without_end()),
        ("cut in an event", half().cut_at(420)),
        ("nothing", half().cut_at(0)),
    ];
    for (what, reply) in broken {
        let model = ModelServer::start();
        let daemon = Daemon::with_model(&model);
        let client = Client::connect(&daemon);
        let session = client.session(&daemon.workspace());
        model.answer_with(move |_| reply.clone());
        let error = fail(&client, &session);
        assert!(["truncated", "unreachable"].contains(&error["kind"].as_str().unwrap()), "{what}: {error}");
        model.answer_with(|_| Reply::says("fine"));
        assert_order(&client.run(&session, "again"), &["turn.ended(completed)"]);
    }
}

#[test]
fn garbage_ends_the_turn_and_the_session_goes_on() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    model.answer_with(|_| Reply::new().text("so").raw("event: content_block_delta\ndata: {not json\n\n"));
    assert_eq!(fail(&client, &session)["kind"], "malformed");
    model.answer_with(|_| Reply::says("fine").raw("event: from_the_future\ndata: {\"type\":\"from_the_future\"}\n\n"));
    let events = client.run(&session, "an event of a later version is no garbage");
    assert_order(&events, &["turn.ended(completed)"]);
}

#[test]
fn a_dead_host_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let provider = json!({"api": "openai-chat", "baseUrl": format!("http://{address}/v1"), "models": [{"id": "m"}]});
    let settings = json!({"providers": {"dead": provider}, "model": "dead/m"});
    let daemon = Daemon::builder().settings(&settings).start();
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let error = fail(&client, &session);
    assert_eq!(error["kind"], "unreachable", "{error}");
    assert!(error["message"].as_str().unwrap().contains(&address.to_string()), "{error}");
}

#[test]
fn a_missing_key_is_named() {
    let model = ModelServer::start();
    let settings = json!({"providers": {"test": {"apiKeyEnv": "NO_SUCH_KEY"}}});
    let daemon = Daemon::builder().model(&model).settings(&settings).start();
    let client = Client::connect(&daemon);
    let text = match client.call("session/create", &json!({"cwd": daemon.workspace()})) {
        Err(error) => error.message,
        Ok(result) => {
            let session = result["session"]["id"].as_str().unwrap().to_owned();
            client.attach(&session, 1);
            fail(&client, &session)["message"].as_str().unwrap().to_owned()
        }
    };
    assert!(text.contains("NO_SUCH_KEY"), "{text}");
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn chat_completions_stream_text_and_tools() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let file = daemon.workspace().join("a.txt");
    fs::write(&file, "a needle\n").unwrap();
    let look = json!({"file_path": file});
    model.reply(Reply::new().text("Let me look.").tool("t1", "Read", &look).tool("t2", "Read", &look));
    model.reply(Reply::says("It holds a needle."));
    let client = Client::connect(&daemon);
    let session = client.session_with(&json!({"cwd": daemon.workspace(), "model": "chat/m1"}));
    let events = client.run(&session, "what is in a.txt?");
    assert_order(&events, &["tool.ended(t1 completed)", "turn.ended(completed)"]);
    let said = events.iter().rfind(|event| event.kind == "message.completed").unwrap();
    assert_eq!(said.body["content"], json!([{"type": "text", "text": "It holds a needle."}]));
    let request = model.wait_for_request(2);
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.tool_results().len(), 2);
    assert!(request.tool_results()[0].1.contains("a needle"));
    assert_eq!(request.headers["authorization"], "Bearer sk-test-key");
}

#[test]
fn responses_stream_reasoning_text_and_tools() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let file = daemon.workspace().join("a.txt");
    fs::write(&file, "a needle\n").unwrap();
    let look = json!({"file_path": file});
    let reply = Reply::new().thinking("It asks for a file.", "opaque-1").text("Let me look.");
    model.reply(reply.thinking("", "opaque-2").tool("t1", "Read", &look).gate("g").tool("t2", "Read", &look));
    model.reply(Reply::says("It holds a needle."));
    let client = Client::connect(&daemon);
    let session = client.session_with(&json!({"cwd": daemon.workspace(), "model": "responses/m1"}));
    client.prompt(&session, "what is in a.txt?");
    let early = client.events_until("tool.ended");
    assert_order(&early, &["tool.ended(t1 completed)"]);
    assert!(!early.iter().any(|event| event.kind == "message.completed"), "it runs while the answer streams");
    model.open("g");
    let events = client.events_until("turn.ended");
    let said = events.iter().rfind(|event| event.kind == "message.completed").unwrap();
    assert_eq!(said.body["content"], json!([{"type": "text", "text": "It holds a needle."}]));
    let request = model.wait_for_request(2);
    assert_eq!(request.path, "/v1/responses");
    let results = request.tool_results();
    assert_eq!(results.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["t1", "t2"]);
    assert!(results[0].1.contains("a needle"));
    assert_eq!(request.body["max_output_tokens"], 8000);
    let kinds: Vec<&str> = request.messages().iter().map(|item| item["type"].as_str().unwrap()).collect();
    let expected = ["message", "reasoning", "message", "reasoning", "function_call", "function_call"];
    assert_eq!(kinds, [&expected[..], &["function_call_output", "function_call_output"]].concat());
}

/// Row F05: what a model thought goes back to it, and no other model ever sees it.
#[test]
fn thinking_stays_with_its_model_through_all_formats() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let file = daemon.workspace().join("a.txt");
    fs::write(&file, "a needle\n").unwrap();
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let formats = ["test/m1", "responses/m1", "chat/m1"];
    // Each asks twice, so that each gets its own thinking back, past that of the others.
    for (round, name) in formats.iter().chain(&formats).enumerate() {
        client.call_ok("session/update", &json!({"sessionId": session, "model": name}));
        let thinks = Reply::new().thinking(&format!("thought {round}"), &format!("signature-{round}"));
        model.reply(thinks.tool(&format!("t{round}"), "Read", &json!({"file_path": file}))).reply(Reply::says("So."));
        assert_order(&client.run(&session, "look"), &["turn.ended(completed)"]);
        let request = String::from_utf8(model.wait_for_request(2 * round + 2).bytes).unwrap();
        for other in 0..=round {
            let own = formats[other % formats.len()] == *name;
            assert_eq!(request.contains(&format!("thought {other}")), own, "{name} after {round}: {request}");
        }
    }
}

#[test]
fn an_answer_that_was_cut_after_its_thinking_can_be_built_on() {
    for name in ["test/m1", "responses/m1", "chat/m1"] {
        let model = ModelServer::start();
        let daemon = Daemon::with_model(&model);
        let client = Client::connect(&daemon);
        let session = client.session_with(&json!({"cwd": daemon.workspace(), "model": name}));
        model.answer_with(|_| Reply::new().thinking("hm", "sig").partial_tool("t1", "Read", "{\"fi").cut());
        assert_eq!(fail(&client, &session)["kind"], "truncated", "{name}");
        model.answer_with(|_| Reply::says("fine"));
        assert_order(&client.run(&session, "again"), &["turn.ended(completed)"]);
    }
}

#[test]
fn a_turn_tells_what_it_costs_where_prices_are_known() {
    let model = ModelServer::start();
    for (provider, api, path) in
        [("test", "anthropic", ""), ("chat", "openai-chat", "/v1"), ("responses", "openai-responses", "/v1")]
    {
        let price = json!({"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75});
        let provider_settings = json!({"api": api, "baseUrl": format!("{}{path}", model.url()), "apiKeyEnv": "TEST_API_KEY",
                              "models": [{"id": "m1", "maxOutput": 100, "price": price}]});
        let settings = json!({"providers": {provider: provider_settings}});
        let daemon = Daemon::builder().model(&model).settings(&settings).start();
        let client = Client::connect(&daemon);
        let session = client.session_with(&json!({"cwd": daemon.workspace(), "model": format!("{provider}/m1")}));
        model.reply(Reply::says("hi").usage(1000, 200));
        let events = client.run(&session, "hello");
        let end = events.last().unwrap();
        let usd = end.body["cost"]["usd"].as_f64().unwrap();
        assert!((usd - (1000.0 * 3.0 + 200.0 * 15.0) / 1e6).abs() < 1e-9, "{provider}: {usd}");
    }
}

#[test]
fn a_session_can_change_its_model() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().thinking("hm", "c2ln").text("one")).reply(Reply::says("two"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.run(&session, "first");
    let updated = client.call_ok("session/update", &json!({"sessionId": session, "model": "chat/m1"}));
    assert_eq!(updated["session"]["model"], "chat/m1");
    assert_order(&client.run(&session, "second"), &["turn.ended(completed)"]);
    assert_eq!(model.wait_for_request(2).path, "/v1/chat/completions");
    let ids: Vec<Value> = client.call_ok("model/list", &json!({}))["models"].as_array().unwrap().clone();
    assert!(ids.iter().any(|model| model["id"] == "test/m1" && model["default"] == true), "{ids:?}");
    assert!(ids.iter().any(|model| model["id"] == "demo/guide"), "{ids:?}");
}

#[test]
fn the_list_tells_what_a_client_with_that_environment_could_use() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let listed = |env: serde_json::Value| {
        let list = client.call_ok("model/list", &json!({"env": env}));
        list["models"].as_array().unwrap().clone()
    };
    let ids = |models: &[serde_json::Value]| -> Vec<String> {
        models.iter().map(|model| model["id"].as_str().unwrap().to_owned()).collect()
    };
    let without = listed(json!({}));
    assert!(!ids(&without).iter().any(|id| id.starts_with("anthropic/")), "{without:?}");
    let with = listed(json!({"ANTHROPIC_API_KEY": "sk-of-the-client", "ANTHROPIC_BASE_URL": model.url()}));
    let found = with.iter().find(|model| model["provider"] == "anthropic").expect("a model for the key");
    assert_eq!(found.get("problem"), None, "{found}");
}
