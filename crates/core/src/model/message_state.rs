//! What became of a message after it was posted.

use crate::model::ids::{MemberKey, Seq, Timestamp};
use crate::model::reaction::Signal;

/// What became of a message after it was posted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageState {
    /// The event that holds its present content, when it was edited.
    pub latest: Option<Seq>,
    pub edited_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
    /// Signals by member; at most one of each signal a member.
    pub reactions: Vec<(MemberKey, Signal)>,
}

impl MessageState {
    /// Whether it is as it was posted, so that it needs no row.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
