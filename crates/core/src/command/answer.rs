//! What a command gives, and what it causes.

use std::sync::Arc;

use crate::attention::Decision;
use crate::conversation::Conversation;
use crate::delivery::{Open, Retry};
use crate::event::{Event, EventRef};
use crate::ids::{ConversationKey, MemberKey, Seq, SessionKey, Timestamp, Uid};
use crate::member::Directory;
use crate::thread::Thread;
use crate::turn::Turn;

/// A subject of a channel with who speaks about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The event it begins with: its root message, or the opening of a thread without one.
    pub root: Uid,
    pub thread: Option<Uid>,
    pub turn: Turn,
    /// Turns that may speak until a person speaks again.
    pub budget: u16,
    /// What each lease answers, in the order of the leases.
    pub causes: Vec<Uid>,
    pub waiting: Vec<Waits>,
}

/// A member that waits for the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    pub member: MemberKey,
    pub event: Uid,
    pub since: Timestamp,
    pub obligation: bool,
}

/// What can be dropped of a conversation's log now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Droppable {
    pub base: Seq,
    /// Up to where the next [`Command::Trim`](super::Command::Trim) may go; the base when there is nothing.
    pub through: Seq,
    /// What is older than need be kept and stays all the same.
    pub held: Option<Held>,
}

/// The first event that must be kept although its time is over, with all that came after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub seq: Seq,
    pub by: HeldBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// Somebody owes something for it, or holds a claim on it.
    Owed,
    /// What was asked for in answer to it waits for a person.
    Approval,
    /// It is the beginning of a thread that is not done.
    Thread,
    /// Followers are still to be told of it.
    Digest,
    /// The log is damaged, perhaps there: what was made of its beginning would stand for it.
    Damage,
}

impl HeldBy {
    pub fn name(self) -> &'static str {
        match self {
            Self::Owed => "owed",
            Self::Approval => "approval",
            Self::Thread => "thread",
            Self::Digest => "digest",
            Self::Damage => "damage",
        }
    }
}

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
    pub came_with: Option<crate::endpoint::Secret>,
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

/// What is news to the service that a conversation is a channel of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteNews {
    /// Its agent has said something.
    Said,
    /// Its agent has taken the event up.
    Began(Seq),
    /// Nothing is owed for the event any more; `answered` when something was said to it, `failed` when nothing was owed
    /// and it could not be done.
    Ended { event: Seq, answered: bool, failed: bool },
}

/// A run of an agent for a service elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteRun {
    /// The service's message, by which its callback is found.
    pub event: Seq,
    /// Nothing has ended the delivery yet.
    pub is_open: bool,
}

/// What is to be done outside, after the commit. A closed list.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Show it to whoever follows the conversation.
    Logged(Entry),
    Offer(Offer),
    /// Tell the session that a delivery no longer wants an answer.
    Cancel {
        event: Uid,
        conversation: Uid,
        member: MemberKey,
        session: SessionKey,
        attempt: u16,
        reason: &'static str,
    },
    /// Receipts changed; the sender is shown them.
    Receipt {
        entry_uid: Uid,
        conversation: ConversationKey,
        author: MemberKey,
        open: Arc<Open>,
    },
    /// Tell those who follow the conversation what happened in it.
    Digest {
        conversation: Arc<Conversation>,
        digest: Arc<crate::digest::Digest>,
    },
    /// Something is for the service that a conversation is a channel of.
    Remote {
        conversation: ConversationKey,
        news: RemoteNews,
    },
    Directory(Arc<Directory>),
    /// Another host has written to the conversation: whoever follows it reads the log.
    Moved(ConversationKey),
    /// Another host has erased what these said: what is under way with it here is shown to nobody.
    Erased(Vec<EventRef>),
    /// The session is no longer this host's, and its connection ends: it has a newer one to another host, or was
    /// given up while this host was away.
    Ended {
        session: SessionKey,
        taken_over: bool,
    },
    /// Another host has revoked a token or removed a member: whoever stays connected is looked at again.
    ShutOut,
    /// Anything may have changed: followers read their logs, and sessions ask for what they are owed.
    Anything,
}
