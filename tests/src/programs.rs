//! Where the real binaries and the fake programs are.

use std::path::PathBuf;

/// A binary of this workspace, beside the running test.
///
/// # Panics
/// If it has not been built.
#[must_use]
pub fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the running test has a path");
    let profile = test.ancestors().nth(2).expect("a test runs from target/<profile>/deps");
    let path = profile.join(name);
    assert!(path.exists(), "{} is not built: run `cargo build --workspace` first", path.display());
    path
}

/// A fake program of the kit: `stubborn` or `spew`.
///
/// # Panics
/// If it has not been built.
#[must_use]
pub fn fake_program(name: &str) -> PathBuf {
    binary(name)
}
