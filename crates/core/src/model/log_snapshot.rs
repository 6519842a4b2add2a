//! What a log begins with, once its beginning was dropped.

use crate::model::conversation::{Participation, Settings};
use crate::model::event::Hash;
use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp};
use crate::model::thread::Thread;

/// What the events up to `seq` have made of a room, and what the next event's hash follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSnapshot {
    pub seq: Seq,
    pub hash: Hash,
    /// When that event was logged.
    pub at: Timestamp,
    pub unattended: u32,
    pub settings: Settings,
    /// In the order of the keys, as all that follows.
    pub roster: Vec<(MemberKey, Participation)>,
    pub threads: Vec<Thread>,
    pub gone: Vec<(MemberKey, Option<ThreadKey>)>,
}
