//! Retention: drops events that are older than their conversation's retention period, from the
//! beginning of the log.
//!
//! Invariant: the dropped events are a prefix of the log, and none of them is still needed. So
//! dropping stops before the first event that must be kept, whatever comes after it.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::approval::{Asked, Standing};
use crate::model::audit::{Action, Audit};
use crate::model::conversation::Keep;
use crate::model::error::{Code, Refusal};
use crate::model::event::Event;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, Uid};
use crate::model::limits;
use crate::model::log_snapshot::LogSnapshot;
use crate::model::thread::ThreadStatus;
use crate::state::workspace::Workspace;

/// What can be dropped of a conversation's log now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Droppable {
    pub base: Seq,
    /// The last event that the next [`Trim`] may drop; the log's start when there is none.
    pub through: Seq,
    /// Why events beyond the retention period are kept.
    pub held: Option<Hold>,
}

/// The first event that must be kept beyond its period, along with everything after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    pub seq: Seq,
    pub by: HoldReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldReason {
    /// Somebody owes something for it, or holds a claim on it.
    Owed,
    /// A request made in answer to it waits for a person's approval.
    Approval,
    /// It begins a thread that is not finished.
    Thread,
    /// It is not yet in its followers' digest.
    Digest,
    /// The log is damaged, possibly in this part, and the snapshot would replace it.
    Damage,
}

impl HoldReason {
    pub fn name(self) -> &'static str {
        match self {
            Self::Owed => "owed",
            Self::Approval => "approval",
            Self::Thread => "thread",
            Self::Digest => "digest",
            Self::Damage => "damage",
        }
    }
}

/// Drops the oldest events of a conversation up to this one. For the host's own use.
#[derive(Clone)]
pub struct Trim {
    pub conversation: Uid,
    pub through: Seq,
    /// How many of them were already erased when they were archived, if they were. A later erasure
    /// must reach the archive too.
    pub erased: Option<usize>,
}

impl Command for Trim {
    /// The last dropped event; none if everything up to it was dropped before.
    type Output = Option<EventRef>;

    no_text!();

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        let through = done.ok().copied().flatten();
        Audit::firm(Action::Trim).subject(self.conversation).event(through)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Option<EventRef>> {
        run.trim(self.conversation, self.through, self.erased)
    }
}

impl Context<'_> {
    /// What the next [`Context::trim`] may drop.
    pub(crate) fn droppable(&mut self, uid: Uid) -> Result<Droppable> {
        let (_, droppable, _) = self.old(uid)?;
        Ok(droppable)
    }

    /// Drops the log's beginning up to `through`, and keeps its result as a snapshot, with its
    /// hash.
    pub(crate) fn trim(
        &mut self,
        uid: Uid,
        through: Seq,
        erased: Option<usize>,
    ) -> Result<Option<EventRef>> {
        let (key, droppable, mut events) = self.old(uid)?;
        if through <= droppable.base {
            return Ok(None);
        }
        if through > droppable.through {
            let may = droppable.through;
            let why = format!("events after {may} must be kept; drop at most up to it");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        events.truncate((through.0 - droppable.base.0) as usize);
        let room = self.room(key);
        let gone = |event: &&Arc<Event>| event.is_erased() || room.is_going(event.seq);
        if erased.is_some_and(|count| count != events.iter().filter(gone).count()) {
            let why = "part of it was erased after it was archived";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let before = match room.new_base() {
            Some(base) => Some(base.clone()),
            None => self.facts.base(key)?.map(Arc::new),
        };
        let room = self.room_mut(key);
        let base = LogSnapshot::moved(before.as_deref(), &room.conversation, &events);
        room.trim(base);
        Ok(Some(EventRef { conversation: key, seq: through }))
    }

    /// What can be dropped, and the events themselves.
    fn old(&mut self, uid: Uid) -> Result<(ConversationKey, Droppable, Vec<Arc<Event>>)> {
        if self.by.member != MemberKey::HOST {
            return Err(Refusal::new(Code::Forbidden, "the host itself drops what is old").into());
        }
        let key = self.room_by_uid(uid)?;
        let room = self.room(key);
        let (base, head) = (room.head.base, room.head.seq);
        let keep = room.conversation.settings.keep.unwrap_or(self.ws.keep);
        let nothing = Droppable { base, through: base, held: None };
        let Some(until) = keep.until(self.now) else { return Ok((key, nothing, Vec::new())) };
        if room.damaged.is_some() {
            // It may not even be readable.
            let held = Some(Hold { seq: base.next(), by: HoldReason::Damage });
            return Ok((key, Droppable { held, ..nothing }, Vec::new()));
        }
        let held = self.held(key)?;
        let mut events = self.facts.log(key, base, limits::EVENTS_PER_TRIM)?;
        let old = events.iter().take_while(|event| event.at < until).count();
        events.truncate(old);
        // The events of this batch are not in the log yet, and not old.
        let through = events.last().map_or(base, |event| event.seq).min(head);
        let held = held.filter(|held| held.seq <= through);
        if let Some(held) = held {
            events.retain(|event| event.seq < held.seq);
        }
        let through = events.last().map_or(base, |event| event.seq);
        Ok((key, Droppable { base, through, held }, events))
    }

    /// The first event that must be kept whatever its age.
    fn held(&mut self, key: ConversationKey) -> Result<Option<Hold>> {
        let room = self.room(key);
        let owed = room.open.keys().next().map(|seq| Hold { seq: *seq, by: HoldReason::Owed });
        let live = |status| matches!(status, ThreadStatus::Active | ThreadStatus::Blocked);
        let threads = room.threads.values().filter(|thread| live(thread.status));
        // A thread's key is the seq of the event that opened it.
        let begins = threads.map(|thread| thread.root.unwrap_or(Seq(thread.key.0)));
        let thread = begins.min().map(|seq| Hold { seq, by: HoldReason::Thread });
        let untold = self.ws.digests.0.is_some() && room.tally.waits();
        let digest = untold.then(|| Hold { seq: room.tally.after.next(), by: HoldReason::Digest });
        let approval = self.held_by_approvals(key)?;
        let all = [owed, thread, digest, approval];
        Ok(all.into_iter().flatten().min_by_key(|held| held.seq))
    }

    fn held_by_approvals(&mut self, key: ConversationKey) -> Result<Option<Hold>> {
        let now = self.now;
        let approvals = self.directory().approvals.values();
        let waiting: Vec<_> =
            approvals.filter(|a| a.standing(now) == Standing::Waiting).cloned().collect();
        let mut found = Vec::new();
        for approval in waiting {
            found.extend(approval.source.as_ref().map(|source| source.at));
            if let Asked::Send { post, .. } = &approval.asked
                && let Some(uid) = post.in_reply_to
            {
                found.extend(match self.find_recent(uid) {
                    Some(at) => Some(at),
                    None => self.facts.event_ref(uid)?,
                });
            }
        }
        let here = found.into_iter().filter(|at: &EventRef| at.conversation == key);
        Ok(here
            .map(|at| Hold { seq: at.seq, by: HoldReason::Approval })
            .min_by_key(|held| held.seq))
    }
}

impl Workspace {
    /// Sets the retention period of conversations that have none of their own.
    pub fn set_keep(&mut self, keep: Keep) {
        self.keep = keep;
    }
}
