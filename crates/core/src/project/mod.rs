//! Projects: who works together on what, in which channels (channels spec, "Channels inside projects").
//!
//! A project's home is the workspace's directory: its members, tasks and linked channels are in memory with it, and change
//! in the transaction of what they cause in rooms. It owns membership and tasks; what is said stands in the linked
//! channels' own logs. Invariants, which [`Project::flaws`] looks for: of linked channels exactly one is the default; tasks depend on tasks of
//! the project, without a circle; nothing is under way or done that depends on what is not finished.

mod asked;
mod task;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::{ConversationKey, MemberKey, Prefix, Timestamp, Uid};
use crate::member::Directory;
pub use asked::{Asked, Linking, TaskFields};
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

    /// What stands in the way of its being what it should be; nothing in a sound one.
    pub fn flaws(&self, directory: &Directory) -> Vec<String> {
        let mut flaws = Vec::new();
        let there = |m: MemberKey| directory.member(m).is_some_and(|m| !m.removed);
        for (nth, member) in self.members.iter().enumerate() {
            if !there(member.member) {
                flaws.push(format!("its member {:?} is nobody of the workspace", member.id));
            }
            let same = |m: &ProjectMember| m.id == member.id || m.member == member.member;
            if self.members[..nth].iter().any(same) {
                flaws.push(format!("it has its member {:?} twice", member.id));
            }
        }
        let defaults = self.links.iter().filter(|l| l.default).count();
        if defaults != usize::from(!self.links.is_empty()) {
            flaws.push(format!("{defaults} of its channels are the default"));
        }
        for (nth, link) in self.links.iter().enumerate() {
            let of = link.conversation.show(Prefix::Conversation);
            if self.links[..nth].iter().any(|l| l.key == link.key) {
                flaws.push(format!("it is linked to {of} twice"));
            }
            if link.seated.iter().any(|m| !link.mirror || !self.has(*m)) {
                flaws.push(format!("it seats in {of} who is not mirrored there"));
            }
        }
        for task in self.tasks.values() {
            let of = task.uid.show(Prefix::Task);
            let nobodys = task.assignee.as_deref().is_some_and(|id| self.member(id).is_none());
            // Who did what is finished may have left since.
            if nobodys && !task.state.is_finished() {
                flaws.push(format!("{of} is assigned to nobody of the project"));
            }
            if task.depends_on.iter().any(|on| !self.tasks.contains_key(on)) {
                flaws.push(format!("{of} depends on a task that is not there"));
            }
            if !task.state.may_wait() && self.awaited(task).next().is_some() {
                flaws.push(format!("{of} is {} before what it depends on", task.state.name()));
            }
        }
        if let Some(circle) = self.circle() {
            flaws.push(format!("its tasks depend on each other in a circle: {circle}"));
        }
        flaws
    }
}

impl Directory {
    /// The member behind an id under which a project mirrors it into channels.
    pub fn mirrored(&self, id: &str) -> Option<MemberKey> {
        let (project, member) = id.strip_prefix(MIRRORED)?.split_once(':')?;
        let project = self.projects.get(&Uid::read(Prefix::Project, project)?)?;
        let mirrors = project.links.iter().any(|l| l.mirror);
        project.member(member).filter(|_| mirrors).map(|m| m.member)
    }

    /// The projects that mirror a member into a conversation, with what they call it there.
    pub fn mirrors(
        &self,
        key: ConversationKey,
        member: MemberKey,
    ) -> impl Iterator<Item = (&Arc<Project>, &Link, &ProjectMember)> {
        self.projects.values().filter_map(move |project| {
            let link = project.link(key).filter(|l| l.mirror)?;
            let as_member = project.members.iter().find(|m| m.member == member)?;
            Some((project, link, as_member))
        })
    }
}

/// How ids begin under which projects mirror their members.
const MIRRORED: &str = "project:";

#[cfg(test)]
mod tests;
