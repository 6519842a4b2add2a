//! How the work of a thread stands.

use chorus_core::stimulus::StimulusKind;
use chorus_core::thread::work::{BindingKind, WorkStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// `PATCH /v1/threads/{id}/work` -> [`Thread`](super::threads::Thread); absent fields stay, a null is none.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkPatch {
    /// It never goes back.
    pub status: Option<Named<WorkStatus>>,
    #[serde(deserialize_with = "super::nullable")]
    #[redact(fixed = 3)]
    pub topic_kind: Option<Option<String>>,
    /// `sess_…`
    #[serde(deserialize_with = "super::nullable")]
    pub owner_session: Option<Option<String>>,
    /// Names the undertaking: one live thread of a channel has it.
    #[serde(deserialize_with = "super::nullable")]
    #[redact(fixed = 3)]
    pub initiative_key: Option<Option<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bind: Vec<Binding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unbind: Vec<Binding>,
    /// Takes the place of what was said of this key before.
    pub progress: Option<Report>,
    /// Keys of progress that is over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<String>,
}

/// A thing outside, by its id.
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

/// How the work of a thread stands.
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
    /// The newest of each key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<Progress>,
    /// What came of it.
    pub summary: Option<Summary>,
    /// The stimulus that last opened or continued the thread.
    pub stimulus: Option<Spur>,
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
    /// The newest message of this stream, if a stimulus said it; what came after it took its place and is no message.
    pub event_id: Option<String>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    #[redact(fixed = 3)]
    pub text: String,
    pub at: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spur {
    /// `stm_…`
    pub id: String,
    pub kind: Named<StimulusKind>,
    pub at: Time,
}

/// `POST /v1/messages/{id}/promote` -> [`Thread`](super::threads::Thread): the message stands in the channel's feed.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Promote {
    /// Why all should see it.
    #[redact(fixed = 3)]
    pub note: Option<String>,
}
