//! Inputs of commands with more than a few fields.

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
    /// `Some(None)`: no follow-ups on silent threads.
    pub idle_followup: Option<Option<i64>>,
    pub pins: Option<Vec<Uid>>,
}

/// A message to be posted.
#[derive(Clone, Debug)]
pub struct Post {
    pub conversation: Uid,
    pub thread: Option<Uid>,
    pub message: Message,
    /// The event it answers. It is also the cause, unless the turn names another.
    pub in_reply_to: Option<Uid>,
    pub idempotency: Option<Idempotency>,
    pub recipient: Option<MemberKey>,
    /// Members named besides those in the text.
    pub mentions: Vec<MemberKey>,
    /// What the sender states about the audience. It can lower an obligation but never raise one.
    pub directedness: Option<Directedness>,
    pub audience: Audience,
    /// Members whom the sender leaves out: they may read it, and are not told of it.
    pub left_out: Vec<MemberKey>,
}

/// Who can see a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// The same members who can see the message it answers: an answer to an ephemeral message is
    /// ephemeral too.
    #[default]
    AsAnswered,
    /// Everybody who may see the conversation, by a person's explicit choice.
    Everybody,
    /// These members and the author: an ephemeral message.
    Only(Vec<MemberKey>),
}

/// A stimulus to be queued.
#[derive(Clone, veil::Redact)]
pub struct NewStimulus {
    pub conversation: Uid,
    pub kind: StimulusKind,
    /// The member in whose name it is posted; if unset, the caller.
    pub source: Option<MemberKey>,
    /// The thread that it continues; if unset, it opens a subject.
    pub thread: Option<Uid>,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    #[redact(fixed = 3)]
    pub title: Option<Arc<str>>,
    pub targets: Vec<MemberKey>,
    /// Visible to its targets only.
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
    /// A separate conversation that only its participants can see. It has the thread's title.
    Own,
}

impl From<Uid> for Home {
    fn from(conversation: Uid) -> Self {
        Self::In(conversation)
    }
}

impl Idempotency {
    /// The id of the thread that is opened under this key.
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
    /// The thread's id is derived from the key, so asking again at any later time returns the
    /// existing thread.
    pub idempotency: Option<Idempotency>,
}
