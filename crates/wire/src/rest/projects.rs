//! `/v1/projects`: who works together on what, in which channels. `DELETE` has no body anywhere here.

use chorus_core::model::ids::Timestamp;
use chorus_core::model::project::TaskState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// `POST /v1/projects` -> 201 [`Project`]. Who makes it is a member of it, and its lead.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub kickoff: Option<String>,
}

/// A channel that a new project uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    /// `ch_…`
    pub channel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror_members: Option<bool>,
}

/// `PATCH /v1/projects/{id}` -> [`Project`]; absent fields stay.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectPatch {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub description: Option<String>,
}

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
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    pub members: Vec<ProjectMember>,
    pub channels: Vec<Link>,
    /// How many tasks it has in each state; states without one are absent.
    #[serde(default)]
    pub tasks: std::collections::BTreeMap<String, usize>,
    /// The `evt_…` of the message with which it was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectMemberPut {
    /// Who of the workspace it is; of a new member the one with the same id unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<bool>,
}

/// A channel that a project uses.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// `ch_…`
    pub channel: String,
    /// Absent where the caller may not see the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkPut {
    /// True takes the place of the default there was; the first channel is the default anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror_members: Option<bool>,
    /// Posted once into the default channel, if the project was not begun with a message before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub kickoff: Option<String>,
}

/// `POST /v1/projects/{id}/tasks` -> 201 [`Task`].
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub text: String,
    /// `open` unless given; not a finished one.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<TaskState>>")]
    pub state: Option<TaskState>,
    /// The `member_id` of a member of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// `task_…` that are to be finished before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The `th_…` in which it is worked on, in a linked channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// `PATCH /v1/projects/{id}/tasks/{task}` -> [`Task`]; absent fields stay, null takes away.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TaskPatch {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<TaskState>>")]
    pub state: Option<TaskState>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<String>")]
    pub assignee: Option<Option<String>>,
    /// All of them, in place of those there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<String>")]
    pub thread: Option<Option<String>>,
}

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
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<TaskState>")]
    pub state: TaskState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    pub depends_on: Vec<String>,
    /// Those of them that are not finished.
    pub waits_for: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Member id.
    pub created_by: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub updated_at: Timestamp,
}

/// `GET /v1/projects/{id}/tasks`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tasks {
    pub tasks: Vec<Task>,
}

/// Query of `GET /v1/projects/{id}/tasks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListTasks {
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<TaskState>>")]
    pub state: Option<TaskState>,
    /// The `member_id` of a member of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
}
