//! Approvals: what an agent may do only after a person has agreed (design section 5, "Approvals").
//!
//! Two things need approval: a send that would disclose private words to somebody who could not
//! read them in their place, and a call of a tool that the operator marked sensitive. A send is
//! stored whole, and the host makes it once when a person agrees. A call must be repeated by the
//! agent. The stored content is deleted after the decision; of a call, a hash stays to recognise
//! its repetition.

use std::sync::Arc;

use crate::model::event::{Event, Hash};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, SessionKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::requests::Post;

/// How a denial reads, before the person's reason.
pub const DENIED: &str = "a person has denied it";

/// What needs approval here, and how long it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How long a person has to decide, in milliseconds.
    pub expires_ms: i64,
    /// Every send of an agent needs approval, not only one that discloses private words.
    pub all_sends: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { expires_ms: limits::APPROVAL_MS, all_sends: false }
    }
}

#[derive(Clone, Debug)]
pub struct Approval {
    pub uid: Uid,
    pub at: Timestamp,
    pub expires: Timestamp,
    /// The agent that asks.
    pub member: MemberKey,
    pub asked: Asked,
    /// The event it was working on. For a send, this is the source of the private words.
    pub source: Option<Source>,
    pub decided: Option<Decided>,
}

/// An event, with its internal and public ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub at: EventRef,
    pub conversation: Uid,
    pub event: Uid,
    /// Who can see it, when it is ephemeral.
    pub only: Option<Arc<[MemberKey]>>,
}

#[derive(Clone, Debug)]
pub enum Asked {
    /// To be posted in this conversation. The message is empty after the decision.
    Send { to: ConversationKey, post: Arc<Post> },
    /// To be called with these arguments.
    Call { tool: Arc<str>, arguments: Arguments },
}

/// The arguments of a call.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub enum Arguments {
    /// Canonical JSON, until the decision.
    Whole(#[redact(fixed = 3)] Arc<str>),
    /// Their hash, salted with the id of the request.
    Hashed(Hash),
}

impl Arguments {
    pub fn whole(&self) -> Option<&Arc<str>> {
        match self {
            Self::Whole(arguments) => Some(arguments),
            Self::Hashed(_) => None,
        }
    }
}

/// Something that an agent was shown in private.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Private {
    pub member: MemberKey,
    /// None: the agent had no connected session.
    pub session: Option<SessionKey>,
    pub at: EventRef,
    /// Who could read it, if not all of its room.
    pub only: Option<Arc<[MemberKey]>>,
    /// When it was shown. Set to an earlier time when its session is over, so that it counts for
    /// one more minute.
    pub when: Timestamp,
}

impl Private {
    /// Whether it still counts: a session's reads count while the session runs, and reads without a
    /// session for a while.
    pub fn counts(&self, now: Timestamp) -> bool {
        self.session.is_some() || now.since(self.when) < limits::TOLD_APART_MS
    }
}

#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Decided {
    pub by: MemberKey,
    pub at: Timestamp,
    pub approved: bool,
    #[redact(fixed = 3)]
    pub reason: Option<Arc<str>>,
}

/// The state of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Waiting,
    Approved,
    Denied,
    Expired,
}

impl Standing {
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Approved, Self::Denied, Self::Expired];

    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
        }
    }
}

impl Approval {
    pub fn standing(&self, now: Timestamp) -> Standing {
        match &self.decided {
            Some(decided) if decided.approved => Standing::Approved,
            Some(_) => Standing::Denied,
            None if self.expires <= now => Standing::Expired,
            None => Standing::Waiting,
        }
    }

    /// Whether it still matters: it is pending, or its repetition must get the same answer.
    pub fn is_kept(&self, now: Timestamp) -> bool {
        let end = self.decided.as_ref().map_or(self.expires, |d| d.at.max(self.expires));
        now.since(end) < limits::IDEMPOTENCY_MS
    }

    /// The conversation whose readers are concerned: the source, otherwise the destination.
    pub fn concerns(&self) -> Option<ConversationKey> {
        match &self.asked {
            Asked::Send { to, .. } => Some(self.source.as_ref().map_or(*to, |s| s.at.conversation)),
            Asked::Call { .. } => self.source.as_ref().map(|s| s.at.conversation),
        }
    }

    /// Whether `member` may see the source, if only some of its room may.
    pub fn is_for(&self, member: MemberKey) -> bool {
        let only = self.source.as_ref().and_then(|s| s.only.as_ref());
        only.is_none_or(|only| only.contains(&member))
    }

    /// Whether it is about this call.
    pub fn is_of_call(&self, tool: &str, arguments: &str) -> bool {
        match &self.asked {
            Asked::Call { tool: mine, arguments: kept } if **mine == *tool => match kept {
                Arguments::Whole(kept) => **kept == *arguments,
                Arguments::Hashed(hash) => *hash == self.hash(arguments),
            },
            _ => false,
        }
    }

    /// Whether it is a call with readable arguments.
    pub fn has_words(&self) -> bool {
        matches!(&self.asked, Asked::Call { arguments: Arguments::Whole(_), .. })
    }

    fn hash(&self, arguments: &str) -> Hash {
        Event::content_hash(&self.uid.0.to_be_bytes(), arguments.as_bytes())
    }

    /// The same without its message or arguments.
    pub fn emptied(&self) -> Self {
        let asked = match &self.asked {
            Asked::Send { to, post } => {
                let message =
                    crate::model::event::Message { kind: post.message.kind, ..Default::default() };
                Asked::Send { to: *to, post: Arc::new(Post { message, ..Post::clone(post) }) }
            }
            Asked::Call { tool, arguments: Arguments::Whole(arguments) } => {
                let arguments = Arguments::Hashed(self.hash(arguments));
                Asked::Call { tool: tool.clone(), arguments }
            }
            hashed @ Asked::Call { .. } => hashed.clone(),
        };
        Self { asked, ..self.clone() }
    }
}
