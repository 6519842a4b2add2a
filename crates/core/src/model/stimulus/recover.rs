//! What becomes of a stimulus when the host comes back (channels spec "Persistence and recovery").
//!
//! The log is the truth: what it says was said, was said, whatever the queue knows of it. The id of the event that a
//! stimulus becomes follows from its own, so that it is found however long ago that was.

use super::{Stimulus, StimulusState};
use crate::model::ids::{Timestamp, Uid};

/// What the log has of a stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub event: Uid,
    pub at: Timestamp,
    /// Whether it is of the main line, so that it opened a subject.
    pub opened: bool,
}

/// What does not fit, and what stands in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// It was about to be said when the host went away, and waits again.
    Queued(Stimulus),
    /// It was said, and the queue did not know.
    Said(Stimulus),
    /// It counts as said, and the log does not have it: there is nothing to be known of it any more.
    Lost,
}

/// The id of the event that a stimulus becomes when it is said.
pub fn becomes(stimulus: Uid) -> Uid {
    Uid(stimulus.0.wrapping_add(1))
}

impl Stimulus {
    /// The id of the event that it becomes when it is said.
    pub fn becomes(&self) -> Uid {
        becomes(self.uid)
    }

    /// What is to be made of it, given what its conversation's log has; none when it stands as it should. `trimmed` says
    /// whether a part of that log was dropped, so that what is missing there may have been in it.
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
