//! `/v1/deliveries`: what is on its way to whom, and dead letters, which can be sent again.

use chorus_core::model::attention::{Directedness, Mode, Policy};
use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attention::Receipt;
use crate::words;

/// Query of `GET /v1/deliveries`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListDeliveries {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<StateFilter>,
    /// Member id; the caller unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StateFilter {
    #[default]
    Open,
    /// Not met in time: moved on and still owed, or with nobody left to move to. Those of everybody whom they
    /// concern: who holds it, who had it, who asked, and the leads.
    Overdue,
    Dead,
    All,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// `<event id>:<member id>`; names it in `POST /v1/deliveries/{id}/redeliver`.
    pub id: String,
    pub event_id: String,
    pub conversation: String,
    /// Member id.
    pub member: String,
    /// Member id of who posted the event.
    #[serde(default)]
    pub author: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// When an answer is overdue; absent where none is owed, or a person owes it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub due_at: Option<Timestamp>,
    /// The obligation was not met in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overdue: bool,
    /// Member ids of those it was taken from, in the order in which they had it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved_from: Vec<String>,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Directedness>")]
    pub directedness: Directedness,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Policy>")]
    pub policy: Policy,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Mode>")]
    pub mode: Mode,
    #[redact(fixed = 3)]
    pub reason: String,
    #[serde(flatten)]
    pub receipt: Receipt,
}

/// `GET /v1/deliveries`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deliveries {
    pub deliveries: Vec<Delivery>,
}

/// The id of a delivery: `<event id>:<member id>`.
pub fn id(event_id: &str, member: &str) -> String {
    format!("{event_id}:{member}")
}

/// Reads what [`id`] wrote: event id and member id.
pub fn read_id(id: &str) -> Option<(&str, &str)> {
    id.split_once(':').filter(|(event, member)| !event.is_empty() && !member.is_empty())
}
