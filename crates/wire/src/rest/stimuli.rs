//! `/v1/channels/{id}/stimuli`: requests to open or continue a public thread without a person asking.

use chorus_core::model::ids::Timestamp;
use chorus_core::model::stimulus::{StimulusKind, StimulusState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// What of a channel a stimulus may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StimulusScope {
    /// Open a subject, or continue the live thread of its `initiative_key`.
    #[default]
    Channel,
    /// Continue one thread.
    Thread,
}

/// To whom it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StimulusVisibility {
    #[default]
    Public,
    /// To its targets only; in a thread.
    Targets,
}

/// `POST /v1/channels/{id}/stimuli` -> 201 [`Stimulus`].
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStimulus {
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<StimulusKind>")]
    pub kind: StimulusKind,
    #[redact(fixed = 3)]
    pub text: String,
    #[serde(default)]
    pub scope: StimulusScope,
    /// `th_…`, with scope `thread`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Of the subject's thread; the text's first line where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub title: Option<String>,
    /// The member whose word it is: the caller, unless an operator or orchestrator names another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub source: Option<String>,
    /// Members whom it is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    #[serde(default)]
    pub visibility: StimulusVisibility,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub dedupe_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    /// Not said by then, it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub expires_at: Option<Timestamp>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stimulus {
    /// `stm_…`
    pub id: String,
    pub conversation: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<StimulusKind>")]
    pub kind: StimulusKind,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<StimulusState>")]
    pub state: StimulusState,
    pub scope: StimulusScope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    #[redact(fixed = 3)]
    pub source: String,
    pub targets: Vec<String>,
    pub visibility: StimulusVisibility,
    /// Absent once it is said or another stands in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub dedupe_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// When it is next looked at; absent once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub due_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub ended_at: Option<Timestamp>,
    /// The event that it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// The stimulus that stands in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Why it was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub reason: Option<String>,
}

/// `GET /v1/channels/{id}/stimuli`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stimuli {
    pub stimuli: Vec<Stimulus>,
}

/// Query of `GET /v1/channels/{id}/stimuli`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListStimuli {
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<StimulusState>>")]
    pub state: Option<StimulusState>,
}
