//! `/v1/channels`: conversations of every kind and their rosters. `DELETE
//! /v1/channels/{id}/members/{member}` has no body.

use chorus_core::model::conversation::{ConversationKind, Participation, Replies, Visibility};
use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::assets::Asset;
use super::search::Scope;
use crate::words;

/// `POST /v1/channels` -> 201 [`Channel`].
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewChannel {
    /// `channel` unless given; also `dm` and `thread`.
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<ConversationKind>>")]
    pub kind: Option<ConversationKind>,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub purpose: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Visibility>>")]
    pub visibility: Option<Visibility>,
    /// Member ids; the maker is one anyway.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// `str_…`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Where answers to messages of the main line go. Unless given, `thread` in a channel with two or more agents,
    /// and else `line`.
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Replies>>")]
    pub replies: Option<Replies>,
}

/// `PATCH /v1/channels/{id}` -> [`Channel`]; absent fields stay.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChannelPatch {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub purpose: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Visibility>>")]
    pub visibility: Option<Visibility>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Member id of whoever undone obligations go to here before they go to the workspace's lead; null is
    /// nobody.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<String>")]
    pub lead: Option<Option<String>>,
    /// Messages that agents may say on one line of talk without a person; null is the host's default.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<u32>")]
    pub agent_budget: Option<Option<u32>>,
    /// How long what was said here is kept: `all`, or days such as `90d`, at least `1d`; null is the host's default.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<String>")]
    pub keep: Option<Option<String>>,
    /// How agents take turns; what is absent stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<TurnsPatch>,
    /// Where answers to messages of the main line go.
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Replies>>")]
    pub replies: Option<Replies>,
    /// How much is heard without a person asking; what is absent stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stimuli: Option<StimuliPatch>,
    /// Whether agents behind connection strings may have callbacks with which they speak unasked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proactive: Option<bool>,
    /// `ast_…` ids of the files that stand at the top of it, in this order, 32 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned_assets: Option<Vec<String>>,
}

/// How much a channel hears without a person asking, as it is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StimuliPatch {
    /// Stimuli that wait at most, 1 to 128.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pending: Option<u16>,
    /// Subjects that stimuli open within an hour, 1 to 60.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots_per_hour: Option<u16>,
    /// Such subjects that are alive at once, 1 to 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_active_roots: Option<u16>,
    /// Quiet after such a subject before the next, 0 to 3,600,000 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_ms: Option<i64>,
    /// Silence after which a thread is asked what became of it, 60,000 to 2,678,400,000 ms; null is never.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<i64>")]
    pub idle_followup_ms: Option<Option<i64>>,
}

/// How much a channel hears without a person asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StimuliRules {
    pub max_pending: u16,
    pub roots_per_hour: u16,
    pub max_active_roots: u16,
    pub quiet_ms: i64,
    /// Silence after which a thread is asked what became of it; absent where it never is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_followup_ms: Option<i64>,
}

/// How agents take turns in a channel's subjects, as it is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TurnsPatch {
    /// Members that speak about one subject at a time, 1 to 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_parallel_public_speakers: Option<u8>,
    /// Turns that a person's message pays for, 1 to 100; more when it addresses more members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replies_per_human_message: Option<u16>,
    /// How long a member that spoke rests unless it is addressed, 0 to 3,600,000 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown_ms: Option<i64>,
    /// How long a turn waits to be taken up before it goes to the next, 5,000 to 600,000 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance_ms: Option<i64>,
}

/// How agents take turns in a channel's subjects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turns {
    pub max_parallel_public_speakers: u8,
    pub replies_per_human_message: u16,
    pub cooldown_ms: i64,
    pub acceptance_ms: i64,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Channel {
    /// `ch_…`
    pub id: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<ConversationKind>")]
    pub kind: ConversationKind,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default)]
    #[redact(fixed = 3)]
    pub description: String,
    #[serde(default)]
    #[redact(fixed = 3)]
    pub purpose: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Visibility>")]
    pub visibility: Visibility,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    #[serde(default)]
    pub archived: bool,
    /// Member id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<String>,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// Seq of the newest event.
    #[serde(default)]
    pub last_seq: u64,
    /// The channel's own budget; absent where the host's default holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_budget: Option<u32>,
    /// Agents' messages on the main line since a person spoke there.
    #[serde(default)]
    pub unattended: u32,
    /// Whether agents pause on the main line until a person lets them go on.
    #[serde(default)]
    pub paused: bool,
    /// How long what was said here is kept; absent where the host's default holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
    /// Events up to this seq were dropped, to an archive if there is one; absent when none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_seq: Option<u64>,
    /// What is older than need be kept and stays all the same; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// How agents take turns.
    pub turns: Turns,
    /// Where answers to messages of the main line go.
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Replies>")]
    pub replies: Replies,
    /// How much is heard without a person asking.
    pub stimuli: StimuliRules,
    /// Whether agents behind connection strings may have callbacks with which they speak unasked.
    #[serde(default)]
    pub proactive: bool,
    /// The files that stand at the top of it; absent in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned_assets: Vec<Asset>,
    /// The roster; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<Seat>>,
}

/// The first event that must be kept although its time is over, with all that came after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    pub seq: u64,
    /// `owed`, `approval`, `thread`, `digest` or `damage`.
    pub by: String,
}

/// What takes a seat: a person, or an agent, whose sessions are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeatKind {
    HumanActor,
    #[default]
    Session,
}

/// How an agent is called in a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Display {
    /// By a name that it has there alone.
    Manual,
    /// As the agent is called everywhere, whatever that is by then.
    #[default]
    FollowAgent,
}

/// A member on a roster.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seat {
    /// Member id.
    pub member: String,
    #[serde(default)]
    pub kind: SeatKind,
    /// What it is called in this conversation.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub display_name: String,
    /// Where that name is from; absent for people, who go by their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<Display>,
    /// `sess_…`, the one session of the agent that is asked here; absent where the host chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Participation>")]
    pub participation: Participation,
    /// The ids under which projects mirror it here: `project:{project_id}:{member_id}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mirrored: Vec<String>,
    /// Whether it has the seat through these mirrors alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_mirror: bool,
}

/// Query of `GET /v1/channels`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListChannels {
    /// All unless said; `channels` leaves private messages out, and `mail` gives nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

/// `GET /v1/channels`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Channels {
    pub channels: Vec<Channel>,
}

/// `POST /v1/channels/{id}/leave`: an agent is told nothing there until it is named again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Leave {
    /// Member id of the agent; the caller unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// `th_…`: that thread only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// `PUT /v1/channels/{id}/members/{member}` -> [`Seat`].
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeatPut {
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Participation>>")]
    pub participation: Option<Participation>,
    /// `manual` goes with a `display_name`; `follow_agent` takes it back. What is absent stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<Display>,
    /// What an agent is called here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
    /// `sess_…`, the one session of an agent that is to be asked here; null leaves the choice to the host.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<String>")]
    pub session_id: Option<Option<String>>,
}
