//! `/v1/channels/{id}/stimuli`: requests to open or continue a public thread that no person has
//! asked for.

use chorus_core::model::stimulus::{StimulusKind, StimulusState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// What a stimulus does in the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StimulusScope {
    /// Open a subject, or continue the active thread with its `initiative_key`.
    #[default]
    Channel,
    /// Continue one thread.
    Thread,
}

/// Who sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StimulusVisibility {
    #[default]
    Public,
    /// Only its targets; only in a thread.
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
    /// Title of the subject's thread; by default the text's first line.
    #[redact(fixed = 3)]
    pub title: Option<String>,
    /// The member in whose name it is posted: the caller, unless an operator or orchestrator names
    /// another.
    #[redact(fixed = 3)]
    pub source: Option<String>,
    /// Ids of the members it is for.
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
    /// The time after which it is no longer posted.
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
    /// Absent once it is posted or superseded.
    #[redact(fixed = 3)]
    pub text: Option<String>,
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    #[redact(fixed = 3)]
    pub dedupe_key: Option<String>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    pub created_at: Time,
    /// When the host considers it next; absent once it has ended.
    pub due_at: Option<Time>,
    pub expires_at: Option<Time>,
    pub ended_at: Option<Time>,
    /// The event that was posted for it.
    pub event_id: Option<String>,
    /// The stimulus that superseded it.
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
