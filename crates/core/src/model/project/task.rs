//! Tasks of a project: their states and dependencies.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Project;
use crate::model::ids::{ConversationKey, MemberKey, Prefix, ThreadKey, Timestamp, Uid};

/// The state of a task. `open`, `in_progress` and `blocked` lead to each other, and each of them to
/// `cancelled`. From `open` and `in_progress` a task becomes `done`, which is final. A cancelled
/// task may be opened again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskState {
    #[default]
    Open,
    InProgress,
    Blocked,
    Done,
    Cancelled,
}

impl TaskState {
    pub const ALL: [Self; 5] =
        [Self::Open, Self::InProgress, Self::Blocked, Self::Done, Self::Cancelled];

    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether it is finished, so that dependent tasks no longer wait for it.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }

    /// Whether a task may be in this state while a dependency is unfinished.
    pub fn may_wait(self) -> bool {
        !matches!(self, Self::InProgress | Self::Done)
    }

    /// Whether a task may go from this state to `next`. Staying in the same state is no change.
    pub fn leads_to(self, next: Self) -> bool {
        match self {
            Self::Open | Self::InProgress => true,
            Self::Blocked => next != Self::Done,
            Self::Done => next == Self::Done,
            Self::Cancelled => matches!(next, Self::Cancelled | Self::Open),
        }
    }
}

#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Task {
    pub uid: Uid,
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    pub state: TaskState,
    /// The assignee's id within the project.
    pub assignee: Option<Arc<str>>,
    /// Tasks of the same project that must be finished before it.
    pub depends_on: Vec<Uid>,
    /// The thread in which it is worked on, in a linked channel.
    pub thread: Option<(ConversationKey, ThreadKey, Uid)>,
    pub created_by: MemberKey,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Project {
    /// A task's unfinished dependencies.
    pub fn awaited<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a Arc<Task>> {
        let on = task.depends_on.iter().filter_map(|on| self.tasks.get(on));
        on.filter(|on| !on.state.is_finished())
    }

    /// Unfinished tasks whose only unfinished dependency is this one.
    pub fn unblocked_by(&self, done: Uid) -> impl Iterator<Item = &Arc<Task>> {
        let waits = move |t: &&Arc<Task>| !t.state.is_finished() && t.depends_on.contains(&done);
        self.tasks.values().filter(waits).filter(move |t| self.awaited(t).all(|on| on.uid == done))
    }

    /// Unfinished tasks assigned to a member of the project.
    pub fn open_tasks_of(&self, member: &str) -> impl Iterator<Item = &Arc<Task>> {
        let member = member.to_owned();
        let of = move |t: &&Arc<Task>| t.assignee.as_deref() == Some(&*member);
        self.tasks.values().filter(of).filter(|t| !t.state.is_finished())
    }

    /// Tasks that depend on each other in a cycle, as text; none if there is no cycle.
    pub fn circle(&self) -> Option<String> {
        // A fully explored task is not visited again, so the cost is one visit per edge. The path
        // is kept here and not on the call stack, however long a chain is.
        let (mut walked, mut under_way) = (BTreeSet::new(), BTreeSet::new());
        for start in self.tasks.values() {
            let mut way: Vec<(&Arc<Task>, usize)> = vec![(start, 0)];
            under_way.insert(start.uid);
            while let Some((task, nth)) = way.last_mut() {
                let on = task.depends_on.get(*nth);
                *nth += 1;
                let Some(on) = on else {
                    walked.insert(task.uid);
                    under_way.remove(&task.uid);
                    way.pop();
                    continue;
                };
                if under_way.contains(on) {
                    let begin = way.iter().position(|(t, _)| t.uid == *on).unwrap_or(0);
                    let way = way[begin..].iter().map(|(t, _)| t.uid).chain([*on]);
                    let ids: Vec<_> = way.map(|uid| uid.show(Prefix::Task)).collect();
                    return Some(ids.join(" -> "));
                }
                if let Some(next) = self.tasks.get(on).filter(|_| !walked.contains(on)) {
                    under_way.insert(next.uid);
                    way.push((next, 0));
                }
            }
        }
        None
    }
}

/// The first few tasks, by id, as a refusal names them.
pub(crate) fn named<'a>(tasks: impl Iterator<Item = &'a Arc<Task>>) -> String {
    let mut ids: Vec<_> = tasks.take(NAMED + 1).map(|t| t.uid.show(Prefix::Task)).collect();
    if ids.len() > NAMED {
        ids[NAMED] = "more".into();
    }
    ids.join(", ")
}

/// How many a refusal names.
const NAMED: usize = 4;
