//! Programs of PyPI that a step needs: each is installed once, at its version, in a virtual environment beside the
//! checkout's other caches.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::{repo, step};

/// Written once all of it is installed.
const STAMP: &str = "installed";

/// The folder of programs of that environment, or why there is none.
pub(crate) fn installed(package: &str, version: &str) -> Result<PathBuf, String> {
    let folder = repo::root().join(".cache").join(format!("{package}-{version}"));
    let programs = folder.join("bin");
    if folder.join(STAMP).exists() {
        return Ok(programs);
    }
    let at = folder.display().to_string();
    step::run(step::command("python3", &["-m", "venv", &at]), Duration::from_secs(120))?;
    let wanted = format!("{package}=={version}");
    let install = ["install", "--quiet", "--disable-pip-version-check", &wanted];
    step::run(step::command(programs.join("pip"), &install), Duration::from_secs(300))?;
    fs::write(folder.join(STAMP), wanted).map_err(|e| format!("{at}: {e}"))?;
    Ok(programs)
}
