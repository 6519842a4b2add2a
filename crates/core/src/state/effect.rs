//! Effects: work to do outside the core, once the changes that caused it are recorded.

use std::sync::Arc;

use crate::model::conversation::Conversation;
use crate::model::delivery::Open;
use crate::model::ids::{ConversationKey, MemberKey, Seq, SessionKey, Uid};
use crate::model::offer::{Entry, Offer};
use crate::model::wake::OutgoingWake;
use crate::state::directory::Directory;

/// News for the service whose channel a conversation mirrors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteNews {
    /// Its agent has said something.
    Said,
    /// Its agent has started to work on the event.
    Began(Seq),
    /// Nothing is owed for the event any more. `answered`: something was said in reply. `failed`:
    /// nothing was owed and the run failed.
    Ended { event: Seq, answered: bool, failed: bool },
}

/// A run of an agent on behalf of an external service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteRun {
    /// The service's message; its callback is found by it.
    pub event: Seq,
    /// Nothing has ended the delivery yet.
    pub is_open: bool,
}

/// Work to do outside the core after the commit. A closed list.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Show the entry to everybody who follows the conversation.
    Logged(Entry),
    Offer(Offer),
    /// Send the wake to its runner.
    Wake(Arc<OutgoingWake>),
    /// Tell the session that a delivery no longer needs an answer.
    Cancel {
        event: Uid,
        conversation: Uid,
        member: MemberKey,
        session: SessionKey,
        attempt: u16,
        reason: &'static str,
    },
    /// A run has begun there. What it comes to has a receipt.
    Began {
        conversation: ConversationKey,
    },
    /// Receipts changed; show them to the sender.
    Receipt {
        entry_uid: Uid,
        conversation: Arc<Conversation>,
        author: MemberKey,
        open: Arc<Open>,
    },
    /// Send the digest to those who follow the conversation.
    Digest {
        conversation: Arc<Conversation>,
        digest: Arc<crate::model::digest::Digest>,
    },
    /// Deliver news to the service whose channel a conversation mirrors.
    Remote {
        conversation: ConversationKey,
        news: RemoteNews,
    },
    /// Post the job to its agent, or its end to its hirer.
    Job(Uid),
    Directory(Arc<Directory>),
    /// The session was given up while the database was away, and its connection ends.
    Ended(SessionKey),
    /// Anything may have changed: followers read their logs, and sessions ask for their deliveries.
    Anything,
}
