//! Read cursors.

use crate::model::ids::Seq;

/// A read cursor of a member in a conversation, or in one thread of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCursor {
    /// A seq of the conversation's log, or, for a thread, a seq of the thread.
    pub read: Seq,
}
