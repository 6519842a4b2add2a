//! The state of a message after it was posted.

use crate::model::ids::{MemberKey, Seq, Timestamp};
use crate::model::reaction::Signal;

/// The state of a message after it was posted: edits, deletion and reactions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageState {
    /// The event with its present content, if it was edited.
    pub latest: Option<Seq>,
    pub edited_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
    /// Signals by member, each signal at most once per member.
    pub reactions: Vec<(MemberKey, Signal)>,
}

impl MessageState {
    /// Whether it is unchanged since it was posted, so that it needs no row.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
