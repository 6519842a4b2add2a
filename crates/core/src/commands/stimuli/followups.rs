//! Stimuli that the host creates for events in threads.

use std::sync::Arc;

use super::title::headline;
use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::derived;
use crate::model::ids::{ConversationKey, MemberKey, Prefix, ThreadKey, Uid};
use crate::model::limits;
use crate::model::project::{Project, Task};
use crate::model::stimulus::{Chain, Stimulus, StimulusKind, StimulusState, keys};
use crate::model::thread::ThreadStatus;
use crate::state::workspace::Failure;

/// The distance between the id of a stimulus and those of the events that the same command logs.
const APART: usize = 100;

impl Context<'_> {
    /// The work of a thread was superseded: its readers are told.
    pub(crate) fn notice_superseded(&mut self, key: ConversationKey, at: ThreadKey) -> Result<()> {
        let Some(thread) = self.thread(key, Some(at)).cloned() else { return Ok(()) };
        let text = format!("The work on {:?} is superseded.", thread.title);
        let notice = self.made(StimulusKind::SupersessionNotice, at, thread.uid, &text);
        // A full queue is no reason to refuse the request.
        match self.enqueue_made(key, notice) {
            Ok(()) | Err(Failure::Refused(_)) => Ok(()),
            Err(unavailable) => Err(unavailable),
        }
    }

    /// A result appears in the feed as soon as it is posted. The queue records that.
    pub(crate) fn note_result(
        &mut self,
        key: ConversationKey,
        at: ThreadKey,
        said: Uid,
    ) -> Result<()> {
        let Some(thread) = self.thread(key, Some(at)).cloned() else { return Ok(()) };
        let result = self.made(StimulusKind::ResultSummary, at, thread.uid, "");
        let ended = result.ended(StimulusState::Dispatched, self.now);
        self.room_mut(key).put_stimulus(Stimulus { said: Some(said), ..ended });
        Ok(())
    }

    /// The last finding of a thread was settled: its owner is told that the review is complete.
    pub(crate) fn review_completed(&mut self, key: ConversationKey, at: ThreadKey) -> Result<()> {
        let Some(thread) = self.thread(key, Some(at)).cloned() else { return Ok(()) };
        let work = self.work_of(key, at)?;
        if work.findings.is_empty() || work.open().next().is_some() {
            return Ok(());
        }
        let text = format!("The review of {:?} is complete: no finding is open.", thread.title);
        let made = self.made(StimulusKind::ReviewCompleted, at, thread.uid, &text);
        let seated = |m: &MemberKey| self.room(key).roster().contains_key(m);
        let targets = thread.owner.filter(|owner| *owner != made.source && seated(owner));
        let dedupe_key = Some(keys::REVIEW.into());
        let (targets, chain) = (targets.into_iter().collect(), self.chain_of_act(key)?);
        let made = Stimulus { targets, dedupe_key, chain, ..made };
        match self.enqueue_made(key, made) {
            Ok(()) | Err(Failure::Refused(_)) => Ok(()),
            Err(unavailable) => Err(unavailable),
        }
    }

    /// A task of a project is done: tells the assignees of tasks that it unblocks, otherwise the
    /// thread's owner, otherwise the lead. Posted in the task's thread, otherwise in the project's
    /// default channel, by the member who did the task if it is a member there.
    pub(crate) fn task_completed(&mut self, project: &Project, task: &Task) -> Result<()> {
        let thread = self.thread_of_task(project, task)?;
        let Some(key) = thread.map(|(key, _, _)| key).or(project.default_link().map(|l| l.key))
        else {
            return Ok(());
        };
        self.load(key)?;
        let room = self.room(key);
        let seated = |m: &MemberKey| room.roster().contains_key(m);
        let member = |id: &Arc<str>| project.member(id).map(|m| m.member);
        let leads = || project.members.iter().filter(|m| m.lead).map(|m| m.member);
        let everybody = leads().chain(project.members.iter().map(|m| m.member));
        let assignee = task.assignee.as_ref().and_then(member);
        let mut sources = [self.by.member].into_iter().chain(assignee).chain(everybody);
        let Some(source) = sources.find(seated).filter(|_| !room.is_closed()) else {
            return Ok(());
        };
        let unblocked: Vec<_> = project.unblocked_by(task.uid).collect();
        let owner = thread.and_then(|(_, at, _)| self.thread(key, Some(at))?.owner);
        let freed = unblocked.iter().filter_map(|t| t.assignee.as_ref().and_then(member));
        let others = |m: &MemberKey| *m != source && seated(m);
        let mut targets: Vec<_> = freed.filter(others).collect();
        if targets.is_empty() {
            targets.extend(owner.filter(others));
        }
        if targets.is_empty() {
            targets.extend(leads().filter(others));
        }
        targets.sort_unstable();
        targets.dedup();
        targets.truncate(limits::AUDIENCE_NAMED);
        let mut text = format!("The task {:?} of {:?} is done.", task.title, project.title);
        let next: Vec<_> = unblocked.iter().take(8).map(|t| format!("{:?}", t.title)).collect();
        if !next.is_empty() {
            text.push_str(&format!(" Nothing holds up any more: {}.", next.join(", ")));
        }
        let dedupe_key = Some(task.uid.show(Prefix::Task).into());
        let made = self.made(StimulusKind::TaskCompleted, ThreadKey(0), task.uid, &text);
        let thread = thread.map(|(_, at, uid)| (at, uid));
        let chain = self.chain_of_act(key)?;
        let made = Stimulus { source, thread, targets, dedupe_key, chain, ..made };
        self.enqueue_made(key, made)
    }

    /// Checks that there is room to announce that a task is done, if there is a place for it.
    pub(crate) fn check_may_complete(&mut self, project: &Project, task: &Task) -> Result<()> {
        let thread = self.thread_of_task(project, task)?;
        let place = thread.map(|(key, _, _)| key).or(project.default_link().map(|l| l.key));
        let Some(key) = place else { return Ok(()) };
        self.load(key)?;
        if self.room(key).is_closed() {
            return Ok(());
        }
        self.check_may_hold(key)
    }

    /// The thread in which a task is worked on, if it can be posted to.
    fn thread_of_task(
        &mut self,
        project: &Project,
        task: &Task,
    ) -> Result<Option<(ConversationKey, ThreadKey, Uid)>> {
        let Some((key, at, uid)) = task.thread.filter(|(key, _, _)| project.link(*key).is_some())
        else {
            return Ok(None);
        };
        self.load(key)?;
        let live = self.thread(key, Some(at)).is_some_and(|t| t.status != ThreadStatus::Closed)
            && !self.room(key).is_closed();
        Ok(live.then_some((key, at, uid)))
    }

    /// The chain that an agent's action here continues. The end of its turn is no reason to lose
    /// the result of its work.
    fn chain_of_act(&mut self, key: ConversationKey) -> Result<Option<Chain>> {
        match self.chain_here(key) {
            Err(Failure::Refused(_)) => {
                Ok(Some(Chain { cause: None, hop: self.next_hop(key, None) }))
            }
            chain => chain,
        }
    }

    /// A stimulus that a command creates as a side effect.
    fn made(&self, kind: StimulusKind, at: ThreadKey, thread: Uid, text: &str) -> Stimulus {
        let (uid, source) = (derived(self.drawn.second, APART), self.by.member);
        Stimulus {
            thread: Some((at, thread)),
            text: text.into(),
            title: headline(text),
            ..Stimulus::new(uid, kind, source, self.drawn.salt, self.now)
        }
    }
}
