//! `/v1/channels/{id}/schedules`: stimuli that recur at set times.

use chorus_core::model::schedule::Fired;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// `POST /v1/channels/{id}/schedules` -> 201 [`Schedule`]. Give exactly one of `cron` and
/// `every_ms`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSchedule {
    /// The text that is posted each time. Untrusted.
    #[redact(fixed = 3)]
    pub text: String,
    /// Five fields: minute, hour, day of the month, month, day of the week.
    pub cron: Option<String>,
    /// The IANA time zone of `cron`; `UTC` by default.
    pub time_zone: Option<String>,
    /// An interval instead of `cron`, 60,000 to 2,678,400,000 ms.
    pub every_ms: Option<i64>,
    /// Continue this thread, `th_…`, instead of opening a subject.
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
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
}

/// `PATCH /v1/channels/{id}/schedules/{schedule}` -> [`Schedule`]. Absent fields are unchanged.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulePatch {
    #[redact(fixed = 3)]
    pub text: Option<String>,
    #[redact(fixed = 3)]
    pub title: Option<String>,
    pub cron: Option<String>,
    pub time_zone: Option<String>,
    pub every_ms: Option<i64>,
    pub targets: Option<Vec<String>>,
    pub paused: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// `sch_…`
    pub id: String,
    pub conversation: String,
    pub cron: Option<String>,
    pub time_zone: Option<String>,
    pub every_ms: Option<i64>,
    #[redact(fixed = 3)]
    pub text: String,
    #[redact(fixed = 3)]
    pub title: String,
    pub thread: Option<String>,
    /// The member in whose name it is posted.
    #[redact(fixed = 3)]
    pub source: String,
    /// Its creator, who is notified of results.
    pub maker: String,
    #[serde(default)]
    pub targets: Vec<String>,
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    pub created_at: Time,
    pub paused: bool,
    /// When it fires next.
    pub next_at: Option<Time>,
    /// Number of firings so far.
    pub fired: u32,
    pub last: Option<Firing>,
    /// The newest 32, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub firings: Vec<Firing>,
}

/// One firing of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Firing {
    pub at: Time,
    /// The stimulus that it queued, `stm_…`.
    pub stimulus: String,
    /// The result.
    pub result: Named<Fired>,
}

/// `GET /v1/channels/{id}/schedules`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Schedules {
    pub schedules: Vec<Schedule>,
}
