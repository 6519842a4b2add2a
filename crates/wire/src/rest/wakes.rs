//! `/v1/wakes`: what was done to bring agents back to mail that waits for them.

use chorus_core::model::wake::{Lane, ReportResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// `POST /v1/wakes`: wakes an agent for messages that wait for it.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWake {
    /// Member id of the agent.
    pub member: String,
    /// Where its messages wait: `th_…` or `ch_…`.
    pub thread: String,
    /// In one word; `new_unread_messages` by default.
    pub reason: Option<String>,
    /// What to tell the agent, at most 4,096 bytes.
    #[redact(fixed = 3)]
    pub prompt: Option<String>,
    /// Whether not to wait until a person has stopped typing. Only for operators.
    #[serde(default)]
    pub force: bool,
}

/// The answer of `POST /v1/wakes`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenedWake {
    /// Absent when nothing waits for the agent there, so that nothing was done.
    pub wake: Option<Wake>,
}

/// `GET /v1/wakes`
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListWakes {
    /// Those of one agent, by its member id.
    pub member: Option<String>,
}

/// Open wakes and those that ended lately, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wakes {
    pub wakes: Vec<Wake>,
}

/// A wake of an agent's session.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wake {
    /// `wake_…`
    pub id: String,
    /// Member id of the agent.
    pub member: String,
    /// `sess_…` of its runner's session.
    pub session: String,
    /// `pending`, `handed`, `deferred`, `running`, `done` or `dead`.
    pub state: String,
    pub reason: String,
    /// Whether an operator asked not to wait for a person who types.
    pub force: bool,
    /// Rises each time that the wake is handed to the runner anew.
    pub fence: u32,
    pub threads: Vec<WakeThread>,
    /// What the runner tried, oldest first.
    pub attempts: Vec<WakeAttempt>,
    /// How it ended: `answered`, `obsolete`, `wake_failed`, `no_progress` or `no_runner`.
    pub outcome: Option<String>,
    pub opened_at: Time,
    pub changed_at: Time,
    pub deferred_until: Option<Time>,
    /// The last lines on the program's screen when it made no progress. Untrusted.
    #[redact(fixed = 3)]
    pub lines: Option<String>,
}

/// Where the mail is that a wake covers.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WakeThread {
    /// `ch_…`
    pub conversation: String,
    /// `th_…`, where the mail is in a thread.
    pub thread: Option<String>,
    /// The newest message that is covered.
    pub through_seq: u64,
}

/// One lane that was tried.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WakeAttempt {
    pub lane: Named<Lane>,
    pub result: Named<ReportResult>,
    pub why: Option<String>,
    /// Untrusted.
    #[redact(fixed = 3)]
    pub evidence: Option<String>,
    pub at: Time,
}
