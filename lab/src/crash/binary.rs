//! Where the binary under test is.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `chorus`, as the environment names it in `CHORUS_BIN`, or as cargo builds it beside this program.
///
/// # Errors
/// The named file is not there, or the build failed.
pub fn chorus() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("CHORUS_BIN").filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        return match named.is_file() {
            true => Ok(named),
            false => Err(format!("CHORUS_BIN names {}, which is not there", named.display())),
        };
    }
    let folder = profile_folder()?;
    // Always asked for: one that lies there may be older than the sources.
    let release = folder.file_name().is_some_and(|name| name == "release");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--quiet", "--package", "chorus"])
        .args(release.then_some("--release"))
        .status()
        .map_err(|e| format!("cargo build: {e}"))?;
    let binary = folder.join("chorus");
    match built.success() && binary.is_file() {
        true => Ok(binary),
        false => Err(format!("cargo build --package chorus: {built}, for {}", binary.display())),
    }
}

/// `target/debug` or `target/release`: where this program lies, or the folder above its `deps`.
fn profile_folder() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|e| format!("this program: {e}"))?;
    let folder = program.parent().unwrap_or(Path::new(".")).to_owned();
    match folder.file_name() {
        Some(name) if name == "deps" => Ok(folder.parent().unwrap_or(&folder).to_owned()),
        _ => Ok(folder),
    }
}
