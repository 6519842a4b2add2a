//! Inboxes: connection strings of this host's, by which services elsewhere deliver to an agent that lives here (webhook
//! spec sections 1 and 2; `spec/webhook.md`, "An agent behind a string of ours").
//!
//! An inbox is part of the directory. Each channel of a service that has delivered to it is a conversation here, with its
//! [`Remote`] beside it: where that channel's callbacks are, and how far what the agent said there was sent back.
//! Secrets of others are here only as the edge has sealed them.

mod remote;

use std::sync::Arc;

use crate::model::attention::Directedness;
use crate::model::endpoint::Secret;
use crate::model::error::Refusal;
use crate::model::event::{Hash, Idempotency, Message};
use crate::model::ids::{MemberKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::member::MemberKind;
pub use remote::{Callback, Remote};

#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Inbox {
    pub uid: Uid,
    /// For whom it is.
    pub agent: MemberKey,
    #[redact(fixed = 3)]
    pub name: Arc<str>,
    /// The hash of the secret in its connection string.
    pub secret: Hash,
    /// Who speaks here for the people of other services, and for their agents. They have no tokens, and are told nothing.
    pub people: MemberKey,
    pub agents: MemberKey,
    pub checks: Checks,
    pub created_by: MemberKey,
    pub created_at: Timestamp,
    pub rotated_at: Option<Timestamp>,
    /// Channels that have delivered to it.
    pub channels: u32,
    /// The newest of what could not be sent back.
    pub trouble: Option<Trouble>,
}

/// What went wrong, in words without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub at: Timestamp,
    pub what: Arc<str>,
}

/// What a delivery has to show beside the secret. The edge understands them.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct Checks {
    /// Networks that may deliver; none is all.
    pub allow: Vec<Arc<str>>,
    /// What deliveries are signed with, by the Standard Webhooks scheme.
    pub signing: Option<Secret>,
    /// The public key of who signs the tokens that deliveries come with, as PEM.
    #[redact(fixed = 3)]
    pub key: Option<Arc<str>>,
}

/// How the ids of stand-ins begin.
pub const STAND_IN: &str = "inbox_";

/// What can be done with inboxes.
#[derive(Clone, veil::Redact)]
pub enum Act {
    Add {
        agent: MemberKey,
        #[redact(fixed = 3)]
        name: Option<Arc<str>>,
        secret: Hash,
        checks: Checks,
    },
    Change {
        inbox: Uid,
        patch: Patch,
    },
    /// Another secret; the old one is nobody's from then on.
    Rotate {
        inbox: Uid,
        secret: Hash,
    },
    Remove {
        inbox: Uid,
    },
    /// Something could not be sent back. The host's.
    Trouble {
        inbox: Uid,
        #[redact(fixed = 3)]
        what: Arc<str>,
    },
}

/// What is absent stays; `Some(None)` takes a check away.
#[derive(Clone, veil::Redact, Default)]
pub struct Patch {
    #[redact(fixed = 3)]
    pub name: Option<Arc<str>>,
    pub allow: Option<Vec<Arc<str>>>,
    pub signing: Option<Option<Secret>>,
    #[redact(fixed = 3)]
    pub key: Option<Option<Arc<str>>>,
}

/// A delivery of another service, as the transport has read and checked it.
#[derive(Clone, Debug)]
pub struct Received {
    /// The hash of the secret that it came with.
    pub secret: Hash,
    pub channel: Channel,
    pub message: Message,
    /// The same message of the same channel has the same.
    pub idempotency: Idempotency,
    /// Whose word it is, and how many agents' messages lie before it.
    pub kind: MemberKind,
    pub hop: u8,
    pub directedness: Option<Directedness>,
    /// Where output goes, and which tools came with it.
    pub callback: Secret,
}

/// A channel elsewhere; its texts are untrusted.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Channel {
    /// Of its id, which never changes.
    pub hash: Hash,
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    #[redact(fixed = 3)]
    pub context: Arc<str>,
}

impl Inbox {
    /// Who speaks for the others in it.
    pub fn stand_ins(&self) -> [MemberKey; 2] {
        [self.people, self.agents]
    }

    pub fn stand_in(&self, kind: MemberKind) -> MemberKey {
        if kind == MemberKind::Agent { self.agents } else { self.people }
    }

    /// The ids that its stand-ins have.
    pub fn stand_in_id(uid: Uid, kind: MemberKind) -> String {
        let who = if kind == MemberKind::Agent { "agents" } else { "people" };
        format!("{STAND_IN}{:032x}_{who}", uid.0)
    }
}

impl Checks {
    pub fn check(&self) -> Result<(), Refusal> {
        if self.allow.len() > limits::INBOX_NETWORKS {
            let most = limits::INBOX_NETWORKS;
            return Err(Refusal::invalid(format!("an inbox allows at most {most} networks")));
        }
        if self.key.as_ref().is_some_and(|key| key.len() > limits::PUBLIC_KEY_BYTES) {
            let most = limits::PUBLIC_KEY_BYTES;
            return Err(Refusal::invalid(format!("a public key has at most {most} bytes")));
        }
        Ok(())
    }

    #[must_use]
    pub fn patched(mut self, patch: Patch) -> Self {
        self.allow = patch.allow.unwrap_or(self.allow);
        self.signing = patch.signing.unwrap_or(self.signing);
        self.key = patch.key.unwrap_or(self.key);
        self
    }
}
