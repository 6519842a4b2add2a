//! Export and import of a workspace's history: read as of one moment, and written event by event.
//!
//! Invariant: neither needs more memory for a longer log. [`Reading`] returns pages. [`Writing`]
//! keeps one room and writes every thousand rows: into a folder that gets its name only after
//! [`Writing::finish`], or into an empty database as one transaction. An imported log is accepted
//! on its hashes alone: the core's own replay makes the projections, and nothing in it is owed any
//! more.

mod assets;
mod erased;
mod market;
mod projects;
mod schedules;
mod target;

use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::conversation::{Conversation, Participation};
use chorus_core::model::cursor::ReadCursor;
use chorus_core::model::delivery::Open;
use chorus_core::model::event::Event;
use chorus_core::model::ids::{EventRef, MemberKey, Seq, ThreadKey, Timestamp};
use chorus_core::model::log_snapshot::LogSnapshot;
use chorus_core::model::member::{Member, Role, Session, Stream};
use chorus_core::model::schedule::Schedule;
use chorus_core::model::thread::Thread;
use chorus_core::state::directory::Directory;
use chorus_core::state::room::{Head, Room};
pub use erased::Erased;
use market::Ledger;
use target::Target;

use crate::backup::{BackupError, Result};
use crate::db::{self, Db, Error};
use crate::family::Family;
use crate::objects::ReadObjects;
use crate::schema::Schema;
use crate::sqlite::Folder;
use crate::{
    Place, Tenant, asset, conversation, departed, directory, event, log_snapshot, message, newest,
    open, pause, project, read_cursor, schedule, schema, thread,
};

/// Events read at a time, and rows per commit.
const PAGE: usize = 1_000;

/// Everything except the events, as of one moment.
#[derive(Debug)]
pub struct Snapshot {
    pub tenant: Tenant,
    pub directory: Directory,
    pub conversations: Vec<Part>,
}

/// A conversation and the end of its log at that moment.
#[derive(Debug)]
pub struct Part {
    pub conversation: Arc<Conversation>,
    pub head: Head,
    pub roster: Vec<(MemberKey, Participation)>,
    pub threads: Vec<Thread>,
    /// Read cursors of the conversation and of its threads.
    pub cursors: Vec<((MemberKey, Option<ThreadKey>), ReadCursor)>,
    /// Its schedules.
    pub schedules: Vec<Schedule>,
    /// The start of the log, if its beginning was dropped.
    pub base: Option<LogSnapshot>,
}

/// What an export has of the directory besides members, roles, streams and sessions.
static EXPORTED: &[&Family] = &[&pause::FAMILY, &project::FAMILY];

/// A place that is being read, whether or not a host runs on it.
pub struct Reading {
    db: Box<dyn Db>,
    schema: &'static Schema,
    version: u32,
    workspace: i64,
    objects: Arc<dyn ReadObjects>,
}

impl Reading {
    /// `objects` has the bytes of files that are not in the database.
    pub fn open(place: &Place, objects: Arc<dyn ReadObjects>) -> Result<Self> {
        if let Place::Folder { data, .. } = place
            && !Folder::database_in(data).is_file()
        {
            return Err(BackupError::Folder(format!("{} holds no database", data.display())));
        }
        if let Some(lost) = newest::lost(place)? {
            return Err(BackupError::Folder(lost.to_string()));
        }
        let db = place.examiner()?;
        let schema = place.schema();
        let version =
            schema::check(&*db, schema).map_err(|why| BackupError::Folder(why.to_string()))?;
        let reading = Self { db, schema, version, workspace: 0, objects };
        if !reading.has(&conversation::FAMILY) {
            return Err(BackupError::Folder(format!(
                "{place} is of schema version {version}, which is too old to be exported: start this version's host on \
                 it once, then export it"
            )));
        }
        Ok(reading)
    }

    /// Whether the place has these tables, which a folder of an older version may lack.
    fn has(&self, family: &Family) -> bool {
        self.schema.has(self.version, family.since)
    }

    pub fn snapshot(&mut self) -> Result<Snapshot> {
        self.db.begin_reading()?;
        let read = self.read();
        self.db.rollback()?;
        let snapshot = read?;
        self.workspace = snapshot.tenant.key;
        Ok(snapshot)
    }

    fn read(&self) -> db::Result<Snapshot> {
        let db = &*self.db;
        let none = || Error::corrupt("no workspace");
        let tenant = directory::tenant(db, Tenant::OWN)?.ok_or_else(none)?;
        let mut directory = directory::load(db, &tenant, Timestamp(i64::MAX))?;
        for family in EXPORTED.iter().filter(|family| self.has(family)) {
            let Some(load) = family.load else { continue };
            load(db, tenant.key, &mut directory, Timestamp(i64::MAX))?;
        }
        let mut conversations = Vec::new();
        for key in conversation::keys(db, tenant.key)? {
            let damaged = || Error::corrupt(format!("conversation {key} has no row or no head"));
            conversations.push(Part {
                conversation: Arc::new(
                    conversation::get(db, tenant.key, key)?.ok_or_else(damaged)?,
                ),
                head: conversation::head(db, tenant.key, key)?.ok_or_else(damaged)?,
                roster: conversation::roster(db, tenant.key, key)?,
                threads: thread::all(db, tenant.key, key)?,
                cursors: read_cursor::all(db, tenant.key, key)?,
                schedules: match self.has(&schedule::FAMILY) {
                    true => schedule::all(db, tenant.key, key)?,
                    false => Vec::new(),
                },
                base: log_snapshot::get(db, tenant.key, key)?,
            });
        }
        Ok(Snapshot { tenant, directory, conversations })
    }

    /// A page of the log after `after`, up to the snapshot's head; empty at its end.
    pub fn events(&self, part: &Part, after: Seq) -> Result<Vec<Arc<Event>>> {
        let limit = PAGE.min((part.head.seq.0 - after.0.min(part.head.seq.0)) as usize);
        let key = part.conversation.key;
        let page = event::after(&*self.db, self.workspace, key, after, limit)?;
        if page.len() < limit {
            let end = Seq(after.0 + page.len() as u64).next();
            return Err(
                Error::corrupt(format!("event {end} of conversation {key} is missing")).into()
            );
        }
        Ok(page)
    }
}

/// A data folder or a database that is being made from a history.
pub struct Writing {
    target: Target,
    db: Option<Box<dyn Db>>,
    tenant: Tenant,
    directory: Directory,
    room: Option<Room>,
    erased: Erased,
    ledger: Ledger,
    rows: usize,
}

/// Why the next item cannot be written.
#[derive(Debug)]
pub enum Refused {
    /// It does not follow from what came before.
    Unfit(String),
    Failed(BackupError),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}

/// The outcome of writing an item.
type Written = std::result::Result<(), Refused>;

fn unfit<T>(why: impl Into<String>) -> std::result::Result<T, Refused> {
    Err(Refused::Unfit(why.into()))
}

impl Writing {
    /// Begins a folder next to its place, which must be absent or empty, or a database, which must
    /// be empty. `tenant` has no key yet.
    pub fn begin(place: &Place, tenant: Tenant, now: Timestamp) -> Result<Self> {
        let (target, db) = Target::begin(place)?;
        schema::migrate(&*db, place.schema(), now)
            .map_err(|why| BackupError::Folder(why.to_string()))?;
        if directory::tenant(&*db, Tenant::OWN)?.is_some() {
            return Err(BackupError::Folder(format!("{place} holds a workspace already")));
        }
        db.begin()?;
        let tenant = Tenant { key: 1, epoch: 1, ..tenant };
        directory::add_tenant(&*db, &tenant, now)?;
        let directory = Directory::default();
        Ok(Self {
            target,
            db: Some(db),
            tenant,
            directory,
            room: None,
            erased: Erased::default(),
            ledger: Ledger::default(),
            rows: 0,
        })
    }

    fn db(&self) -> std::result::Result<&dyn Db, Refused> {
        match self.db.as_deref() {
            Some(db) => Ok(db),
            None => unfit("it is finished"),
        }
    }

    pub fn member(&mut self, member: Member) -> Written {
        if member.key.0 as usize != self.directory.members.len() + 1 {
            return unfit(format!("member {} is out of order", member.key));
        }
        directory::put_member(self.db()?, self.tenant.key, &member)?;
        pause::put(self.db()?, self.tenant.key, &member)?;
        self.directory.restore_member(Arc::new(member));
        self.wrote()
    }

    pub fn role(&mut self, role: Role) -> Written {
        if role.key.0 as usize != self.directory.roles.len() + 1 {
            return unfit(format!("role {} is out of order", role.key));
        }
        role.members.iter().try_for_each(|member| self.known(*member))?;
        directory::put_role(self.db()?, self.tenant.key, &role)?;
        self.directory.restore_role(Arc::new(role));
        self.wrote()
    }

    pub fn stream(&mut self, stream: Stream) -> Written {
        if stream.key.0 as usize != self.directory.streams.len() + 1 {
            return unfit(format!("stream {} is out of order", stream.key));
        }
        directory::put_stream(self.db()?, self.tenant.key, &stream)?;
        self.directory.streams.push(Arc::new(stream));
        self.wrote()
    }

    pub fn session(&mut self, session: Session) -> Written {
        self.known(session.member)?;
        directory::put_session(self.db()?, self.tenant.key, &session)?;
        self.wrote()
    }

    /// Begins a conversation; its events come next.
    pub fn conversation(&mut self, conversation: Conversation) -> Written {
        if self.room.is_some() {
            return unfit("the conversation before it has no head");
        }
        if conversation.key.0 <= conversation::last_key(self.db()?, self.tenant.key)? {
            return unfit(format!("conversation {} is out of order", conversation.key));
        }
        conversation::put(self.db()?, self.tenant.key, &conversation)?;
        self.room = Some(Room::new(conversation));
        self.wrote()
    }

    /// Sets the start of the conversation's log; before its first event.
    pub fn base(&mut self, base: &LogSnapshot) -> Written {
        base.roster.iter().try_for_each(|(member, _)| self.known(*member))?;
        let Some(room) = self.room.take() else { return unfit("it belongs to no conversation") };
        if room.head().seq != Seq(0) || base.seq == Seq(0) {
            return unfit("a log begins before its first event, and after one");
        }
        log_snapshot::put(self.db()?, self.tenant.key, room.key(), base)?;
        asset::pin(self.db()?, self.tenant.key, room.key(), &base.settings.pins)?;
        self.room = Some(Room::at_base(Conversation::clone(room.conversation()), base));
        self.wrote()
    }

    /// Writes the next event of the conversation's log. Its hashes must follow from the previous
    /// one.
    pub fn event(&mut self, event: Event) -> Written {
        self.known(event.actor)?;
        let Some(room) = &self.room else { return unfit("it belongs to no conversation") };
        let seq = event.seq;
        if event.conversation != room.key() {
            return unfit("it belongs to another conversation");
        }
        if seq != room.head().seq.next() {
            return unfit(format!("it is event {seq} and should be {}", room.head().seq.next()));
        }
        let whole = match &event.salt {
            Some(salt) => {
                Event::content_hash(salt, &codec::body(&event.change)) == event.content_hash
            }
            None => event.change == event.change.blank(),
        };
        if !whole {
            return unfit(format!("the content of event {seq} does not match its hash"));
        }
        if event.chain(&room.head().hash) != event.hash {
            return unfit(format!(
                "the hash of event {seq} does not follow from the one before it"
            ));
        }
        self.erased.see(&event);
        self.recall(&event)?;
        let event = Arc::new(event);
        event::append(self.db()?, self.tenant.key, &event)?;
        asset::log(self.db()?, self.tenant.key, &event)?;
        // An import wakes nobody: pending events count as answered elsewhere.
        if let Some(mut open) = Open::of(&event, &self.directory) {
            open.claim = None;
            open.supersede_all(event.at);
            open::put_receipt(self.db()?, self.tenant.key, event.conversation, &open)?;
        }
        if let Some(room) = &mut self.room {
            room.apply(&event);
        }
        self.wrote()
    }

    /// Loads the present state of the message that an event is about.
    fn recall(&mut self, event: &Event) -> Written {
        let Some(about) = event.change.about() else { return Ok(()) };
        let at = EventRef { conversation: event.conversation, seq: about };
        let state = message::get(self.db()?, self.tenant.key, at)?;
        if let Some(room) = &mut self.room {
            room.learn(about, &state);
        }
        Ok(())
    }

    /// Ends a conversation and checks that its log ends where the part says.
    pub fn end(&mut self, part: &Part) -> Written {
        self.write_room()?;
        let Some(room) = self.room.take() else { return unfit("it belongs to no conversation") };
        if (part.head.seq, part.head.hash) != (room.head().seq, room.head().hash) {
            return unfit("the log does not end at this head");
        }
        if let Some(seq) = std::mem::take(&mut self.erased).unsaid() {
            return unfit(format!(
                "the content of event {seq} is missing, and no erasure is logged"
            ));
        }
        let mut roster: Vec<_> = room.roster().iter().map(|(m, p)| (*m, *p)).collect();
        roster.sort_by_key(|(member, _)| *member);
        let mut threads: Vec<_> =
            room.threads().values().map(|t| Thread { unattended: 0, ..(**t).clone() }).collect();
        threads.sort_by_key(|thread| thread.key);
        if *part.conversation != **room.conversation()
            || part.roster != roster
            || part.threads != threads
        {
            return unfit("the conversation differs from its log");
        }
        for ((member, thread), cursor) in &part.cursors {
            let end = match thread {
                None => room.head().seq,
                Some(key) => Seq(room.thread(*key).map_or(0, |t| t.last_seq)),
            };
            if cursor.read > end {
                return unfit(format!("member {member} has read beyond the end"));
            }
            read_cursor::put(self.db()?, self.tenant.key, room.key(), (*member, *thread), *cursor)?;
        }
        for schedule in &part.schedules {
            self.schedule(&room, schedule)?;
        }
        self.wrote()
    }

    /// Writes the room's present state, and forgets what is not needed for the next events.
    fn write_room(&mut self) -> Written {
        let Some(mut room) = self.room.take() else { return Ok(()) };
        let (dirty, db, workspace) = (room.take_dirty(), self.db()?, self.tenant.key);
        let key = room.key();
        conversation::put(db, workspace, room.conversation())?;
        for (member, participation) in &dirty.roster {
            conversation::put_seat(db, workspace, key, *member, *participation)?;
        }
        for place in &dirty.gone {
            departed::set(db, workspace, key, *place, room.gone().contains(place))?;
        }
        for thread in dirty.threads.iter().filter_map(|t| room.thread(*t)) {
            thread::put(db, workspace, key, thread)?;
        }
        for (seq, state) in room.messages().iter().filter(|(seq, _)| **seq > room.head().base) {
            message::put(db, workspace, EventRef { conversation: key, seq: *seq }, state)?;
        }
        room.forget_messages();
        conversation::put_head(db, workspace, key, &Head { version: 1, ..*room.head() })?;
        self.room = Some(room);
        Ok(())
    }

    fn known(&self, member: MemberKey) -> Written {
        match self.directory.member(member) {
            Some(_) => Ok(()),
            None => unfit(format!("there is no member {member}")),
        }
    }

    fn wrote(&mut self) -> Written {
        self.rows += 1;
        if self.rows < PAGE {
            return Ok(());
        }
        self.rows = 0;
        self.write_room()?;
        let db = self.db()?;
        Ok(self.target.rest(db)?)
    }

    /// Everything is written: gives the folder its name, or commits the transaction.
    pub fn finish(mut self) -> Written {
        if let Some(lead) = self.tenant.lead {
            self.known(lead)?;
        }
        self.close_ledger()?;
        if let Some(db) = self.db.take() {
            db.commit()?;
        }
        self.target.settle().map_err(Refused::Failed)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        drop(self.db.take());
        self.target.clear();
    }
}
