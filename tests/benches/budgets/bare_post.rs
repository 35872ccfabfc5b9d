//! What sending a request costs at the least: a process that posts as many bytes as agentd did and reads the reply.
//! Started by `history` as this same program, so that its CPU is its own.

use super::proc_fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// The first argument that makes this program the bare client.
pub const ARGUMENT: &str = "bare-post";

/// `bare-post ADDRESS LENGTH…`: a request of each length. Prints the CPU milliseconds of all of them: user, system, and exact.
pub fn run(arguments: &[String]) {
    let [address, lengths @ ..] = arguments else { panic!("usage: {ARGUMENT} ADDRESS LENGTH…") };
    let lengths: Vec<usize> = lengths.iter().map(|length| length.parse().expect("a number")).collect();
    let body = vec![b'x'; lengths.iter().copied().max().unwrap_or(0)];
    let mut socket = BufReader::new(TcpStream::connect(address).expect("the model server listens"));
    socket.get_ref().set_nodelay(true).expect("a TCP socket");
    let before = (proc_fs::cpu(std::process::id()), proc_fs::cpu_of_threads(std::process::id()));
    for length in lengths {
        let head = format!("POST /v1/messages HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n");
        socket.get_mut().write_all(head.as_bytes()).expect("the model server reads");
        socket.get_mut().write_all(&body[..length]).expect("the model server reads");
        read_reply(&mut socket);
    }
    let after = (proc_fs::cpu(std::process::id()), proc_fs::cpu_of_threads(std::process::id()));
    println!("{} {} {}", after.0.user - before.0.user, after.0.system - before.0.system, after.1 - before.1);
}

/// A head, and a body in chunks.
pub fn read_reply(socket: &mut BufReader<TcpStream>) {
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        assert_ne!(socket.read_line(&mut line).expect("a head"), 0, "the model server closed the connection");
    }
    loop {
        line.clear();
        socket.read_line(&mut line).expect("a chunk's length");
        let length = u64::from_str_radix(line.trim(), 16).expect("a chunk's length in hex");
        // Each chunk, the last and empty one too, ends with a line break.
        let mut chunk = Vec::new();
        socket.by_ref().take(length + 2).read_to_end(&mut chunk).expect("a chunk");
        if length == 0 {
            return;
        }
    }
}
