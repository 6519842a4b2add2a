//! `/v1/channels`: conversations of every kind and their rosters. `DELETE
//! /v1/channels/{id}/members/{member}` has no body.

use chorus_core::model::conversation::{ConversationKind, Participation, Replies, Visibility};
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
    /// `channel` by default; also `dm` and `thread`.
    pub kind: Option<Named<ConversationKind>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub title: String,
    #[redact(fixed = 3)]
    pub description: Option<String>,
    #[redact(fixed = 3)]
    pub purpose: Option<String>,
    pub visibility: Option<Named<Visibility>>,
    /// Member ids. The creator is always a member.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// `str_…`
    pub stream: Option<String>,
    /// Where replies to messages of the main timeline go. The default is `thread` in a channel with
    /// two or more agents, otherwise `line`.
    pub replies: Option<Named<Replies>>,
}

/// `PATCH /v1/channels/{id}` -> [`Channel`]; absent fields are unchanged.
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
    /// Member id of the channel's lead. Overdue obligations escalate to the lead before they go to
    /// the workspace's lead. Null removes the lead.
    #[serde(deserialize_with = "super::nullable")]
    pub lead: Option<Option<String>>,
    /// Number of messages that agents may post in one timeline before a person must speak; null
    /// restores the host's default.
    #[serde(deserialize_with = "super::nullable")]
    pub agent_budget: Option<Option<u32>>,
    /// How long messages are kept: `all`, or a number of days such as `90d`, at least `1d`; null
    /// restores the host's default.
    #[serde(deserialize_with = "super::nullable")]
    pub keep: Option<Option<String>>,
    /// How agents take turns; absent fields are unchanged.
    pub turns: Option<TurnsPatch>,
    /// Where replies to messages of the main timeline go.
    pub replies: Option<Named<Replies>>,
    /// Limits on stimuli; absent fields are unchanged.
    pub stimuli: Option<StimuliPatch>,
    /// Whether agents behind connection strings may get standing callbacks, with which they can
    /// post without being asked.
    pub proactive: Option<bool>,
    /// Ids of the pinned files, `ast_…`, in display order; at most 32.
    pub pinned_assets: Option<Vec<String>>,
}

/// A change to a channel's limits on stimuli.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StimuliPatch {
    /// Maximum number of stimuli that wait, 1 to 128.
    pub max_pending: Option<u16>,
    /// Maximum number of subjects that stimuli open within an hour, 1 to 60.
    pub roots_per_hour: Option<u16>,
    /// Maximum number of such subjects that are active at once, 1 to 16.
    pub max_active_roots: Option<u16>,
    /// Quiet period between such subjects, 0 to 3,600,000 ms.
    pub quiet_ms: Option<i64>,
    /// Idle time after which the host asks for the status of a thread, 60,000 to 2,678,400,000 ms;
    /// null turns this off.
    #[serde(deserialize_with = "super::nullable")]
    pub idle_followup_ms: Option<Option<i64>>,
}

/// A channel's limits on stimuli.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StimuliRules {
    pub max_pending: u16,
    pub roots_per_hour: u16,
    pub max_active_roots: u16,
    pub quiet_ms: i64,
    /// Idle time after which the host asks for the status of a thread; absent if it never does.
    pub idle_followup_ms: Option<i64>,
}

/// A change to how agents take turns in a channel's subjects.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TurnsPatch {
    /// Maximum number of members that speak on one subject at a time, 1 to 8.
    pub max_parallel_public_speakers: Option<u8>,
    /// Number of turns that a person's message allows, 1 to 100. A message that addresses more
    /// members allows more.
    pub replies_per_human_message: Option<u16>,
    /// How long a member that has spoken waits before its next turn unless it is addressed, 0 to
    /// 3,600,000 ms.
    pub cooldown_ms: Option<i64>,
    /// How long a turn may stay unaccepted before it passes to the next member, 5,000 to 600,000
    /// ms.
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
    /// The channel's own budget; absent if the host's default applies.
    pub agent_budget: Option<u32>,
    /// Number of agents' messages in the main timeline since a person last spoke there.
    #[serde(default)]
    pub unattended: u32,
    /// Whether agents are paused in the main timeline until a person lets them continue.
    #[serde(default)]
    pub paused: bool,
    /// How long messages are kept; absent if the host's default applies.
    pub keep: Option<String>,
    /// Events up to this seq were removed, to an archive if there is one; absent if none were.
    pub base_seq: Option<u64>,
    /// What prevents the removal of events past their retention time; absent in lists.
    pub held: Option<Held>,
    /// How agents take turns.
    pub turns: Turns,
    /// Where replies to messages of the main timeline go.
    pub replies: Named<Replies>,
    /// Limits on stimuli.
    pub stimuli: StimuliRules,
    /// Whether agents behind connection strings may get standing callbacks, with which they can
    /// post without being asked.
    #[serde(default)]
    pub proactive: bool,
    /// The pinned files; absent in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned_assets: Vec<Asset>,
    /// The roster; absent in lists.
    pub members: Option<Vec<Seat>>,
}

/// The first event that is kept past its retention time; everything after it is kept too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    pub seq: u64,
    /// `owed`, `approval`, `thread`, `digest` or `damage`.
    pub by: String,
}

/// The kind of a channel's member: a person, or an agent, whose sessions receive its deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeatKind {
    HumanActor,
    #[default]
    Session,
}

/// Where an agent's name in a channel comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Display {
    /// A name of its own in this channel.
    Manual,
    /// The agent's current display name.
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
    /// Its display name in this conversation.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub display_name: String,
    /// Where that name comes from; absent for people, who always use their own.
    pub display: Option<Display>,
    /// The one session of the agent that receives deliveries here, `sess_…`; absent if the host
    /// chooses.
    pub session_id: Option<String>,
    pub participation: Named<Participation>,
    /// The ids under which projects mirror the member here: `project:{project_id}:{member_id}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mirrored: Vec<String>,
    /// Whether these mirrors are the only reason for its membership.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_mirror: bool,
}

/// Query of `GET /v1/channels`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListChannels {
    /// All by default. `channels` excludes direct messages; `mail` returns only those.
    pub scope: Option<Scope>,
}

/// `GET /v1/channels`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Channels {
    pub channels: Vec<Channel>,
}

/// `POST /v1/channels/{id}/leave`: nothing from there is delivered to the agent until it is named
/// again.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Leave {
    /// Member id of the agent; the caller by default.
    pub member: Option<String>,
    /// Leave only this thread, `th_…`.
    pub thread: Option<String>,
}

/// `PUT /v1/channels/{id}/members/{member}` -> [`Seat`].
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeatPut {
    pub participation: Option<Named<Participation>>,
    /// `manual` requires a `display_name`; `follow_agent` removes it. Absent fields are unchanged.
    pub display: Option<Display>,
    /// An agent's display name here.
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
    /// The one session of an agent that receives deliveries here, `sess_…`; null leaves the choice
    /// to the host.
    #[serde(deserialize_with = "super::nullable")]
    pub session_id: Option<Option<String>>,
}
