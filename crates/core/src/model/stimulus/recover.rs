//! Recovers a stimulus when the host restarts (channels spec "Persistence and recovery").
//!
//! The log is authoritative: a stimulus that is in the log was dispatched, whatever the queue says.
//! The id of its event is derived from its own id, so the event is found however old it is.

use super::{Stimulus, StimulusState};
use crate::model::ids::{Timestamp, Uid};

/// What the log knows about a stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub event: Uid,
    pub at: Timestamp,
    /// Whether it is in the main timeline, so that it opened a subject.
    pub opened: bool,
}

/// The correction for an inconsistent stimulus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// It was about to be dispatched when the host stopped, and waits again.
    Queued(Stimulus),
    /// It was dispatched, and the queue did not know that.
    Said(Stimulus),
    /// The queue says that it was dispatched, and the log does not have it: it is forgotten.
    Lost,
}

/// The id of the event that a stimulus becomes when it is dispatched.
pub fn becomes(stimulus: Uid) -> Uid {
    Uid(stimulus.0.wrapping_add(1))
}

impl Stimulus {
    /// The id of the event that it becomes when it is dispatched.
    pub fn becomes(&self) -> Uid {
        becomes(self.uid)
    }

    /// The correction, given what its conversation's log has; none when it is consistent.
    /// `trimmed`: part of the log was dropped and may have contained a missing event.
    pub fn recover(&self, found: Option<Found>, trimmed: bool) -> Option<Recovered> {
        match (self.state, found) {
            (state, Some(found)) if state.is_open() => {
                let ended = self.ended(StimulusState::Dispatched, found.at);
                let said = Some(found.event);
                Some(Recovered::Said(Self { said, opened: found.opened, ..ended }))
            }
            (StimulusState::Claimed, None) => {
                Some(Recovered::Queued(Self { state: StimulusState::Pending, ..self.clone() }))
            }
            (StimulusState::Dispatched, Some(found)) if self.said != Some(found.event) => {
                Some(Recovered::Said(Self { said: Some(found.event), ..self.clone() }))
            }
            (StimulusState::Dispatched, None) if self.said.is_none() && !trimmed => {
                Some(Recovered::Lost)
            }
            _ => None,
        }
    }
}
