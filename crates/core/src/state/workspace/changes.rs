//! What a batch must write, and the effects to perform afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::approval::{Approval, Private};
use crate::model::asset::Kept;
use crate::model::endpoint::Endpoint;
use crate::model::event::Hash;
use crate::model::ids::{ConversationKey, MemberKey, SessionKey, Timestamp, Uid};
use crate::model::inbox::Inbox;
use crate::model::job::Job;
use crate::model::ledger;
use crate::model::member::{Member, Role, Session, Stream};
use crate::model::project::{Project, Task};
use crate::model::registry::{Listing, ReputationChange};
use crate::model::token::Issued;
use crate::model::wake::Wake;
use crate::state::changed::changes;
use crate::state::effect::Effect;
use crate::state::room::{Dirty, Head};

changes! {
    /// The changes and effects of a batch of commands.
    #[derive(Debug, Default)]
    pub struct Changes {
        /// Whether anything must be written.
        records {
            pub members: Vec<Arc<Member>>,
            pub roles: Vec<Arc<Role>>,
            pub streams: Vec<Arc<Stream>>,
            /// The lead, when it changed.
            pub lead: Option<Option<MemberKey>>,
            pub revoked: Vec<(Arc<str>, Timestamp)>,
            /// Issued tokens, by member and token id; none for expired ones.
            pub issued: Vec<(MemberKey, Arc<str>, Option<Arc<Issued>>)>,
            /// Members whose tokens were all ended, and when.
            pub cut_offs: Vec<(MemberKey, Timestamp)>,
            /// The current approvals; none for those that can be forgotten.
            pub approvals: Vec<(Uid, Option<Arc<Approval>>)>,
            /// The current projects; none for those that were removed.
            pub projects: Vec<(Uid, Option<Arc<Project>>)>,
            /// Their tasks by project, likewise.
            pub tasks: Vec<(Uid, Uid, Option<Arc<Task>>)>,
            /// The current endpoints; none for those that were removed.
            pub endpoints: Vec<(MemberKey, Option<Arc<Endpoint>>)>,
            /// The current inboxes; none for those that were removed.
            pub inboxes: Vec<(Uid, Option<Arc<Inbox>>)>,
            pub sessions: Vec<Arc<Session>>,
            /// The current wakes with their sessions; none for ended ones that are forgotten.
            pub wakes: BTreeMap<Uid, (SessionKey, Option<Arc<Wake>>)>,
            /// Wakes that have ended.
            pub ended_wakes: Vec<Arc<Wake>>,
            /// Tokens, and private reads without a session, that have expired by this time are
            /// deleted.
            pub sweep_expired: Option<Timestamp>,
            /// What agents have read in private.
            pub told: Vec<Private>,
            /// Callbacks older than this are dropped.
            pub sweep_callbacks: Option<Timestamp>,
            /// Files that were uploaded.
            pub assets: Vec<Kept>,
            /// Thumbnails of files that were uploaded before, by the hash of their bytes.
            pub thumbnails: Vec<(Hash, Arc<[u8]>)>,
            /// Files uploaded before this time that nothing refers to are deleted.
            pub sweep: Option<Timestamp>,
            /// Objects that had the bytes of files, and are dropped: each with the hash of the file.
            pub forgotten_objects: Vec<(Hash, String)>,
            /// The current listings of agents for hire.
            pub listings: BTreeMap<Uid, Arc<Listing>>,
            /// Those whose skills changed too.
            pub relisted: BTreeSet<Uid>,
            /// The newest heartbeats of listed agents.
            pub heartbeats: BTreeMap<Uid, Timestamp>,
            pub reputations: Vec<ReputationChange>,
            /// The current jobs.
            pub jobs: BTreeMap<Uid, Arc<Job>>,
            /// The current accounts, by owner.
            pub accounts: BTreeMap<Arc<str>, ledger::Account>,
            /// What members have spent and may spend.
            pub spending: BTreeMap<MemberKey, ledger::Spending>,
            /// New entries of the ledger, in order.
            pub entries: Vec<ledger::Entry>,
            /// The end of the ledger, when it moved.
            pub ledger: Option<ledger::Head>,
            pub rooms: Vec<RoomChanges>,
        }
        /// Whether there is anything to do after the commit.
        has_effects {
            pub effects: Vec<Effect>,
        }
    }
}

impl Changes {
    /// Whether no message content is erased.
    pub fn erases_nothing(&self) -> bool {
        self.rooms.iter().all(|room| room.dirty.erased.is_empty())
    }

    /// Whether message content must disappear from all files, because it was erased or its
    /// retention period is over.
    pub fn removes_words(&self) -> bool {
        let dropped = self.rooms.iter().any(|room| room.dirty.base.is_some());
        !self.erases_nothing() || dropped || self.sweep.is_some()
    }

    /// Whether nothing must be written.
    pub fn records_nothing(&self) -> bool {
        !self.records()
    }
}

/// What must be written for one room. The rows are read from the room itself, which is shared while
/// they are written.
#[derive(Debug)]
pub struct RoomChanges {
    pub key: ConversationKey,
    pub head: Head,
    pub dirty: Dirty,
}
