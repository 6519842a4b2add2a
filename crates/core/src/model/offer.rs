//! An event in the form that is shown to a reader, and in the form that is offered to a session.

use std::sync::Arc;

use crate::model::attention::Decision;
use crate::model::conversation::Conversation;
use crate::model::delivery::Retry;
use crate::model::event::Event;
use crate::model::ids::{MemberKey, SessionKey, Uid};
use crate::model::thread::Thread;

/// An event together with what a reader needs to show it.
#[derive(Clone, Debug)]
pub struct Entry {
    pub conversation: Arc<Conversation>,
    pub thread: Option<Arc<Thread>>,
    pub event: Arc<Event>,
    /// The public id of the event that it replies to.
    pub reply_to: Option<Uid>,
    /// The message an edit, deletion or reaction is about.
    pub about: Option<Uid>,
}

/// One event to be offered to one session of a member.
#[derive(Clone, Debug)]
pub struct Offer {
    pub entry: Entry,
    pub member: MemberKey,
    pub session: SessionKey,
    pub decision: Decision,
    pub attempt: u16,
    /// A session of its member has accepted it before.
    pub taken: bool,
    /// The agent behind the connection string has it and has been silent. This is a reminder, not a
    /// new request.
    pub reminds: bool,
    pub fence: u32,
    /// Its failed posts, for the host that posts it.
    pub retry: Option<Box<Retry>>,
    /// The context of the public turn that it runs in, if any.
    pub channel: Option<Box<ChannelDelivery>>,
    /// Data from another service that came with it, for its member's runtime only.
    pub came_with: Option<crate::model::endpoint::Secret>,
}

/// The context that the speaker in a public turn gets (channels spec "How agents participate").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelDelivery {
    /// The first members of the conversation, by key, and the number of further ones.
    pub members: Vec<MemberKey>,
    pub members_more: usize,
    /// How many members may speak about the subject at a time.
    pub speakers: u8,
    /// Remaining turns, including this one, until a person speaks.
    pub left: u16,
    /// Members who wait for a turn.
    pub waiting: Vec<MemberKey>,
}
