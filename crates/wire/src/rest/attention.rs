//! `GET /v1/events/{id}/attention` (why) and `POST /v1/attention/preview` (who would be told).

use chorus_core::model::attention::{Directedness, Intent};
use chorus_core::model::delivery::Disposition;
use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::attention::entry::{Told, UnknownName};
use crate::words;

/// Answer of `POST /v1/attention/preview`, whose body is a [`super::messages::NewMessage`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Preview {
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Intent>")]
    pub intent: Intent,
    /// The directedness of everybody who is not in `told`.
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Directedness>")]
    pub rest: Directedness,
    pub told: Vec<Told>,
    /// Names in its text that fit nobody whom the sender may see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<UnknownName>,
}

/// Answer of `GET /v1/events/{id}/attention`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    pub event_id: String,
    pub conversation: String,
    pub seq: u64,
    /// Member id of the author.
    pub author: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Intent>")]
    pub intent: Intent,
    /// The directedness of everybody who is not in `told`.
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Directedness>")]
    pub rest: Directedness,
    /// The event of the newest edit of this message, which is decided anew; absent where it was never edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest_version: Option<String>,
    /// Agents' messages between this one and a person's.
    pub hop: u8,
    /// The event whose turn it was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Member id of who holds the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
    /// Whether agents pause on its line of talk now: their clocks stand still, and they are told nothing.
    #[serde(default)]
    pub paused: bool,
    /// Whom the flow of talk says it is for, where the message itself names nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// Why the flow of talk says that it is for nobody in particular.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nobody: Option<Nobody>,
    /// The host's bounds of such a guess, as they are now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    pub told: Vec<ToldReceipt>,
}

/// How sure a guess must be, in percent (`[attention]`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// From here on the agent must answer.
    pub sure: u8,
    /// From here on it is shown the message, and may answer.
    pub likely: u8,
    /// From here on it is told that there is a message.
    pub perhaps: u8,
}

/// A guess from the flow of talk.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Member id of whom it is probably for.
    pub member: String,
    /// How sure that is, in percent.
    pub confidence: u8,
    /// The rules that spoke for it (`docs/attention.md`).
    #[redact(fixed = 3)]
    pub because: Vec<String>,
    /// The rules that spoke against it, and were outweighed.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub against: Vec<String>,
}

/// Why a message is probably for nobody in particular, though there were people to choose among.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Nobody {
    /// How sure that is, in percent.
    pub confidence: u8,
    /// The rules that spoke against the likeliest member (`docs/attention.md`).
    #[redact(fixed = 3)]
    pub because: Vec<String>,
    /// The rules that spoke for that member, and were outweighed.
    #[redact(fixed = 3)]
    pub against: Vec<String>,
}

/// Who was told, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToldReceipt {
    #[serde(flatten)]
    pub told: Told,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
}

/// The times of a delivery; each is absent until it happened.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Receipt {
    /// `waiting`, `offered`, `accepted`, `deferred`, `settled` or `dead`.
    pub state: String,
    pub attempt: u16,
    pub fence: u32,
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub offered_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub accepted_at: Option<Timestamp>,
    /// When a knock's content was pulled.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub retrieved_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub settled_at: Option<Timestamp>,
    /// Until when it was put off last.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub deferred_until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Disposition>>")]
    pub disposition: Option<Disposition>,
    /// What the member said of it without a message: why it put it off, declined it, or could not do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub note: Option<String>,
    /// Since when its clock stands still, because the host itself withholds the right to answer.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub stands_still_since: Option<Timestamp>,
}
