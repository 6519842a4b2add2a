//! Programs that come from Debian's packages.

use std::time::Duration;

use crate::step;

/// Installs a package, where that may be done.
pub(crate) fn install(package: &str) -> Result<(), String> {
    eprintln!("{package} is not on this machine; installing it");
    for args in [&["update"][..], &["install", "--yes", "--no-install-recommends", package]] {
        let mut apt = step::command("apt-get", args);
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        step::run(apt, Duration::from_secs(600))?;
    }
    Ok(())
}
