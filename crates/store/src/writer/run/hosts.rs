//! Other hosts on the same database: this host's turn to write, and taking in what the others
//! wrote.
//!
//! Invariant: while the database is shared, decisions are made and rooms are loaded only in this
//! host's turn, after everything that others wrote has been taken in. Effects of their changes on
//! this host's connections happen at once, because those changes are committed.

mod load;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chorus_core::model::event::Event;
use chorus_core::model::ids::{ConversationKey, EventRef, Seq, Timestamp};
use chorus_core::model::turn::Turn;
use chorus_core::state::directory::Directory;
use chorus_core::state::effect::Effect;
use chorus_core::state::room::{Missed, Standing};
use chorus_core::state::workspace::Workspace;

use super::{Broken, Hindrance, Run};
use crate::db::{Error, Heard, Shared};
use crate::facts::Stored;
use crate::shared::{self, Moved, News};
use crate::{conversation, directory, event, families, open, turn, wake};

/// What other hosts did, as far as it is read in one go.
struct AllMissed {
    events: HashMap<ConversationKey, Vec<Arc<Event>>>,
    standing: HashMap<ConversationKey, Vec<Standing>>,
    turns: HashMap<ConversationKey, Vec<(Seq, Option<Turn>)>>,
}

impl AllMissed {
    fn take(&mut self, key: ConversationKey, version: u64) -> Missed {
        let events = self.events.remove(&key).unwrap_or_default();
        let open = self.standing.remove(&key).unwrap_or_default();
        let turns = self.turns.remove(&key).unwrap_or_default();
        Missed { version, events, open, turns }
    }
}

/// What is known about the other hosts.
#[derive(Default)]
pub(super) struct Others {
    /// The number of the newest known news.
    seen: u64,
    /// Nothing in memory can be trusted: it is reloaded before anything is decided.
    pub(super) stale: bool,
    /// The live hosts at the last two checks. When a database restarts, no host holds its locks for
    /// a moment.
    live: Vec<u32>,
    lived: Vec<u32>,
    /// A session is connected to a host that is not alive.
    lost: bool,
    /// A host has ended since: its accepted work must be found.
    fewer: bool,
    /// Keeps the LISTEN subscription alive.
    listening: Option<Box<dyn Send>>,
}

impl Run {
    fn shares(&self) -> bool {
        self.db.shared().is_some_and(|hosts| !hosts.is_alone())
    }

    /// Starts listening to other hosts and finds out whether there are any, after (re)connecting.
    pub(super) fn meet(&mut self) -> Result<(), Error> {
        let db = self.db.clone();
        let Some(hosts) = db.shared() else { return Ok(()) };
        if self.others.listening.is_none() {
            self.others.listening = Some(self.listen(hosts)?);
        }
        self.workspace.set_host(hosts.host());
        self.shared.host.store(hosts.host(), Ordering::Release);
        self.others.stale |= hosts.take_stale();
        self.share(!hosts.is_alone());
        Ok(())
    }

    fn listen(&self, hosts: &dyn Shared) -> Result<Box<dyn Send>, Error> {
        let told = Arc::downgrade(&self.shared);
        hosts.listen(Box::new(move |heard| {
            if let Some(told) = told.upgrade() {
                let what = if heard == Heard::News { &told.news } else { &told.pause };
                what.store(true, Ordering::Release);
                told.queue.wake();
            }
        }))
    }

    fn share(&mut self, shared: bool) {
        self.workspace.set_shared(shared);
        self.shared.company.store(shared, Ordering::Release);
        self.shared.leads.store(!shared, Ordering::Release);
    }

    /// Before a batch, checks whether other hosts have something for this one. Returns whether a
    /// batch is needed for that. If the check fails, it is repeated on a new connection.
    pub(super) fn look_around(&mut self, idle: bool, now: Timestamp) -> Result<bool, Error> {
        match self.try_look_around(idle, now) {
            Err(error) if self.db.is_lost() || self.shares() => {
                self.mark_away(&error.to_string());
                Ok(false)
            }
            looked => looked,
        }
    }

    fn try_look_around(&mut self, idle: bool, now: Timestamp) -> Result<bool, Error> {
        let news = self.shared.news.swap(false, Ordering::AcqRel);
        let pause = self.shared.pause.swap(false, Ordering::AcqRel);
        let db = self.db.clone();
        let Some(hosts) = db.shared() else { return Ok(false) };
        if hosts.is_alone() {
            if self.others.stale {
                self.load_anew(now)?;
            }
            if (news || pause) && hosts.hosts()?.len() > 1 {
                self.let_in(hosts, now)?;
            }
            return Ok(false);
        }
        if pause {
            let live = hosts.hosts()?;
            self.others.fewer |= self.others.live.iter().any(|host| !live.contains(host));
            let leads = live.iter().min() == Some(&hosts.host());
            self.shared.leads.store(leads, Ordering::Release);
            self.others.lived = std::mem::replace(&mut self.others.live, live);
            let either = [&self.others.live[..], &self.others.lived].concat();
            self.others.lost |= self.workspace.has_sessions_but(&either);
        }
        let wakes = self.workspace.has_wakes_to_hand_on();
        let wanted = self.others.lost || self.others.fewer || self.others.stale || wakes;
        if idle && (news || pause) && !wanted {
            return Ok(!self.hear(hosts, now)?);
        }
        Ok(wanted)
    }

    /// Takes in what others wrote without taking a turn, when idle, so that it delays nobody. False
    /// when some of it is no longer known.
    fn hear(&mut self, hosts: &dyn Shared, now: Timestamp) -> Result<bool, Error> {
        let db = self.db.clone();
        if hosts.newest()? == self.others.seen {
            return Ok(true);
        }
        // All reads see one moment.
        db.begin_reading()?;
        let newest = hosts.newest()?;
        let news = shared::since(&*db, self.tenant, self.others.seen, newest)?;
        let known = news.is_some();
        if let Some(news) = news {
            self.take_in(news, now)?;
            self.others.seen = newest;
        }
        db.rollback()?;
        Ok(known)
    }

    /// Writes a row for every open event; then others may write.
    fn let_in(&mut self, hosts: &dyn Shared, now: Timestamp) -> Result<(), Error> {
        self.workspace.set_shared(false);
        self.workspace.set_shared(true);
        match self.decide(&mut Vec::new(), 0, now) {
            Ok(()) => self.finish(Vec::new())?,
            Err(Broken { pause: Some(by), why, .. }) => self.stand_still(by, Vec::new(), &why)?,
            // A failing room must not block other hosts for ever: it is skipped and retried later.
            Err(broken) => {
                tracing::error!(why = broken.why, "another host could not join yet");
                return self.undo();
            }
        }
        if self.pause.is_none() {
            tracing::info!("another host shares the database from here on");
            self.others.seen = hosts.newest()?;
            hosts.let_in()?;
            self.share(true);
        }
        Ok(())
    }

    /// Takes the database exclusively again when no other host is left.
    pub(super) fn part(&mut self) -> Result<(), Error> {
        let db = self.db.clone();
        let Some(hosts) = db.shared().filter(|hosts| !hosts.is_alone()) else { return Ok(()) };
        let lonely = self.others.live == [hosts.host()] && !self.others.stale;
        if !lonely || self.pause.is_some() || self.workspace.has_sessions_but(&self.others.live) {
            return Ok(());
        }
        self.others.live.clear();
        match hosts.try_alone(self.others.seen) {
            Ok(false) => {}
            Ok(true) => {
                tracing::info!("no other host shares the database any more");
                self.share(false);
                // Work that departed hosts had accepted.
                (self.sink)(vec![Effect::Anything]);
            }
            Err(error) if self.db.is_lost() => self.mark_away(&error.to_string()),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// If the database is shared, waits for this host's turn and takes in what others wrote; a
    /// transaction is open then. Returns the time for decisions, which is after everything that
    /// others did meanwhile.
    pub(super) fn take_turn(&mut self, now: Timestamp) -> Result<Timestamp, Error> {
        let db = self.db.clone();
        let Some(hosts) = db.shared().filter(|hosts| !hosts.is_alone()) else {
            // Writes before other hosts join are not announced. The gap in the numbers tells them.
            self.trace.opens = self.workspace.is_shared();
            return Ok(now);
        };
        db.begin()?;
        self.trace.began = true;
        let newest = hosts.wait_for_turn()?;
        let now = self.clock.now().max(now);
        let mut seen = Some(self.others.seen).filter(|_| !self.others.stale);
        if let Some(known) = seen.filter(|seen| *seen != newest) {
            match shared::since(&*db, self.tenant, known, newest)? {
                Some(news) => self.take_in(news, now)?,
                None => seen = None,
            }
        }
        if seen.is_none() {
            self.load_anew(now)?;
        }
        self.others.seen = newest;
        self.trace.number = Some(newest + 1);
        if std::mem::take(&mut self.others.fewer) {
            for key in conversation::with_open_events(&*db, self.tenant)? {
                if self.workspace.room(key).is_none() {
                    self.missing.insert(key);
                }
            }
        }
        let loaded = self.load_missing(now)?;
        self.hand_on_wakes(true, now)?;
        self.hand_out_of_others();
        if loaded {
            (self.sink)(vec![Effect::Anything]);
        }
        if std::mem::take(&mut self.others.lost) {
            // Queried now, so that a host that has joined and written meanwhile is included.
            self.trace.live = Some([hosts.hosts()?, self.others.lived.clone()].concat());
        }
        Ok(now)
    }

    /// The batch is committed: others were told of it under its number.
    pub(super) fn told(&mut self) {
        if let Some(number) = self.trace.number {
            self.others.seen = number;
        }
    }

    fn take_in(&mut self, news: News, now: Timestamp) -> Result<(), Error> {
        let db = self.db.clone();
        if news.directory {
            let everybody = self.everybody(now)?;
            self.workspace.adopt(everybody);
        } else {
            for key in news.sessions {
                if let Some(session) = shared::session(&*db, self.tenant, key)? {
                    self.workspace.adopt_session(session);
                }
                self.workspace.adopt_wakes(key, wake::of(&*db, self.tenant, key)?);
            }
        }
        if let Some(head) = news.audited {
            self.ledger.head = head;
        }
        for key in news.rooms.keys() {
            self.workspace.note_conversation(*key);
            self.stamps.moved(*key);
        }
        let mut effects: Vec<_> = news.rooms.keys().map(|key| Effect::Moved(*key)).collect();
        let erased = news.rooms.iter().flat_map(|(key, moved)| {
            moved.erased.iter().map(|seq| EventRef { conversation: *key, seq: *seq })
        });
        let erased: Vec<_> = erased.collect();
        if !erased.is_empty() {
            effects.push(Effect::Erased(erased));
        }
        let mut missed = match self.missed(&news.rooms) {
            // One of them cannot be read, so each is loaded separately.
            Err(Error::Corrupt(_)) => None,
            read => Some(read?),
        };
        for (key, moved) in news.rooms {
            let missed = missed.as_mut().map(|all| all.take(key, moved.version));
            self.take_in_room(key, missed, moved.anew, now)?;
        }
        self.hand_on_wakes(false, now)?;
        self.hand_out_of_others();
        (self.sink)(effects);
        Ok(())
    }

    /// What others wrote: the events of rooms in memory, and the changed deliveries and turns.
    fn missed(&self, rooms: &BTreeMap<ConversationKey, Moved>) -> Result<AllMissed, Error> {
        let (db, tenant) = (&*self.db, self.tenant);
        let known = rooms.iter().filter(|(_, moved)| !moved.anew);
        let known =
            known.filter_map(|(key, _)| Some((*key, self.workspace.room(*key)?.head().seq)));
        let events = event::after_in_each(db, tenant, &known.collect::<Vec<_>>())?;
        let standing =
            rooms.iter().flat_map(|(key, moved)| moved.standing.iter().map(|seq| [key.0, seq.0]));
        let standing = open::standings(db, tenant, &standing.collect::<Vec<_>>())?;
        let subjects: Vec<_> = rooms
            .iter()
            .flat_map(|(key, moved)| moved.turns.iter().map(|s| [key.0, s.0]))
            .collect();
        let mut live = turn::some(db, tenant, &subjects)?;
        let mut turns: HashMap<_, Vec<_>> = HashMap::new();
        for [key, subject] in subjects {
            let (key, subject) = (ConversationKey(key), Seq(subject));
            turns.entry(key).or_default().push((subject, live.remove(&(key, subject))));
        }
        Ok(AllMissed { events, standing, turns })
    }

    /// Updates a room that others have changed from its state here. If that is impossible it is
    /// reloaded: at once if something in it is or may be open, otherwise when it is needed.
    fn take_in_room(
        &mut self,
        key: ConversationKey,
        missed: Option<Missed>,
        anew: bool,
        now: Timestamp,
    ) -> Result<(), Error> {
        let is_open = |standing: &Standing| matches!(standing, Standing::Open(_));
        let owes = missed.as_ref().is_none_or(|missed| missed.open.iter().any(is_open));
        let follows = |missed: &Missed| !anew && self.workspace.can_catch_up(key, missed);
        if let Some(missed) = missed.filter(follows) {
            let caught_up = self.with_facts(now, |ws, facts| ws.catch_up(facts, key, missed, now));
            if cfg!(debug_assertions) {
                let other = self.other_than_loaded(key, now);
                assert!(other.is_none(), "room {key} is not as it is written: {other:?}");
            }
            return caught_up.map_err(|why| Error::Engine(why.why));
        }
        let before = self.workspace.take_stale(key);
        if before.is_none() && self.missing.contains(&key) {
            // It was dropped here, and is loaded with the others that were.
            return Ok(());
        }
        let opened = before.as_ref().map(|room| room.open().clone()).unwrap_or_default();
        if let Some(before) = before {
            self.earlier.borrow_mut().keep(before);
        }
        if owes || !opened.is_empty() { self.load_again(key, opened, now) } else { Ok(()) }
    }

    fn other_than_loaded(&mut self, key: ConversationKey, now: Timestamp) -> Option<String> {
        let loaded = self.with_facts(now, |_, facts| facts.load(key)).ok()??;
        self.workspace.room(key)?.differs_from(&loaded)
    }

    fn with_facts<T>(
        &mut self,
        now: Timestamp,
        work: impl FnOnce(&mut Workspace, &mut Stored<'_>) -> T,
    ) -> T {
        let mut facts = Stored {
            db: &*self.db,
            workspace: self.tenant,
            directory: self.workspace.directory().clone(),
            now,
            loaded: 0,
            earlier: Some(&self.earlier).filter(|_| self.workspace.is_shared()),
            damage: Some(&self.damage),
        };
        work(&mut self.workspace, &mut facts)
    }

    /// Reloads everything, because nothing in memory can be trusted.
    fn load_anew(&mut self, now: Timestamp) -> Result<(), Error> {
        let db = self.db.clone();
        let everybody = self.everybody(now)?;
        self.workspace.adopt(everybody);
        let rooms: Vec<ConversationKey> = self.workspace.rooms().map(|room| room.key()).collect();
        self.workspace.forget(rooms);
        self.earlier.borrow_mut().clear();
        self.workspace
            .note_conversation(ConversationKey(conversation::last_key(&*db, self.tenant)?));
        self.ledger.head = crate::audit::head(&*db, self.tenant)?;
        self.stamps.all_moved();
        self.missing.extend(conversation::with_open_events(&*db, self.tenant)?);
        self.load_missing(now)?;
        self.hand_out_of_others();
        (self.sink)(vec![Effect::Anything]);
        self.others.stale = false;
        Ok(())
    }

    /// The directory, including the sessions that other hosts hold when hosts share the database.
    fn everybody(&self, now: Timestamp) -> Result<Directory, Error> {
        let db = &*self.db;
        let tenant = directory::tenant(db)?;
        let tenant = tenant.ok_or_else(|| Error::corrupt("the workspace is gone"))?;
        let mut everybody = families::load(db, &tenant, now)?;
        if self.shares() {
            shared::connect(db, self.tenant, &mut everybody)?;
        }
        Ok(everybody)
    }

    /// Sends what other hosts have decided to runners of this host. Rooms are loaded only in this
    /// host's turn.
    fn hand_on_wakes(&mut self, may_load: bool, now: Timestamp) -> Result<(), Error> {
        if !self.workspace.has_wakes_to_hand_on() {
            return Ok(());
        }
        let handed = self.with_facts(now, |ws, facts| ws.hand_on_wakes(facts, may_load, now));
        handed.map_err(|why| Error::Engine(why.why))
    }

    fn hand_out_of_others(&mut self) {
        let effects = self.workspace.take_effects();
        if !effects.is_empty() {
            (self.sink)(effects);
        }
    }

    /// The turn could not be taken: reconnects, which also releases anything that blocked it.
    pub(super) fn no_turn(&self, error: &Error) -> Broken {
        let (code, why) = (chorus_core::model::error::Code::Unavailable, error.to_string());
        Broken { code, why, pause: Some(Hindrance::Away) }
    }
}
