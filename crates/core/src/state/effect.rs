//! What is to be done outside, once what caused it is recorded.

use std::sync::Arc;

use crate::model::conversation::Conversation;
use crate::model::delivery::Open;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, SessionKey, Uid};
use crate::model::offer::{Entry, Offer};
use crate::state::directory::Directory;

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
        digest: Arc<crate::model::digest::Digest>,
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
