//! An entry of a conversation's log, and the hash chain of the log.
//!
//! The log contains everything that changes what a reader sees. Claims, deliveries, receipts and
//! cursors are not in it (design section 3, "The log"). An event never changes once it is written.
//! Erasure removes its content and salt, and the chain over `content_hash` stays valid.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::model::attention::Attention;
use crate::model::conversation::{ConversationKind, Participation, Settings};
use crate::model::ids::{
    ConversationKey, EventRef, MemberKey, Seq, SessionKey, ThreadKey, Timestamp, Uid,
};
use crate::model::reaction::Signal;
use crate::model::thread::work::WorkChange;
use crate::model::thread::{ThreadKind, ThreadStatus};

pub type Hash = [u8; 32];

/// The version of the hash's input; it is part of the input.
pub const CHAIN_VERSION: u8 = 1;

/// Idempotency of a send: two sends with the same key are one if their content is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// Hash of (thread or conversation, sender, key).
    pub key: [u8; 16],
    /// Hash of the payload.
    pub payload: [u8; 16],
}

#[derive(Clone, PartialEq, Eq)]
pub struct Event {
    pub conversation: ConversationKey,
    pub seq: Seq,
    pub uid: Uid,
    pub at: Timestamp,
    pub actor: MemberKey,
    pub session: Option<SessionKey>,
    pub thread: Option<ThreadKey>,
    /// Position in the thread for messages in one, otherwise 0.
    pub thread_seq: u64,
    pub reply_to: Option<Seq>,
    pub cause: Option<EventRef>,
    /// Agents' messages between this one and the last by a person; a person's own has 0.
    pub hop: u8,
    pub idempotency: Option<Idempotency>,
    /// Who was notified and why, for events that notify anybody.
    pub attention: Option<Arc<Attention>>,
    pub change: Change,
    /// None once the content is erased. `change` is then blank, and `content_hash` is the hash of
    /// the former content.
    pub salt: Option<[u8; 16]>,
    pub content_hash: Hash,
    pub hash: Hash,
}

/// Prints the kind and ids only, not the content or anything that could confirm a guess at it.
impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("kind", &self.change.name())
            .field("conversation", &self.conversation)
            .field("seq", &self.seq)
            .field("uid", &self.uid)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

/// The change that an event makes for readers.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub enum Change {
    Created {
        kind: ConversationKind,
        settings: Settings,
    },
    SettingsChanged(Settings),
    Joined {
        member: MemberKey,
        participation: Participation,
    },
    Left {
        member: MemberKey,
    },
    Posted(Message),
    Edited {
        message: Seq,
        content: Message,
    },
    Deleted {
        message: Seq,
    },
    Reacted {
        message: Seq,
        signal: Signal,
        #[redact(fixed = 3)]
        detail: Option<Arc<str>>,
    },
    Unreacted {
        message: Seq,
        signal: Signal,
    },
    ThreadOpened(ThreadOpening),
    ThreadStatus {
        status: ThreadStatus,
        #[redact(fixed = 3)]
        reason: Arc<str>,
    },
    ThreadOwner {
        owner: Option<MemberKey>,
    },
    /// The member was asked to leave, or left, and keeps its membership. It is not notified here
    /// until it is named again. In a thread, this holds for that thread only.
    Withdrew {
        member: MemberKey,
    },
    /// The content of a message was removed, in all its versions. `events` are the erased ones: the
    /// post, its edits, and reactions with words.
    Erased {
        message: Seq,
        reason: Reason,
        events: Vec<Seq>,
    },
    /// A person let the agents continue; the timeline's count is reset.
    Continued,
    /// The state of the thread's work changed.
    ThreadWork(Box<WorkChange>),
    /// Something of the thread is shown in the channel's feed.
    Promoted(Promotion),
}

/// What a thread shows in the feed.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub enum Promotion {
    /// One of its messages that everybody should see.
    Message {
        message: Seq,
        #[redact(fixed = 3)]
        note: Option<Arc<str>>,
    },
    /// Its result.
    Result {
        #[redact(fixed = 3)]
        text: Arc<str>,
    },
}

/// Why a message was erased: a closed list, because free text might repeat what was erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reason {
    #[default]
    Request,
    PersonalData,
    Secret,
    Legal,
    Abuse,
}

impl Reason {
    pub const ALL: [Self; 5] =
        [Self::Request, Self::PersonalData, Self::Secret, Self::Legal, Self::Abuse];

    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::PersonalData => "personal_data",
            Self::Secret => "secret",
            Self::Legal => "legal",
            Self::Abuse => "abuse",
        }
    }
}

#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct ThreadOpening {
    pub uid: Uid,
    pub root: Option<Seq>,
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    pub kind: ThreadKind,
    pub owner: Option<MemberKey>,
    pub participants: Vec<MemberKey>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MessageKind {
    #[default]
    Chat,
    Event,
    System,
}

impl MessageKind {
    pub const ALL: [Self; 3] = [Self::Chat, Self::Event, Self::System];

    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Event => "event",
            Self::System => "system",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// A message's content. `text` is what attention reads. The parts and metadata are canonical JSON
/// from the edge, opaque here.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct Message {
    pub kind: MessageKind,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    /// The content parts, when they are more than the one text part `text`.
    #[redact(fixed = 3)]
    pub parts: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub metadata: Option<Arc<str>>,
    /// The platform it came from, if another.
    #[redact(fixed = 3)]
    pub source: Option<Arc<str>>,
}

impl Change {
    /// The code that the change is stored under; never reused.
    pub fn code(&self) -> u8 {
        match self {
            Self::Created { .. } => 1,
            Self::SettingsChanged(_) => 2,
            Self::Joined { .. } => 3,
            Self::Left { .. } => 4,
            Self::Posted(_) => 5,
            Self::Edited { .. } => 6,
            Self::Deleted { .. } => 7,
            Self::Reacted { .. } => 8,
            Self::Unreacted { .. } => 9,
            Self::ThreadOpened(_) => 10,
            Self::ThreadStatus { .. } => 11,
            Self::ThreadOwner { .. } => 12,
            Self::Withdrew { .. } => 20,
            Self::Erased { .. } => 13,
            Self::Continued => 14,
            Self::ThreadWork(_) => 15,
            Self::Promoted(_) => 16,
        }
    }

    /// The public name of the change with this code; "unknown" when there is none.
    pub fn name_of(code: u8) -> &'static str {
        match code {
            1 => "conversation_created",
            2 => "settings_changed",
            3 => "member_joined",
            4 => "member_left",
            5 => "message_posted",
            6 => "message_edited",
            7 => "message_deleted",
            8 => "reaction_set",
            9 => "reaction_cleared",
            10 => "thread_opened",
            11 => "thread_status_changed",
            12 => "thread_owner_changed",
            13 => "message_erased",
            14 => "continued",
            15 => "thread_work_changed",
            16 => "promoted",
            20 => "member_withdrew",
            _ => "unknown",
        }
    }

    /// The public name.
    pub fn name(&self) -> &'static str {
        Self::name_of(self.code())
    }

    /// The message this event carries or changes the content of.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Self::Posted(message) | Self::Edited { content: message, .. } => Some(message),
            _ => None,
        }
    }

    /// The message that an edit, deletion, reaction or erasure is about.
    pub fn about(&self) -> Option<Seq> {
        match self {
            Self::Edited { message, .. }
            | Self::Deleted { message }
            | Self::Reacted { message, .. }
            | Self::Unreacted { message, .. }
            | Self::Erased { message, .. }
            | Self::Promoted(Promotion::Message { message, .. }) => Some(*message),
            Self::Created { .. }
            | Self::SettingsChanged(_)
            | Self::Joined { .. }
            | Self::Left { .. }
            | Self::Withdrew { .. }
            | Self::Posted(_)
            | Self::ThreadOpened(_)
            | Self::ThreadStatus { .. }
            | Self::ThreadOwner { .. }
            | Self::ThreadWork(_)
            | Self::Promoted(Promotion::Result { .. })
            | Self::Continued => None,
        }
    }

    /// Whether it carries a user's words about `message`, or is that message.
    pub fn is_version_of(&self, at: Seq, message: Seq) -> bool {
        match self {
            Self::Posted(_) => at == message,
            Self::Edited { message: of, .. }
            | Self::Reacted { message: of, detail: Some(_), .. }
            | Self::Promoted(Promotion::Message { message: of, note: Some(_) }) => *of == message,
            _ => false,
        }
    }

    /// The same change without user content: what remains after an erasure.
    pub fn blank(&self) -> Self {
        let nothing = |kind| Message { kind, ..Message::default() };
        match self {
            Self::Posted(message) => Self::Posted(nothing(message.kind)),
            Self::Edited { message, content } => {
                Self::Edited { message: *message, content: nothing(content.kind) }
            }
            Self::Reacted { message, signal, .. } => {
                Self::Reacted { message: *message, signal: *signal, detail: None }
            }
            Self::Promoted(Promotion::Message { message, .. }) => {
                Self::Promoted(Promotion::Message { message: *message, note: None })
            }
            other => other.clone(),
        }
    }
}

/// Whether a message counts as talk, for the no-human budget of its timeline and for turns and
/// their cooldown. Chat does, and so does an event that somebody owes an answer for; status does
/// not.
pub fn is_talk(message: &Message, attention: &Attention) -> bool {
    match message.kind {
        MessageKind::Chat => true,
        MessageKind::Event => attention.obliges(),
        MessageKind::System => false,
    }
}

impl Event {
    /// Whether a member who may see the conversation may see this entry. This is the only place
    /// that hides ephemeral messages, and changes to them, from others.
    pub fn is_shown_to(&self, member: MemberKey) -> bool {
        self.attention.as_ref().is_none_or(|a| a.is_shown_to(member))
    }

    /// Whether it counts as talk ([`is_talk`]). Messages that the host sends by itself or for a
    /// person do not.
    pub fn is_talk(&self) -> bool {
        let Some(message) = self.change.message() else { return false };
        match &self.attention {
            Some(attention) => is_talk(message, attention) && !self.is_stimulus(),
            None => message.kind == MessageKind::Chat,
        }
    }

    /// Whether it is a dispatched stimulus that no agent requested. Such a stimulus has its id as
    /// its key and as its payload, which no member can send. One that an agent requested has
    /// another payload.
    fn is_stimulus(&self) -> bool {
        let is_event = self.change.message().is_some_and(|m| m.kind == MessageKind::Event);
        is_event && self.idempotency.is_some_and(|i| i.key == i.payload)
    }

    /// Who can see it, if not everybody.
    pub fn only(&self) -> Option<&Arc<[MemberKey]>> {
        self.attention.as_ref()?.only.as_ref()
    }

    /// The message that this is a later version of.
    pub fn edit_of(&self) -> Option<Seq> {
        self.change.about().filter(|_| matches!(self.change, Change::Edited { .. }))
    }

    /// Whether its content was erased.
    pub fn is_erased(&self) -> bool {
        self.salt.is_none()
    }

    /// The event without its content, and without anything that could confirm a guess at it.
    pub fn erased(&self) -> Self {
        let idempotency = self.idempotency.map(|i| Idempotency { payload: [0; 16], ..i });
        Self { salt: None, change: self.change.blank(), idempotency, ..self.clone() }
    }

    /// The hash of `encoded`, the stored form of the content, under the event's salt.
    pub fn content_hash(salt: &[u8; 16], encoded: &[u8]) -> Hash {
        let mut hasher = Sha256::new();
        hasher.update(salt);
        hasher.update(encoded);
        hasher.finalize().into()
    }

    /// The chain's next hash: over the previous one, the version, the canonical header and the
    /// content hash.
    pub fn chain(&self, previous: &Hash) -> Hash {
        let mut header = Header::default();
        header.put(u128::from(self.conversation.0));
        header.put(u128::from(self.seq.0));
        header.put(self.uid.0);
        header.put(self.at.0 as u128);
        header.put(u128::from(self.actor.0));
        header.put(u128::from(self.session.unwrap_or_default().0));
        header.put(u128::from(self.thread.unwrap_or_default().0));
        header.put(u128::from(self.thread_seq));
        header.put(u128::from(self.reply_to.unwrap_or_default().0));
        header.put(u128::from(self.cause.map_or(0, |c| c.conversation.0)));
        header.put(u128::from(self.cause.map_or(0, |c| c.seq.0)));
        header.put(u128::from(self.hop));
        header.put(u128::from(self.change.code()));
        let mut hasher = Sha256::new();
        hasher.update(previous);
        hasher.update([CHAIN_VERSION]);
        hasher.update(header.0);
        hasher.update(self.content_hash);
        hasher.finalize().into()
    }
}

/// Thirteen fields of 16 bytes, big-endian: with fixed widths the encoding is unambiguous.
struct Header(Vec<u8>);

impl Default for Header {
    fn default() -> Self {
        Self(Vec::with_capacity(13 * 16))
    }
}

impl Header {
    fn put(&mut self, field: u128) {
        self.0.extend_from_slice(&field.to_be_bytes());
    }
}
