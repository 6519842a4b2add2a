//! Tasks: adding, changing and completing them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::project::check_text;
use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::derived;
use crate::commands::projects::ProjectState;
use crate::language::names::rules::check_title;
use crate::model::error::{Code, Refusal};
use crate::model::event::Change;
use crate::model::ids::{ConversationKey, Prefix, ThreadKey, Uid};
use crate::model::limits;
use crate::model::project::{Project, Task, TaskFields, TaskState, named};
use crate::model::thread::ThreadStatus;
use crate::model::thread::work::{Binding, BindingKind, WorkChange};

type Place = (ConversationKey, ThreadKey, Uid);

impl Context<'_> {
    pub(super) fn add_task(&mut self, project: Uid, fields: TaskFields) -> Result<ProjectState> {
        let mut project = Project::clone(&*self.project_seen(project)?);
        if project.tasks.len() >= limits::PROJECT_TASKS {
            let most = limits::PROJECT_TASKS;
            let why = format!("the project has {most} tasks: remove some that are finished");
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        if fields.state.is_some_and(TaskState::is_finished) {
            return Err(Refusal::invalid("a new task is not finished yet").into());
        }
        let task = Task {
            uid: self.drawn.uid,
            title: fields.title.clone().unwrap_or_default(),
            text: "".into(),
            state: TaskState::Open,
            assignee: None,
            depends_on: Vec::new(),
            thread: None,
            created_by: self.by.member,
            created_at: self.now,
            updated_at: self.now,
        };
        let task = self.changed(&project, task, fields)?;
        self.bind(task.uid, None, task.thread)?;
        let uid = task.uid;
        self.put_task(&mut project, task);
        Ok(self.task_outcome(project, uid))
    }

    pub(super) fn change_task(
        &mut self,
        project: Uid,
        uid: Uid,
        fields: TaskFields,
    ) -> Result<ProjectState> {
        let mut project = Project::clone(&*self.project_seen(project)?);
        let old = project.tasks.get(&uid).ok_or_else(|| Refusal::not_found("task"))?.clone();
        let mut task = self.changed(&project, (*old).clone(), fields)?;
        if task == *old {
            return Ok(ProjectState { project: Arc::new(project), task: Some(uid) });
        }
        let is_done = task.state == TaskState::Done && old.state != TaskState::Done;
        if is_done {
            self.check_may_complete(&project, &task)?;
        }
        self.bind(uid, old.thread, task.thread)?;
        task.updated_at = self.now;
        self.put_task(&mut project, task);
        if is_done && let Some(task) = project.tasks.get(&uid).cloned() {
            self.task_completed(&project, &task)?;
        }
        Ok(self.task_outcome(project, uid))
    }

    /// Removes a finished task that no other task waits for or has waited for.
    pub(super) fn remove_task(&mut self, project: Uid, uid: Uid) -> Result<ProjectState> {
        let mut project = Project::clone(&*self.project_seen(project)?);
        let task = project.tasks.get(&uid).ok_or_else(|| Refusal::not_found("task"))?.clone();
        if !task.state.is_finished() {
            let why = "a task that is not finished is not removed; cancel it";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let waiting = named(project.tasks.values().filter(|t| t.depends_on.contains(&uid)));
        if !waiting.is_empty() {
            let why = format!("{waiting} depend on it");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        self.bind(uid, task.thread, None)?;
        project.tasks.remove(&uid);
        self.ws.changes.tasks.push((project.uid, uid, None));
        Ok(self.task_outcome(project, uid))
    }

    pub(super) fn put_task(&mut self, project: &mut Project, task: Task) {
        let (uid, task) = (task.uid, Arc::new(task));
        self.ws.changes.tasks.push((project.uid, uid, Some(task.clone())));
        project.tasks.insert(uid, task);
    }

    /// The project's own row does not change.
    fn task_outcome(&mut self, project: Project, task: Uid) -> ProjectState {
        let project = Arc::new(project);
        self.directory_mut().projects.insert_mut(project.uid, project.clone());
        ProjectState { project, task: Some(task) }
    }

    /// The changed task, if the change is valid.
    fn changed(&mut self, project: &Project, old: Task, fields: TaskFields) -> Result<Task> {
        let mut task = old.clone();
        let conflict = |why: String| Refusal::new(Code::Conflict, why);
        task.title = fields.title.unwrap_or(task.title);
        check_title("title", Some(&task.title))?;
        task.text = fields.text.unwrap_or(task.text);
        check_text("text", &task.text)?;
        task.state = fields.state.unwrap_or(task.state);
        if !old.state.leads_to(task.state) {
            let (is, next) = (old.state.name(), task.state.name());
            return Err(conflict(format!("a task that is {is} does not become {next}")).into());
        }
        if let Some(assignee) = fields.assignee {
            task.assignee = assignee;
            if task.assignee.as_deref().is_some_and(|id| project.member(id).is_none()) {
                return Err(Refusal::not_found("member of the project").into());
            }
        } else if old.state.is_finished() {
            // The assignee may have left since.
            task.assignee =
                task.assignee.filter(|id| task.state.is_finished() || project.member(id).is_some());
        }
        if let Some(on) = fields.depends_on {
            task.depends_on = on;
            self.check_dependencies(project, &task)?;
        }
        if let Some(thread) = fields.thread {
            task.thread = thread.map(|uid| self.thread_of(project, uid, old.thread)).transpose()?;
        }
        if old.state.is_finished() && task.state.is_finished() && task != old {
            let is = old.state.name();
            return Err(conflict(format!("a task that is {is} stays as it is")).into());
        }
        let awaited = named(project.awaited(&task));
        if !task.state.may_wait() && !awaited.is_empty() {
            let is = task.state.name();
            return Err(conflict(format!("it cannot be {is} before {awaited}")).into());
        }
        if old.state.is_finished() && !task.state.is_finished() {
            let on = project.tasks.values().filter(|t| t.depends_on.contains(&task.uid));
            let begun = named(on.filter(|t| !t.state.may_wait()));
            if !begun.is_empty() {
                return Err(conflict(format!("{begun} have begun, which depend on it")).into());
            }
        }
        Ok(task)
    }

    fn check_dependencies(&self, project: &Project, task: &Task) -> Result<()> {
        if task.depends_on.len() > limits::TASK_DEPENDENCIES {
            let most = limits::TASK_DEPENDENCIES;
            return Err(Refusal::invalid(format!("a task depends on at most {most} others")).into());
        }
        for (nth, on) in task.depends_on.iter().enumerate() {
            if *on != task.uid && !project.tasks.contains_key(on) {
                return Err(Refusal::not_found("task of the project").into());
            }
            if task.depends_on[..nth].contains(on) {
                return Err(Refusal::invalid("depends_on has a task twice").into());
            }
        }
        let mut after = project.clone();
        after.tasks.insert(task.uid, Arc::new(task.clone()));
        if let Some(circle) = after.circle() {
            let why = format!("tasks would depend on each other in a cycle: {circle}");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        Ok(())
    }

    fn thread_of(&mut self, project: &Project, uid: Uid, old: Option<Place>) -> Result<Place> {
        if let Some(old) = old.filter(|(_, _, of)| *of == uid) {
            return Ok(old);
        }
        let (key, thread) = self.thread_by_uid(uid)?;
        if project.link(key).is_none() {
            let why = "a task is worked on in a thread of a channel that the project is linked to";
            return Err(Refusal::invalid(why).into());
        }
        self.must_sit(key)?;
        Ok((key, thread, uid))
    }

    /// Unbinds the threads of the project's channels, and the threads of its tasks, from the
    /// project and its tasks.
    pub(super) fn release_tasks(&mut self, project: &Project) -> Result<()> {
        let bound =
            |task: &Uid| Binding { kind: BindingKind::Task, id: task.show(Prefix::Task).into() };
        let gone: BTreeSet<_> = project.tasks.keys().map(bound).collect();
        let worked_on =
            project.tasks.values().filter_map(|task| task.thread).map(|(key, _, _)| key);
        let rooms: BTreeSet<_> = project.links.iter().map(|l| l.key).chain(worked_on).collect();
        let mut nth = 0;
        for key in rooms {
            self.load(key)?;
            nth = self.unbind_all(key, &gone, nth)?;
        }
        Ok(())
    }

    /// Binds the new thread's work to the task, and unbinds the previous one.
    fn bind(&mut self, task: Uid, old: Option<Place>, new: Option<Place>) -> Result<()> {
        if old == new {
            return Ok(());
        }
        let binding =
            || vec![Binding { kind: BindingKind::Task, id: task.show(Prefix::Task).into() }];
        let bound = match new {
            Some((key, at, _)) => {
                let thread = self.open_to_work(key, at)?;
                let change = WorkChange { bind: binding(), ..WorkChange::default() };
                thread.work.check(&change)?;
                thread.work.differs(change).map(|change| (key, at, change))
            }
            None => None,
        };
        let freed = match old {
            Some((key, at, _)) => {
                self.load(key)?;
                let thread =
                    self.thread(key, Some(at)).filter(|t| t.status != ThreadStatus::Closed);
                let change = WorkChange { unbind: binding(), ..WorkChange::default() };
                thread.and_then(|t| t.work.differs(change)).map(|change| (key, at, change))
            }
            None => None,
        };
        for (nth, (key, at, change)) in bound.into_iter().chain(freed).enumerate() {
            let uid = derived(self.drawn.second, nth);
            let mut draft = self.draft(uid, Change::ThreadWork(Box::new(change)));
            draft.thread = Some(at);
            let event = self.room_mut(key).log(draft);
            self.publish(event)?;
        }
        Ok(())
    }
}
