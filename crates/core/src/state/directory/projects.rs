//! Projects of the directory, by the members that they mirror into channels.

use std::sync::Arc;

use super::Directory;
use crate::model::ids::{ConversationKey, MemberKey, Prefix, Uid};
use crate::model::project::{Link, MIRRORED, Project, ProjectMember};

impl Project {
    /// What is wrong with this project; empty for a sound one.
    pub fn flaws(&self, directory: &Directory) -> Vec<String> {
        let mut flaws = Vec::new();
        let there = |m: MemberKey| directory.member(m).is_some_and(|m| !m.removed);
        for (nth, member) in self.members.iter().enumerate() {
            if !there(member.member) {
                flaws.push(format!("its member {:?} does not exist in the workspace", member.id));
            }
            let same = |m: &ProjectMember| m.id == member.id || m.member == member.member;
            if self.members[..nth].iter().any(same) {
                flaws.push(format!("it lists its member {:?} twice", member.id));
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
                flaws.push(format!(
                    "it gives a membership in {of} to a member that is not mirrored there"
                ));
            }
        }
        for task in self.tasks.values() {
            let of = task.uid.show(Prefix::Task);
            let nobodys = task.assignee.as_deref().is_some_and(|id| self.member(id).is_none());
            // The member who did a finished task may have left since.
            if nobodys && !task.state.is_finished() {
                flaws.push(format!("{of} is assigned to somebody outside the project"));
            }
            if task.depends_on.iter().any(|on| !self.tasks.contains_key(on)) {
                flaws.push(format!("{of} depends on a task that does not exist"));
            }
            if !task.state.may_wait() && self.awaited(task).next().is_some() {
                flaws.push(format!("{of} is {} before its dependencies", task.state.name()));
            }
        }
        if let Some(circle) = self.circle() {
            flaws.push(format!("its tasks depend on each other in a cycle: {circle}"));
        }
        flaws
    }
}

impl Directory {
    /// The member that a project mirrors into channels under this id.
    pub fn mirrored(&self, id: &str) -> Option<MemberKey> {
        let (project, member) = id.strip_prefix(MIRRORED)?.split_once(':')?;
        let project = self.projects.get(&Uid::read(Prefix::Project, project)?)?;
        let mirrors = project.links.iter().any(|l| l.mirror);
        project.member(member).filter(|_| mirrors).map(|m| m.member)
    }

    /// The projects that mirror a member into a conversation, with the name they use there.
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
