//! What a tool round trip costs at the least: a process that starts `bash -c true`, waits, posts the next
//! request, reads the reply. It posts what agentd posted, byte for byte. Started by `round_trip` as this
//! same program, so that its CPU is its own.

use super::{bare_post, proc_fs};
use std::fs;
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

/// The first argument that makes this program the bare loop.
pub const ARGUMENT: &str = "bare-loop";

/// `bare-loop ADDRESS FOLDER`: posts the files `0`, `1`, … of the folder, a command before each but the first.
/// Prints the CPU milliseconds of all of it.
pub fn run(arguments: &[String]) {
    let [address, folder] = arguments else { panic!("usage: {ARGUMENT} ADDRESS FOLDER") };
    let bodies: Vec<Vec<u8>> = (0..).map_while(|n| fs::read(Path::new(folder).join(n.to_string())).ok()).collect();
    let before = proc_fs::cpu_with_children(std::process::id());
    let mut socket = BufReader::new(TcpStream::connect(address).expect("the model server listens"));
    socket.get_ref().set_nodelay(true).expect("a TCP socket");
    for (n, body) in bodies.iter().enumerate() {
        if n > 0 {
            let output = Command::new("bash").args(["-c", "true"]).stdin(Stdio::null()).output();
            assert!(output.expect("bash runs").status.success());
        }
        post(&mut socket, address, body);
    }
    println!("{}", proc_fs::cpu_with_children(std::process::id()) - before);
}

fn post(socket: &mut BufReader<TcpStream>, address: &str, body: &[u8]) {
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         anthropic-version: 2023-06-01\r\nx-api-key: sk-test-key\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.get_mut().write_all(&[head.as_bytes(), body].concat()).expect("the model server reads");
    bare_post::read_reply(socket);
}
