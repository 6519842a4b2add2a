//! Where things are in the checkout.
//!
//! Every path is found from this crate's own manifest, never from the working directory, so that a
//! task does the same from any folder.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The cargo that runs this task, so that its children use the same toolchain.
pub(crate) fn cargo() -> String {
    env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// The folder cargo builds into.
pub(crate) fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A binary of the workspace as the release profile builds it; it need not exist yet.
pub(crate) fn release_binary(name: &str) -> PathBuf {
    target_dir().join("release").join(name)
}

/// The files git tracks or would track, relative to the root and sorted.
///
/// New files that are not yet added count, so that tidy says the same before and after `git add`.
pub(crate) fn files() -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root())
        .output()
        .map_err(|e| format!("git ls-files: {e}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut files: Vec<PathBuf> = listing
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|file| root().join(file).is_file())
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// The text of a file named relative to the root; `None` when it does not exist or is not UTF-8.
pub(crate) fn read(file: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(root().join(file)).ok()
}
