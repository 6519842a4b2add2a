//! `/v1/projects`: groups of members who work on tasks together, and their channels. No `DELETE`
//! here has a body.

use chorus_core::model::project::TaskState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// `POST /v1/projects` -> 201 [`Project`]. The creator becomes a member and the lead.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProject {
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub description: String,
    /// Ids of workspace members; they join the project with the same ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// The first channel is the default unless another one sets `default`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<NewLink>,
    /// A message that is posted once into the default channel, in the creator's name.
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

/// `PATCH /v1/projects/{id}` -> [`Project`]; absent fields are unchanged.
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
    /// Number of tasks by state; states without tasks are absent.
    #[serde(default)]
    pub tasks: std::collections::BTreeMap<String, usize>,
    /// The kickoff message, `evt_…`.
    pub kickoff_event_id: Option<String>,
}

/// `GET /v1/projects`: those that the caller can see, oldest first.
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
    /// Its function in the project.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub title: String,
    /// Whether it is the lead, who is notified when nobody else would be.
    pub lead: bool,
    /// Its id in channels that mirror the project's members.
    pub mirrored_id: String,
}

/// `GET /v1/projects/{id}/members`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectMembers {
    pub members: Vec<ProjectMember>,
}

/// `PUT /v1/projects/{id}/members/{member_id}` -> [`ProjectMember`]; absent fields are unchanged.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectMemberPut {
    /// Its id in the workspace; for a new member the same id by default.
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
    /// Absent if the caller cannot see the channel.
    #[redact(fixed = 3)]
    pub title: Option<String>,
    pub default: bool,
    /// Whether the project's members are automatically members of the channel.
    pub mirror_members: bool,
}

/// `GET /v1/projects/{id}/channels`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Links {
    pub channels: Vec<Link>,
}

/// `PUT /v1/projects/{id}/channels/{channel}` -> [`Link`]; absent fields are unchanged.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkPut {
    /// True replaces the previous default. The first channel is always the default.
    pub default: Option<bool>,
    pub mirror_members: Option<bool>,
    /// A message that is posted once into the default channel, unless the project already had a
    /// kickoff message.
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
    /// `open` by default; a new task cannot be finished.
    pub state: Option<Named<TaskState>>,
    /// The `member_id` of a member of the project.
    pub assignee: Option<String>,
    /// Tasks that must be finished first, `task_…`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The thread in a linked channel in which it is worked on, `th_…`.
    pub thread: Option<String>,
}

/// `PATCH /v1/projects/{id}/tasks/{task}` -> [`Task`]; absent fields are unchanged, null removes a
/// value.
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
    /// The complete new list.
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
    /// Those of `depends_on` that are not finished.
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
