//! Projects: who works together on what, in which channels (channels spec, "Channels inside projects").
//!
//! A project's home is the workspace's directory: its members, tasks and linked channels are in memory with it, and change
//! in the transaction of what they cause in rooms. It owns membership and tasks; what is said stands in the linked
//! channels' own logs. Invariants, which [`Project::flaws`] looks for: of linked channels exactly one is the default; tasks depend on tasks of
//! the project, without a circle; nothing is under way or done that depends on what is not finished.

mod requests;
mod task;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::ids::{ConversationKey, MemberKey, Prefix, Timestamp, Uid};
pub use requests::{Asked, Linking, TaskFields};
pub(crate) use task::named;
pub use task::{Task, TaskState};

#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Project {
    pub uid: Uid,
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    #[redact(fixed = 3)]
    pub description: Arc<str>,
    pub created_by: MemberKey,
    pub created_at: Timestamp,
    /// The event of the one message with which it was begun, once there was one.
    pub kickoff: Option<Uid>,
    /// In the order in which they came.
    pub members: Vec<ProjectMember>,
    pub links: Vec<Link>,
    pub tasks: BTreeMap<Uid, Arc<Task>>,
}

/// A member of the workspace as a project knows it.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct ProjectMember {
    /// Its id within the project.
    pub id: Arc<str>,
    pub member: MemberKey,
    /// What it does there, in a few words.
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    /// Whether it is told where nobody else is to be.
    pub lead: bool,
}

/// A channel that the project uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub key: ConversationKey,
    pub conversation: Uid,
    pub default: bool,
    /// Whether the project's members are on its roster because they are the project's.
    pub mirror: bool,
    /// Those who have their seat there through this link alone.
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

/// How ids begin under which projects mirror their members.
pub(crate) const MIRRORED: &str = "project:";

#[cfg(test)]
mod tests;
