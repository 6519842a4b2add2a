//! The changes of a room that must be written. A new table needs one more field.

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
        is_dirty {
            /// Newly logged, in order.
            pub events: Vec<Arc<Event>>,
            /// The conversation itself is new, or its settings changed.
            pub conversation: bool,
            /// Memberships set or removed (`None`).
            pub roster: BTreeMap<MemberKey, Option<Participation>>,
            pub threads: BTreeSet<ThreadKey>,
            /// Message projections that changed. One that is back at the default loses its row.
            pub messages: BTreeSet<Seq>,
            pub cursors: BTreeSet<(MemberKey, Option<ThreadKey>)>,
            /// Open events whose pending row must be written.
            pub pending: BTreeSet<Seq>,
            /// Events that closed: the receipt is written, and the pending row, if any, is deleted.
            pub receipts: Vec<Open>,
            /// Receipts to delete: their events were opened again (a dead letter was sent again).
            pub reopened: BTreeSet<Seq>,
            /// Members who have left or come back, and where.
            pub gone: BTreeSet<(MemberKey, Option<ThreadKey>)>,
            /// Texts that commands wrote for digests.
            pub written: Vec<Written>,
            /// Messages whose words were removed: texts derived from them are removed too. Erasure
            /// and deletion both record it here.
            pub unsaid: Vec<Seq>,
            /// Subjects whose turns changed, or may have.
            pub turns: BTreeSet<Seq>,
            /// Turns that were granted: the member, and the event to answer.
            pub granted: Vec<(MemberKey, Seq)>,
            /// Turns that nobody took up and that were passed on: the member, and the event to
            /// answer.
            pub expired: Vec<(MemberKey, Seq)>,
            /// How many stimuli were replaced by newer ones about the same subject.
            pub replaced: usize,
            /// Events whose content is erased.
            pub erased: BTreeSet<Seq>,
            /// The position up to which digests cover the log has moved.
            pub digested: bool,
            pub digests: Vec<Arc<Digest>>,
            /// The current stimuli; none for those that can be forgotten.
            pub stimuli: BTreeMap<Uid, Option<Arc<Stimulus>>>,
            /// The current schedules; none for those that were removed.
            pub schedules: BTreeMap<Uid, Option<Arc<Schedule>>>,
            /// The conversation became a channel of another service, or its delivery state for that
            /// service changed.
            pub remote: bool,
            /// The current callbacks; none for those that were removed.
            pub callbacks: BTreeMap<Seq, Option<Callback>>,
            /// The new start of the log: everything at or before it is dropped.
            pub base: Option<Arc<LogSnapshot>>,
        }
    }
}

impl Dirty {
    pub fn is_empty(&self) -> bool {
        !self.is_dirty()
    }
}
