//! What of a room is to be written. A new table is one field more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::conversation::Participation;
use crate::model::delivery::Open;
use crate::model::digest::{Digest, Written};
use crate::model::event::Event;
use crate::model::ids::{MemberKey, Seq, ThreadKey, Uid};
use crate::model::inbox::Callback;
use crate::model::log_snapshot::LogSnapshot;
use crate::model::schedule::Schedule;
use crate::model::stimulus::Stimulus;
use crate::state::changed::changes;

changes! {
    /// What must be written for the room, each row once.
    #[derive(Clone, Debug, Default)]
    pub struct Dirty {
        /// Whether anything must be written.
        has_changes {
            /// Newly logged, in order.
            pub events: Vec<Arc<Event>>,
            /// The conversation itself: it is new, or its settings changed.
            pub conversation: bool,
            /// Seats set, or taken away (`None`).
            pub roster: BTreeMap<MemberKey, Option<Participation>>,
            pub threads: BTreeSet<ThreadKey>,
            /// Message projections that changed; one that is plain again loses its row.
            pub messages: BTreeSet<Seq>,
            pub cursors: BTreeSet<(MemberKey, Option<ThreadKey>)>,
            /// Open events whose pending row must be written.
            pub pending: BTreeSet<Seq>,
            /// Events that closed: the receipt is written, and the pending row, if there is one, goes.
            pub receipts: Vec<Open>,
            /// Events whose content goes.
            pub erased: BTreeSet<Seq>,
            /// Receipts of events that were opened again (a dead letter sent again).
            pub reopened: BTreeSet<Seq>,
            /// Of whom it changed whether it has left, and where.
            pub gone: BTreeSet<(MemberKey, Option<ThreadKey>)>,
            /// Up to where digests account for the log has moved.
            pub digested: bool,
            pub digests: Vec<Arc<Digest>>,
            /// What commands made of digests.
            pub written: Vec<Written>,
            /// Messages whose words went: what was written of them goes too. Erasure and deletion both note it here.
            pub unsaid: Vec<Seq>,
            /// Stimuli as they are now; none for those that need not be known any more.
            pub stimuli: BTreeMap<Uid, Option<Arc<Stimulus>>>,
            /// Schedules as they are now; none for those that were removed.
            pub schedules: BTreeMap<Uid, Option<Arc<Schedule>>>,
            /// It became a channel of another service, or what is for that has moved.
            pub remote: bool,
            /// Callbacks as they are now; none for those that went.
            pub callbacks: BTreeMap<Seq, Option<Callback>>,
            /// Where the log begins from now on: what is at or before it goes.
            pub base: Option<Arc<LogSnapshot>>,
            /// Subjects whose turns changed, or may have.
            pub turns: BTreeSet<Seq>,
            /// Turns that were granted: to whom, and to answer what.
            pub granted: Vec<(MemberKey, Seq)>,
            /// Turns that nobody took up, and that went on: whose, and to answer what.
            pub expired: Vec<(MemberKey, Seq)>,
            /// How many stimuli were replaced by newer ones about the same.
            pub replaced: usize,
        }
    }
}

impl Dirty {
    pub fn is_empty(&self) -> bool {
        !self.has_changes()
    }
}
