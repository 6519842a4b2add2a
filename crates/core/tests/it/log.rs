//! The log and its projections in memory: the facts a workspace loads, without a database.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chorus_core::model::activity::is_act;
use chorus_core::model::approval::Private;
use chorus_core::model::conversation::{Conversation, Participation};
use chorus_core::model::cursor::ReadCursor;
use chorus_core::model::delivery::Open;
use chorus_core::model::event::{Event, Hash};
use chorus_core::model::ids::{
    ConversationKey, EventRef, MemberKey, Seq, SessionKey, ThreadKey, Timestamp, Uid,
};
use chorus_core::model::inbox::Remote;
use chorus_core::model::job::Job;
use chorus_core::model::ledger::{Account, Entry, Head, Spending};
use chorus_core::model::log_snapshot::LogSnapshot;
use chorus_core::model::maps::KeyMap;
use chorus_core::model::message_state::MessageState;
use chorus_core::model::registry::Listing;
use chorus_core::model::schedule::Schedule;
use chorus_core::model::stimulus::Stimulus;
use chorus_core::model::thread::Thread;
use chorus_core::model::turn::Turn;
use chorus_core::state::effect::{Effect, RemoteNews};
use chorus_core::state::facts::{Facts, Recalled, Unavailable};
use chorus_core::state::room::{Dirty, Room};
use chorus_core::state::workspace::{Changes, Workspace};

use crate::market::Market;

#[derive(Default)]
pub(crate) struct Log {
    pub events: BTreeMap<EventRef, Arc<Event>>,
    pub by_uid: HashMap<Uid, EventRef>,
    pub messages: HashMap<EventRef, MessageState>,
    pub pending: BTreeMap<EventRef, Open>,
    pub receipts: BTreeMap<EventRef, Open>,
    pub cursors: HashMap<(ConversationKey, MemberKey, Option<ThreadKey>), ReadCursor>,
    pub threads: HashMap<Uid, (ConversationKey, ThreadKey)>,
    pub digested: HashMap<ConversationKey, Seq>,
    pub rows: HashMap<ConversationKey, Rows>,
    pub turns: BTreeMap<(ConversationKey, Seq), Turn>,
    pub stimuli: BTreeMap<(ConversationKey, Uid), Arc<Stimulus>>,
    pub bases: HashMap<ConversationKey, Arc<LogSnapshot>>,
    pub remotes: HashMap<(Uid, Hash), ConversationKey>,
    pub news: Vec<RemoteNews>,
    pub told: Vec<Private>,
    pub market: Market,
}

/// What a room has rows of beside its log and what is open.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rows {
    conversation: Option<Arc<Conversation>>,
    roster: KeyMap<MemberKey, Participation>,
    threads: KeyMap<ThreadKey, Arc<Thread>>,
    gone: BTreeSet<(MemberKey, Option<ThreadKey>)>,
    schedules: BTreeMap<Uid, Arc<Schedule>>,
    remote: Option<Remote>,
}

impl Rows {
    fn write(&mut self, room: &Room, dirty: &Dirty) {
        if dirty.conversation {
            self.conversation = Some(room.conversation().clone());
        }
        for (member, participation) in &dirty.roster {
            match participation {
                Some(participation) => self.roster.insert(*member, *participation),
                None => self.roster.remove(member),
            };
        }
        for key in &dirty.threads {
            self.threads.insert(*key, room.threads()[key].clone());
        }
        for place in &dirty.gone {
            match room.gone().contains(place) {
                true => self.gone.insert(*place),
                false => self.gone.remove(place),
            };
        }
        write_each(&mut self.schedules, &dirty.schedules);
        let mut callbacks =
            self.remote.as_mut().map(|r| std::mem::take(&mut r.callbacks)).unwrap_or_default();
        write_each(&mut callbacks, &dirty.callbacks);
        if dirty.remote {
            self.remote = room.remote().cloned();
        }
        if let Some(remote) = &mut self.remote {
            remote.callbacks = callbacks;
        }
    }

    fn of(room: &Room) -> Self {
        Self {
            conversation: Some(room.conversation().clone()),
            roster: room.roster().clone(),
            threads: room.threads().clone(),
            gone: room.gone().clone(),
            schedules: room.schedules().clone(),
            remote: room.remote().cloned(),
        }
    }
}

/// Puts or removes each row that changed.
fn write_each<K: Ord + Copy, V: Clone>(
    rows: &mut BTreeMap<K, V>,
    changed: &BTreeMap<K, Option<V>>,
) {
    for (key, row) in changed {
        match row {
            Some(row) => rows.insert(*key, row.clone()),
            None => rows.remove(key),
        };
    }
}

impl Log {
    /// The queue of a conversation, as its rows have it.
    #[allow(dead_code, reason = "only one of the two test programs restarts by it")]
    pub(crate) fn stimuli_of(&self, key: ConversationKey) -> Vec<Stimulus> {
        let here = self.stimuli.iter().filter(|((of, _), _)| *of == key);
        here.map(|(_, stimulus)| Stimulus::clone(stimulus)).collect()
    }

    /// The turns of a conversation, as their rows have them.
    pub(crate) fn turns_of(&self, key: ConversationKey) -> Vec<(Seq, Turn)> {
        let here = self.turns.iter().filter(|((of, _), _)| *of == key);
        here.map(|((_, subject), turn)| (*subject, turn.clone())).collect()
    }

    /// Writes what a batch changed, as a store would.
    pub(crate) fn write(&mut self, workspace: &Workspace, changes: &Changes) {
        self.news.extend(changes.effects.iter().filter_map(|effect| match effect {
            Effect::Remote { news, .. } => Some(*news),
            _ => None,
        }));
        for told in &changes.told {
            let key = |p: &Private| (p.member, p.session, p.at.conversation, p.only.is_some());
            self.told.retain(|known| key(known) != key(told));
            self.told.push(told.clone());
        }
        self.market.write(changes);
        for changed in &changes.rooms {
            let conversation = changed.key;
            let room = workspace.room(conversation).expect("a changed room is in memory");
            let at = |seq: Seq| EventRef { conversation, seq };
            for event in &changed.dirty.events {
                assert!(self.by_uid.insert(event.uid, at(event.seq)).is_none(), "ids are unique");
                let before = self.events.insert(at(event.seq), event.clone());
                assert!(before.is_none(), "an event never changes");
            }
            for seq in &changed.dirty.erased {
                let gone = self.events.get_mut(&at(*seq)).expect("what is erased was logged");
                *gone = gone.erased().into();
            }
            for seq in &changed.dirty.messages {
                self.messages.insert(at(*seq), room.messages()[seq].clone());
            }
            for seq in &changed.dirty.reopened {
                self.receipts.remove(&at(*seq));
            }
            for seq in &changed.dirty.pending {
                self.pending.insert(at(*seq), room.open()[seq].clone());
            }
            for open in &changed.dirty.receipts {
                self.pending.remove(&at(open.seq));
                self.receipts.insert(at(open.seq), open.clone());
            }
            for (member, thread) in &changed.dirty.cursors {
                let cursor = room.cursors()[&(*member, *thread)];
                self.cursors.insert((conversation, *member, *thread), cursor);
            }
            if changed.dirty.digested {
                self.digested.insert(conversation, room.tally().after);
            }
            for subject in &changed.dirty.turns {
                let live = room.turns().get(*subject).filter(|_| room.turns().is_live(*subject));
                match live {
                    Some(turn) => self.turns.insert((conversation, *subject), turn.clone()),
                    None => self.turns.remove(&(conversation, *subject)),
                };
            }
            let rows = self.rows.entry(conversation).or_default();
            rows.write(room, &changed.dirty);
            assert_eq!(*rows, Rows::of(room), "what changed is written");
            let live =
                room.turns().subjects().filter(|(subject, _)| room.turns().is_live(*subject));
            let live = live.map(|(subject, turn)| (subject, turn.clone()));
            assert_eq!(self.turns_of(conversation), live.collect::<Vec<_>>(), "turns have rows");
            for (uid, stimulus) in &changed.dirty.stimuli {
                match stimulus {
                    Some(stimulus) => self.stimuli.insert((conversation, *uid), stimulus.clone()),
                    None => self.stimuli.remove(&(conversation, *uid)),
                };
            }
            for key in &changed.dirty.threads {
                self.threads.insert(room.threads()[key].uid, (conversation, *key));
            }
            if let Some(remote) = room.remote().filter(|_| changed.dirty.remote) {
                self.remotes.insert((remote.inbox, remote.channel), conversation);
            }
            if let Some(base) = &changed.dirty.base {
                let gone = |at: &EventRef| at.conversation == conversation && at.seq <= base.seq;
                self.events.retain(|at, _| !gone(at));
                self.by_uid.retain(|_, at| !gone(at));
                self.messages.retain(|at, _| !gone(at));
                self.receipts.retain(|at, _| !gone(at));
                self.bases.insert(conversation, base.clone());
            }
        }
    }
}

impl Facts for Log {
    fn listing(&mut self, agent: Uid) -> Result<Option<Arc<Listing>>, Unavailable> {
        Ok(self.market.listings.get(&agent).cloned())
    }

    fn agent_of(&mut self, member: MemberKey) -> Result<Option<Uid>, Unavailable> {
        let mut all = self.market.listings.values();
        Ok(all.find(|listing| listing.member == Some(member)).map(|listing| listing.agent))
    }

    fn heartbeat(&mut self, agent: Uid) -> Result<Option<Timestamp>, Unavailable> {
        Ok(self.market.heartbeats.get(&agent).copied())
    }

    fn job(&mut self, job: Uid) -> Result<Option<Arc<Job>>, Unavailable> {
        Ok(self.market.jobs.get(&job).cloned())
    }

    fn open_jobs(&mut self, hirer_owner: &str) -> Result<u64, Unavailable> {
        let open = self.market.jobs.values().filter(|job| !job.state.has_ended());
        Ok(open.filter(|job| &*job.hirer_owner == hirer_owner).count() as u64)
    }

    fn due_jobs(&mut self, now: Timestamp, limit: usize) -> Result<Vec<Uid>, Unavailable> {
        let due = self.market.jobs.values().filter(|job| job.due().is_some_and(|due| due <= now));
        Ok(due.map(|job| job.uid).take(limit).collect())
    }

    fn next_due_job(&mut self, now: Timestamp) -> Result<Option<Timestamp>, Unavailable> {
        Ok(self.market.jobs.values().filter_map(|job| job.due()).filter(|due| *due > now).min())
    }

    fn account(&mut self, owner: &str) -> Result<Option<Account>, Unavailable> {
        Ok(self.market.accounts.get(owner).cloned())
    }

    fn spending(&mut self, member: MemberKey) -> Result<Option<Spending>, Unavailable> {
        Ok(self.market.spending.get(&member).copied())
    }

    fn ledger_head(&mut self) -> Result<Head, Unavailable> {
        Ok(self.market.head)
    }

    fn transfer(&mut self, transfer: Uid) -> Result<Option<Entry>, Unavailable> {
        Ok(self.market.entries.iter().find(|e| e.transfer == Some(transfer)).cloned())
    }

    fn conversation_key(&mut self, _: Uid) -> Result<Option<ConversationKey>, Unavailable> {
        Ok(None)
    }

    fn room(&mut self, _: ConversationKey) -> Result<Option<Room>, Unavailable> {
        Ok(None)
    }

    fn remote(
        &mut self,
        inbox: Uid,
        channel: &Hash,
    ) -> Result<Option<ConversationKey>, Unavailable> {
        Ok(self.remotes.get(&(inbox, *channel)).copied())
    }

    fn told(
        &mut self,
        member: MemberKey,
        session: Option<SessionKey>,
        limit: usize,
    ) -> Result<Vec<Private>, Unavailable> {
        let mine = self.told.iter().filter(|p| (p.member, p.session) == (member, session));
        Ok(mine.rev().take(limit).cloned().collect())
    }

    fn event_ref(&mut self, uid: Uid) -> Result<Option<EventRef>, Unavailable> {
        Ok(self.by_uid.get(&uid).copied())
    }

    fn thread_ref(
        &mut self,
        uid: Uid,
    ) -> Result<Option<(ConversationKey, ThreadKey)>, Unavailable> {
        Ok(self.threads.get(&uid).copied())
    }

    fn event(&mut self, at: EventRef) -> Result<Option<Recalled>, Unavailable> {
        Ok(self.events.get(&at).map(|event| Recalled {
            event: event.clone(),
            message: self.messages.get(&at).cloned().unwrap_or_default(),
            receipt: self.receipts.get(&at).cloned(),
        }))
    }

    fn versions(&mut self, message: EventRef) -> Result<Vec<Seq>, Unavailable> {
        let here = self.events.values().filter(|e| e.conversation == message.conversation);
        let said = here.filter(|e| !e.is_erased() && e.change.is_version_of(e.seq, message.seq));
        Ok(said.map(|e| e.seq).filter(|seq| *seq != message.seq).collect())
    }

    fn log(
        &mut self,
        conversation: ConversationKey,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, Unavailable> {
        let from = EventRef { conversation, seq: after.next() };
        let here = self.events.range(from..).take_while(|(at, _)| at.conversation == conversation);
        Ok(here.take(limit).map(|(_, event)| event.clone()).collect())
    }

    fn thread_acts(
        &mut self,
        conversation: ConversationKey,
        thread: ThreadKey,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Recalled>, Unavailable> {
        let mut events = self.log(conversation, after, usize::MAX)?;
        events.retain(|event| event.thread == Some(thread) && is_act(&event.change));
        events.truncate(limit);
        events
            .into_iter()
            .map(|event| {
                let at = EventRef { conversation, seq: event.seq };
                let message = self.messages.get(&at).cloned().unwrap_or_default();
                Ok(Recalled { event, message, receipt: None })
            })
            .collect()
    }

    fn base(&mut self, conversation: ConversationKey) -> Result<Option<LogSnapshot>, Unavailable> {
        Ok(self.bases.get(&conversation).map(|base| LogSnapshot::clone(base)))
    }

    fn cursor(
        &mut self,
        key: ConversationKey,
        member: MemberKey,
        thread: Option<ThreadKey>,
    ) -> Result<ReadCursor, Unavailable> {
        Ok(self.cursors.get(&(key, member, thread)).copied().unwrap_or_default())
    }
}
