//! `cargo xtask advisories`: whether a dependency has a known hole, as RustSec's list says, with cargo-deny.
//!
//! The list is a git repository of GitHub's and in no package registry. Where it or cargo-deny is not to be had the
//! step says that it was skipped, and fails nothing; `deny.toml` says which advisories do not concern us, and why.

use std::process::Stdio;

use crate::{repo, step};

/// Fails on an advisory for a version in `Cargo.lock`.
pub(crate) fn check() -> Result<(), String> {
    let can = |args: &[&str]| {
        let mut probe = step::command(repo::cargo(), args);
        probe.stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    };
    if !can(&["deny", "--version"]) {
        eprintln!("skipped: cargo-deny is not on this machine (cargo install cargo-deny --locked)");
        return Ok(());
    }
    if !can(&["deny", "fetch", "db"]) {
        eprintln!("skipped: RustSec's list of advisories cannot be fetched from here");
        return Ok(());
    }
    step::cargo(&["deny", "check", "--disable-fetch", "advisories"])
}
