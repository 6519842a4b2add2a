//! Projects and their tasks: made, changed, shown to whom they concern.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::projects;
use chorus_core::model::audit::Action;
use chorus_core::model::caller::Authority;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::project::{self, Asked, Linking, TaskFields};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::projects::{
    Link, LinkPut, Links, ListTasks, NewProject, NewTask, Project, ProjectMember, ProjectMemberPut,
    ProjectMembers, ProjectPatch, Projects, Task, TaskPatch, Tasks,
};

use super::audit::AuditService;
use super::commands::Commands;
use super::ids;
use super::reads::Reads;
use crate::auth::Caller;
use crate::view;

/// Titles of the channels that a caller may see.
type Titles = HashMap<Uid, String>;

/// Projects and their tasks.
pub(crate) struct ProjectService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) audit: Arc<AuditService>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl ProjectService {
    pub(crate) async fn add_project(
        &self,
        caller: &Caller,
        new: NewProject,
    ) -> Result<Project, Refusal> {
        self.audit.may_govern(caller, Action::CreateProject, &new.title)?;
        let links = new.channels.iter().map(|link| {
            let conversation = ids::conversation(&link.channel)?;
            Ok(Linking { conversation, default: link.default, mirror: link.mirror_members })
        });
        let asked = Asked::Create {
            title: new.title.into(),
            description: new.description.into(),
            members: ids::members_for(&self.directory.load(), caller, &new.members)?,
            links: links.collect::<Result<_, Refusal>>()?,
            kickoff: new.kickoff.map(Into::into),
        };
        let project = self.of_project(caller, asked).await?.0;
        self.show_project(caller, &project).await
    }

    pub(crate) async fn change_project(
        &self,
        caller: &Caller,
        id: &str,
        patch: ProjectPatch,
    ) -> Result<Project, Refusal> {
        let project = ids::project(id)?;
        let (title, description) = (patch.title, patch.description);
        let (title, description) = (title.map(Into::into), description.map(Into::into));
        let asked = Asked::Change { project, title, description };
        let project = self.of_project(caller, asked).await?.0;
        self.show_project(caller, &project).await
    }

    pub(crate) async fn remove_project(&self, caller: &Caller, id: &str) -> Result<(), Refusal> {
        let asked = Asked::Delete { project: ids::project(id)? };
        self.of_project(caller, asked).await.map(drop)
    }

    pub(crate) async fn projects(&self, caller: &Caller) -> Result<Projects, Refusal> {
        let titles = self.titles(caller).await?;
        let directory = self.directory.load();
        let mine = directory.projects.values().filter(|p| may_see(caller, p));
        Ok(Projects { projects: mine.map(|p| project(&directory, &titles, p)).collect() })
    }

    pub(crate) async fn project(&self, caller: &Caller, id: &str) -> Result<Project, Refusal> {
        let project = self.project_seen(caller, id).await?;
        self.show_project(caller, &project).await
    }

    pub(crate) async fn set_project_member(
        &self,
        caller: &Caller,
        id: &str,
        member_id: &str,
        put: ProjectMemberPut,
    ) -> Result<ProjectMember, Refusal> {
        let known = self.project_seen(caller, id).await?;
        let member = {
            let directory = self.directory.load();
            let named = match put.member.as_deref() {
                None if known.member(member_id).is_none() => Some(member_id),
                named => named,
            };
            named.map(|id| ids::member_for(&directory, caller, id).map(|m| m.key)).transpose()?
        };
        let asked = Asked::SetMember {
            project: known.uid,
            id: member_id.into(),
            member,
            title: put.title.map(Into::into),
            lead: put.lead,
        };
        let project = self.of_project(caller, asked).await?.0;
        let found = project.member(member_id);
        let found = found.ok_or_else(|| Refusal::not_found("member of the project"))?;
        Ok(member_of(&self.directory.load(), &project, found))
    }

    pub(crate) async fn remove_project_member(
        &self,
        caller: &Caller,
        id: &str,
        member_id: &str,
    ) -> Result<(), Refusal> {
        let asked = Asked::RemoveMember { project: ids::project(id)?, id: member_id.into() };
        self.of_project(caller, asked).await.map(drop)
    }

    pub(crate) async fn project_members(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<ProjectMembers, Refusal> {
        let project = self.project_seen(caller, id).await?;
        let directory = self.directory.load();
        let members = project.members.iter().map(|m| member_of(&directory, &project, m)).collect();
        Ok(ProjectMembers { members })
    }

    pub(crate) async fn link_channel(
        &self,
        caller: &Caller,
        id: &str,
        channel: &str,
        put: LinkPut,
    ) -> Result<Link, Refusal> {
        let (project, conversation) = (ids::project(id)?, ids::conversation(channel)?);
        let link = Linking { conversation, default: put.default, mirror: put.mirror_members };
        let asked = Asked::Link { project, link, kickoff: put.kickoff.map(Into::into) };
        let project = self.of_project(caller, asked).await?.0;
        let titles = self.titles(caller).await?;
        let found = project.links.iter().find(|l| l.conversation == conversation);
        let found = found.ok_or_else(|| Refusal::not_found("channel of the project"))?;
        Ok(link_of(&titles, found))
    }

    pub(crate) async fn unlink_channel(
        &self,
        caller: &Caller,
        id: &str,
        channel: &str,
    ) -> Result<(), Refusal> {
        let (project, conversation) = (ids::project(id)?, ids::conversation(channel)?);
        self.of_project(caller, Asked::Unlink { project, conversation }).await.map(drop)
    }

    pub(crate) async fn project_channels(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<Links, Refusal> {
        let project = self.project_seen(caller, id).await?;
        let titles = self.titles(caller).await?;
        Ok(Links { channels: project.links.iter().map(|l| link_of(&titles, l)).collect() })
    }

    pub(crate) async fn add_task(
        &self,
        caller: &Caller,
        id: &str,
        new: NewTask,
    ) -> Result<Task, Refusal> {
        let project = ids::project(id)?;
        let fields = TaskFields {
            title: Some(new.title.into()),
            text: Some(new.text.into()),
            state: new.state.map(|named| named.0),
            assignee: new.assignee.map(|id| Some(id.into())),
            depends_on: Some(tasks_of(&new.depends_on)?),
            thread: new.thread.as_deref().map(ids::thread).transpose()?.map(Some),
        };
        self.task_after(caller, Asked::AddTask { project, fields }).await
    }

    pub(crate) async fn change_task(
        &self,
        caller: &Caller,
        id: &str,
        task: &str,
        patch: TaskPatch,
    ) -> Result<Task, Refusal> {
        let (project, task) = (ids::project(id)?, ids::task(task)?);
        let thread = match patch.thread {
            Some(Some(id)) => Some(Some(ids::thread(&id)?)),
            Some(None) => Some(None),
            None => None,
        };
        let fields = TaskFields {
            title: patch.title.map(Into::into),
            text: patch.text.map(Into::into),
            state: patch.state.map(|named| named.0),
            assignee: patch.assignee.map(|id| id.map(Into::into)),
            depends_on: patch.depends_on.as_deref().map(tasks_of).transpose()?,
            thread,
        };
        self.task_after(caller, Asked::ChangeTask { project, task, fields }).await
    }

    pub(crate) async fn remove_task(
        &self,
        caller: &Caller,
        id: &str,
        task: &str,
    ) -> Result<(), Refusal> {
        let (project, task) = (ids::project(id)?, ids::task(task)?);
        self.of_project(caller, Asked::RemoveTask { project, task }).await.map(drop)
    }

    pub(crate) async fn tasks(
        &self,
        caller: &Caller,
        id: &str,
        query: &ListTasks,
    ) -> Result<Tasks, Refusal> {
        let project = self.project_seen(caller, id).await?;
        let wanted = |t: &&Arc<project::Task>| {
            query.state.is_none_or(|state| state == t.state)
                && query.assignee.as_deref().is_none_or(|id| t.assignee.as_deref() == Some(id))
        };
        let directory = self.directory.load();
        let tasks = project.tasks.values().filter(wanted);
        Ok(Tasks { tasks: tasks.map(|t| task_of(&directory, &project, t)).collect() })
    }

    pub(crate) async fn task(
        &self,
        caller: &Caller,
        id: &str,
        task: &str,
    ) -> Result<Task, Refusal> {
        let project = self.project_seen(caller, id).await?;
        let found = project.tasks.get(&ids::task(task)?);
        let found = found.ok_or_else(|| Refusal::not_found("task"))?;
        Ok(task_of(&self.directory.load(), &project, found))
    }

    async fn task_after(&self, caller: &Caller, asked: Asked) -> Result<Task, Refusal> {
        let (project, task) = self.of_project(caller, asked).await?;
        let found = task.and_then(|task| project.tasks.get(&task));
        let found = found.ok_or_else(|| Refusal::not_found("task"))?;
        Ok(task_of(&self.directory.load(), &project, found))
    }

    async fn of_project(
        &self,
        caller: &Caller,
        asked: Asked,
    ) -> Result<(Arc<project::Project>, Option<Uid>), Refusal> {
        caller.must_not_be_a_turn()?;
        let projects::ProjectState { project, task } =
            self.commands.change(caller.by, projects::Project(asked)).await?;
        Ok((project, task))
    }

    /// One that the caller may see.
    async fn project_seen(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<Arc<project::Project>, Refusal> {
        caller.must_not_be_a_turn()?;
        let directory = self.directory.load();
        let found = directory.projects.get(&ids::project(id)?).filter(|p| may_see(caller, p));
        found.cloned().ok_or_else(|| Refusal::not_found("project"))
    }

    async fn show_project(
        &self,
        caller: &Caller,
        of: &project::Project,
    ) -> Result<Project, Refusal> {
        let titles = self.titles(caller).await?;
        Ok(project(&self.directory.load(), &titles, of))
    }

    async fn titles(&self, caller: &Caller) -> Result<Titles, Refusal> {
        caller.must_not_be_a_turn()?;
        let viewer = caller.viewer();
        let seen = self.reads.read(move |readers| readers.conversations(viewer)).await?;
        Ok(seen.iter().map(|c| (c.uid, c.settings.title.to_string())).collect())
    }
}

/// Its members, operators, and auditors, who read all.
fn may_see(caller: &Caller, project: &project::Project) -> bool {
    caller.by.authority == Authority::Operator || caller.viewer().is_none_or(|me| project.has(me))
}

fn tasks_of(ids: &[String]) -> Result<Vec<Uid>, Refusal> {
    ids.iter().map(|id| ids::task(id)).collect()
}

fn project(directory: &Directory, titles: &Titles, p: &project::Project) -> Project {
    let mut tasks = BTreeMap::new();
    for task in p.tasks.values() {
        *tasks.entry(task.state.name().to_owned()).or_default() += 1;
    }
    Project {
        id: p.uid.show(Prefix::Project),
        title: p.title.to_string(),
        description: p.description.to_string(),
        created_by: view::id(directory, p.created_by),
        created_at: p.created_at.into(),
        members: p.members.iter().map(|m| member_of(directory, p, m)).collect(),
        channels: p.links.iter().map(|l| link_of(titles, l)).collect(),
        tasks,
        kickoff_event_id: p.kickoff.map(|uid| uid.show(Prefix::Event)),
    }
}

fn member_of(
    directory: &Directory,
    project: &project::Project,
    member: &project::ProjectMember,
) -> ProjectMember {
    ProjectMember {
        member_id: member.id.to_string(),
        member: view::id(directory, member.member),
        title: member.title.to_string(),
        lead: member.lead,
        mirrored_id: project.mirrored_id(member),
    }
}

fn link_of(titles: &Titles, link: &project::Link) -> Link {
    Link {
        channel: link.conversation.show(Prefix::Conversation),
        title: titles.get(&link.conversation).cloned(),
        default: link.default,
        mirror_members: link.mirror,
    }
}

fn task_of(directory: &Directory, project: &project::Project, task: &project::Task) -> Task {
    let shown = |uid: Uid| uid.show(Prefix::Task);
    Task {
        id: shown(task.uid),
        project: project.uid.show(Prefix::Project),
        title: task.title.to_string(),
        text: task.text.to_string(),
        state: task.state.into(),
        assignee: task.assignee.as_deref().map(str::to_owned),
        depends_on: task.depends_on.iter().map(|on| shown(*on)).collect(),
        waits_for: project.awaited(task).map(|t| shown(t.uid)).collect(),
        thread: task.thread.map(|(_, _, uid)| uid.show(Prefix::Thread)),
        created_by: view::id(directory, task.created_by),
        created_at: task.created_at.into(),
        updated_at: task.updated_at.into(),
    }
}
