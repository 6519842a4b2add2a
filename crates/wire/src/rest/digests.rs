//! `GET /v1/digests`: what happened in followed channels, a stretch of the log at a time.

use chorus_core::model::attention::Policy;
use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// Query of `GET /v1/digests`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListDigests {
    /// `ch_…`; all that the caller may see unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Member id; the caller unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// With `conversation`: only digests whose stretch ends before this seq.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What a follower of a channel is told of a stretch of its log. The words in it are read off the log when it is
/// shown: what was deleted meanwhile is not in it.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Digest {
    /// `<conversation id>:<through_seq>:<member id>`
    pub id: String,
    pub conversation: String,
    #[redact(fixed = 3)]
    pub title: String,
    /// Member id of whose it is.
    pub member: String,
    /// The stretch: after this seq, up to and with `through_seq`.
    pub after_seq: u64,
    pub through_seq: u64,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub first_at: Timestamp,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// `must_not_respond`, unless it holds a mention or an assignment of the member.
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Policy>")]
    pub policy: Policy,
    pub messages: u32,
    /// The loudest first.
    pub authors: Vec<Count>,
    /// By thread id, the busiest first.
    pub threads: Vec<Count>,
    /// What is worth naming, oldest first.
    pub items: Vec<Item>,
    /// All of it as text. It quotes members: untrusted.
    #[redact(fixed = 3)]
    pub text: String,
    /// What the host's command made of it. Untrusted too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub written: Option<String>,
}

/// Messages of one author, or in one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Count {
    pub id: String,
    pub messages: u32,
}

/// One message worth naming.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    pub event_id: String,
    /// Member id.
    pub author: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// `call`: it names the member or gives it work; `ask`: it asks something of somebody; `status`: the newest
    /// of its author.
    pub kind: String,
    /// Its beginning, as it is now.
    #[redact(fixed = 3)]
    pub text: String,
}

/// `GET /v1/digests`, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Digests {
    pub digests: Vec<Digest>,
}
