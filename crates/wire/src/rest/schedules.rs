//! `/v1/channels/{id}/schedules`: what a channel is asked again and again.

use chorus_core::model::ids::Timestamp;
use chorus_core::model::schedule::Fired;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// `POST /v1/channels/{id}/schedules` -> 201 [`Schedule`]. Exactly one of `cron` and `every_ms`.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSchedule {
    /// What is said each time; untrusted.
    #[redact(fixed = 3)]
    pub text: String,
    /// Five fields: minute, hour, day of the month, month, day of the week.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// The IANA time zone whose clocks `cron` is of; `UTC` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// An interval instead, 60,000 to 2,678,400,000 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<i64>,
    /// `th_…`: continue this thread instead of opening a subject.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
}

/// `PATCH /v1/channels/{id}/schedules/{schedule}` -> [`Schedule`]. What is absent stays.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulePatch {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// `sch_…`
    pub id: String,
    pub conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<i64>,
    #[redact(fixed = 3)]
    pub text: String,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The member whose word it is.
    #[redact(fixed = 3)]
    pub source: String,
    /// The member that made it, and is told of results.
    pub maker: String,
    #[serde(default)]
    pub targets: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    pub paused: bool,
    /// When it fires next.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub next_at: Option<Timestamp>,
    /// Firings there were.
    pub fired: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Firing>,
    /// The newest 32, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub firings: Vec<Firing>,
}

/// One firing of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Firing {
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub at: Timestamp,
    /// `stm_…`, what it put into the channel's queue.
    pub stimulus: String,
    /// How it ended.
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Fired>")]
    pub result: Fired,
}

/// `GET /v1/channels/{id}/schedules`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Schedules {
    pub schedules: Vec<Schedule>,
}
