//! Inboxes: this host's connection strings, through which other services deliver to an agent here
//! (webhook spec sections 1 and 2; `spec/webhook.md`, "An agent behind a string of ours").
//!
//! An inbox is part of the directory. Each channel of a service that has delivered to it is
//! mirrored by a conversation here, with a [`Remote`] that stores the channel's callbacks and how
//! far the agent's messages were sent back. Secrets of other services are stored only as the edge
//! has sealed them.

mod remote;

use std::sync::Arc;

pub use remote::{Callback, Remote};

use crate::model::attention::Directedness;
use crate::model::endpoint::Secret;
use crate::model::error::Refusal;
use crate::model::event::{Hash, Idempotency, Message};
use crate::model::ids::{MemberKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::member::MemberKind;

#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Inbox {
    pub uid: Uid,
    /// The agent that it delivers to.
    pub agent: MemberKey,
    #[redact(fixed = 3)]
    pub name: Arc<str>,
    /// The hash of the secret in its connection string.
    pub secret: Hash,
    /// Stand-in members for the people and agents of other services. They have no tokens and are
    /// never notified.
    pub people: MemberKey,
    pub agents: MemberKey,
    pub checks: Checks,
    pub created_by: MemberKey,
    pub created_at: Timestamp,
    pub rotated_at: Option<Timestamp>,
    /// The number of channels that have delivered to it.
    pub channels: u32,
    /// The newest failure to send something back.
    pub trouble: Option<Trouble>,
}

/// What went wrong, as text without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub at: Timestamp,
    pub what: Arc<str>,
}

/// What a delivery must prove besides the secret. The edge interprets these.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct Checks {
    /// Networks that may deliver; empty means all.
    pub allow: Vec<Arc<str>>,
    /// The secret that signs deliveries, by the Standard Webhooks scheme.
    pub signing: Option<Secret>,
    /// The public key, as PEM, of the issuer of the tokens that deliveries come with.
    #[redact(fixed = 3)]
    pub key: Option<Arc<str>>,
}

/// The prefix of stand-ins' ids.
pub const STAND_IN: &str = "inbox_";

/// Operations on inboxes.
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
    /// Sets another secret; the old one is no longer valid.
    Rotate {
        inbox: Uid,
        secret: Hash,
    },
    Remove {
        inbox: Uid,
    },
    /// Something could not be sent back. For the host's own use.
    Trouble {
        inbox: Uid,
        #[redact(fixed = 3)]
        what: Arc<str>,
    },
}

/// Absent fields stay; `Some(None)` removes a check.
#[derive(Clone, veil::Redact, Default)]
pub struct Patch {
    #[redact(fixed = 3)]
    pub name: Option<Arc<str>>,
    pub allow: Option<Vec<Arc<str>>>,
    pub signing: Option<Option<Secret>>,
    #[redact(fixed = 3)]
    pub key: Option<Option<Arc<str>>>,
}

/// A delivery of another service, parsed and checked by the transport.
#[derive(Clone, Debug)]
pub struct Received {
    /// The hash of the secret that it came with.
    pub secret: Hash,
    pub channel: Channel,
    pub message: Message,
    /// The same for the same message of the same channel.
    pub idempotency: Idempotency,
    /// The author's kind, and the number of agents' messages before it.
    pub kind: MemberKind,
    pub hop: u8,
    pub directedness: Option<Directedness>,
    /// Where output is sent, and the tools that came with the delivery.
    pub callback: Secret,
}

/// A channel of another service; its texts are untrusted.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Channel {
    /// The hash of its id, which never changes.
    pub hash: Hash,
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    #[redact(fixed = 3)]
    pub context: Arc<str>,
}

impl Inbox {
    /// The members that speak for the others in it.
    pub fn stand_ins(&self) -> [MemberKey; 2] {
        [self.people, self.agents]
    }

    pub fn stand_in(&self, kind: MemberKind) -> MemberKey {
        if kind == MemberKind::Agent { self.agents } else { self.people }
    }

    /// The ids of its stand-ins.
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
