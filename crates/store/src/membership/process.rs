//! Which process a host is, so that another one of the same machine can tell that it has ended.

use std::os::unix::fs::MetadataExt;

/// This process: its boot, its namespace of process ids, its id and when it began. Empty where the
/// system does not say.
pub(super) fn own() -> String {
    let pid = std::process::id();
    let all = (machine(), began(pid));
    let (Some(machine), Some(began)) = all else { return String::new() };
    format!("{machine} {pid} {began}")
}

/// Whether a process is known to have ended: it was one of this machine, since its last start.
pub(super) fn has_ended(process: &str) -> bool {
    let mut words = process.rsplitn(3, ' ');
    let (Some(since), Some(pid), Some(on)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let (Ok(pid), Some(machine)) = (pid.parse(), machine()) else { return false };
    on == machine && began(pid).is_none_or(|began| began != since)
}

/// This start of this machine, and the namespace in which process ids are unique.
fn machine() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::metadata("/proc/self/ns/pid").ok()?.ino();
    Some(format!("{} {namespace}", boot.trim()))
}

/// When a process began, in ticks since the machine's start; none where there is no such process,
/// or only what is left of one until its parent has looked.
fn began(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_process_is_known_to_have_ended_only_on_its_own_machine() {
        let own = own();
        assert!(!own.is_empty() && !has_ended(&own), "{own}");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let other = format!("{} {pid} {}", machine().unwrap(), began(pid).unwrap());
        assert!(!has_ended(&other), "{other}");
        // Another process has its number now.
        let reused = format!("{} {pid} 1", machine().unwrap());
        assert!(has_ended(&reused), "{reused}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(has_ended(&other), "{other}");
        let elsewhere = format!("another-boot 1 {pid} 1");
        for unknown in [elsewhere.as_str(), "", "x", "a b c"] {
            assert!(!has_ended(unknown), "{unknown}");
        }
    }
}
