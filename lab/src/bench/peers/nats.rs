//! NATS JetStream, which can sync before every acknowledgement since version 2.10.

use std::process::Command;

/// Why this machine has no NATS to compare with.
///
/// The versions that distributions carry are older, and acknowledge before their data is on disk, which
/// compares with nothing of ours. A newer one is not measured yet; the line says so rather than guess.
pub(crate) fn absence() -> String {
    let Some(program) = super::program("nats-server") else {
        return "nats-server is not on this machine".to_owned();
    };
    let version = Command::new(program).arg("--version").output().map(|output| {
        String::from_utf8_lossy(&output.stdout).trim().rsplit('v').next().unwrap_or("").to_owned()
    });
    match version {
        Ok(version) if old(&version) => {
            format!("nats-server {version} has no `sync_interval: always`")
        }
        Ok(version) => {
            format!("nats-server {version} is there, but this benchmark cannot drive it yet")
        }
        Err(why) => format!("nats-server does not run: {why}"),
    }
}

fn old(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < (2, 10)
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_compare_as_numbers() {
        assert!(super::old("2.9.10"));
        assert!(!super::old("2.10.0"));
        assert!(!super::old("3.1.0"));
    }
}
