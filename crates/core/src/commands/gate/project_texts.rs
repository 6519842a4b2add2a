//! The texts of project commands: titles and descriptions of projects and tasks.

use std::sync::Arc;

use super::shown::{Readers, Shown, plain};
use crate::commands::context::{Context, Result};
use crate::model::ids::Prefix;
use crate::model::project::{Asked, Linking, TaskState};

impl Context<'_> {
    pub(crate) fn words_of_project(&mut self, asked: &Asked) -> Result<Option<Shown>> {
        let mut fields: Vec<(&'static str, String)> = Vec::new();
        let mut readers = Readers::default();
        let mut links: Vec<Linking> = Vec::new();
        let mut put = |name, text: &Option<Arc<str>>| {
            fields.extend(text.iter().map(|text| (name, text.to_string())));
        };
        let tool = match asked {
            Asked::Create { title, description, members, links: to, kickoff } => {
                put("title", &Some(title.clone()));
                put("description", &Some(description.clone()).filter(|text| !text.is_empty()));
                put("kickoff", kickoff);
                readers.members.extend(members);
                links.extend(to);
                "create_project"
            }
            Asked::Change { title, description, .. } => {
                put("title", title);
                put("description", description);
                "change_project"
            }
            Asked::SetMember { title, member, .. } => {
                put("title", title);
                readers.members.extend(member);
                "set_project_member"
            }
            Asked::Link { link, kickoff, .. } => {
                put("kickoff", kickoff);
                links.push(*link);
                "link_channel"
            }
            Asked::AddTask { fields: task, .. } | Asked::ChangeTask { fields: task, .. } => {
                put("title", &task.title);
                put("text", &task.text);
                "set_task"
            }
            Asked::Delete { .. }
            | Asked::RemoveMember { .. }
            | Asked::Unlink { .. }
            | Asked::RemoveTask { .. } => return Ok(None),
        };
        let mut says = fields.iter().any(|(name, _)| *name == "kickoff");
        if let Asked::ChangeTask { project, task, fields: new } = asked
            && new.state == Some(TaskState::Done)
            && self.ws.approvals.all_sends
        {
            // The channel is notified, and the title is included.
            says = true;
            fields.push(("state", TaskState::Done.name().to_owned()));
            let known = self.directory().projects.get(project);
            let known = known.and_then(|project| project.tasks.get(task));
            fields.extend(
                known.filter(|_| new.title.is_none()).map(|t| ("title", t.title.to_string())),
            );
        }
        if fields.is_empty() {
            return Ok(None);
        }
        readers.members.push(self.by.member);
        for link in links {
            let key = self.room_by_uid(link.conversation)?;
            readers.rooms.push(key);
        }
        let project = asked.project().and_then(|uid| self.directory().projects.get(&uid));
        if let Some(project) = project {
            readers.members.extend(project.members.iter().map(|m| m.member));
            // The completion of a task is posted in the channels too, with its title.
            readers.rooms.extend(project.links.iter().map(|link| link.key));
        }
        if let Some(uid) = asked.project() {
            fields.push(("project", uid.show(Prefix::Project)));
        }
        if let Asked::ChangeTask { task, .. } = asked {
            fields.push(("task", task.show(Prefix::Task)));
        }
        Ok(Some(Shown { says, ..plain(tool, readers, fields) }))
    }
}
