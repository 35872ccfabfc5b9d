//! Start and stop: signals, systemd, the command line.

use crate::daemon::{Client, Daemon, PATIENCE, agentd, failing, private_folder};
use nix::sys::signal::Signal;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

#[test]
fn a_signal_stops_it_and_takes_the_socket_away() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut daemon = Daemon::start();
        let mut client = daemon.connect();
        client.check_alive();
        daemon.signal(signal);
        assert_eq!(daemon.child.wait().unwrap().code(), Some(0), "{signal}");
        assert!(!daemon.socket().exists());
        assert_eq!(client.rest(), "", "the connection ends");
        assert!(daemon.notified().contains("STOPPING=1"));
    }
}

#[test]
fn a_client_can_stop_it_and_gets_its_answer() {
    for mode in ["drain", "now"] {
        let mut daemon = Daemon::start();
        let mut client = daemon.connect();
        let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"daemon/shutdown","params":{{"mode":"{mode}"}}}}"#);
        assert_eq!(client.ask(request)["result"], serde_json::json!({}));
        assert_eq!(client.rest(), "");
        assert_eq!(daemon.child.wait().unwrap().code(), Some(0), "{mode}");
        assert!(!daemon.socket().exists());
    }
}

#[test]
fn a_client_over_http_can_stop_it_and_gets_its_answer() {
    let mut daemon = Daemon::start();
    let mut client = daemon.connect();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"daemon/shutdown"}"#;
    client.send(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    assert!(client.rest().ends_with(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
    assert_eq!(daemon.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_hang_up_does_not_end_it() {
    let daemon = Daemon::start();
    daemon.signal(Signal::SIGHUP);
    let mut client = daemon.connect();
    let answer = client.ask(r#"{"jsonrpc":"2.0","id":1,"method":"daemon/reload"}"#);
    assert!(answer["result"]["errors"].is_array(), "{answer}");
}

#[test]
fn its_status_tells_where_it_is() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    let _other = daemon.connect();
    let status = client.ask(r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status"}"#)["result"].clone();
    assert_eq!(status["socket"], daemon.socket().to_str().unwrap());
    assert_eq!(status["stateDir"], daemon.folder.path().join("state").to_str().unwrap());
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert!(status["rssBytes"].as_u64().unwrap() > 0 && status["connections"].as_u64().unwrap() >= 1);
}

#[test]
fn its_memory_is_kept_from_others() {
    let daemon = Daemon::start();
    let limits = fs::read_to_string(format!("/proc/{}/limits", daemon.child.id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    // The kernel gives the files of a process that is not dumpable to root.
    assert_eq!(fs::metadata(format!("/proc/{}/environ", daemon.child.id())).unwrap().uid(), 0);
}

#[test]
fn wrong_usage_is_told_in_a_sentence() {
    let folder = private_folder();
    let (code, words) = failing(agentd(folder.path()).arg("--colour"));
    assert_eq!((code, words.contains("--colour")), (Some(2), true), "{words}");
    let (code, words) = failing(agentd(folder.path()).args(["--log", "agentd=loud"]));
    assert_eq!((code, words.lines().count(), words.contains("agentd=loud")), (Some(2), 1, true), "{words}");
}

#[test]
fn a_socket_of_systemds_is_served_and_left_to_systemd() {
    let activate = "/usr/bin/systemd-socket-activate";
    if !fs::exists(activate).unwrap() {
        println!("skipped: {activate} is not installed");
        return;
    }
    let folder = private_folder();
    let socket = folder.path().join("activated.sock");
    #[allow(clippy::disallowed_methods)] // a test starts the program under test
    let mut command = Command::new(activate);
    command.arg("-l").arg(&socket).arg("-E").arg(format!("HOME={}", folder.path().display()));
    command.args(["-E", &format!("NOTIFY_SOCKET={}", folder.path().join("notify").display())]);
    command.arg(env!("CARGO_BIN_EXE_agentd")).arg("--state-dir").arg(folder.path().join("state"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let notify = std::os::unix::net::UnixDatagram::bind(folder.path().join("notify")).unwrap();
    notify.set_read_timeout(Some(PATIENCE)).unwrap();
    let child = command.spawn().unwrap();
    let mut daemon = Daemon { folder, child, notify };
    let mut client = loop {
        // It listens a moment after its start; only a connection starts agentd.
        match UnixStream::connect(&socket) {
            Ok(stream) => {
                drop(stream);
                break Client::connect(&socket);
            }
            Err(_) => assert!(daemon.child.try_wait().unwrap().is_none(), "{}", daemon.end()),
        }
    };
    let status = client.ask(r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status"}"#)["result"].clone();
    assert_eq!(status["socket"], socket.to_str().unwrap());
    assert_eq!(status["pid"], daemon.child.id(), "agentd took the place of its starter");
    assert!(daemon.notified().contains("READY=1"));
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.child.wait().unwrap().code(), Some(0));
    assert!(socket.exists(), "the socket is systemd's");
}

#[test]
fn the_units_are_valid() {
    let analyze = "/usr/bin/systemd-analyze";
    if !fs::exists(analyze).unwrap() {
        println!("skipped: {analyze} is not installed");
        return;
    }
    let folder = private_folder();
    let units = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../systemd");
    for name in ["agentd.service", "agentd.socket"] {
        let unit = fs::read_to_string(units.join(name)).unwrap();
        // The check wants a program that is there.
        let unit = unit.replace("%h/.local/bin/agentd", env!("CARGO_BIN_EXE_agentd"));
        fs::write(folder.path().join(name), unit).unwrap();
    }
    #[allow(clippy::disallowed_methods)] // a test starts a checker
    let mut command = Command::new(analyze);
    command.args(["verify", "--user", "agentd.service", "agentd.socket"]).current_dir(folder.path());
    let output = command.env("XDG_RUNTIME_DIR", folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
