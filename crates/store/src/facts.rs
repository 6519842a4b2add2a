//! Facts that decisions need and that are not in memory, read on the writer's own connection.
//!
//! Reads see the last commit, and what this batch has written so far. Unwritten changes by earlier
//! commands of the batch are in the room, which the workspace asks first.

use std::sync::Arc;

use chorus_core::model::approval::Private;
use chorus_core::model::asset::Asset;
use chorus_core::model::conversation::Participation;
use chorus_core::model::cursor::ReadCursor;
use chorus_core::model::event::{Event, Hash};
use chorus_core::model::ids::{
    ConversationKey, EventRef, MemberKey, Seq, SessionKey, ThreadKey, Timestamp, Uid,
};
use chorus_core::model::job::Job;
use chorus_core::model::ledger::{Account, Entry, Head, Spending};
use chorus_core::model::limits;
use chorus_core::model::log_snapshot::LogSnapshot;
use chorus_core::model::registry::Listing;
use chorus_core::state::directory::Directory;
use chorus_core::state::facts::{Facts, Recalled, Seats, Unavailable};
use chorus_core::state::room::{Parts, Room, TAIL};

use crate::damage::Damage;
use crate::db::{Db, Error};
use crate::reader::entries;
use crate::{
    asset, conversation, departed, digest, event, inbox, job, ledger, listing, log_snapshot,
    message, open, read_cursor, schedule, stimulus, thread, told, turn,
};

/// At most this many places of one file are examined.
const PLACES: usize = 16;

/// The facts of one workspace at one moment.
pub(crate) struct Stored<'a> {
    db: &'a dyn Db,
    workspace: i64,
    directory: Arc<Directory>,
    now: Timestamp,
    /// The number of rooms that were loaded, so that the cache knows how much it has grown.
    pub(crate) loaded: usize,
    /// Conversations with damaged logs: they are loaded as far as they can be read, and accept no
    /// posts.
    damage: Option<&'a Damage>,
    /// The event that was read last. A command comes back to its event several times.
    last: Option<(EventRef, Recalled)>,
}

/// A function that reads the end of a log.
type ReadLog = fn(&dyn Db, i64, ConversationKey, Seq, usize) -> Result<Vec<Arc<Event>>, Error>;

impl<'a> Stored<'a> {
    pub(crate) fn new(
        db: &'a dyn Db,
        workspace: i64,
        directory: Arc<Directory>,
        now: Timestamp,
    ) -> Self {
        Self { db, workspace, directory, now, loaded: 0, damage: None, last: None }
    }

    pub(crate) fn noting(self, damage: &'a Damage) -> Self {
        Self { damage: Some(damage), ..self }
    }

    /// The room from the database, with its obligations open again.
    pub(crate) fn load(&self, key: ConversationKey) -> Result<Option<Room>, Error> {
        let Some(damage) = self.damage else { return self.restore(key, event::after) };
        if !damage.is_of(key) {
            match self.restore(key, event::after) {
                Err(Error::Corrupt(what)) => damage.note(key, what),
                restored => return restored,
            }
        }
        let mut room = self.restore(key, event::readable_after)?;
        if let Some(room) = &mut room {
            room.set_damaged(damage.of(key, room.conversation().uid));
        }
        Ok(room)
    }

    fn restore(&self, key: ConversationKey, log: ReadLog) -> Result<Option<Room>, Error> {
        let (db, workspace) = (self.db, self.workspace);
        let Some(conversation) = conversation::get(db, workspace, key)? else { return Ok(None) };
        let head = conversation::head(db, workspace, key)?;
        let head = head.ok_or_else(|| Error::corrupt(format!("conversation {key} has no head")))?;
        let roster = conversation::roster(db, workspace, key)?;
        let digested = digest::digested(db, workspace, key)?;
        let followed = roster.iter().any(|(_, p)| *p == Participation::AlwaysListen);
        let mut tail = head.settled.0.min(head.seq.0.saturating_sub(TAIL as u64));
        if let Some(cursor) = digested.filter(|_| followed) {
            tail = tail.min(cursor.0.max(head.seq.0.saturating_sub(limits::DIGEST_EVENTS)));
        }
        let tail = Seq(tail);
        let parts = Parts {
            conversation: Arc::new(conversation),
            head,
            roster,
            digested,
            gone: departed::all(db, workspace, key)?,
            schedules: schedule::all(db, workspace, key)?,
            stimuli: stimulus::all(db, workspace, key)?,
            remote: inbox::remote(db, workspace, key)?,
            threads: thread::all(db, workspace, key)?,
            events: log(db, workspace, key, tail, i64::MAX as usize)?,
            pending: open::pending(db, workspace, key)?,
            receipts: open::receipts_after(db, workspace, key, head.settled)?,
            sent: event::sent(db, workspace, key, self.now)?,
            turns: turn::all(db, workspace, key)?,
        };
        Ok(Some(Room::restore(parts, &self.directory, self.now)))
    }
}

impl Facts for Stored<'_> {
    fn conversation_key(&mut self, uid: Uid) -> Result<Option<ConversationKey>, Unavailable> {
        Ok(conversation::by_uid(self.db, self.workspace, uid)?.map(|c| c.key))
    }

    fn room(&mut self, key: ConversationKey) -> Result<Option<Room>, Unavailable> {
        self.loaded += 1;
        Ok(self.load(key)?)
    }

    fn event_ref(&mut self, uid: Uid) -> Result<Option<EventRef>, Unavailable> {
        Ok(event::find(self.db, self.workspace, uid)?)
    }

    fn thread_ref(
        &mut self,
        uid: Uid,
    ) -> Result<Option<(ConversationKey, ThreadKey)>, Unavailable> {
        let found = thread::by_uid(self.db, self.workspace, uid)?;
        Ok(found.map(|(key, thread)| (key, thread.key)))
    }

    fn event(&mut self, at: EventRef) -> Result<Option<Recalled>, Unavailable> {
        if let Some((_, known)) = self.last.as_ref().filter(|(of, _)| *of == at) {
            return Ok(Some(known.clone()));
        }
        let Some(event) = event::get(self.db, self.workspace, at)? else { return Ok(None) };
        let recalled = Recalled {
            event: Arc::new(event),
            message: message::get(self.db, self.workspace, at)?,
            receipt: open::receipt(self.db, self.workspace, at)?,
        };
        self.last = Some((at, recalled.clone()));
        Ok(Some(recalled))
    }

    fn versions(&mut self, message: EventRef) -> Result<Vec<Seq>, Unavailable> {
        Ok(event::versions(self.db, self.workspace, message)?)
    }

    fn log(
        &mut self,
        conversation: ConversationKey,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, Unavailable> {
        Ok(event::after(self.db, self.workspace, conversation, after, limit)?)
    }

    fn thread_acts(
        &mut self,
        conversation: ConversationKey,
        thread: ThreadKey,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Recalled>, Unavailable> {
        Ok(entries::acts(self.db, self.workspace, conversation, thread, after, limit)?)
    }

    fn base(&mut self, conversation: ConversationKey) -> Result<Option<LogSnapshot>, Unavailable> {
        Ok(log_snapshot::get(self.db, self.workspace, conversation)?)
    }

    fn asset_of(
        &mut self,
        by: MemberKey,
        hash: &Hash,
        name: &str,
    ) -> Result<Option<Arc<Asset>>, Unavailable> {
        Ok(asset::of(self.db, self.workspace, by, hash, name)?.map(Arc::new))
    }

    fn remote(
        &mut self,
        inbox: Uid,
        channel: &Hash,
    ) -> Result<Option<ConversationKey>, Unavailable> {
        Ok(inbox::find(self.db, self.workspace, inbox, channel)?)
    }

    fn told(
        &mut self,
        member: MemberKey,
        session: Option<SessionKey>,
        limit: usize,
    ) -> Result<Vec<Private>, Unavailable> {
        Ok(told::of(self.db, self.workspace, member, session, limit)?)
    }

    fn seats(&mut self, key: ConversationKey) -> Result<Option<Seats>, Unavailable> {
        let (db, workspace) = (self.db, self.workspace);
        let Some(conversation) = conversation::get(db, workspace, key)? else { return Ok(None) };
        let visibility = conversation.settings.visibility;
        let roster = conversation::roster(db, workspace, key)?;
        let members = roster.into_iter().map(|(member, _)| member).collect();
        Ok(Some(Seats { visibility, members }))
    }

    fn may_see_asset(&mut self, uid: Uid, member: MemberKey) -> Result<bool, Unavailable> {
        match asset::get(self.db, self.workspace, uid)? {
            Some(asset) => Ok(asset::is_seen(self.db, self.workspace, &asset, Some(member))?),
            None => Ok(false),
        }
    }

    fn asset_places(&mut self, uid: Uid, member: MemberKey) -> Result<Vec<EventRef>, Unavailable> {
        match asset::get(self.db, self.workspace, uid)?.filter(|asset| asset.by != member) {
            Some(asset) => Ok(asset::seen_at(self.db, self.workspace, &asset, member, PLACES)?),
            None => Ok(Vec::new()),
        }
    }

    fn cursor(
        &mut self,
        conversation: ConversationKey,
        member: MemberKey,
        thread: Option<ThreadKey>,
    ) -> Result<ReadCursor, Unavailable> {
        Ok(read_cursor::get(self.db, self.workspace, conversation, (member, thread))?)
    }

    fn listing(&mut self, agent: Uid) -> Result<Option<Arc<Listing>>, Unavailable> {
        Ok(listing::get(self.db, self.workspace, agent)?)
    }

    fn agent_of(&mut self, member: MemberKey) -> Result<Option<Uid>, Unavailable> {
        Ok(listing::of_member(self.db, self.workspace, member)?)
    }

    fn heartbeat(&mut self, agent: Uid) -> Result<Option<Timestamp>, Unavailable> {
        Ok(listing::heartbeat(self.db, self.workspace, agent)?)
    }

    fn job(&mut self, uid: Uid) -> Result<Option<Arc<Job>>, Unavailable> {
        Ok(job::get(self.db, self.workspace, uid)?)
    }

    fn open_jobs(&mut self, hirer_owner: &str) -> Result<u64, Unavailable> {
        Ok(job::open(self.db, self.workspace, hirer_owner)?)
    }

    fn due_jobs(&mut self, now: Timestamp, limit: usize) -> Result<Vec<Uid>, Unavailable> {
        Ok(job::due(self.db, self.workspace, now, limit)?)
    }

    fn next_due_job(&mut self, now: Timestamp) -> Result<Option<Timestamp>, Unavailable> {
        Ok(job::next_due(self.db, self.workspace, now)?)
    }

    fn account(&mut self, owner: &str) -> Result<Option<Account>, Unavailable> {
        Ok(ledger::account(self.db, self.workspace, owner)?)
    }

    fn spending(&mut self, member: MemberKey) -> Result<Option<Spending>, Unavailable> {
        Ok(ledger::spending(self.db, self.workspace, member)?)
    }

    fn ledger_head(&mut self) -> Result<Head, Unavailable> {
        Ok(ledger::head(self.db, self.workspace)?)
    }

    fn transfer(&mut self, uid: Uid) -> Result<Option<Entry>, Unavailable> {
        Ok(ledger::transfer(self.db, self.workspace, uid)?)
    }
}
