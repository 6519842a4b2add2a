//! The work of a thread (channels spec, "Thread work state, bindings, and progress").
//!
//! It is replayed from the log like the rest of a thread: a [`WorkChange`] states the changes, and
//! [`ThreadWork::apply`] is the only place that makes them. The work's status is independent of the
//! thread's: a resolved thread may hold work that is still proposed. Only the newest progress of
//! each key is kept. Progress notifies nobody and does not count as a message.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::error::Refusal;
use crate::model::ids::{MemberKey, Seq, SessionKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::stimulus::{StimulusKind, becomes};

/// The status of the work. It never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkStatus {
    #[default]
    Proposed,
    Active,
    Reviewing,
    Completed,
    /// Other work has replaced it.
    Superseded,
}

impl WorkStatus {
    pub const ALL: [Self; 5] =
        [Self::Proposed, Self::Active, Self::Reviewing, Self::Completed, Self::Superseded];

    pub fn name(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Active => "active",
            Self::Reviewing => "reviewing",
            Self::Completed => "completed",
            Self::Superseded => "superseded",
        }
    }

    /// Whether the work is finished.
    pub fn is_over(self) -> bool {
        self >= Self::Completed
    }
}

/// The kinds of external things that a thread's work can be bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BindingKind {
    Schedule,
    Run,
    SidechainAgent,
    Task,
    Observation,
}

impl BindingKind {
    pub const ALL: [Self; 5] =
        [Self::Schedule, Self::Run, Self::SidechainAgent, Self::Task, Self::Observation];

    pub fn name(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Run => "run",
            Self::SidechainAgent => "sidechain_agent",
            Self::Task => "task",
            Self::Observation => "observation",
        }
    }
}

/// An external thing by its id, which is opaque here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binding {
    pub kind: BindingKind,
    pub id: Arc<str>,
}

/// The newest report on one stream of progress.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Progress {
    #[redact(fixed = 3)]
    pub key: Arc<str>,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    pub percent: Option<u8>,
    pub at: Timestamp,
    pub by: MemberKey,
    /// The event that began the stream in the thread, if a stimulus posted it.
    pub said: Option<Uid>,
}

/// A progress report before it has its time and author.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Report {
    #[redact(fixed = 3)]
    pub key: Arc<str>,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    pub percent: Option<u8>,
}

/// The result, as shown in the feed.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Summary {
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    pub at: Timestamp,
}

/// The stimulus that last opened or continued the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spur {
    pub uid: Uid,
    pub kind: StimulusKind,
    pub at: Timestamp,
    /// The thread's newest seq after it was posted, to detect later messages.
    pub thread_seq: u64,
    /// Whether it opened the thread.
    pub opened: bool,
}

/// The work of one thread.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct ThreadWork {
    pub status: WorkStatus,
    /// Its topic, as one word that the room chooses.
    #[redact(fixed = 3)]
    pub topic_kind: Option<Arc<str>>,
    /// The session that does the work. The owner is stored in the thread.
    pub owner_session: Option<SessionKey>,
    /// The initiative's key: a channel has at most one live thread per initiative.
    #[redact(fixed = 3)]
    pub initiative_key: Option<Arc<str>>,
    pub bindings: BTreeSet<Binding>,
    /// One for each key, in the order in which the keys first came.
    pub progress: Vec<Progress>,
    pub summary: Option<Summary>,
    /// Its messages that are promoted to the feed.
    pub promoted: BTreeSet<Seq>,
    pub spur: Option<Spur>,
}

/// A change of the work; absent fields stay as they were.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct WorkChange {
    pub status: Option<WorkStatus>,
    #[redact(fixed = 3)]
    pub topic_kind: Option<Option<Arc<str>>>,
    pub owner_session: Option<Option<SessionKey>>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<Option<Arc<str>>>,
    pub bind: Vec<Binding>,
    pub unbind: Vec<Binding>,
    pub progress: Option<Report>,
    /// Finished progress streams to forget.
    pub forget: Vec<Arc<str>>,
    pub spur: Option<Spur>,
}

impl ThreadWork {
    /// Whether it is in the initial state, so that nothing need be written.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    pub fn apply(&mut self, change: &WorkChange, at: Timestamp, by: MemberKey) {
        if let Some(status) = change.status {
            self.status = self.status.max(status);
        }
        if let Some(topic_kind) = &change.topic_kind {
            self.topic_kind = topic_kind.clone();
        }
        if let Some(session) = change.owner_session {
            self.owner_session = session;
        }
        if let Some(key) = &change.initiative_key {
            self.initiative_key = key.clone();
        }
        for binding in &change.unbind {
            self.bindings.remove(binding);
        }
        self.bindings.extend(change.bind.iter().cloned());
        self.progress.retain(|p| !change.forget.contains(&p.key));
        if let Some(Report { key, text, percent }) = &change.progress {
            let (key, text, percent) = (key.clone(), text.clone(), *percent);
            let known = self.progress.iter_mut().find(|p| p.key == key);
            // An update that replaces older progress is not a message, so the event stays the
            // stream's previous one.
            let said = match &known {
                Some(old) => old.said,
                None => change.spur.map(|spur| becomes(spur.uid)),
            };
            let new = Progress { key, text, percent, at, by, said };
            match known {
                Some(old) => *old = new,
                None => self.progress.push(new),
            }
        }
        self.spur = change.spur.or(self.spur);
    }

    /// The newest of all its progress reports.
    pub fn latest(&self) -> Option<&Progress> {
        // Of two with the same time, the later key: it was first reported later.
        self.progress.iter().max_by_key(|p| p.at)
    }

    /// The change without fields that change nothing; none if nothing is left.
    pub fn differs(&self, mut change: WorkChange) -> Option<WorkChange> {
        change.status = change.status.filter(|s| *s != self.status);
        change.topic_kind = change.topic_kind.filter(|t| *t != self.topic_kind);
        change.owner_session = change.owner_session.filter(|s| *s != self.owner_session);
        change.initiative_key = change.initiative_key.filter(|k| *k != self.initiative_key);
        change.unbind.retain(|b| self.bindings.contains(b));
        change.bind.retain(|b| !self.bindings.contains(b) || change.unbind.contains(b));
        change.forget.retain(|key| self.progress.iter().any(|p| p.key == *key));
        let same = |r: &Report| {
            let known = self.progress.iter().find(|p| p.key == r.key);
            known.is_some_and(|p| p.text == r.text && p.percent == r.percent)
                && !change.forget.contains(&r.key)
        };
        if change.progress.as_ref().is_some_and(same) {
            change.progress = None;
        }
        (change != WorkChange::default()).then_some(change)
    }

    /// Whether the change is valid for this work.
    pub fn check(&self, change: &WorkChange) -> Result<(), Refusal> {
        check_words(change)?;
        if let Some(status) = change.status.filter(|s| *s < self.status) {
            let (is, to) = (self.status.name(), status.name());
            let why = format!("work that is {is} does not go back to {to}");
            return Err(Refusal::new(crate::model::error::Code::Conflict, why));
        }
        let mut after = self.clone();
        after.apply(change, Timestamp::default(), MemberKey::default());
        if after.bindings.len() > limits::WORK_BINDINGS {
            let most = limits::WORK_BINDINGS;
            return Err(Refusal::invalid(format!("a thread's work has at most {most} bindings")));
        }
        if after.progress.len() > limits::WORK_PROGRESS {
            let most = limits::WORK_PROGRESS;
            let why = format!("a thread has at most {most} streams of progress; forget one");
            return Err(Refusal::invalid(why));
        }
        Ok(())
    }
}

fn check_words(change: &WorkChange) -> Result<(), Refusal> {
    let names = [("topic_kind", &change.topic_kind), ("initiative_key", &change.initiative_key)];
    for (what, name) in names {
        if let Some(Some(name)) = name {
            check_key(what, name)?;
        }
    }
    if change.bind.len() + change.unbind.len() > 2 * limits::WORK_BINDINGS {
        return Err(Refusal::invalid("these are more bindings than a thread's work has"));
    }
    for binding in change.bind.iter().chain(&change.unbind) {
        check_key("binding's id", &binding.id)?;
    }
    if change.forget.len() > limits::WORK_PROGRESS {
        return Err(Refusal::invalid("these are more streams of progress than a thread has"));
    }
    change.forget.iter().try_for_each(|key| check_key("progress key", key))?;
    let Some(report) = &change.progress else { return Ok(()) };
    check_key("progress key", &report.key)?;
    check_words_of("progress", &report.text, limits::PROGRESS_BYTES)?;
    if report.percent.is_some_and(|percent| percent > 100) {
        return Err(Refusal::invalid("percent is 0 to 100"));
    }
    Ok(())
}

/// Validates a key: one line, not empty, of limited length.
pub fn check_key(what: &str, key: &str) -> Result<(), Refusal> {
    let most = limits::KEY_BYTES;
    if key.trim().is_empty() || key.len() > most || key.chars().any(char::is_control) {
        return Err(Refusal::invalid(format!("a {what} is one line of 1 to {most} bytes")));
    }
    Ok(())
}

/// Validates a displayed text: not empty and of limited length.
pub fn check_words_of(what: &str, text: &str, most: usize) -> Result<(), Refusal> {
    if text.len() > most {
        let why = format!("the text of {what} has at most {most} bytes");
        return Err(Refusal::new(crate::model::error::Code::PayloadTooLarge, why));
    }
    if text.trim().is_empty() {
        return Err(Refusal::invalid(format!("the text of {what} is empty")));
    }
    if text.contains('\0') {
        return Err(Refusal::invalid(format!("the text of {what} has a NUL character")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use proptest::prelude::*;

    use super::*;

    fn report(key: &str, text: &str) -> WorkChange {
        let progress = Report { key: key.into(), text: text.into(), percent: None };
        WorkChange { progress: Some(progress), ..WorkChange::default() }
    }

    // covers: CHN-62
    #[test]
    fn newer_progress_takes_the_place_of_its_predecessor() {
        let mut work = ThreadWork::default();
        for (key, text, at) in [("build", "1 of 3", 1), ("test", "begun", 2), ("build", "done", 3)]
        {
            work.apply(&report(key, text), Timestamp(at), MemberKey(1));
        }
        let shown: Vec<_> = work.progress.iter().map(|p| (&*p.key, &*p.text)).collect();
        assert_eq!(shown, [("build", "done"), ("test", "begun")]);
        assert_eq!(work.latest().map(|p| &*p.text), Some("done"));
        assert_eq!(work.differs(report("test", "begun")), None, "the same again is nothing");
    }

    proptest! {
        // covers: CHN-61
        #[test]
        fn the_status_of_work_never_goes_back(steps in prop::collection::vec(0_usize..5, 0..12)) {
            let mut work = ThreadWork::default();
            for step in steps {
                let before = work.status;
                let change = WorkChange { status: Some(WorkStatus::ALL[step]), ..WorkChange::default() };
                let allowed = work.check(&change).is_ok();
                prop_assert_eq!(allowed, WorkStatus::ALL[step] >= before);
                work.apply(&change, Timestamp(0), MemberKey(1));
                prop_assert!(work.status >= before);
            }
        }

        #[test]
        fn what_differs_changes_as_much_as_the_whole(
            keys in prop::collection::vec((0_u8..3, 0_u8..2, any::<bool>()), 1..8),
        ) {
            let mut work = ThreadWork::default();
            for (n, (key, text, forget)) in keys.into_iter().enumerate() {
                let mut change = report(&format!("k{key}"), &format!("t{text}"));
                let id: Arc<str> = format!("id{key}").into();
                let binding = Binding { kind: BindingKind::Task, id };
                if forget {
                    change.forget.push(format!("k{text}").into());
                    change.unbind.push(binding.clone());
                }
                change.bind.push(binding);
                let mut whole = work.clone();
                whole.apply(&change, Timestamp(n as i64), MemberKey(1));
                let mut less = work.clone();
                if let Some(change) = work.differs(change) {
                    less.apply(&change, Timestamp(n as i64), MemberKey(1));
                }
                let shown = |w: &ThreadWork| -> (Vec<_>, BTreeSet<Binding>) {
                    let progress = w.progress.iter().map(|p| (p.key.clone(), p.text.clone()));
                    (progress.collect(), w.bindings.clone())
                };
                prop_assert_eq!(shown(&whole), shown(&less));
                work = less;
            }
        }
    }
}
