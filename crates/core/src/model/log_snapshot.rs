//! The snapshot that replaces the dropped beginning of a log.

use crate::model::conversation::{Participation, Settings};
use crate::model::event::Hash;
use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp};
use crate::model::thread::Thread;

/// The state of a room after the events up to `seq`, and the hash that the next event's hash builds
/// on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSnapshot {
    pub seq: Seq,
    pub hash: Hash,
    /// When that event was logged.
    pub at: Timestamp,
    pub unattended: u32,
    pub settings: Settings,
    /// In the order of keys, like all following lists.
    pub roster: Vec<(MemberKey, Participation)>,
    pub threads: Vec<Thread>,
    pub gone: Vec<(MemberKey, Option<ThreadKey>)>,
}
