//! `GET /v1/digests`: summaries of followed channels, each of one range of the log.

use chorus_core::model::attention::Policy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// Query of `GET /v1/digests`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListDigests {
    /// `ch_…`; by default all that the caller can see.
    pub conversation: Option<String>,
    /// Member id; the caller by default.
    pub member: Option<String>,
    /// With `conversation`: only digests whose range ends before this seq.
    pub before: Option<u64>,
    pub limit: Option<u32>,
}

/// A digest of a range of a channel's log, for a follower of the channel. Its quotations are read
/// from the log when it is shown, so messages deleted since are not in it.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Digest {
    /// `<conversation id>:<through_seq>:<member id>`
    pub id: String,
    pub conversation: String,
    #[redact(fixed = 3)]
    pub title: String,
    /// Member id of the recipient.
    pub member: String,
    /// The range begins after this seq and includes `through_seq`.
    pub after_seq: u64,
    pub through_seq: u64,
    pub first_at: Time,
    pub created_at: Time,
    /// `must_not_respond`, unless it contains a mention of the member or an assignment to it.
    pub policy: Named<Policy>,
    pub messages: u32,
    /// Most messages first.
    pub authors: Vec<Count>,
    /// By thread id, most messages first.
    pub threads: Vec<Count>,
    /// Notable messages, oldest first.
    pub items: Vec<Item>,
    /// The whole digest as text. Untrusted, because it quotes members.
    #[redact(fixed = 3)]
    pub text: String,
    /// The text that the host's configured command wrote from it. Untrusted.
    #[redact(fixed = 3)]
    pub written: Option<String>,
}

/// Number of messages of one author, or in one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Count {
    pub id: String,
    pub messages: u32,
}

/// One notable message.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    pub event_id: String,
    /// Member id.
    pub author: String,
    pub created_at: Time,
    /// `call`: it mentions the member or assigns work to it; `ask`: it asks something of somebody;
    /// `status`: the author's newest status.
    pub kind: String,
    /// The beginning of its current text.
    #[redact(fixed = 3)]
    pub text: String,
}

/// `GET /v1/digests`, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Digests {
    pub digests: Vec<Digest>,
}
