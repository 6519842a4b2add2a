//! What a decision needs and memory does not have.

use std::sync::Arc;

use crate::model::approval::Private;
use crate::model::asset::Asset;
use crate::model::conversation::Visibility;
use crate::model::cursor::ReadCursor;
use crate::model::delivery::Open;
use crate::model::event::{Event, Hash};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, SessionKey, ThreadKey, Uid};
use crate::model::log_snapshot::LogSnapshot;
use crate::model::message_state::MessageState;

/// Who reads a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seats {
    pub visibility: Visibility,
    /// In the order of their keys.
    pub members: Vec<MemberKey>,
}

/// Facts that are not in memory, from whoever holds the log. Readers of the same transaction as the
/// writer's: what an earlier command of the batch recorded is seen through the room, not through here.
pub trait Facts {
    fn conversation_key(&mut self, uid: Uid) -> Result<Option<ConversationKey>, Unavailable>;
    /// The whole room, as it stands after its last recorded event.
    fn room(
        &mut self,
        key: ConversationKey,
    ) -> Result<Option<crate::state::room::Room>, Unavailable>;
    fn event_ref(&mut self, uid: Uid) -> Result<Option<EventRef>, Unavailable>;
    fn thread_ref(&mut self, uid: Uid)
    -> Result<Option<(ConversationKey, ThreadKey)>, Unavailable>;
    fn event(&mut self, at: EventRef) -> Result<Option<Recalled>, Unavailable>;
    /// The events after a message's that still say something of it in words: edits, and reactions.
    fn versions(&mut self, message: EventRef) -> Result<Vec<Seq>, Unavailable>;
    /// At most `limit` events of a log after `after`, in order.
    fn log(
        &mut self,
        conversation: ConversationKey,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, Unavailable>;
    /// At most `limit` of what was done in one thread after `after`, in order, without receipts: changes of its status,
    /// and messages that are no plain talk. Whoever decides by it pays for no talk.
    fn thread_acts(
        &mut self,
        conversation: ConversationKey,
        thread: ThreadKey,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Recalled>, Unavailable>;
    /// Where a log begins, when its beginning was dropped.
    fn base(&mut self, conversation: ConversationKey) -> Result<Option<LogSnapshot>, Unavailable>;
    /// The file of that name with these bytes that a member has brought before.
    fn asset_of(
        &mut self,
        _by: MemberKey,
        _hash: &Hash,
        _name: &str,
    ) -> Result<Option<Arc<Asset>>, Unavailable> {
        Ok(None)
    }
    /// The conversation that a channel of an inbox is.
    fn remote(
        &mut self,
        _inbox: Uid,
        _channel: &Hash,
    ) -> Result<Option<ConversationKey>, Unavailable> {
        Ok(None)
    }
    /// What a member has taken up in private, in that session or in none: the newest, at most `limit`.
    fn told(
        &mut self,
        _member: MemberKey,
        _session: Option<SessionKey>,
        _limit: usize,
    ) -> Result<Vec<Private>, Unavailable> {
        Ok(Vec::new())
    }
    /// Who reads a conversation whose room is not in memory; also of one that is damaged.
    fn seats(&mut self, _conversation: ConversationKey) -> Result<Option<Seats>, Unavailable> {
        Ok(None)
    }
    /// Whether another host of the same database lives, counted as they came.
    fn lives(&mut self, _host: u32) -> Result<bool, Unavailable> {
        Ok(false)
    }
    /// Whether a member brought a file, or is shown a message that refers to it.
    fn may_see_asset(&mut self, _uid: Uid, _member: MemberKey) -> Result<bool, Unavailable> {
        Ok(false)
    }
    /// Where a file that another brought is shown to a member: messages, and conversations that it is pinned to
    /// ([`crate::model::asset::PINNED`]).
    fn asset_places(
        &mut self,
        _uid: Uid,
        _member: MemberKey,
    ) -> Result<Vec<EventRef>, Unavailable> {
        Ok(Vec::new())
    }
    /// Where a member's cursor is in a conversation, or in one thread of it.
    fn cursor(
        &mut self,
        conversation: ConversationKey,
        member: MemberKey,
        thread: Option<ThreadKey>,
    ) -> Result<ReadCursor, Unavailable>;
}

/// The facts could not be had; nothing was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    pub why: String,
    /// What was to be read is there and makes no sense: whoever needs something else is served.
    pub damaged: bool,
}

/// An event as its log knows it, for a rule that needs one that is not in memory.
#[derive(Clone, Debug)]
pub struct Recalled {
    pub event: Arc<Event>,
    /// The newest edit, deletion and reactions of it.
    pub message: MessageState,
    /// How its deliveries ended, when they did.
    pub receipt: Option<Open>,
}
