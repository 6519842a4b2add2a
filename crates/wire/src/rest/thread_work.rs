//! How the work of a thread stands.

use chorus_core::model::ids::Timestamp;
use chorus_core::model::stimulus::StimulusKind;
use chorus_core::model::thread::work::{BindingKind, WorkStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// `PATCH /v1/threads/{id}/work` -> [`Thread`](super::threads::Thread); absent fields stay, a null is none.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkPatch {
    /// It never goes back.
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<WorkStatus>>")]
    pub status: Option<WorkStatus>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<String>")]
    #[redact(fixed = 3)]
    pub topic_kind: Option<Option<String>>,
    /// `sess_…`
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<String>")]
    pub owner_session: Option<Option<String>>,
    /// Names the undertaking: one live thread of a channel has it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<String>")]
    #[redact(fixed = 3)]
    pub initiative_key: Option<Option<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bind: Vec<Binding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unbind: Vec<Binding>,
    /// Takes the place of what was said of this key before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Report>,
    /// Keys of progress that is over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<String>,
}

/// A thing outside, by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<BindingKind>")]
    pub kind: BindingKind,
    pub id: String,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    #[redact(fixed = 3)]
    pub key: String,
    #[redact(fixed = 3)]
    pub text: String,
    /// 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub percent: Option<u8>,
}

/// How the work of a thread stands.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<WorkStatus>")]
    pub status: WorkStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub topic_kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    /// The newest of each key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<Progress>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The stimulus that last opened or continued the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stimulus: Option<Spur>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    #[redact(fixed = 3)]
    pub key: String,
    #[redact(fixed = 3)]
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub at: Timestamp,
    pub by: String,
    /// The newest message of this stream, if a stimulus said it; what came after it took its place and is no message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    #[redact(fixed = 3)]
    pub text: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spur {
    /// `stm_…`
    pub id: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<StimulusKind>")]
    pub kind: StimulusKind,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub at: Timestamp,
}

/// `POST /v1/messages/{id}/promote` -> [`Thread`](super::threads::Thread): the message stands in the channel's feed.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Promote {
    /// Why all should see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub note: Option<String>,
}
