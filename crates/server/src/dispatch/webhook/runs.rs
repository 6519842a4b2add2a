//! Runs of agents behind connection strings, as far as something may still join them.
//!
//! A run that has said nothing visible is joined by what its author adds: it is stopped, and delivered again with both.
//! An agent elsewhere cannot be stopped by force. What it says in such a run is refused instead, from the moment the
//! late message comes, and its delivery ends when the next one goes out.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{EventRef, MemberKey};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Silent,
    /// More came for it. What it says is not taken.
    Joined,
    /// It has said something that others see: nothing joins it any more.
    Seen,
}

/// What becomes of runs.
#[derive(Default)]
pub(super) struct Left {
    /// Nothing joins these any more.
    pub over: Vec<EventRef>,
    /// What was to join it was withdrawn.
    pub goes_on: Option<EventRef>,
}

/// The runs of all endpoints, by the event that each answers.
#[derive(Default)]
pub(crate) struct Runs(Mutex<HashMap<(MemberKey, EventRef), Life>>);

impl Runs {
    pub(super) fn begin(&self, member: MemberKey, at: EventRef) {
        self.lock().entry((member, at)).or_insert(Life::Silent);
    }

    pub(super) fn end(&self, member: MemberKey, at: EventRef) {
        self.lock().remove(&(member, at));
    }

    /// The member's session has ended.
    pub(super) fn forget(&self, member: MemberKey) {
        self.lock().retain(|(who, _), _| *who != member);
    }

    /// More came for the run. False when that has to wait: the run has said something, or is over.
    pub(super) fn join(&self, member: MemberKey, at: EventRef) -> bool {
        let mut all = self.lock();
        let Some(life) = all.get_mut(&(member, at)).filter(|life| **life != Life::Seen) else {
            return false;
        };
        *life = Life::Joined;
        true
    }

    /// Nothing joins some of them any more, and one goes on as if nothing had come for it.
    pub(super) fn left(&self, member: MemberKey, left: Left) {
        if left.over.is_empty() && left.goes_on.is_none() {
            return;
        }
        let mut all = self.lock();
        for at in left.over {
            all.remove(&(member, at));
        }
        if let Some(life) = left.goes_on.and_then(|at| all.get_mut(&(member, at)))
            && *life == Life::Joined
        {
            *life = Life::Silent;
        }
    }

    pub(super) fn is_seen(&self, member: MemberKey, at: EventRef) -> bool {
        self.lock().get(&(member, at)) == Some(&Life::Seen)
    }

    /// Whether the run may say something, or end.
    pub(crate) fn may_go_on(&self, member: MemberKey, at: EventRef) -> Result<(), Refusal> {
        match self.lock().get(&(member, at)) {
            Some(Life::Joined) => Err(joined()),
            _ => Ok(()),
        }
    }

    /// The run says something that others see, if it may.
    pub(crate) fn says(&self, member: MemberKey, at: EventRef) -> Result<(), Refusal> {
        match self.lock().get_mut(&(member, at)) {
            Some(Life::Joined) => Err(joined()),
            Some(life) => {
                *life = Life::Seen;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The same of whoever says something, which most do outside of a turn.
    pub(crate) fn says_in_turn(&self, by: By) -> Result<(), Refusal> {
        match by.turn {
            Some(turn) => {
                self.says(by.member, EventRef { conversation: turn.conversation, seq: turn.seq })
            }
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(MemberKey, EventRef), Life>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn joined() -> Refusal {
    let why = "its author has added to this message; it is delivered again in a moment, with both";
    Refusal::new(Code::StaleTurn, why)
}
