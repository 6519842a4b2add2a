//! A process group: a runtime and everything it has started.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// Kills the group when it is dropped, so that a harness that stops leaves no runtime behind.
pub(super) struct Group {
    leader: Pid,
    armed: bool,
}

impl Group {
    /// The group led by process `leader`; none when the process is gone already.
    pub(super) fn led_by(leader: Option<u32>) -> Option<Self> {
        let leader = i32::try_from(leader?).ok().filter(|&pid| pid > 1)?;
        Some(Self { leader: Pid::from_raw(leader), armed: true })
    }

    /// Asks everything in the group to stop.
    pub(super) fn terminate(&self) {
        // The only failure that can happen is that the group is gone, which is what is wanted.
        let _ = killpg(self.leader, Signal::SIGTERM);
    }

    pub(super) fn kill(&mut self) {
        self.armed = false;
        let _ = killpg(self.leader, Signal::SIGKILL);
    }

    /// The leader has ended and nothing holds its pipes: the group's number may be used by others now.
    pub(super) fn ended(&mut self) {
        self.armed = false;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.armed {
            self.kill();
        }
    }
}
