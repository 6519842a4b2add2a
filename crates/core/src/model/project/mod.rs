//! Projects: members, tasks and linked channels (channels spec, "Channels inside projects").
//!
//! A project belongs to the workspace's directory: its members, tasks and channel links are in
//! memory with it, and change in the same transaction as their effects in rooms. It owns membership
//! and tasks; messages are in the linked channels' own logs. Invariants, which [`Project::flaws`]
//! checks: exactly one linked channel is the default; tasks depend only on tasks of the project,
//! without cycles; no task that depends on an unfinished one is in progress or done.

mod requests;
mod task;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use requests::{Asked, Linking, TaskFields};
pub(crate) use task::named;
pub use task::{Task, TaskState};

use crate::model::ids::{ConversationKey, MemberKey, Prefix, Timestamp, Uid};

#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Project {
    pub uid: Uid,
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    #[redact(fixed = 3)]
    pub description: Arc<str>,
    pub created_by: MemberKey,
    pub created_at: Timestamp,
    /// The event of its one opening message, if there was one.
    pub kickoff: Option<Uid>,
    /// In the order in which they joined.
    pub members: Vec<ProjectMember>,
    pub links: Vec<Link>,
    pub tasks: BTreeMap<Uid, Arc<Task>>,
}

/// A member of the workspace, in its role in a project.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct ProjectMember {
    /// Its id within the project.
    pub id: Arc<str>,
    pub member: MemberKey,
    /// Its role there, in a few words.
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    /// Whether it is notified where no other member is responsible.
    pub lead: bool,
}

/// A channel that the project uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub key: ConversationKey,
    pub conversation: Uid,
    pub default: bool,
    /// Whether the project's members are mirrored into its roster.
    pub mirror: bool,
    /// Members who belong to the channel through this link alone.
    pub seated: Vec<MemberKey>,
}

impl Project {
    pub fn member(&self, id: &str) -> Option<&ProjectMember> {
        self.members.iter().find(|m| *m.id == *id)
    }

    pub fn has(&self, member: MemberKey) -> bool {
        self.members.iter().any(|m| m.member == member)
    }

    pub fn link(&self, key: ConversationKey) -> Option<&Link> {
        self.links.iter().find(|l| l.key == key)
    }

    pub fn default_link(&self) -> Option<&Link> {
        self.links.iter().find(|l| l.default)
    }

    /// The id under which a member is mirrored into channels.
    pub fn mirrored_id(&self, member: &ProjectMember) -> String {
        format!("{MIRRORED}{}:{}", self.uid.show(Prefix::Project), member.id)
    }
}

/// The prefix of the ids under which projects mirror their members.
pub(crate) const MIRRORED: &str = "project:";

#[cfg(test)]
mod tests;
