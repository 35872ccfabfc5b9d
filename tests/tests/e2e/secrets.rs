//! Keys are found nowhere but where they belong: not in logs, journals, events, the environment of tools, or `ps`.

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tests::{Agentctl, Client, Daemon, ModelServer, Reply};

/// A word in every canary, and in nothing else.
const CANARY: &str = "canary-7f3a";

/// A canary for each way that a secret comes in.
fn canary(way: &str) -> String {
    format!("{CANARY}-{way}")
}

/// Every file below a folder that holds a canary, except those that are to hold one.
fn holding(folder: &Path, except: &[&str], found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            holding(&path, except, found);
        } else if kind.is_file() && !except.iter().any(|name| path.ends_with(name)) {
            let bytes = fs::read(&path).unwrap_or_default();
            if bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
}

/// The command lines, and of tools the environments, of this test's processes that show a canary.
fn shown_by_processes(daemon: &Daemon) -> Vec<String> {
    let daemons_own = i32::try_from(daemon.pid()).unwrap();
    let shows = |pid: i32, file: &str| {
        fs::read(format!("/proc/{pid}/{file}")).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(CANARY))
    };
    let processes = daemon.home().processes();
    let bad = processes.iter().filter(|process| {
        shows(process.pid, "cmdline") || (process.pid != daemons_own && shows(process.pid, "environ"))
    });
    bad.map(|process| format!("{} {}", process.pid, process.command)).collect()
}

/// A daemon with three providers whose keys come in by three ways, and its model.
fn with_keys(model: &ModelServer) -> Daemon {
    let url = model.url();
    let provider = |key: serde_json::Value| {
        let mut provider = json!({"api": "anthropic", "baseUrl": url, "models": [{"id": "m1"}], "headers": {"x-team": canary("header")}});
        provider.as_object_mut().unwrap().extend(key.as_object().unwrap().clone());
        provider
    };
    let daemon = Daemon::builder().model(model);
    let daemon = daemon
        .env("TEAM_PASS", &canary("daemon-env"))
        .env("ANTHROPIC_API_KEY", &canary("anthropic-env"))
        .settings(&json!({"providers": {
            "env": provider(json!({"apiKeyEnv": "TEAM_PASS"})),
            "file": provider(json!({"apiKeyFile": "/proc/self/cwd/key-file"})),
            "session": provider(json!({"apiKeyEnv": "SESSION_PASS"})),
        }}))
        .start();
    let key_file = daemon.home().path("key-file");
    fs::write(&key_file, canary("file")).unwrap();
    fs::set_permissions(&key_file, fs::Permissions::from_mode(0o600)).unwrap();
    daemon.home().settings(&json!({"providers": {"file": {"apiKeyFile": key_file}}}));
    daemon
}

#[test]
fn canary_secrets_stay_where_they_belong() {
    let model = ModelServer::start();
    let daemon = with_keys(&model);
    let client = Client::connect(&daemon);
    let listener = Client::connect(&daemon);
    client.call_ok("daemon/reload", &json!({}));
    let mut wire = Vec::new();
    let mut sent = Vec::new();
    for (provider, key) in [("env", "daemon-env"), ("file", "file"), ("session", "session-env")] {
        let env = json!({"PATH": "/usr/bin:/bin", "SESSION_PASS": canary("session-env"), "OPENAI_API_KEY": canary("openai-env"), "HOME": daemon.home().path("home")});
        let params = json!({"cwd": daemon.workspace(), "model": format!("{provider}/m1"), "env": env});
        let session = client.session_with(&params);
        listener.attach(&session, 0);
        // The provider repeats the key and the headers in its refusal, as some do.
        let repeated = format!("the key {} with {} is wrong", canary(key), canary("header"));
        model.reply(Reply::error(401, "authentication_error", &repeated));
        client.run(&session, "go");
        let headers = format!("{:?}", model.requests().pop().unwrap().headers);
        assert!(headers.contains(&canary(key)) && headers.contains(&canary("header")), "where they belong: {headers}");
        model.reply(Reply::calls("t1", "Bash", &json!({"command": "env; set; export -p; cat /proc/self/environ"})));
        model.reply(Reply::says("done"));
        client.prompt(&session, "look around");
        client.decide_next("allow");
        client.events_until("turn.ended");
        wire.extend(client.log(&session).iter().map(ToString::to_string));
        wire.push(client.call_ok("session/get", &json!({"sessionId": session})).to_string());
        sent.extend(model.requests().iter().map(|request| String::from_utf8_lossy(&request.bytes).into_owned()));
    }
    assert!(shown_by_processes(&daemon).is_empty(), "{:?}", shown_by_processes(&daemon));
    wire.extend(listener.events_so_far().iter().map(|event| event.body.to_string()));
    for method in ["daemon/status", "model/list", "session/list", "process/list"] {
        wire.push(client.call_ok(method, &json!({})).to_string());
    }
    for key in ["providers", "providers.env.headers", "providers.env"] {
        wire.push(format!("{:?}", client.call("config/get", &json!({"key": key}))));
    }
    wire.push(Agentctl::new(daemon.home()).run(&["doctor"]).stdout);
    wire.push(daemon.log());
    for text in wire.iter().chain(&sent) {
        assert!(!text.contains(CANARY), "{}", text.chars().take(3000).collect::<String>());
    }
    let mut found = Vec::new();
    holding(&daemon.home().path(""), &["key-file", "config/agentd/settings.json"], &mut found);
    assert!(found.is_empty(), "{found:?}");
}
