//! Who may listen where: private folders, one daemon per socket, stale sockets.

use crate::daemon::{Client, Daemon, PATIENCE, agentd, failing, message_to, private_folder};
use nix::sys::signal::Signal;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixDatagram;
use std::process::Child;

#[test]
fn the_socket_and_its_folder_are_private() {
    let daemon = Daemon::start();
    assert_eq!(daemon.socket().metadata().unwrap().mode() & 0o777, 0o600);
    let folder = private_folder();
    let mut command = agentd(folder.path());
    command.args(["--log", "off"]);
    command.env("XDG_RUNTIME_DIR", folder.path());
    drop(Daemon::start_with(folder, command));
}

#[test]
fn a_folder_that_is_open_to_others_is_refused() {
    let folder = private_folder();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let (code, words) = failing(&mut agentd(folder.path()));
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("mode 0755") && words.contains("chmod 700"), "{words}");
    assert!(!folder.path().join("agentd.sock").exists());
}

#[test]
fn a_folder_behind_a_symbolic_link_is_refused() {
    let folder = private_folder();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    fs::create_dir(&real).unwrap();
    fs::set_permissions(&real, Permissions::from_mode(0o700)).unwrap();
    symlink(&real, &link).unwrap();
    let (code, words) = failing(&mut agentd(&link));
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("symbolic link"), "{words}");
}

#[test]
fn a_second_daemon_leaves_the_first_alone() {
    let daemon = Daemon::start();
    let (code, words) = failing(&mut agentd(daemon.folder.path()));
    assert_eq!(code, Some(3), "{words}");
    assert_eq!(words.lines().count(), 1, "{words}");
    assert!(words.contains("already serves"), "{words}");
    daemon.connect().check_alive();
}

#[test]
fn a_state_folder_has_one_daemon_too() {
    let daemon = Daemon::start();
    let folder = private_folder();
    symlink(daemon.folder.path().join("state"), folder.path().join("state")).unwrap();
    let (code, words) = failing(&mut agentd(folder.path()));
    assert_eq!(code, Some(1), "{words}");
    assert!(!folder.path().join("agentd.sock").exists(), "{words}");
    daemon.connect().check_alive();
}

#[test]
fn a_socket_left_by_a_killed_daemon_is_replaced() {
    let mut daemon = Daemon::start();
    let socket = daemon.socket();
    daemon.end();
    assert!(socket.exists(), "a killed daemon can't clean up");
    let folder = std::mem::replace(&mut daemon.folder, private_folder());
    Daemon::start_in(folder).connect().check_alive();
}

#[test]
fn of_many_that_start_at_once_one_serves() {
    let folder = private_folder();
    let address = folder.path().join("notify");
    let notify = UnixDatagram::bind(&address).unwrap();
    notify.set_read_timeout(Some(PATIENCE)).unwrap();
    let start = || agentd(folder.path()).env("NOTIFY_SOCKET", &address).spawn().unwrap();
    let mut children: Vec<Child> = (0..20).map(|_| start()).collect();
    assert!(message_to(&notify).contains("READY=1"), "one of them is ready");
    Client::connect(&folder.path().join("agentd.sock")).check_alive();
    let mut client = Client::connect(&folder.path().join("agentd.sock"));
    let answer = client.ask(r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status"}"#);
    let winner = u32::try_from(answer["result"]["pid"].as_u64().unwrap()).unwrap();
    for child in &mut children {
        if child.id() != winner {
            assert_eq!(child.wait().unwrap().code(), Some(3), "the others leave quietly");
        }
    }
    let winner = children.iter_mut().find(|child| child.id() == winner).expect("the winner is one of them");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(i32::try_from(winner.id()).unwrap()), Signal::SIGTERM).unwrap();
    assert_eq!(winner.wait().unwrap().code(), Some(0));
}
