//! `GET /v1/events/{id}/attention` (why an event was delivered as it was) and `POST
//! /v1/attention/preview` (who would receive a message).

use chorus_core::model::attention::{Directedness, Intent};
use chorus_core::model::disposition::Disposition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::wakes::Wake;
pub use crate::attention::entry::{Told, UnknownName};
use crate::named::Named;
use crate::time::Time;

/// Answer of `POST /v1/attention/preview`, whose body is a [`super::messages::NewMessage`].
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Preview {
    pub intent: Named<Intent>,
    /// The directedness of everybody who is not in `told`.
    pub rest: Named<Directedness>,
    /// The member that the conversation's flow suggests it is for, when the message itself names
    /// nobody.
    pub flow: Option<Flow>,
    /// Why the conversation's flow suggests that it is for nobody in particular.
    pub nobody: Option<Nobody>,
    pub told: Vec<Told>,
    /// Names in its text that match nobody the sender can see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<UnknownName>,
}

/// Answer of `GET /v1/events/{id}/attention`.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    pub event_id: String,
    pub conversation: String,
    pub seq: u64,
    /// Member id of the author.
    pub author: String,
    pub created_at: Time,
    pub intent: Named<Intent>,
    /// The directedness of everybody who is not in `told`.
    pub rest: Named<Directedness>,
    /// The event of the newest edit of this message; an edit is decided on its own. Absent if the
    /// message was never edited.
    pub newest_version: Option<String>,
    /// Number of agents' messages between this message and the last one of a person.
    pub hop: u8,
    /// The event in whose turn it was posted.
    pub cause: Option<String>,
    /// Member id of the claim's holder.
    pub claimed_by: Option<String>,
    /// Whether agents are paused in its timeline now. While they are, their deadlines do not run
    /// and nothing is delivered to them.
    #[serde(default)]
    pub paused: bool,
    /// The member that the conversation's flow suggests it is for, when the message itself names
    /// nobody.
    pub flow: Option<Flow>,
    /// Why the conversation's flow suggests that it is for nobody in particular.
    pub nobody: Option<Nobody>,
    /// The host's current confidence thresholds for such a guess.
    pub bounds: Option<Bounds>,
    pub told: Vec<ToldReceipt>,
    /// What was done to wake agents for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wakes: Vec<Wake>,
}

/// Confidence thresholds in percent (`[attention]` in the settings).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// At or above this the agent must answer.
    pub sure: u8,
    /// At or above this the agent is shown the message and may answer.
    pub likely: u8,
    /// At or above this the agent is notified that there is a message.
    pub perhaps: u8,
}

/// A guess from the conversation's flow.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Member id of the probable addressee.
    pub member: String,
    /// Confidence in percent.
    pub confidence: u8,
    /// The rules in favour of it (`docs/attention.md`).
    #[redact(fixed = 3)]
    pub because: Vec<String>,
    /// The rules against it, which were outweighed.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub against: Vec<String>,
}

/// Why a message is probably for nobody in particular, although there were candidates.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Nobody {
    /// Confidence in percent.
    pub confidence: u8,
    /// The rules against the likeliest member (`docs/attention.md`).
    #[redact(fixed = 3)]
    pub because: Vec<String>,
    /// The rules in favour of that member, which were outweighed.
    #[redact(fixed = 3)]
    pub against: Vec<String>,
}

/// A member to whom the event was delivered, and the outcome.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToldReceipt {
    #[serde(flatten)]
    pub told: Told,
    pub deadline_ms: Option<u32>,
    pub receipt: Option<Receipt>,
}

/// The state and times of a delivery. A time is absent until it has happened.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Receipt {
    /// `waiting`, `offered`, `accepted`, `deferred`, `settled` or `dead`.
    pub state: String,
    pub attempt: u16,
    pub fence: u32,
    pub offered_at: Option<Time>,
    pub accepted_at: Option<Time>,
    /// When a knock's content was fetched.
    pub retrieved_at: Option<Time>,
    pub settled_at: Option<Time>,
    /// The time to which it was last deferred.
    pub deferred_until: Option<Time>,
    pub disposition: Option<Named<Disposition>>,
    /// The member's note on the outcome: why it deferred, declined or could not do it.
    #[redact(fixed = 3)]
    pub note: Option<String>,
    /// When its deadline was suspended, because the host itself withholds the right to answer.
    pub stands_still_since: Option<Time>,
}
