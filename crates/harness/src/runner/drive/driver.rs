//! The runner's side of the task.

use std::sync::{Arc, Mutex, PoisonError};

use chorus_core::model::wake::ReportResult;
use chorus_wire::attention::wake::{Wake, WakeReport};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::hand::Hand;
use super::{Drive, Driven};
use crate::clock::Clock;
use crate::runner::program::Program;
use crate::runner::reports;
use crate::runner::seat::Seat;

/// The task of a wake.
pub(in crate::runner) struct Driver {
    wake: String,
    more: mpsc::UnboundedSender<Wake>,
    said: Shared,
    task: JoinHandle<()>,
}

/// What the runner says for the task, which cannot say it itself.
#[derive(Default)]
pub(super) struct Said {
    /// As a sign of life; nothing while the task waits for the host.
    pub(super) life: Option<WakeReport>,
    /// When the runner ends; nothing while no turn runs.
    pub(super) end: Option<WakeReport>,
}

pub(super) type Shared = Arc<Mutex<Said>>;

impl Driver {
    pub(in crate::runner) fn spawn(
        wake: Wake,
        program: Program,
        terminal: Seat,
        to: mpsc::Sender<Driven>,
        clock: Clock,
    ) -> Self {
        let (more, mail) = mpsc::unbounded_channel();
        let life = Some(reports::report(&wake, ReportResult::Working));
        let said = Shared::new(Mutex::new(Said { life, end: None }));
        let id = wake.wake_id.clone();
        let hand = Hand { terminal, program, to: to.clone(), force: wake.force };
        let drive = Drive {
            wake,
            hand,
            to,
            mail,
            said: said.clone(),
            clock,
            deferred: None,
            steered: None,
        };
        Self { wake: id, more, said, task: tokio::spawn(drive.run()) }
    }

    pub(in crate::runner) fn is_of(&self, wake: &str) -> bool {
        self.wake == wake
    }

    /// Takes the same wake with another fence, or with more mail.
    pub(in crate::runner) fn more(&self, wake: Wake) {
        // A task that has panicked is replaced when the lease has run out.
        let _ = self.more.send(wake);
    }

    pub(in crate::runner) fn life(&self) -> Option<WakeReport> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).life.clone()
    }

    /// What is to be reported when the runner ends while the turn runs.
    pub(in crate::runner) fn end(&self) -> Option<WakeReport> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).end.clone()
    }

    pub(in crate::runner) fn is_over(&self) -> bool {
        self.task.is_finished()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.task.abort();
    }
}
