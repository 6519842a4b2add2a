//! What runs have put out and have not posted yet. It belongs to the delivery that it answers, not to the lease: a
//! session that goes away and comes back, a lease that moves on and comes back, and a restart of the host leave it
//! as it is (channels spec, "Runs").

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
    /// The delivery's fence when it was put out: a run with a higher one is another run.
    pub fence: u32,
    pub message: Arc<Message>,
}

impl Turn {
    /// What a member's run has put out for an event.
    pub fn output(&self, member: MemberKey, cause: Seq) -> Option<&Output> {
        self.outputs.iter().find(|o| o.member == member && o.cause == cause)
    }

    /// Keeps what a run has put out; the newest counts.
    pub fn keep_output(&mut self, output: Output) {
        self.outputs.retain(|o| o.member != output.member || o.cause != output.cause);
        self.outputs.push(output);
    }
}
