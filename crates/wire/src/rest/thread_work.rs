//! The state of a thread's work.

use chorus_core::model::stimulus::StimulusKind;
use chorus_core::model::thread::work::{BindingKind, WorkStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// `PATCH /v1/threads/{id}/work` -> [`Thread`](super::threads::Thread); absent fields are
/// unchanged, null removes a value.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkPatch {
    /// It can only move forward.
    pub status: Option<Named<WorkStatus>>,
    #[serde(deserialize_with = "super::nullable")]
    #[redact(fixed = 3)]
    pub topic_kind: Option<Option<String>>,
    /// `sess_…`
    #[serde(deserialize_with = "super::nullable")]
    pub owner_session: Option<Option<String>>,
    /// Identifies the initiative. At most one active thread of a channel has the same key.
    #[serde(deserialize_with = "super::nullable")]
    #[redact(fixed = 3)]
    pub initiative_key: Option<Option<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bind: Vec<Binding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unbind: Vec<Binding>,
    /// Replaces the previous report with the same key.
    pub progress: Option<Report>,
    /// Keys of progress reports to remove.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<String>,
}

/// An external object, by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    pub kind: Named<BindingKind>,
    pub id: String,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    #[redact(fixed = 3)]
    pub key: String,
    #[redact(fixed = 3)]
    pub text: String,
    /// 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    pub percent: Option<u8>,
}

/// The state of a thread's work.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    pub status: Named<WorkStatus>,
    #[redact(fixed = 3)]
    pub topic_kind: Option<String>,
    pub owner_session: Option<String>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    /// The newest report of each key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<Progress>,
    /// The result.
    pub summary: Option<Summary>,
    /// The stimulus that last opened or continued the thread.
    pub stimulus: Option<LastTrigger>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    #[redact(fixed = 3)]
    pub key: String,
    #[redact(fixed = 3)]
    pub text: String,
    pub percent: Option<u8>,
    pub at: Time,
    pub by: String,
    /// The newest message with this progress, if a stimulus posted one. Later reports replace the
    /// text without a message.
    pub event_id: Option<String>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    #[redact(fixed = 3)]
    pub text: String,
    pub at: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Spur")]
pub struct LastTrigger {
    /// `stm_…`
    pub id: String,
    pub kind: Named<StimulusKind>,
    pub at: Time,
}

/// `POST /v1/messages/{id}/promote` -> [`Thread`](super::threads::Thread): shows the message in the
/// channel's feed.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Promote {
    /// Why everybody should see it.
    #[redact(fixed = 3)]
    pub note: Option<String>,
}
