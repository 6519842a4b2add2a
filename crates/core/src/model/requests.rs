//! What commands bring, where it is more than a few fields.

use std::sync::Arc;

use crate::model::attention::Directedness;
use crate::model::event::{Idempotency, Message};
use crate::model::ids::{MemberKey, Timestamp, Uid};
use crate::model::stimulus::StimulusKind;
use crate::model::thread::ThreadKind;

/// Fields to change; `None` leaves one as it is.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct SettingsPatch {
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[redact(fixed = 3)]
    pub description: Option<String>,
    #[redact(fixed = 3)]
    pub purpose: Option<String>,
    pub visibility: Option<crate::model::conversation::Visibility>,
    pub archived: Option<bool>,
    pub lead: Option<Option<MemberKey>>,
    /// `Some(None)`: the host's default again.
    pub agent_budget: Option<Option<u32>>,
    /// `Some(None)`: the host's default again.
    pub keep: Option<Option<crate::model::conversation::Keep>>,
    pub turns: crate::model::turn::RulesPatch,
    pub replies: Option<crate::model::conversation::Replies>,
    pub stimuli: crate::model::stimulus::RulesPatch,
    pub proactive: Option<bool>,
    /// `Some(None)`: silent threads are let be.
    pub idle_followup: Option<Option<i64>>,
    pub pins: Option<Vec<Uid>>,
}

/// A message to be posted.
#[derive(Clone, Debug)]
pub struct Post {
    pub conversation: Uid,
    pub thread: Option<Uid>,
    pub message: Message,
    /// The event answered. It is also the cause, unless the turn names another.
    pub in_reply_to: Option<Uid>,
    pub idempotency: Option<Idempotency>,
    pub recipient: Option<MemberKey>,
    /// Members named besides those in the text.
    pub mentions: Vec<MemberKey>,
    /// What the sender states about its audience; it may lower an obligation, never raise it.
    pub directedness: Option<Directedness>,
    pub audience: Audience,
}

/// Whom a message is shown to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// Whom the message it answers is shown to: an answer to an ephemeral message is as ephemeral.
    #[default]
    AsAnswered,
    /// Everybody who may see the conversation, as a person said in so many words.
    Everybody,
    /// These, and the author: an ephemeral message.
    Only(Vec<MemberKey>),
}

/// A stimulus to be queued.
#[derive(Clone, veil::Redact)]
pub struct NewStimulus {
    pub conversation: Uid,
    pub kind: StimulusKind,
    /// Whose word it is; the caller's where none is named.
    pub source: Option<MemberKey>,
    /// The thread that it continues; none opens a subject.
    pub thread: Option<Uid>,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    #[redact(fixed = 3)]
    pub title: Option<Arc<str>>,
    pub targets: Vec<MemberKey>,
    /// Shown to its targets only.
    pub private: bool,
    #[redact(fixed = 3)]
    pub progress_key: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub dedupe_key: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<Arc<str>>,
    pub expires_at: Option<Timestamp>,
}

/// Where a thread is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    In(Uid),
    /// A conversation of its own, which its participants alone see. It is called as the thread is.
    Own,
}

impl From<Uid> for Home {
    fn from(conversation: Uid) -> Self {
        Self::In(conversation)
    }
}

impl Idempotency {
    /// The id of the thread that was opened under this key.
    pub fn thread(&self) -> Uid {
        Uid(u128::from_be_bytes(self.key))
    }
}

#[derive(Clone, veil::Redact)]
pub struct OpenThread {
    pub home: Home,
    /// The message that becomes the thread's root.
    pub root: Option<Uid>,
    #[redact(fixed = 3)]
    pub title: String,
    pub kind: ThreadKind,
    pub owner: Option<MemberKey>,
    pub participants: Vec<MemberKey>,
    /// The thread's id follows from the key: asked for again it is the thread that there is, however much later.
    pub idempotency: Option<Idempotency>,
}
