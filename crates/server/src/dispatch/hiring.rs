//! What the host knows of the market while it runs, and what is to be done about jobs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chorus_core::model::delivery::Unanswered;
use chorus_core::model::event::{Change, Event, MessageKind};
use chorus_core::model::ids::{EventRef, Uid};

/// Jobs that may wait here; a job's timer begins again what did not fit.
pub(crate) const JOBS: usize = 4_096;

/// What is to be done about a job.
pub(crate) enum Due {
    /// It is to be posted, or asked for, or its end is to be told.
    Job(Uid),
    /// An agent of this host has answered the message that asked for it.
    Answer(Uid, Arc<Event>),
}

/// How the host runs the market.
#[derive(Debug, Default)]
pub(crate) struct Hiring {
    /// Of each so many found agents one is a newcomer; 0 for none.
    pub(crate) newcomer_every: usize,
    /// Cards and searches of other protocols need no token.
    pub(crate) public: bool,
    /// Says that there is an endpoint to challenge.
    pub(crate) challenges: tokio::sync::Notify,
    /// Says that a job has moved.
    pub(crate) moved: tokio::sync::Notify,
    /// Jobs that agents of this host were asked for, by the event that asks.
    pub(crate) asked: Mutex<HashMap<EventRef, Uid>>,
}

impl Hiring {
    pub(crate) fn note_asked(&self, at: EventRef, job: Uid) {
        self.lock().insert(at, job);
    }

    pub(crate) fn forget_asked(&self, at: EventRef) {
        self.lock().remove(&at);
    }

    /// The job that a message is the answer to, if it is one.
    pub(crate) fn answered_by(&self, event: &Event) -> Option<Uid> {
        if !is_answer(event) {
            return None;
        }
        let replied = event.reply_to.map(|seq| EventRef { conversation: event.conversation, seq });
        let asked = self.lock();
        [event.cause, replied].into_iter().flatten().find_map(|at| asked.get(&at).copied())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EventRef, Uid>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it is words of the agent, or the host's that none will come. Late is no end of a job: that has a time of its
/// own.
fn is_answer(event: &Event) -> bool {
    let Change::Posted(message) = &event.change else { return false };
    match Unanswered::reported_by(message) {
        Some(why) => why != Unanswered::Overdue,
        None => message.kind != MessageKind::System,
    }
}
