//! Facts that a decision needs and that are not in memory.

use std::sync::Arc;

use crate::model::approval::Private;
use crate::model::asset::Asset;
use crate::model::conversation::Visibility;
use crate::model::cursor::ReadCursor;
use crate::model::delivery::Open;
use crate::model::event::{Event, Hash};
use crate::model::ids::{
    ConversationKey, EventRef, MemberKey, Seq, SessionKey, ThreadKey, Timestamp, Uid,
};
use crate::model::job::Job;
use crate::model::ledger;
use crate::model::log_snapshot::LogSnapshot;
use crate::model::message_state::MessageState;
use crate::model::registry::Listing;

/// The readers of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seats {
    pub visibility: Visibility,
    /// In the order of their keys.
    pub members: Vec<MemberKey>,
}

/// Facts that are not in memory, provided by the holder of the log. They are read in the writer's
/// transaction. Changes by an earlier command of the same batch are visible through the room, not
/// here.
pub trait Facts {
    fn conversation_key(&mut self, uid: Uid) -> Result<Option<ConversationKey>, Unavailable>;
    /// The whole room, as of its last recorded event.
    fn room(
        &mut self,
        key: ConversationKey,
    ) -> Result<Option<crate::state::room::Room>, Unavailable>;
    fn event_ref(&mut self, uid: Uid) -> Result<Option<EventRef>, Unavailable>;
    fn thread_ref(&mut self, uid: Uid)
    -> Result<Option<(ConversationKey, ThreadKey)>, Unavailable>;
    fn event(&mut self, at: EventRef) -> Result<Option<Recalled>, Unavailable>;
    /// The later events that still carry words of this message: edits and reactions.
    fn versions(&mut self, message: EventRef) -> Result<Vec<Seq>, Unavailable>;
    /// At most `limit` events of a log after `after`, in order.
    fn log(
        &mut self,
        conversation: ConversationKey,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, Unavailable>;
    /// At most `limit` actions in one thread after `after`, in order, without receipts: status
    /// changes, and messages other than plain talk. So a decision based on them does not pay for
    /// reading the talk.
    fn thread_acts(
        &mut self,
        conversation: ConversationKey,
        thread: ThreadKey,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Recalled>, Unavailable>;
    /// The start of a log whose beginning was dropped.
    fn base(&mut self, conversation: ConversationKey) -> Result<Option<LogSnapshot>, Unavailable>;
    /// The file with this name and these bytes that a member uploaded before.
    fn asset_of(
        &mut self,
        _by: MemberKey,
        _hash: &Hash,
        _name: &str,
    ) -> Result<Option<Arc<Asset>>, Unavailable> {
        Ok(None)
    }
    /// The conversation that mirrors a channel of an inbox.
    fn remote(
        &mut self,
        _inbox: Uid,
        _channel: &Hash,
    ) -> Result<Option<ConversationKey>, Unavailable> {
        Ok(None)
    }
    /// What a member has read in private, in that session or in none: the newest, at most `limit`.
    fn told(
        &mut self,
        _member: MemberKey,
        _session: Option<SessionKey>,
        _limit: usize,
    ) -> Result<Vec<Private>, Unavailable> {
        Ok(Vec::new())
    }
    /// The readers of a conversation whose room is not in memory, or is damaged.
    fn seats(&mut self, _conversation: ConversationKey) -> Result<Option<Seats>, Unavailable> {
        Ok(None)
    }
    /// Whether a member uploaded a file or can see a message that refers to it.
    fn may_see_asset(&mut self, _uid: Uid, _member: MemberKey) -> Result<bool, Unavailable> {
        Ok(false)
    }
    /// Where a member can see a file that another member uploaded: messages, and conversations that
    /// it is pinned to ([`crate::model::asset::PINNED`]).
    fn asset_places(
        &mut self,
        _uid: Uid,
        _member: MemberKey,
    ) -> Result<Vec<EventRef>, Unavailable> {
        Ok(Vec::new())
    }
    /// A member's read cursor in a conversation or in one thread of it.
    fn cursor(
        &mut self,
        conversation: ConversationKey,
        member: MemberKey,
        thread: Option<ThreadKey>,
    ) -> Result<ReadCursor, Unavailable>;
    fn listing(&mut self, _agent: Uid) -> Result<Option<Arc<Listing>>, Unavailable> {
        Ok(None)
    }
    /// The agent that a member is in the registry.
    fn agent_of(&mut self, _member: MemberKey) -> Result<Option<Uid>, Unavailable> {
        Ok(None)
    }
    /// When a listed agent was last heard of.
    fn heartbeat(&mut self, _agent: Uid) -> Result<Option<Timestamp>, Unavailable> {
        Ok(None)
    }
    fn job(&mut self, _job: Uid) -> Result<Option<Arc<Job>>, Unavailable> {
        Ok(None)
    }
    /// How many jobs of an owner have not ended.
    fn open_jobs(&mut self, _hirer_owner: &str) -> Result<u64, Unavailable> {
        Ok(0)
    }
    /// At most `limit` jobs that are due at `now`.
    fn due_jobs(&mut self, _now: Timestamp, _limit: usize) -> Result<Vec<Uid>, Unavailable> {
        Ok(Vec::new())
    }
    /// When the first job is due after `now`.
    fn next_due_job(&mut self, _now: Timestamp) -> Result<Option<Timestamp>, Unavailable> {
        Ok(None)
    }
    fn account(&mut self, _owner: &str) -> Result<Option<ledger::Account>, Unavailable> {
        Ok(None)
    }
    fn spending(&mut self, _member: MemberKey) -> Result<Option<ledger::Spending>, Unavailable> {
        Ok(None)
    }
    fn ledger_head(&mut self) -> Result<ledger::Head, Unavailable> {
        Ok(ledger::Head::default())
    }
    /// The entry of a transfer.
    fn transfer(&mut self, _transfer: Uid) -> Result<Option<ledger::Entry>, Unavailable> {
        Ok(None)
    }
}

/// The facts could not be read; nothing was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    pub why: String,
    /// The stored data exists but is invalid: commands that need other data are still served.
    pub damaged: bool,
}

/// An event as its log has it, for a rule that needs an event that is not in memory.
#[derive(Clone, Debug)]
pub struct Recalled {
    pub event: Arc<Event>,
    /// The newest edit, deletion and reactions of it.
    pub message: MessageState,
    /// How its deliveries ended, if they have.
    pub receipt: Option<Open>,
}
