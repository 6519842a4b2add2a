//! `/v1/channels/{id}/stimuli`: requests to open or continue a public thread without a person asking.

use chorus_core::stimulus::{StimulusKind, StimulusState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

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
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStimulus {
    pub kind: Named<StimulusKind>,
    #[redact(fixed = 3)]
    pub text: String,
    #[serde(default)]
    pub scope: StimulusScope,
    /// `th_…`, with scope `thread`.
    pub thread: Option<String>,
    /// Of the subject's thread; the text's first line where none is given.
    #[redact(fixed = 3)]
    pub title: Option<String>,
    /// The member whose word it is: the caller, unless an operator or orchestrator names another.
    #[redact(fixed = 3)]
    pub source: Option<String>,
    /// Members whom it is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    #[serde(default)]
    pub visibility: StimulusVisibility,
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    #[redact(fixed = 3)]
    pub dedupe_key: Option<String>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    /// Not said by then, it is not said.
    pub expires_at: Option<Time>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stimulus {
    /// `stm_…`
    pub id: String,
    pub conversation: String,
    pub kind: Named<StimulusKind>,
    pub state: Named<StimulusState>,
    pub scope: StimulusScope,
    pub thread: Option<String>,
    #[redact(fixed = 3)]
    pub source: String,
    pub targets: Vec<String>,
    pub visibility: StimulusVisibility,
    /// Absent once it is said or another stands in its place.
    #[redact(fixed = 3)]
    pub text: Option<String>,
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    #[redact(fixed = 3)]
    pub dedupe_key: Option<String>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    pub created_at: Time,
    /// When it is next looked at; absent once it has ended.
    pub due_at: Option<Time>,
    pub expires_at: Option<Time>,
    pub ended_at: Option<Time>,
    /// The event that it became.
    pub event_id: Option<String>,
    /// The stimulus that stands in its place.
    pub superseded_by: Option<String>,
    /// Why it was cancelled.
    #[redact(fixed = 3)]
    pub reason: Option<String>,
}

/// `GET /v1/channels/{id}/stimuli`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stimuli {
    pub stimuli: Vec<Stimulus>,
}

/// Query of `GET /v1/channels/{id}/stimuli`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListStimuli {
    pub state: Option<Named<StimulusState>>,
}
