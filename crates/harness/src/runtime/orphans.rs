//! Runs that outlived their harness: a harness that is killed cannot stop its runtime, and a runtime that
//! goes on would act in a turn that the next harness begins again.
//!
//! Each run is noted in a file of the state folder for as long as it lives: the number of its process, and
//! when that was started. At start, a process that is still that one is killed with its group; a number
//! that another process has by now is left alone.

use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The note of one run; it goes with the run.
#[derive(Debug)]
pub(super) struct Noted(Option<PathBuf>);

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            // What stays behind names a process that is gone, and is cleaned up at the next start.
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Notes that the group led by this process runs. A run that cannot be noted runs all the same.
pub(super) fn note(folder: Option<&Path>, leader: Option<u32>) -> Noted {
    let written = folder.zip(leader).and_then(|(folder, leader)| {
        let begun = began(leader)?;
        let file = folder.join(format!("run-{leader}"));
        std::fs::write(&file, begun).ok()?;
        Some(file)
    });
    Noted(written)
}

/// Kills what a harness before this one has left running, and gives how many there were.
pub fn kill_left(folder: &Path) -> usize {
    let mut killed = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let leader = name.to_str().and_then(|name| name.strip_prefix("run-"));
        let Some(leader) = leader.and_then(|number| number.parse::<u32>().ok()) else { continue };
        let noted = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let same = !noted.is_empty() && began(leader).is_some_and(|begun| begun == noted);
        let group = i32::try_from(leader).ok().filter(|&pid| same && pid > 1);
        if group.is_some_and(|pid| killpg(Pid::from_raw(pid), Signal::SIGKILL).is_ok()) {
            killed += 1;
        }
        let _ = std::fs::remove_file(entry.path());
    }
    killed
}

/// When a process was started, as the system counts it; none where it is gone, or the system does not say.
fn began(process: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may hold anything; field 22 is the twentieth after it.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Command;

    use super::*;

    #[test]
    fn only_the_process_that_was_noted_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let start = || Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        let (mut noted, mut other) = (start(), start());
        std::mem::forget(note(Some(folder.path()), Some(noted.id())));
        std::fs::write(folder.path().join(format!("run-{}", other.id())), "1").unwrap();
        std::fs::write(folder.path().join("run-x"), "1").unwrap();
        assert_eq!(kill_left(folder.path()), 1);
        assert_eq!(noted.wait().unwrap().signal(), Some(9));
        assert!(other.try_wait().unwrap().is_none(), "another process had the number");
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(kill_left(folder.path()), 0);
    }

    #[test]
    fn a_run_that_ended_leaves_no_note() {
        let folder = tempfile::tempdir().unwrap();
        let noted = note(Some(folder.path()), Some(std::process::id()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(noted);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
