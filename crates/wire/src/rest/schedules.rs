//! `/v1/channels/{id}/schedules`: what a channel is asked again and again.

use chorus_core::schedule::Fired;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// `POST /v1/channels/{id}/schedules` -> 201 [`Schedule`]. Exactly one of `cron` and `every_ms`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSchedule {
    /// What is said each time; untrusted.
    #[redact(fixed = 3)]
    pub text: String,
    /// Five fields: minute, hour, day of the month, month, day of the week.
    pub cron: Option<String>,
    /// The IANA time zone whose clocks `cron` is of; `UTC` unless given.
    pub time_zone: Option<String>,
    /// An interval instead, 60,000 to 2,678,400,000 ms.
    pub every_ms: Option<i64>,
    /// `th_…`: continue this thread instead of opening a subject.
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
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
}

/// `PATCH /v1/channels/{id}/schedules/{schedule}` -> [`Schedule`]. What is absent stays.
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
    /// The member whose word it is.
    #[redact(fixed = 3)]
    pub source: String,
    /// The member that made it, and is told of results.
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
    /// Firings there were.
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
    /// `stm_…`, what it put into the channel's queue.
    pub stimulus: String,
    /// How it ended.
    pub result: Named<Fired>,
}

/// `GET /v1/channels/{id}/schedules`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Schedules {
    pub schedules: Vec<Schedule>,
}
