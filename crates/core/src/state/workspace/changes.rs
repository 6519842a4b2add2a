//! What a batch gives to be written, and then done.

use std::sync::Arc;

use crate::model::approval::{Approval, Private};
use crate::model::asset::Kept;
use crate::model::endpoint::Endpoint;
use crate::model::event::Hash;
use crate::model::ids::{ConversationKey, MemberKey, Timestamp, Uid};
use crate::model::inbox::Inbox;
use crate::model::member::{Member, Role, Session, Stream};
use crate::model::project::{Project, Task};
use crate::model::token::Issued;
use crate::state::changed::changes;
use crate::state::effect::Effect;
use crate::state::room::{Dirty, Head};

changes! {
    /// What a batch of commands changed and causes.
    #[derive(Debug, Default)]
    pub struct Changes {
        /// Whether anything of the directory is written but sessions.
        changes_directory {
            pub members: Vec<Arc<Member>>,
            pub roles: Vec<Arc<Role>>,
            pub streams: Vec<Arc<Stream>>,
            /// The lead, when it changed.
            pub lead: Option<Option<MemberKey>>,
            pub revoked: Vec<(Arc<str>, Timestamp)>,
            /// Tokens as they were handed out, by whose they are and their id; none for what has expired.
            pub issued: Vec<(MemberKey, Arc<str>, Option<Arc<Issued>>)>,
            /// Members all of whose tokens were ended, and when.
            pub cut_offs: Vec<(MemberKey, Timestamp)>,
            /// What waits for a person, as it is now; none for what can be forgotten.
            pub approvals: Vec<(Uid, Option<Arc<Approval>>)>,
            /// Projects as they are now; none for those that are gone.
            pub projects: Vec<(Uid, Option<Arc<Project>>)>,
            /// Their tasks, by project, likewise.
            pub tasks: Vec<(Uid, Uid, Option<Arc<Task>>)>,
            /// Endpoints as they are now; none for those that are gone.
            pub endpoints: Vec<(MemberKey, Option<Arc<Endpoint>>)>,
            /// Inboxes as they are now; none for those that are gone.
            pub inboxes: Vec<(Uid, Option<Arc<Inbox>>)>,
        }
        /// Whether anything else is written.
        changes_others {
            pub sessions: Vec<Arc<Session>>,
            /// Dropped is what has expired by this time: tokens, and what agents were told in none of their sessions.
            pub sweep_expired: Option<Timestamp>,
            /// What agents have taken up in private.
            pub told: Vec<Private>,
            /// Callbacks older than this are dropped.
            pub sweep_callbacks: Option<Timestamp>,
            /// Files that were brought.
            pub assets: Vec<Kept>,
            /// Small pictures of files that were brought before, by the hash of their bytes.
            pub thumbnails: Vec<(Hash, Arc<[u8]>)>,
            /// Files brought before this, which nothing points at, are dropped.
            pub sweep: Option<Timestamp>,
            pub rooms: Vec<RoomChanges>,
        }
        /// Whether there is something to do once it is written.
        has_effects {
            pub effects: Vec<Effect>,
        }
    }
}

impl Changes {
    /// Whether nothing that was said is to go.
    pub fn erases_nothing(&self) -> bool {
        self.rooms.iter().all(|room| room.dirty.erased.is_empty())
    }

    /// Whether something that was said is not to be in any file any more: it was erased, or is too old to be kept.
    pub fn removes_words(&self) -> bool {
        let dropped = self.rooms.iter().any(|room| room.dirty.base.is_some());
        !self.erases_nothing() || dropped || self.sweep.is_some()
    }

    /// Whether nothing must be written at all.
    pub fn records_nothing(&self) -> bool {
        !(self.changes_directory() || self.changes_others())
    }
}

/// What one room must have written. The rows are read off the room itself, which is shared for the
/// length of the write.
#[derive(Debug)]
pub struct RoomChanges {
    pub key: ConversationKey,
    pub head: Head,
    pub dirty: Dirty,
}
