//! Writes N bytes of lines to standard output: `spew N`. Run as a tool's command by tests of large
//! output.

// A test program reads its arguments and has no one to report an error to.
#![allow(clippy::disallowed_methods)]

use std::io::{Write, stdout};
use std::{env, process};

const LINE: &[u8] = b"0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n";

fn main() {
    let Some(mut left) = env::args().nth(1).and_then(|count| count.parse::<usize>().ok()) else { process::exit(2) };
    let block = LINE.repeat(1000);
    let mut out = stdout().lock();
    while left > 0 {
        let part = block.get(..left).unwrap_or(&block);
        if out.write_all(part).is_err() {
            process::exit(1);
        }
        left -= part.len();
    }
}
