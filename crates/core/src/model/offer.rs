//! An event as it is shown to a reader, and as it is offered to a session.

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
    /// The public id of what it replies to.
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
    /// A session of its member has taken it before.
    pub taken: bool,
    /// The agent behind the connection string has it and has been silent: it is reminded, and not asked anew.
    pub reminds: bool,
    pub fence: u32,
    /// Posts of it that failed, for the host that carries it.
    pub retry: Option<Box<Retry>>,
    /// What its member is to know of the public turn that it is run in, if it is.
    pub channel: Option<Box<ChannelDelivery>>,
    /// What came with it from another service, for its member's runtime alone.
    pub came_with: Option<crate::model::endpoint::Secret>,
}

/// A public turn as its speaker is to know it (channels spec "How agents participate").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelDelivery {
    /// Who has a seat, by key: the first of them, and how many more.
    pub members: Vec<MemberKey>,
    pub members_more: usize,
    /// How many may speak about the subject at a time.
    pub speakers: u8,
    /// Turns, this one among them, that may speak until a person does.
    pub left: u16,
    /// Who waits for a turn.
    pub waiting: Vec<MemberKey>,
}
