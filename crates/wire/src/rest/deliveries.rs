//! `/v1/deliveries`: what is on its way to whom, and dead letters, which can be sent again.

use chorus_core::attention::{Directedness, Mode, Policy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::attention::Receipt;
use crate::named::Named;
use crate::time::Time;

/// Query of `GET /v1/deliveries`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListDeliveries {
    pub state: Option<StateFilter>,
    /// Member id; the caller unless given.
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

#[skip_serializing_none]
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
    pub created_at: Time,
    /// When an answer is overdue; absent where none is owed, or a person owes it.
    pub due_at: Option<Time>,
    /// The obligation was not met in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overdue: bool,
    /// Member ids of those it was taken from, in the order in which they had it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved_from: Vec<String>,
    pub directedness: Named<Directedness>,
    pub policy: Named<Policy>,
    pub mode: Named<Mode>,
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
