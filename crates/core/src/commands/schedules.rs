//! Schedules of a channel: members create and change them, and timers fire them
//! ([`crate::model::schedule`]).

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::Shown;
use crate::commands::redact::Redact;
use crate::commands::stimuli::title::{headline, shortened};
use crate::model::audit::{Action, Audit};
use crate::model::conversation::Conversation;
use crate::model::delivery::Open;
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Prefix, ThreadKey, Uid};
use crate::model::limits;
use crate::model::schedule::{Fired, Firing, NewSchedule, Schedule, SchedulePatch};
use crate::model::stimulus::{Stimulus, StimulusKind, keys};
use crate::model::thread::work::{Binding, BindingKind};
use crate::state::workspace::Failure;

/// The current state of a schedule.
#[derive(Clone, Debug)]
pub struct Scheduled {
    pub conversation: Arc<Conversation>,
    pub schedule: Arc<Schedule>,
}

#[derive(Clone)]
pub struct AddSchedule {
    pub conversation: Uid,
    pub new: NewSchedule,
}

impl Command for AddSchedule {
    type Output = Scheduled;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::ChangeSchedules).subject(self.conversation)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.text(&mut self.new.text) + redact.maybe(&mut self.new.title)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let new = &self.new;
        let mut fields = vec![("text", new.text.to_string())];
        fields.extend(new.title.iter().map(|title| ("title", title.to_string())));
        fields.push(("targets", run.called(&new.targets)));
        let shown = run.said_in(self.conversation, "create_schedule", fields)?;
        Ok(Some(Shown { says: true, ..shown }))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Scheduled> {
        let key = run.schedules_of(self.conversation)?;
        let schedule = run.new_schedule(key, self.new)?;
        run.put_schedule(key, schedule)
    }
}

#[derive(Clone)]
pub struct ChangeSchedule {
    pub conversation: Uid,
    pub schedule: Uid,
    pub patch: SchedulePatch,
}

impl Command for ChangeSchedule {
    type Output = Scheduled;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::ChangeSchedules).subject(self.conversation)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.patch.text) + redact.maybe(&mut self.patch.title)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let texts = [("text", &self.patch.text), ("title", &self.patch.title)];
        let mut fields: Vec<_> =
            texts.iter().filter_map(|(n, t)| Some((*n, t.as_ref()?.to_string()))).collect();
        if fields.is_empty() {
            return Ok(None);
        }
        fields.push(("schedule", self.schedule.show(Prefix::Schedule)));
        let shown = run.said_in(self.conversation, "change_schedule", fields)?;
        Ok(Some(Shown { says: true, ..shown }))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Scheduled> {
        let key = run.schedules_of(self.conversation)?;
        let old = run.schedule_to_change(key, self.schedule)?;
        let schedule = run.patched(key, &old, self.patch)?;
        run.put_schedule(key, schedule)
    }
}

#[derive(Clone)]
pub struct RemoveSchedule {
    pub conversation: Uid,
    pub schedule: Uid,
}

impl Command for RemoveSchedule {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::ChangeSchedules).subject(self.conversation)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        let key = run.schedules_of(self.conversation)?;
        let old = run.schedule_to_change(key, self.schedule)?;
        run.remove_schedule(key, &old)
    }
}

impl Context<'_> {
    /// The channel whose schedules a member wants to change.
    fn schedules_of(&mut self, conversation: Uid) -> Result<ConversationKey> {
        let key = self.room_by_uid(conversation)?;
        self.must_sit(key)?;
        Ok(key)
    }

    fn put_schedule(&mut self, key: ConversationKey, schedule: Schedule) -> Result<Scheduled> {
        self.check_schedule(key, &schedule)?;
        let schedule = schedule.arranged(self.now);
        self.room_mut(key).put_schedule(schedule.clone());
        let conversation = self.room(key).conversation().clone();
        Ok(Scheduled { conversation, schedule: Arc::new(schedule) })
    }

    fn new_schedule(&mut self, key: ConversationKey, new: NewSchedule) -> Result<Schedule> {
        let me = self.me()?.key;
        if new.source.is_some_and(|source| source != me) {
            self.must_govern()?;
        }
        keys::check_free("progress_key", new.progress_key.as_deref())?;
        let most = limits::SCHEDULES;
        if self.room(key).schedules().len() >= most {
            let why = format!("a channel has at most {most} schedules");
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        let thread = self.thread_here(key, new.thread)?;
        let chain = self.chain_here(key)?;
        Ok(Schedule {
            chain,
            uid: self.drawn.uid,
            when: new.when,
            source: new.source.unwrap_or(me),
            maker: me,
            thread,
            title: new.title.unwrap_or_else(|| headline(&new.text)),
            text: new.text,
            targets: new.targets,
            progress_key: new.progress_key,
            initiative_key: new.initiative_key,
            created_at: self.now,
            paused: false,
            next_at: None,
            fired: 0,
            firings: Vec::new(),
            salt: self.drawn.salt,
        })
    }

    /// A schedule that the caller may change: the caller is its author, the member it speaks for,
    /// or a moderator.
    fn schedule_to_change(&self, key: ConversationKey, uid: Uid) -> Result<Arc<Schedule>> {
        let found = self.room(key).schedules().get(&uid).cloned();
        let old = found.ok_or_else(|| Refusal::not_found("schedule"))?;
        if ![old.source, old.maker].contains(&self.by.member) {
            self.must_govern()?;
        }
        Ok(old)
    }

    /// Removes a schedule: its pending stimuli are cancelled, and the threads that it opened or
    /// continued are unbound from it.
    fn remove_schedule(&mut self, key: ConversationKey, old: &Schedule) -> Result<()> {
        self.room_mut(key).remove_schedule(old.uid);
        let id = old.key();
        let of = |s: &&Arc<Stimulus>| s.state.is_open() && s.dedupe_key.as_ref() == Some(&id);
        let open: Vec<_> = self.room(key).stimuli().values().filter(of).cloned().collect();
        for stimulus in open {
            let cancelled = self.cancelled(&stimulus, "its schedule was removed");
            self.end_stimulus(key, cancelled);
        }
        let binding = Binding { kind: BindingKind::Schedule, id };
        self.unbind_all(key, &[binding].into(), 0).map(drop)
    }

    fn patched(
        &mut self,
        key: ConversationKey,
        old: &Schedule,
        patch: SchedulePatch,
    ) -> Result<Schedule> {
        let when = patch.when(&old.when)?;
        let chain = self.chain_again(key, old.chain)?;
        // A new interval counts from now.
        let created_at = if when.is_some() { self.now } else { old.created_at };
        Ok(Schedule {
            when: when.unwrap_or_else(|| old.when.clone()),
            text: patch.text.unwrap_or_else(|| old.text.clone()),
            title: patch.title.unwrap_or_else(|| old.title.clone()),
            targets: patch.targets.unwrap_or_else(|| old.targets.clone()),
            paused: patch.paused.unwrap_or(old.paused),
            created_at,
            chain,
            ..old.clone()
        })
    }

    /// Checks that its stimulus would be valid, and that it has a next time.
    fn check_schedule(&self, key: ConversationKey, schedule: &Schedule) -> Result<()> {
        self.check_stimulus(key, &self.firing(schedule))?;
        Ok(schedule.when.check(self.now)?)
    }

    /// Fires the schedules that are due, each once, and sets their next times.
    pub(crate) fn fire_schedules(&mut self, key: ConversationKey) -> Result<()> {
        let now = self.now;
        let Some(room) = self.ws.rooms.get(&key) else { return Ok(()) };
        let due = room.schedules().values().filter(|s| s.next_at.is_some_and(|at| at <= now));
        for old in due.cloned().collect::<Vec<_>>() {
            let closed = self.room(key).is_closed();
            let fire = self.firing(&old);
            let stimulus = fire.uid;
            let how = match closed {
                true => Fired::Failed,
                false => match self.enqueue(key, fire) {
                    Ok(_) => Fired::Open,
                    // The queue is full. The next firing may find room.
                    Err(Failure::Refused(_)) => Fired::Failed,
                    Err(unavailable) => return Err(unavailable),
                },
            };
            // A firing that still waited was replaced by this one, and the schedule has recorded
            // that.
            let known = self.room(key).schedules().get(&old.uid).cloned();
            let mut moved = Schedule::clone(&*known.unwrap_or(old));
            moved.fire(Firing { at: now, stimulus, how });
            self.room_mut(key).put_schedule(moved.arranged(now));
        }
        Ok(())
    }

    /// The stimulus of a firing. Its id is derived from the schedule's id and the count of firings.
    fn firing(&self, of: &Schedule) -> Stimulus {
        let nth = u128::from(of.fired) + 1;
        let uid = Uid(of.uid.0.wrapping_add(nth << 16));
        let kind = StimulusKind::ScheduleFire;
        Stimulus {
            thread: of.thread,
            text: of.text.clone(),
            title: of.title.clone(),
            targets: of.targets.clone(),
            chain: of.chain,
            progress_key: of.progress_key.clone(),
            dedupe_key: Some(of.key()),
            initiative_key: of.initiative_key.clone(),
            ..Stimulus::new(uid, kind, of.source, of.salt_of(uid), self.now)
        }
    }

    /// A stimulus has ended. If a schedule made it, the schedule records the outcome.
    pub(crate) fn note_fired(&mut self, key: ConversationKey, stimulus: &Stimulus) {
        let Some(schedule) = self.schedule_of(key, stimulus.uid) else { return };
        let told = |uid: Uid| self.room(key).open().values().any(|open| open.uid == uid);
        let fired = match stimulus.said {
            Some(said) if told(said) => Fired::Open,
            Some(_) => Fired::Unanswered,
            None => Fired::Failed,
        };
        self.set_fired(key, &schedule, stimulus.uid, fired);
    }

    /// All recipients of an event are done. If a schedule asked for it, the schedule's author is
    /// told the result.
    pub(crate) fn schedule_settled(&mut self, at: EventRef, open: &Open) {
        let key = at.conversation;
        if self.room(key).schedules().is_empty() {
            return;
        }
        let all = self.room(key).schedules().values();
        let said = |s: &&Arc<Schedule>| s.firing_that_said(open.uid).is_some();
        let Some(schedule) = all.into_iter().find(said).cloned() else { return };
        let Some(fire) = schedule.firing_that_said(open.uid) else { return };
        let answered =
            |how| matches!(how, Some(Disposition::Responded | Disposition::Acknowledged));
        let by: Vec<MemberKey> = open
            .deliveries
            .iter()
            .filter(|d| answered(d.disposition()))
            .map(|d| d.member)
            .collect();
        let fired = if by.is_empty() { Fired::Unanswered } else { Fired::Answered };
        self.set_fired(key, &schedule, fire, fired);
        let thread = open.thread.or_else(|| self.room(key).thread_of_root(at.seq));
        let thread = thread.and_then(|t| self.thread(key, Some(t)).map(|found| (t, found.uid)));
        if let Some(thread) = thread {
            let result = self.result_of(key, &schedule, fire, thread, &by);
            // A full queue is no reason to keep a run from ending.
            let _ = self.enqueue_made(key, result);
        }
    }

    fn result_of(
        &self,
        key: ConversationKey,
        schedule: &Schedule,
        fire: Uid,
        thread: (ThreadKey, Uid),
        by: &[MemberKey],
    ) -> Stimulus {
        let name = |m: &MemberKey| self.directory().member(*m).map(|m| m.handle.to_string());
        let names: Vec<String> = by.iter().filter_map(name).collect();
        let title = shortened(&schedule.title, limits::TITLE_BYTES);
        let text = match names.is_empty() {
            true => format!("The schedule {title:?} has fired, and nobody has answered."),
            false => format!("The schedule {title:?} was answered by {}.", names.join(", ")),
        };
        let maker = schedule.maker;
        let told = maker != schedule.source && self.room(key).roster().contains_key(&maker);
        let uid = Uid(fire.0.wrapping_add(1 << 8));
        Stimulus {
            uid,
            salt: schedule.salt_of(uid),
            kind: StimulusKind::ScheduleResult,
            thread: Some(thread),
            text: text.as_str().into(),
            title: headline(&text),
            targets: told.then_some(maker).into_iter().collect(),
            progress_key: None,
            initiative_key: None,
            // Each firing has a separate result, which replaces no other.
            dedupe_key: Some(format!("{} result", fire.show(Prefix::Stimulus)).into()),
            ..self.firing(schedule)
        }
    }

    /// The schedule that this is a firing of.
    fn schedule_of(&self, key: ConversationKey, fire: Uid) -> Option<Arc<Schedule>> {
        let all = self.room(key).schedules().values();
        let is_of = |s: &&Arc<Schedule>| s.firings.iter().any(|f| f.stimulus == fire);
        all.into_iter().find(is_of).cloned()
    }

    fn set_fired(&mut self, key: ConversationKey, schedule: &Schedule, fire: Uid, how: Fired) {
        let mut schedule = schedule.clone();
        let firing = schedule.firings.iter_mut().find(|f| f.stimulus == fire);
        if let Some(firing) = firing {
            firing.how = how;
        }
        self.room_mut(key).put_schedule(schedule);
    }

    /// The schedule that made this stimulus, for the thread's bindings; its id is part of the key.
    /// A removed schedule binds nothing.
    pub(crate) fn schedule_bound(&self, key: ConversationKey, stimulus: &Stimulus) -> Vec<Binding> {
        let fires = stimulus.kind == StimulusKind::ScheduleFire;
        let gone = |id: &Arc<str>| {
            let mut all = self.room(key).schedules().values();
            keys::is_of_the_host(id) && !all.any(|schedule| schedule.key() == *id)
        };
        let id = stimulus.dedupe_key.clone().filter(|id| fires && !gone(id));
        id.map(|id| Binding { kind: BindingKind::Schedule, id }).into_iter().collect()
    }
}
