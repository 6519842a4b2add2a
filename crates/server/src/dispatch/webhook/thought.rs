//! What one author has said in one go, on its way to an agent.

use chorus_core::attention::compose::Fragment;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::offer::Offer;

/// One message on its way to an agent.
pub(super) type Piece = Fragment<MemberKey, Offer>;

/// What one author has said in one go.
#[derive(Default)]
pub(super) struct Thought {
    /// What was delivered before, in runs that this one takes the place of; oldest first.
    pub joins: Vec<Piece>,
    /// What is delivered for the first time, the newest last; at least one.
    pub fragments: Vec<Piece>,
    /// The messages that those runs answered.
    pub replaces: Vec<Uid>,
    /// With which attempt it was posted first; 0 is not yet.
    pub posted: u16,
}

impl Thought {
    pub(super) fn of(fragments: Vec<Piece>) -> Self {
        Self { fragments, ..Self::default() }
    }

    /// The message that is answered.
    pub(super) fn newest(&self) -> Option<&Piece> {
        self.fragments.last()
    }

    /// Whether it is no message, but reminds of one.
    pub(super) fn reminds(&self) -> bool {
        self.newest().is_some_and(|newest| newest.item.reminds)
    }

    /// All of it, oldest first.
    pub(super) fn pieces(&self) -> impl DoubleEndedIterator<Item = &Piece> {
        self.joins.iter().chain(&self.fragments)
    }

    /// Whether it was delivered again as often as it may be.
    pub(super) fn is_last(&self) -> bool {
        self.replaces.len() >= usize::from(limits::RUN_JOINS)
    }
}
