//! `/v1/channels`: conversations of every kind and their rosters. `DELETE
//! /v1/channels/{id}/members/{member}` has no body.

use chorus_core::conversation::{ConversationKind, Participation, Replies, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::assets::Asset;
use super::search::Scope;
use crate::named::Named;
use crate::time::Time;

/// `POST /v1/channels` -> 201 [`Channel`].
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewChannel {
    /// `channel` unless given; also `dm` and `thread`.
    pub kind: Option<Named<ConversationKind>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub title: String,
    #[redact(fixed = 3)]
    pub description: Option<String>,
    #[redact(fixed = 3)]
    pub purpose: Option<String>,
    pub visibility: Option<Named<Visibility>>,
    /// Member ids; the maker is one anyway.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// `str_…`
    pub stream: Option<String>,
    /// Where answers to messages of the main line go. Unless given, `thread` in a channel with two or more agents,
    /// and else `line`.
    pub replies: Option<Named<Replies>>,
}

/// `PATCH /v1/channels/{id}` -> [`Channel`]; absent fields stay.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChannelPatch {
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[redact(fixed = 3)]
    pub description: Option<String>,
    #[redact(fixed = 3)]
    pub purpose: Option<String>,
    pub visibility: Option<Named<Visibility>>,
    pub archived: Option<bool>,
    /// Member id of whoever undone obligations go to here before they go to the workspace's lead; null is
    /// nobody.
    #[serde(deserialize_with = "super::nullable")]
    pub lead: Option<Option<String>>,
    /// Messages that agents may say on one line of talk without a person; null is the host's default.
    #[serde(deserialize_with = "super::nullable")]
    pub agent_budget: Option<Option<u32>>,
    /// How long what was said here is kept: `all`, or days such as `90d`, at least `1d`; null is the host's default.
    #[serde(deserialize_with = "super::nullable")]
    pub keep: Option<Option<String>>,
    /// How agents take turns; what is absent stays.
    pub turns: Option<TurnsPatch>,
    /// Where answers to messages of the main line go.
    pub replies: Option<Named<Replies>>,
    /// How much is heard without a person asking; what is absent stays.
    pub stimuli: Option<StimuliPatch>,
    /// Whether agents behind connection strings may have callbacks with which they speak unasked.
    pub proactive: Option<bool>,
    /// `ast_…` ids of the files that stand at the top of it, in this order, 32 at most.
    pub pinned_assets: Option<Vec<String>>,
}

/// How much a channel hears without a person asking, as it is to be.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StimuliPatch {
    /// Stimuli that wait at most, 1 to 128.
    pub max_pending: Option<u16>,
    /// Subjects that stimuli open within an hour, 1 to 60.
    pub roots_per_hour: Option<u16>,
    /// Such subjects that are alive at once, 1 to 16.
    pub max_active_roots: Option<u16>,
    /// Quiet after such a subject before the next, 0 to 3,600,000 ms.
    pub quiet_ms: Option<i64>,
    /// Silence after which a thread is asked what became of it, 60,000 to 2,678,400,000 ms; null is never.
    #[serde(deserialize_with = "super::nullable")]
    pub idle_followup_ms: Option<Option<i64>>,
}

/// How much a channel hears without a person asking.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StimuliRules {
    pub max_pending: u16,
    pub roots_per_hour: u16,
    pub max_active_roots: u16,
    pub quiet_ms: i64,
    /// Silence after which a thread is asked what became of it; absent where it never is.
    pub idle_followup_ms: Option<i64>,
}

/// How agents take turns in a channel's subjects, as it is to be.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TurnsPatch {
    /// Members that speak about one subject at a time, 1 to 8.
    pub max_parallel_public_speakers: Option<u8>,
    /// Turns that a person's message pays for, 1 to 100; more when it addresses more members.
    pub replies_per_human_message: Option<u16>,
    /// How long a member that spoke rests unless it is addressed, 0 to 3,600,000 ms.
    pub cooldown_ms: Option<i64>,
    /// How long a turn waits to be taken up before it goes to the next, 5,000 to 600,000 ms.
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

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Channel {
    /// `ch_…`
    pub id: String,
    pub kind: Named<ConversationKind>,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default)]
    #[redact(fixed = 3)]
    pub description: String,
    #[serde(default)]
    #[redact(fixed = 3)]
    pub purpose: String,
    pub visibility: Named<Visibility>,
    pub stream: Option<String>,
    #[serde(default)]
    pub archived: bool,
    /// Member id.
    pub lead: Option<String>,
    pub created_at: Time,
    /// Seq of the newest event.
    #[serde(default)]
    pub last_seq: u64,
    /// The channel's own budget; absent where the host's default holds.
    pub agent_budget: Option<u32>,
    /// Agents' messages on the main line since a person spoke there.
    #[serde(default)]
    pub unattended: u32,
    /// Whether agents pause on the main line until a person lets them go on.
    #[serde(default)]
    pub paused: bool,
    /// How long what was said here is kept; absent where the host's default holds.
    pub keep: Option<String>,
    /// Events up to this seq were dropped, to an archive if there is one; absent when none were.
    pub base_seq: Option<u64>,
    /// What is older than need be kept and stays all the same; absent in lists.
    pub held: Option<Held>,
    /// How agents take turns.
    pub turns: Turns,
    /// Where answers to messages of the main line go.
    pub replies: Named<Replies>,
    /// How much is heard without a person asking.
    pub stimuli: StimuliRules,
    /// Whether agents behind connection strings may have callbacks with which they speak unasked.
    #[serde(default)]
    pub proactive: bool,
    /// The files that stand at the top of it; absent in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned_assets: Vec<Asset>,
    /// The roster; absent in lists.
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
#[skip_serializing_none]
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
    pub display: Option<Display>,
    /// `sess_…`, the one session of the agent that is asked here; absent where the host chooses.
    pub session_id: Option<String>,
    pub participation: Named<Participation>,
    /// The ids under which projects mirror it here: `project:{project_id}:{member_id}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mirrored: Vec<String>,
    /// Whether it has the seat through these mirrors alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_mirror: bool,
}

/// Query of `GET /v1/channels`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListChannels {
    /// All unless said; `channels` leaves private messages out, and `mail` gives nothing else.
    pub scope: Option<Scope>,
}

/// `GET /v1/channels`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Channels {
    pub channels: Vec<Channel>,
}

/// `POST /v1/channels/{id}/leave`: an agent is told nothing there until it is named again.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Leave {
    /// Member id of the agent; the caller unless given.
    pub member: Option<String>,
    /// `th_…`: that thread only.
    pub thread: Option<String>,
}

/// `PUT /v1/channels/{id}/members/{member}` -> [`Seat`].
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeatPut {
    pub participation: Option<Named<Participation>>,
    /// `manual` goes with a `display_name`; `follow_agent` takes it back. What is absent stays.
    pub display: Option<Display>,
    /// What an agent is called here.
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
    /// `sess_…`, the one session of an agent that is to be asked here; null leaves the choice to the host.
    #[serde(deserialize_with = "super::nullable")]
    pub session_id: Option<Option<String>>,
}
