//! Schedules: what a channel is asked again and again.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::schedules::{AddSchedule, ChangeSchedule, RemoveSchedule, Scheduled};
use chorus_core::model::conversation::Conversation;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Prefix;
use chorus_core::model::schedule::{self, When, ZONE};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::schedules::{Firing, NewSchedule, Schedule, SchedulePatch, Schedules};

use super::commands::Commands;
use super::ids;
use super::reads::Reads;
use crate::auth::Caller;
use crate::view;

/// Schedules.
pub(crate) struct ScheduleService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl ScheduleService {
    pub(crate) async fn add_schedule(
        &self,
        caller: &Caller,
        id: &str,
        new: NewSchedule,
    ) -> Result<Schedule, Refusal> {
        caller.must_not_be_a_turn()?;
        let when = when(new.cron, new.time_zone, new.every_ms)?;
        let when = when.ok_or_else(|| Refusal::invalid("give one of cron and every_ms"))?;
        let thread = new.thread.as_deref().map(ids::thread).transpose()?;
        let (source, targets) = {
            let directory = self.directory.load();
            let source = new
                .source
                .as_deref()
                .map(|id| ids::member_for(&directory, caller, id))
                .transpose()?;
            (source.map(|m| m.key), ids::members_for(&directory, caller, &new.targets)?)
        };
        let conversation = ids::conversation(id)?;
        let new = schedule::NewSchedule {
            when,
            source,
            thread,
            text: new.text.into(),
            title: new.title.map(Into::into),
            targets,
            progress_key: new.progress_key.map(Into::into),
            initiative_key: new.initiative_key.map(Into::into),
        };
        let added = self.commands.submit(caller.by, AddSchedule { conversation, new }).await?;
        Ok(self.scheduled(&added))
    }

    pub(crate) async fn change_schedule(
        &self,
        caller: &Caller,
        id: &str,
        schedule: &str,
        patch: SchedulePatch,
    ) -> Result<Schedule, Refusal> {
        caller.must_not_be_a_turn()?;
        let uid = ids::schedule(schedule)?;
        let targets = match &patch.targets {
            Some(targets) => Some(ids::members_for(&self.directory.load(), caller, targets)?),
            None => None,
        };
        let patch = schedule::SchedulePatch {
            every_ms: patch.every_ms,
            cron: patch.cron.map(Into::into),
            zone: patch.time_zone.map(Into::into),
            text: patch.text.map(Into::into),
            title: patch.title.map(Into::into),
            targets,
            paused: patch.paused,
        };
        let conversation = ids::conversation(id)?;
        let command = ChangeSchedule { conversation, schedule: uid, patch };
        let changed = self.commands.submit(caller.by, command).await?;
        Ok(self.scheduled(&changed))
    }

    pub(crate) async fn remove_schedule(
        &self,
        caller: &Caller,
        id: &str,
        schedule: &str,
    ) -> Result<(), Refusal> {
        caller.must_not_be_a_turn()?;
        let schedule = ids::schedule(schedule)?;
        let conversation = ids::conversation(id)?;
        self.commands.submit(caller.by, RemoveSchedule { conversation, schedule }).await
    }

    fn scheduled(&self, now: &Scheduled) -> Schedule {
        self.show_schedule(&now.conversation, &now.schedule)
    }

    /// The schedules of a channel, oldest first.
    pub(crate) async fn schedules(&self, caller: &Caller, id: &str) -> Result<Schedules, Refusal> {
        let conversation = self.reads.place(caller, ids::conversation(id)?).await?.conversation;
        let key = conversation.key;
        let found = self.reads.read(move |readers| readers.schedules(key)).await?;
        let schedules = found.iter().map(|s| self.show_schedule(&conversation, s)).collect();
        Ok(Schedules { schedules })
    }

    pub(crate) async fn schedule(
        &self,
        caller: &Caller,
        id: &str,
        schedule: &str,
    ) -> Result<Schedule, Refusal> {
        let uid = ids::schedule(schedule)?.show(Prefix::Schedule);
        let all = self.schedules(caller, id).await?.schedules;
        all.into_iter().find(|s| s.id == uid).ok_or_else(|| Refusal::not_found("schedule"))
    }

    fn show_schedule(&self, conversation: &Conversation, s: &schedule::Schedule) -> Schedule {
        let directory = self.directory.load();
        let id = |m| view::id(&directory, m);
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        let (cron, time_zone, every_ms) = match &s.when {
            When::Every(ms) => (None, None, Some(*ms)),
            When::Cron { expression, zone } => {
                (Some(expression.to_string()), Some(zone.to_string()), None)
            }
        };
        Schedule {
            id: s.uid.show(Prefix::Schedule),
            conversation: conversation.uid.show(Prefix::Conversation),
            cron,
            time_zone,
            every_ms,
            text: s.text.to_string(),
            title: s.title.to_string(),
            thread: s.thread.map(|(_, uid)| uid.show(Prefix::Thread)),
            source: id(s.source),
            maker: id(s.maker),
            targets: s.targets.iter().map(|m| id(*m)).collect(),
            progress_key: text(&s.progress_key),
            initiative_key: text(&s.initiative_key),
            created_at: s.created_at.into(),
            paused: s.paused,
            next_at: s.next_at.map(Into::into),
            fired: s.fired,
            last: s.firings.last().map(firing),
            firings: s.firings.iter().rev().map(firing).collect(),
        }
    }
}

fn firing(firing: &schedule::Firing) -> Firing {
    let stimulus = firing.stimulus.show(Prefix::Stimulus);
    Firing { at: firing.at.into(), stimulus, result: firing.how.into() }
}

/// When it is to fire; none where nothing is said of it.
fn when(
    cron: Option<String>,
    zone: Option<String>,
    every_ms: Option<i64>,
) -> Result<Option<When>, Refusal> {
    match (cron, zone, every_ms) {
        (Some(cron), zone, None) => {
            let zone = zone.unwrap_or_else(|| ZONE.to_owned()).into();
            Ok(Some(When::Cron { expression: cron.into(), zone }))
        }
        (None, None, Some(every)) => Ok(Some(When::Every(every))),
        (None, None, None) => Ok(None),
        (None, Some(_), _) => Err(Refusal::invalid("time_zone goes with cron")),
        (Some(_), _, Some(_)) => Err(Refusal::invalid("give one of cron and every_ms")),
    }
}
