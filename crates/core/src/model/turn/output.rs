//! Output of runs that has not been posted yet. It belongs to the delivery that it answers, not to
//! the lease: it survives a session that disconnects and comes back, a lease that passes on and
//! comes back, and a restart of the host (channels spec, "Runs").

use std::sync::Arc;

use super::Turn;
use crate::model::event::Message;
use crate::model::ids::{MemberKey, Seq};

/// The newest output of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub member: MemberKey,
    /// The event whose delivery is the run.
    pub cause: Seq,
    /// The delivery's fence at that time. A higher fence is another run.
    pub fence: u32,
    pub message: Arc<Message>,
}

impl Turn {
    /// The output of a member's run for an event.
    pub fn output(&self, member: MemberKey, cause: Seq) -> Option<&Output> {
        self.outputs.iter().find(|o| o.member == member && o.cause == cause)
    }

    /// Stores the output of a run; the newest counts.
    pub fn keep_output(&mut self, output: Output) {
        self.outputs.retain(|o| o.member != output.member || o.cause != output.cause);
        self.outputs.push(output);
    }
}
