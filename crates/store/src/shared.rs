//! Several hosts on one database: which of them writes, and how it tells the others.
//!
//! Invariant: a host that is alone holds the database exclusively and knows every decision. Hosts
//! that share it write one after the other: each batch waits for its turn, takes in what was
//! written since its last one ([`News`]), decides, and passes the turn on with its commit. So
//! everything that holds for one writer holds for all of them together: seqs, ids, claims, fences,
//! deadlines and the chain of the audit log (spec/DECISIONS.md).

use std::collections::{BTreeMap, BTreeSet};

use chorus_core::model::ids::{ConversationKey, Seq, SessionKey};
use chorus_core::model::member::Session;
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::RoomChanges;

use crate::audit::AuditHead;
use crate::db::{Db, Error, Result, Table};
use crate::{directory, registration};

pub(crate) static TURN: Table = Table::new("turn", 1, &["workspace", "moved"]);

pub(crate) static NEWS: Table = Table::new(
    "news",
    2,
    &["workspace", "number", "host", "directory", "rooms", "sessions", "block", "hash"],
);

pub(crate) static CONNECTION: Table =
    Table::new("connection", 2, &["workspace", "session", "host"]);

/// News that are kept. A host that has missed more reloads everything.
const KEPT: u64 = 4_096;

/// What one batch has written, for the other hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Whether members, roles, streams, tokens or approvals changed.
    pub(crate) directory: bool,
    pub(crate) rooms: BTreeMap<ConversationKey, Moved>,
    pub(crate) sessions: BTreeSet<SessionKey>,
    /// The end of the audit log, if it was extended.
    pub(crate) audited: Option<AuditHead>,
}

/// What it has written of one room, besides events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The head's version.
    pub(crate) version: u64,
    /// The changes go beyond events and obligations: other hosts must reload the room.
    pub(crate) anew: bool,
    /// The events whose `pending` or `receipt` row was written.
    pub(crate) standing: BTreeSet<Seq>,
    /// The erased events.
    pub(crate) erased: BTreeSet<Seq>,
    /// The subjects whose turns were written.
    pub(crate) turns: BTreeSet<Seq>,
}

impl Moved {
    pub(crate) fn add(&mut self, later: Self) {
        self.version = later.version;
        self.anew |= later.anew;
        self.standing.extend(later.standing);
        self.erased.extend(later.erased);
        self.turns.extend(later.turns);
    }
}

impl From<&RoomChanges> for Moved {
    fn from(changed: &RoomChanges) -> Self {
        let RoomChanges { head, dirty, .. } = changed;
        // Where hosts share a database, every event is accounted for by a row.
        let anew = dirty.must_be_loaded_again() || head.settled != head.seq;
        let (standing, erased) = (dirty.standings().collect(), dirty.erased.clone());
        Self { version: head.version, anew, standing, erased, turns: dirty.turns.clone() }
    }
}

impl News {
    /// The room changes as 8-byte words: for each room its key, its version, whether it must be
    /// reloaded, and three lists of seqs, each preceded by its length.
    fn rooms(&self) -> Vec<u8> {
        let words = self.rooms.iter().flat_map(|(key, moved)| {
            let lists = [&moved.standing, &moved.erased, &moved.turns];
            let lists = lists.into_iter().flat_map(|seqs| {
                std::iter::once(seqs.len() as u64).chain(seqs.iter().map(|seq| seq.0))
            });
            [key.0, moved.version, moved.anew.into()].into_iter().chain(lists)
        });
        words.flat_map(u64::to_be_bytes).collect()
    }

    fn add_rooms(&mut self, bytes: &[u8]) -> Option<()> {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut words = words.iter().map(|word| u64::from_be_bytes(*word));
        while let Some(key) = words.next() {
            let (version, anew) = (words.next()?, words.next()? > 0);
            let mut moved = Moved { version, anew, ..Moved::default() };
            for seqs in [&mut moved.standing, &mut moved.erased, &mut moved.turns] {
                for _ in 0..words.next()? {
                    seqs.insert(Seq(words.next()?));
                }
            }
            self.rooms.entry(ConversationKey(key)).or_default().add(moved);
        }
        rest.is_empty().then_some(())
    }

    fn add_sessions(&mut self, bytes: &[u8]) -> Option<()> {
        let (sessions, rest) = bytes.as_chunks::<4>();
        self.sessions.extend(sessions.iter().map(|key| SessionKey(u32::from_be_bytes(*key))));
        rest.is_empty().then_some(())
    }
}

/// Writes the news with this number, which passes the turn on.
pub(crate) fn put(db: &dyn Db, workspace: i64, number: u64, host: u32, news: &News) -> Result<()> {
    let sessions: Vec<u8> = news.sessions.iter().flat_map(|key| key.0.to_be_bytes()).collect();
    let audited = news.audited.as_ref();
    db.put(
        &NEWS,
        &[
            workspace.into(),
            number.into(),
            host.into(),
            news.directory.into(),
            news.rooms().as_slice().into(),
            sessions.as_slice().into(),
            audited.map(|head| head.block).into(),
            audited.map(|head| &head.hash).into(),
        ],
    )?;
    if number.is_multiple_of(KEPT / 4) {
        let sql = "DELETE FROM news WHERE workspace = $1 AND number <= $2";
        db.execute(sql, &[workspace.into(), number.saturating_sub(KEPT).into()])?;
    }
    db.put(&TURN, &[workspace.into(), number.into()])
}

/// The host that wrote the news with this number; none when they do not exist or no longer do.
pub(crate) fn author(db: &dyn Db, workspace: i64, number: u64) -> Result<Option<u32>> {
    db.get(&NEWS, &[workspace.into(), number.into()], |row| row.int(2))
}

/// What was written after `seen` up to `newest`; none when some of it is no longer known.
pub(crate) fn since(db: &dyn Db, workspace: i64, seen: u64, newest: u64) -> Result<Option<News>> {
    let sql = format!("{} WHERE workspace = $1 AND number > $2 ORDER BY number", NEWS.select());
    let mut all = News::default();
    let mut count = 0;
    db.query(&sql, &[workspace.into(), seen.into()], &mut |row| {
        count += 1;
        all.directory |= row.flag(3)?;
        let added = all.add_rooms(row.blob(4)?).and_then(|()| all.add_sessions(row.blob(5).ok()?));
        added.ok_or_else(|| Error::corrupt("news of another shape"))?;
        if let (Some(block), Some(hash)) = (row.maybe_int(6)?, row.maybe_array(7)?) {
            all.audited = Some(AuditHead { block, hash });
        }
        Ok(())
    })?;
    Ok((seen.checked_add(count) == Some(newest)).then_some(all))
}

/// Writes which host holds the session.
pub(crate) fn put_connection(db: &dyn Db, workspace: i64, session: &Session) -> Result<()> {
    let key = [workspace.into(), session.key.0.into()];
    if session.connected {
        db.put(&CONNECTION, &[workspace.into(), session.key.0.into(), session.host.into()])
    } else {
        db.remove(&CONNECTION, &key)
    }
}

/// Marks all sessions as held by no host.
pub(crate) fn clear_connections(db: &dyn Db, workspace: i64) -> Result<()> {
    db.execute("DELETE FROM connection WHERE workspace = $1", &[workspace.into()]).map(drop)
}

/// Marks the directory's sessions that a host holds.
pub(crate) fn connect(db: &dyn Db, workspace: i64, everybody: &mut Directory) -> Result<()> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY session", CONNECTION.select());
    let held =
        db.all(&sql, &[workspace.into()], |row| Ok((SessionKey(row.int(1)?), row.int(2)?)))?;
    for (key, host) in held {
        let Some(session) = everybody.sessions.get(&key) else { continue };
        let session = Session { connected: true, host, ..Session::clone(session) };
        everybody.restore_session(session);
    }
    Ok(())
}

/// One stored session, with the host that holds it.
pub(crate) fn session(db: &dyn Db, workspace: i64, key: SessionKey) -> Result<Option<Session>> {
    let Some(session) = directory::session(db, workspace, key)? else { return Ok(None) };
    let session = registration::complete(db, workspace, session)?;
    let host = db.get(&CONNECTION, &[workspace.into(), key.0.into()], |row| row.int(2))?;
    Ok(Some(Session { connected: host.is_some(), host: host.unwrap_or(0), ..session }))
}
