//! Projects: creating, changing, joining, linking and removing them.
//!
//! Invariant: a command's changes of a project and of its linked rooms are one transaction. So a
//! channel's roster always matches its mirrors, and a completed task has always made its stimulus.

use std::sync::Arc;

use crate::attention::directedness::{self, IncomingMessage};
use crate::commands::context::{Context, Result};
use crate::commands::projects::ProjectState;
use crate::language::analysis::Analysis;
use crate::language::names::rules::{check_name, check_title};
use crate::model::caller::Authority;
use crate::model::conversation::ConversationKind;
use crate::model::error::{Code, Refusal};
use crate::model::event::{Change, Idempotency, Message};
use crate::model::ids::{ConversationKey, MemberKey, Prefix, Uid};
use crate::model::limits;
use crate::model::project::{Asked, Link, Linking, Project, ProjectMember, named};
use crate::model::thread::work::check_words_of;

impl Context<'_> {
    pub(super) fn project(&mut self, asked: Asked) -> Result<ProjectState> {
        if self.by.turn.is_some() {
            let why =
                "a turn's token is for its turn only; use the member's own token for projects";
            return Err(Refusal::new(Code::Forbidden, why).into());
        }
        match asked {
            Asked::Create { title, description, members, links, kickoff } => {
                self.create_project(title, description, &members, &links, kickoff)
            }
            Asked::Change { project, title, description } => {
                let mut project = self.project_to_run(project)?;
                project.title = title.unwrap_or(project.title);
                project.description = description.unwrap_or(project.description);
                check_texts(&project)?;
                Ok(self.put_project(project))
            }
            Asked::Delete { project } => self.delete_project(project),
            Asked::SetMember { project, id, member, title, lead } => {
                self.set_project_member(project, id, member, title, lead)
            }
            Asked::RemoveMember { project, id } => self.remove_project_member(project, &id),
            Asked::Link { project, link, kickoff } => {
                let mut project = self.project_to_run(project)?;
                self.link(&mut project, &[link], kickoff)?;
                Ok(self.put_project(project))
            }
            Asked::Unlink { project, conversation } => self.unlink(project, conversation),
            Asked::AddTask { project, fields } => self.add_task(project, fields),
            Asked::ChangeTask { project, task, fields } => self.change_task(project, task, fields),
            Asked::RemoveTask { project, task } => self.remove_task(project, task),
        }
    }

    /// A project that the caller may see. Its members and operators may; for others it is unknown.
    pub(super) fn project_seen(&self, uid: Uid) -> Result<Arc<Project>> {
        let seen =
            |p: &&Arc<Project>| p.has(self.by.member) || self.by.authority == Authority::Operator;
        let found = self.directory().projects.get(&uid).filter(seen).cloned();
        Ok(found.ok_or_else(|| Refusal::not_found("project"))?)
    }

    /// A project that the caller may change as a whole.
    fn project_to_run(&self, uid: Uid) -> Result<Project> {
        let project = self.project_seen(uid)?;
        self.must_govern()?;
        Ok(Project::clone(&project))
    }

    pub(super) fn put_project(&mut self, project: Project) -> ProjectState {
        let project = Arc::new(project);
        self.directory_mut().projects.insert_mut(project.uid, project.clone());
        self.ws.changes.projects.push((project.uid, Some(project.clone())));
        ProjectState { project, task: None }
    }

    fn create_project(
        &mut self,
        title: Arc<str>,
        description: Arc<str>,
        members: &[MemberKey],
        links: &[Linking],
        kickoff: Option<Arc<str>>,
    ) -> Result<ProjectState> {
        let me = self.me()?;
        self.must_govern()?;
        if self.directory().projects.size() >= limits::PROJECTS {
            let most = limits::PROJECTS;
            return Err(
                Refusal::new(Code::RateLimited, format!("there are {most} projects")).into()
            );
        }
        let mut project = Project {
            uid: self.drawn.uid,
            title,
            description,
            created_by: me.key,
            created_at: self.now,
            kickoff: None,
            members: Vec::new(),
            links: Vec::new(),
            tasks: Default::default(),
        };
        check_texts(&project)?;
        self.join_project(&mut project, me.id.clone(), me.key, true)?;
        for member in members.iter().filter(|m| **m != me.key) {
            self.must_be_member(*member)?;
            let id = self.directory().member(*member).map(|m| m.id.clone()).unwrap_or_default();
            if !project.has(*member) {
                self.join_project(&mut project, id, *member, false)?;
            }
        }
        self.link(&mut project, links, kickoff)?;
        Ok(self.put_project(project))
    }

    /// This adds nobody to a room.
    fn join_project(
        &self,
        project: &mut Project,
        id: Arc<str>,
        member: MemberKey,
        lead: bool,
    ) -> Result<()> {
        check_name("member id", &id)?;
        self.must_be_member(member)?;
        let conflict = |why: String| Refusal::new(Code::Conflict, why);
        if let Some(known) = project.members.iter().find(|m| m.member == member) {
            let why = format!("it is a member of the project already, as {:?}", known.id);
            return Err(conflict(why).into());
        }
        if project.members.len() >= limits::PROJECT_MEMBERS {
            let most = limits::PROJECT_MEMBERS;
            let why = format!("the project has {most} members");
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        project.members.push(ProjectMember { id, member, title: "".into(), lead });
        Ok(())
    }

    fn set_project_member(
        &mut self,
        uid: Uid,
        id: Arc<str>,
        member: Option<MemberKey>,
        title: Option<Arc<str>>,
        lead: Option<bool>,
    ) -> Result<ProjectState> {
        let mut project = self.project_to_run(uid)?;
        match (project.member(&id), member) {
            (Some(known), Some(member)) if known.member != member => {
                let why = format!("{id:?} is another member of the project");
                return Err(Refusal::new(Code::Conflict, why).into());
            }
            (Some(_), _) => {}
            (None, Some(member)) => self.join_project(&mut project, id.clone(), member, false)?,
            (None, None) => return Err(Refusal::not_found("member of the project").into()),
        }
        if let Some(title) = title.as_deref().filter(|title| !title.is_empty()) {
            check_title("title", Some(title))?;
        }
        for member in project.members.iter_mut().filter(|m| m.id == id) {
            member.title = title.clone().unwrap_or(member.title.clone());
            member.lead = lead.unwrap_or(member.lead);
        }
        self.mirror(&mut project, Vec::new())?;
        Ok(self.put_project(project))
    }

    fn remove_project_member(&mut self, uid: Uid, id: &str) -> Result<ProjectState> {
        let mut project = self.project_to_run(uid)?;
        if project.member(id).is_none() {
            return Err(Refusal::not_found("member of the project").into());
        }
        let open = named(project.open_tasks_of(id));
        if !open.is_empty() {
            let why =
                format!("{open} are assigned to it: end them, or assign them to others first");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        project.members.retain(|m| *m.id != *id);
        self.mirror(&mut project, Vec::new())?;
        Ok(self.put_project(project))
    }

    /// A member leaves the workspace. Its open tasks become unassigned.
    pub(crate) fn leave_projects(&mut self, member: MemberKey) -> Result<()> {
        let mut nth = 0;
        let of = self.directory().projects.values().filter(|p| p.has(member));
        for project in of.cloned().collect::<Vec<_>>() {
            // The handover may have changed it.
            let found = self.directory().projects.get(&project.uid).cloned();
            let mut project = Project::clone(&found.unwrap_or(project));
            let gone = project.members.iter().find(|m| m.member == member).map(|m| m.id.clone());
            let open: Vec<_> =
                gone.iter().flat_map(|id| project.open_tasks_of(id)).cloned().collect();
            project.members.retain(|m| m.member != member);
            for task in open {
                let mut task = (*task).clone();
                (task.assignee, task.updated_at) = (None, self.now);
                self.put_task(&mut project, task);
            }
            nth = self.mirror_from(&mut project, Vec::new(), nth)?;
            self.put_project(project);
        }
        Ok(())
    }

    /// Links channels or changes the links, and posts the project's opening message.
    fn link(
        &mut self,
        project: &mut Project,
        links: &[Linking],
        kickoff: Option<Arc<str>>,
    ) -> Result<()> {
        let mut named_default = false;
        let mut is_new = false;
        for linking in links {
            let key = self.room_by_uid(linking.conversation)?;
            let settings = self.room(key).conversation();
            if settings.kind != ConversationKind::Channel {
                return Err(Refusal::invalid("only a channel can be linked to a project").into());
            }
            if settings.settings.archived {
                return Err(Refusal::new(Code::Conflict, "the channel is archived").into());
            }
            if project.link(key).is_none() {
                if project.links.len() >= limits::PROJECT_CHANNELS {
                    let most = limits::PROJECT_CHANNELS;
                    let why = format!("a project has at most {most} channels");
                    return Err(Refusal::new(Code::RateLimited, why).into());
                }
                is_new = true;
                let conversation = linking.conversation;
                let (mirror, seated) = (false, Vec::new());
                project.links.push(Link { key, conversation, default: false, mirror, seated });
            }
            if linking.default == Some(true) && std::mem::replace(&mut named_default, true) {
                return Err(Refusal::invalid("one of a project's channels is the default").into());
            }
            let was_default = project.link(key).is_some_and(|l| l.default);
            if linking.default == Some(false) && was_default {
                let why = "it is the default; make another channel the default instead";
                return Err(Refusal::new(Code::Conflict, why).into());
            }
            for link in &mut project.links {
                let here = link.key == key;
                link.default = (link.default && linking.default != Some(true))
                    || (here && linking.default == Some(true));
                link.mirror =
                    if here { linking.mirror.unwrap_or(link.mirror) } else { link.mirror };
            }
        }
        // The first is the default unless another was named.
        if project.default_link().is_none()
            && let Some(first) = project.links.first_mut()
        {
            first.default = true;
        }
        let kickoff = match kickoff {
            Some(text) => self.may_kick_off(project, is_new, text)?,
            None => None,
        };
        self.mirror(project, Vec::new())?;
        if let Some((key, text)) = kickoff {
            project.kickoff = Some(self.kick_off(project.uid, key, text)?);
        }
        Ok(())
    }

    fn unlink(&mut self, uid: Uid, conversation: Uid) -> Result<ProjectState> {
        let mut project = self.project_to_run(uid)?;
        let at = project.links.iter().position(|l| l.conversation == conversation);
        let at = at.ok_or_else(|| Refusal::not_found("channel of the project"))?;
        if project.links[at].default && project.links.len() > 1 {
            let why = "it is the project's default channel; make another the default first";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let key = project.links[at].key;
        let bound = |t: &&Arc<_>| in_thread_of(t, key);
        let bound = named(project.tasks.values().filter(bound));
        if !bound.is_empty() {
            let why = format!("{bound} are worked on in its threads: bind them elsewhere first");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let gone = project.links.remove(at);
        self.mirror(&mut project, vec![gone])?;
        Ok(self.put_project(project))
    }

    fn delete_project(&mut self, uid: Uid) -> Result<ProjectState> {
        let project = self.project_to_run(uid)?;
        let open = named(project.tasks.values().filter(|t| !t.state.is_finished()));
        if !open.is_empty() {
            let why = format!("not finished yet: {open}; end these tasks first");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let mirrors = project.links.iter().filter(|l| l.mirror);
        let mirrors: Vec<_> = mirrors.map(|l| l.conversation.show(Prefix::Conversation)).collect();
        if !mirrors.is_empty() {
            let of = mirrors.join(", ");
            let why =
                format!("its members are mirrored into {of}: set mirror_members to false first");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        self.release_tasks(&project)?;
        self.directory_mut().projects.remove_mut(&uid);
        let tasks = project.tasks.keys().map(|task| (uid, *task, None));
        self.ws.changes.tasks.extend(tasks);
        self.ws.changes.projects.push((uid, None));
        Ok(ProjectState { project: Arc::new(project), task: None })
    }

    /// Where the opening message would be posted, if it was not posted before.
    fn may_kick_off(
        &self,
        project: &Project,
        is_new: bool,
        text: Arc<str>,
    ) -> Result<Option<(ConversationKey, Arc<str>)>> {
        check_words_of("a kickoff message", &text, limits::SUMMARY_BYTES)?;
        let Some(link) = project.default_link() else {
            let why = "a kickoff message goes to the default channel: link one";
            return Err(Refusal::invalid(why).into());
        };
        if project.kickoff.is_some() {
            // A repeated request that was answered already must not produce another message.
            let why = "the project was begun with a message already";
            return if is_new { Err(Refusal::new(Code::Conflict, why).into()) } else { Ok(None) };
        }
        self.ws.rooms.get(&link.key).ok_or_else(|| Refusal::not_found("conversation"))?;
        let me = self.by.member;
        if !(link.mirror && project.has(me)) {
            self.must_sit(link.key)?;
        }
        Ok(Some((link.key, text)))
    }

    /// Posts the caller's own message, under a key that is unique to the project.
    fn kick_off(&mut self, project: Uid, key: ConversationKey, text: Arc<str>) -> Result<Uid> {
        let me = self.me()?;
        let room = self.room(key);
        let hop = if me.is_agent() { self.next_hop(key, None) } else { 0 };
        let analysis = Analysis::of(&text);
        let said = IncomingMessage::read(room, &me, None, &text, &analysis, self.now);
        let said = IncomingMessage { hop, ..said };
        let attention = directedness::decide(room, self.ws.people(), &said);
        let message = Message { text, ..Message::default() };
        let uid = self.drawn.second;
        let mut draft = self.draft(uid, Change::Posted(message));
        let once = project.0.to_be_bytes();
        draft.hop = hop;
        draft.idempotency = Some(Idempotency { key: once, payload: once });
        draft.attention = Some(Arc::new(attention));
        let event = self.room_mut(key).log(draft);
        self.publish(event.clone())?;
        self.tell(&event)?;
        Ok(uid)
    }
}

fn in_thread_of(task: &crate::model::project::Task, key: ConversationKey) -> bool {
    task.thread.is_some_and(|(of, _, _)| of == key) && !task.state.is_finished()
}

fn check_texts(project: &Project) -> Result<(), Refusal> {
    check_title("title", Some(&project.title))?;
    check_text("description", &project.description)
}

/// A text of several lines, possibly empty.
pub(super) fn check_text(what: &str, text: &str) -> Result<(), Refusal> {
    if text.len() > limits::DESCRIPTION_BYTES {
        let most = limits::DESCRIPTION_BYTES;
        return Err(Refusal::invalid(format!("a {what} has at most {most} bytes")));
    }
    if text.contains('\0') {
        return Err(Refusal::invalid(format!("a {what} has no NUL character")));
    }
    Ok(())
}
