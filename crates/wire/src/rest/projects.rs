//! `/v1/projects`: who works together on what, in which channels. `DELETE` has no body anywhere here.

use chorus_core::project::TaskState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// `POST /v1/projects` -> 201 [`Project`]. Who makes it is a member of it, and its lead.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProject {
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub description: String,
    /// Members of the workspace, which are members of the project under the same ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// The first is the default unless another says that it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<NewLink>,
    /// Posted once into the default channel, by who makes the project.
    #[redact(fixed = 3)]
    pub kickoff: Option<String>,
}

/// A channel that a new project uses.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    /// `ch_…`
    pub channel: String,
    pub default: Option<bool>,
    pub mirror_members: Option<bool>,
}

/// `PATCH /v1/projects/{id}` -> [`Project`]; absent fields stay.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectPatch {
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[redact(fixed = 3)]
    pub description: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    /// `prj_…`
    pub id: String,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default)]
    #[redact(fixed = 3)]
    pub description: String,
    /// Member id.
    pub created_by: String,
    pub created_at: Time,
    pub members: Vec<ProjectMember>,
    pub channels: Vec<Link>,
    /// How many tasks it has in each state; states without one are absent.
    #[serde(default)]
    pub tasks: std::collections::BTreeMap<String, usize>,
    /// The `evt_…` of the message with which it was begun.
    pub kickoff_event_id: Option<String>,
}

/// `GET /v1/projects`: those that the caller may see, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Projects {
    pub projects: Vec<Project>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectMember {
    /// Its id within the project.
    pub member_id: String,
    /// Its id in the workspace.
    pub member: String,
    /// What it does there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub title: String,
    /// Whether it is told where nobody else is to be.
    pub lead: bool,
    /// The id under which channels show it that mirror the project's members.
    pub mirrored_id: String,
}

/// `GET /v1/projects/{id}/members`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectMembers {
    pub members: Vec<ProjectMember>,
}

/// `PUT /v1/projects/{id}/members/{member_id}` -> [`ProjectMember`]; absent fields stay.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectMemberPut {
    /// Who of the workspace it is; of a new member the one with the same id unless given.
    pub member: Option<String>,
    #[redact(fixed = 3)]
    pub title: Option<String>,
    pub lead: Option<bool>,
}

/// A channel that a project uses.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// `ch_…`
    pub channel: String,
    /// Absent where the caller may not see the channel.
    #[redact(fixed = 3)]
    pub title: Option<String>,
    pub default: bool,
    /// Whether the project's members are on its roster because they are the project's.
    pub mirror_members: bool,
}

/// `GET /v1/projects/{id}/channels`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Links {
    pub channels: Vec<Link>,
}

/// `PUT /v1/projects/{id}/channels/{channel}` -> [`Link`]; absent fields stay.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkPut {
    /// True takes the place of the default there was; the first channel is the default anyway.
    pub default: Option<bool>,
    pub mirror_members: Option<bool>,
    /// Posted once into the default channel, if the project was not begun with a message before.
    #[redact(fixed = 3)]
    pub kickoff: Option<String>,
}

/// `POST /v1/projects/{id}/tasks` -> 201 [`Task`].
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub text: String,
    /// `open` unless given; not a finished one.
    pub state: Option<Named<TaskState>>,
    /// The `member_id` of a member of the project.
    pub assignee: Option<String>,
    /// `task_…` that are to be finished before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The `th_…` in which it is worked on, in a linked channel.
    pub thread: Option<String>,
}

/// `PATCH /v1/projects/{id}/tasks/{task}` -> [`Task`]; absent fields stay, null takes away.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TaskPatch {
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[redact(fixed = 3)]
    pub text: Option<String>,
    pub state: Option<Named<TaskState>>,
    #[serde(deserialize_with = "super::nullable")]
    pub assignee: Option<Option<String>>,
    /// All of them, in place of those there were.
    pub depends_on: Option<Vec<String>>,
    #[serde(deserialize_with = "super::nullable")]
    pub thread: Option<Option<String>>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// `task_…`
    pub id: String,
    /// `prj_…`
    pub project: String,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default)]
    #[redact(fixed = 3)]
    pub text: String,
    pub state: Named<TaskState>,
    pub assignee: Option<String>,
    pub depends_on: Vec<String>,
    /// Those of them that are not finished.
    pub waits_for: Vec<String>,
    pub thread: Option<String>,
    /// Member id.
    pub created_by: String,
    pub created_at: Time,
    pub updated_at: Time,
}

/// `GET /v1/projects/{id}/tasks`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tasks {
    pub tasks: Vec<Task>,
}

/// Query of `GET /v1/projects/{id}/tasks`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListTasks {
    pub state: Option<Named<TaskState>>,
    /// The `member_id` of a member of the project.
    pub assignee: Option<String>,
}
