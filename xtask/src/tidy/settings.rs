//! `docs/settings.md` and `chorus.toml.sample`, made from the one table of settings that the host reads.
//!
//! The table is code, so that the pages are printed by the binary. Whether they are stale is asked by a test of
//! `crates/server/src/config/page.rs`, which needs nothing built beside it.

use std::fs;

use crate::{repo, step};

/// Each page and the command that prints it.
const PAGES: [(&str, &str); 2] = [("docs/settings.md", "page"), ("chorus.toml.sample", "sample")];

/// Writes the pages anew.
pub(super) fn write() -> Result<(), String> {
    for (page, command) in PAGES {
        let run = ["run", "--quiet", "--package", "chorus", "--", "config", command];
        let output = step::command(repo::cargo(), &run).output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(format!("{page}: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        fs::write(repo::root().join(page), output.stdout).map_err(|e| format!("{page}: {e}"))?;
    }
    Ok(())
}
