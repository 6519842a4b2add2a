//! The lines of an export: each a JSON object with one key that says what it is (docs/copies.md,
//! "Export and import").
//!
//! Members, conversations and events have the numbers that the log's hashes are over, beside their public
//! ids. What an event says stands packed in `body`, which is what was hashed, and for messages in `message`
//! too, for whoever only reads.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line<'a> {
    Header(Header),
    Member(Member<'a>),
    Role(Role<'a>),
    Stream(Stream<'a>),
    Session(Session<'a>),
    Asset(Asset<'a>),
    Conversation(Conversation<'a>),
    Base(Base),
    Event(Event<'a>),
    Thread(Thread<'a>),
    Schedule(Schedule<'a>),
    Head(Head),
    Project(Project),
    End(End),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub format: u32,
    pub workspace_id: String,
    pub workspace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<u32>,
    pub exported_at: String,
    pub program: String,
    /// The public key with which `end` is signed.
    pub key: Bytes,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Member<'a> {
    pub key: u32,
    pub id: Cow<'a, str>,
    pub kind: u8,
    pub handle: Cow<'a, str>,
    pub display_name: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identities: Option<Cow<'a, str>>,
    pub removed: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Role<'a> {
    pub key: u32,
    pub name: Cow<'a, str>,
    pub members: Vec<u32>,
    pub removed: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Stream<'a> {
    pub key: u32,
    pub id: Cow<'a, str>,
    pub name: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<u32>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Session<'a> {
    pub key: u32,
    pub id: Cow<'a, str>,
    pub member: u32,
    pub runtime: Cow<'a, str>,
    pub managed: bool,
    pub resumable: bool,
    pub seen_at: i64,
}

/// A file with its bytes.
#[derive(Serialize, Deserialize)]
pub(super) struct Asset<'a> {
    pub id: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub media: u8,
    pub by: u32,
    pub at: i64,
    pub sha256: Bytes,
    pub data: Bytes,
    /// A small picture of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail: Option<Bytes>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Conversation<'a> {
    pub key: u64,
    pub id: Cow<'a, str>,
    pub kind: u8,
    pub title: Cow<'a, str>,
    pub description: Cow<'a, str>,
    pub purpose: Cow<'a, str>,
    pub visibility: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_budget: Option<u32>,
    /// Days, 0 for all; absent where the host's default holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<u32>,
    /// What has no field of its own, packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Bytes>,
    pub archived: bool,
    pub created_at: i64,
    /// Member and participation.
    pub roster: Vec<(u32, u8)>,
    /// Member and the seq it has read up to.
    pub read: Vec<(u32, u64)>,
    /// Member, thread, and the seq of the thread it has read up to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_threads: Vec<(u32, u64, u64)>,
}

/// Where a conversation's log begins, when its beginning was dropped: the newest event that is gone.
#[derive(Serialize, Deserialize)]
pub(super) struct Base {
    pub conversation: u64,
    pub seq: u64,
    pub hash: Bytes,
    pub at: i64,
    /// What had become of the conversation by then, packed.
    pub state: Bytes,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Event<'a> {
    pub conversation: u64,
    pub seq: u64,
    pub id: Cow<'a, str>,
    pub at: i64,
    pub actor: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub thread_seq: u64,
    pub kind: Cow<'a, str>,
    pub code: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<(u64, u64)>,
    pub hop: u8,
    /// The hashes of the idempotency key and of what was sent under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<(Bytes, Bytes)>,
    /// Who was told and why, packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Bytes>,
    pub content_hash: Bytes,
    pub hash: Bytes,
    /// None when what it said was erased; a later event says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<Bytes>,
    pub body: Bytes,
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message<'a>>,
}

/// A message's content to be read; `body` is what counts.
#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'a str>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Thread<'a> {
    pub conversation: u64,
    pub key: u64,
    pub id: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<u64>,
    pub title: Cow<'a, str>,
    pub kind: u8,
    pub status: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<u32>,
    pub last_seq: u64,
    pub participants: Vec<u32>,
    pub created_at: i64,
    pub updated_at: i64,
    /// How its work stands, packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Bytes>,
}

/// What is to be said in a conversation at set times. It is paused when it is read again.
#[derive(Serialize, Deserialize)]
pub(super) struct Schedule<'a> {
    pub conversation: u64,
    pub id: Cow<'a, str>,
    pub title: Cow<'a, str>,
    /// All of it, packed.
    pub state: Bytes,
}

/// The end of a conversation's log.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    pub conversation: u64,
    pub seq: u64,
    pub hash: Bytes,
}

/// A project with its tasks, packed; after all conversations, of which it speaks.
#[derive(Serialize, Deserialize)]
pub(super) struct Project {
    pub project: Bytes,
    pub tasks: Vec<Bytes>,
}

/// The last line. Its signature is over the header and over everything between, heads and all, so that a cut
/// tail is seen.
#[derive(Serialize, Deserialize)]
pub(super) struct End {
    #[serde(flatten)]
    pub counts: Counts,
    /// Over the lines between the header and this one, with their ends.
    pub sha256: Bytes,
    pub signature: Bytes,
}

/// How much there is of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub members: u64,
    pub roles: u64,
    pub conversations: u64,
    pub threads: u64,
    pub events: u64,
}

impl Counts {
    pub(super) fn count(&mut self, line: &Line<'_>) {
        let count = match line {
            Line::Member(_) => &mut self.members,
            Line::Role(_) => &mut self.roles,
            Line::Conversation(_) => &mut self.conversations,
            Line::Thread(_) => &mut self.threads,
            Line::Event(_) => &mut self.events,
            _ => return,
        };
        *count += 1;
    }
}

/// Bytes, in JSON as base64.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub(super) struct Bytes(#[redact(fixed = 3)] pub Vec<u8>);

impl Bytes {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    pub(super) fn array<const N: usize>(&self) -> Result<[u8; N], String> {
        let length = self.0.len();
        self.0.as_slice().try_into().map_err(|_| format!("{length} bytes where {N} belong"))
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&BASE64.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(input)?;
        BASE64.decode(text.as_bytes()).map(Self).map_err(serde::de::Error::custom)
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}
