//! `/v1/deliveries`: open deliveries and their recipients, and dead letters, which can be
//! redelivered.

use chorus_core::model::attention::{Directedness, Mode, Policy};
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
    /// Member id; the caller by default.
    pub member: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StateFilter {
    #[default]
    Open,
    /// Obligations that were not met in time: reassigned and still open, or with nobody left to
    /// reassign them to. Visible to everybody concerned: the current and former holders, the
    /// author, and the leads.
    Overdue,
    Dead,
    All,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// `<event id>:<member id>`, for `POST /v1/deliveries/{id}/redeliver`.
    pub id: String,
    pub event_id: String,
    pub conversation: String,
    /// Member id.
    pub member: String,
    /// Member id of the event's author.
    #[serde(default)]
    pub author: String,
    pub created_at: Time,
    /// When an answer becomes overdue; absent if none is owed, or if a person owes it.
    pub due_at: Option<Time>,
    /// The obligation was not met in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overdue: bool,
    /// Member ids of its former holders, oldest first.
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
