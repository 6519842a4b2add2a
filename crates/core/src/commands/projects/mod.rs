//! Projects, their members, channels and tasks.

pub(crate) mod mirror;
pub(crate) mod project;
pub(crate) mod task;

use std::sync::Arc;

use crate::commands::command::{Command, Done, Makes, Seats};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::Shown;
use crate::commands::redact::Redact;
use crate::model::audit::Audit;
use crate::model::ids::{MemberKey, Uid};
use crate::model::project::{Asked, Project as Stored};
use crate::state::directory::Directory;

/// A project as it is now, or as it was when it was removed, and the task in question.
#[derive(Clone, Debug)]
pub struct ProjectState {
    pub project: Arc<Stored>,
    pub task: Option<Uid>,
}

/// A command about a project.
#[derive(Clone)]
pub struct Project(pub Asked);

impl Command for Project {
    type Output = ProjectState;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        let audit = self.0.audit();
        match done {
            Ok(ProjectState { project, task }) => audit.subject(task.unwrap_or(project.uid)),
            Err(_) => audit,
        }
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        self.0.texts().into_iter().map(|text| redact.text(text)).sum()
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        run.words_of_project(&self.0)
    }

    fn seats(&self, run: &mut Context<'_>) -> Result<Seats> {
        run.mirrored_by(&self.0)
    }

    fn makes(&self, by: MemberKey, directory: &Directory) -> Makes {
        let project = |uid| directory.projects.get(uid);
        let seats = match &self.0 {
            Asked::Create { members, links, .. } => {
                let mirrored = links.iter().filter(|link| link.mirror != Some(false)).count();
                others(by, members) * mirrored
            }
            Asked::SetMember { project: uid, member: Some(member), .. } => {
                let mirrored =
                    project(uid).map_or(0, |p| p.links.iter().filter(|l| l.mirror).count());
                others(by, &[*member]) * mirrored
            }
            Asked::Link { project: uid, link, .. } if link.mirror != Some(false) => {
                let members: Option<Vec<_>> =
                    project(uid).map(|p| p.members.iter().map(|m| m.member).collect());
                others(by, &members.unwrap_or_default())
            }
            _ => 0,
        };
        Makes { seats: seats as u64, ..Makes::default() }
    }

    fn execute(self, run: &mut Context<'_>) -> Result<ProjectState> {
        run.project(self.0)
    }
}

fn others(by: MemberKey, members: &[MemberKey]) -> usize {
    members.iter().filter(|m| **m != by).count()
}
