//! A thread: the unit of work inside a conversation (threads spec section 2.1, channels spec
//! "canonical root threads": one thing, not two).

pub mod work;

use std::collections::BTreeSet;
use std::sync::Arc;

use work::ThreadWork;

use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp, Uid};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ThreadKind {
    #[default]
    Conversation,
    Workflow,
    Incident,
}

impl ThreadKind {
    pub const ALL: [Self; 3] = [Self::Conversation, Self::Workflow, Self::Incident];

    pub fn name(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Workflow => "workflow",
            Self::Incident => "incident",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ThreadStatus {
    #[default]
    Active,
    Blocked,
    Resolved,
    Closed,
}

impl ThreadStatus {
    pub const ALL: [Self; 4] = [Self::Active, Self::Blocked, Self::Resolved, Self::Closed];

    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Blocked => "blocked",
            Self::Resolved => "resolved",
            Self::Closed => "closed",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }

    /// Whether a thread may go from this status to `next` (design section 5, "Threads"); the same
    /// status again is a no-op, and closed is final.
    pub fn may_become(self, next: Self) -> bool {
        use ThreadStatus::{Active, Blocked, Closed, Resolved};
        self == next
            || matches!(
                (self, next),
                (Active, Blocked | Resolved | Closed)
                    | (Blocked, Active | Closed)
                    | (Resolved, Active | Closed)
            )
    }
}

/// The state of one thread, replayed from its conversation's log.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Thread {
    pub key: ThreadKey,
    pub uid: Uid,
    /// The message that opened it; none for a thread made before anything was said.
    pub root: Option<Seq>,
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    pub kind: ThreadKind,
    pub status: ThreadStatus,
    pub owner: Option<MemberKey>,
    /// The thread seq of its newest message; increases by exactly one.
    pub last_seq: u64,
    pub participants: BTreeSet<MemberKey>,
    /// Agents' messages since a person spoke or the status changed.
    pub unattended: u32,
    pub work: Arc<ThreadWork>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Thread {
    /// Whether more can be expected: both the thread and its work are open.
    pub fn is_live(&self) -> bool {
        matches!(self.status, ThreadStatus::Active | ThreadStatus::Blocked)
            && !self.work.status.is_over()
    }
}
