//! Maintains the index: one thread reads new log entries and records its position.

use std::collections::HashSet;

use chorus_core::language::search;
use chorus_core::model::event::{Change, Hash};
use chorus_core::model::ids::{ConversationKey, EventRef, Seq, Timestamp, Uid};
use rusqlite::{Connection, OptionalExtension, params};

use super::{Search, failed, file};
use crate::db::{Error, Result};
use crate::reader::{Line, Page, Readers, Start, StoredEntry};

/// Bits of ids within one second: more than can be posted in one. Further ids use the next second.
pub(super) const IDS_BITS: u32 = 17;

pub struct Index {
    search: Search,
    workspace: Uid,
    connection: Option<Connection>,
    /// Conversations whose position was checked against their log since the file was opened.
    checked: HashSet<ConversationKey>,
    /// Something was removed, and the write-ahead log may still contain it. If the process ends
    /// before the log is emptied, the next one does it.
    unscrubbed: bool,
}

/// The result of reading one conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Events read.
    pub events: usize,
    /// Whether there are more.
    pub more: bool,
}

/// The position up to which a conversation was read, that event's hash, and the start of its log at
/// the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    seq: u64,
    hash: Hash,
    base: u64,
}

impl Index {
    pub(super) fn new(search: Search, workspace: Uid) -> Self {
        Self { search, workspace, connection: None, checked: HashSet::new(), unscrubbed: true }
    }

    /// The conversations whose logs have new entries, or were replaced by another log, since they
    /// were read.
    pub fn behind(&mut self, readers: &Readers) -> Result<Vec<ConversationKey>> {
        let heads = readers.heads()?;
        let mut behind = Vec::new();
        for (key, head) in heads {
            let place = self.kept(|connection| place(connection, key))?;
            let same = place.seq == head.seq.0 && place.base == head.base.0;
            if !same || place.hash != head.hash || !self.checked.contains(&key) {
                behind.push(key);
            }
        }
        Ok(behind)
    }

    /// Reads at most `limit` events of a conversation's log. Damage there fails the call and leaves
    /// the position.
    pub fn step(&mut self, readers: &Readers, key: ConversationKey, limit: usize) -> Result<Step> {
        let mut at = self.kept(|connection| place(connection, key))?;
        let Some(head) = readers.head(key)? else { return Ok(Step { events: 0, more: false }) };
        if self.checked.insert(key) && !is_of_log(readers, key, at, head.base)? {
            self.unscrubbed = true;
            self.kept(|connection| drop_all(connection, key))?;
            at = Place::default();
        }
        if at.base < head.base.0 {
            self.unscrubbed = true;
            self.kept(|connection| drop_until(connection, key, head.base))?;
            at.base = head.base.0;
        }
        let start = Start::After(Seq(at.seq));
        let asked = Page { conversation: key, line: Line::All, start, limit };
        let (entries, more) = readers.entries(&asked)?.unwrap_or_default();
        if let Some(last) = entries.last() {
            (at.seq, at.hash) = (last.entry.event.seq.0, last.entry.event.hash);
        }
        let mut changed = Vec::new();
        for stored in &entries {
            // A message is indexed in its present form, whichever of its events is read.
            if let Change::Edited { message, .. }
            | Change::Deleted { message }
            | Change::Erased { message, .. } = stored.entry.event.change
            {
                changed.extend(readers.entry_at(EventRef { conversation: key, seq: message })?);
            }
        }
        let erases = |stored: &StoredEntry| {
            matches!(stored.entry.event.change, Change::Erased { .. } | Change::Deleted { .. })
        };
        self.unscrubbed |= entries.iter().any(erases);
        self.kept(|connection| write(connection, key, at, &entries, &changed))?;
        Ok(Step { events: entries.len(), more })
    }

    /// Removes all traces of removed entries from the files; false when a search is in the way and
    /// it must be retried.
    pub fn scrub(&mut self) -> Result<bool> {
        if self.unscrubbed {
            self.unscrubbed = !self.kept(scrub)?;
        }
        Ok(!self.unscrubbed)
    }

    /// Removes what the logs have dropped by now, with all traces, because the host stops.
    pub fn finish(&mut self, readers: &Readers) -> Result<()> {
        for (key, head) in readers.heads()? {
            let at = self.kept(|connection| place(connection, key))?;
            if at.base < head.base.0 && at.seq > 0 {
                self.unscrubbed = true;
                self.kept(|connection| drop_until(connection, key, head.base))?;
            }
        }
        self.scrub().map(drop)
    }

    /// Removes a message immediately, from the disk too, however far its log was read.
    pub fn forget(&mut self, at: EventRef) -> Result<()> {
        self.kept(|connection| {
            let begun = connection.transaction().map_err(failed)?;
            remove(&begun, at.conversation, at.seq)?;
            begun.commit().map_err(failed)
        })?;
        self.unscrubbed = true;
        self.scrub().map(drop)
    }

    /// Discards the file, because a search has found it damaged.
    pub fn spoil(&mut self) {
        // No program has this version, so the file is rebuilt at its next use. If even this cannot
        // be written, finding the damage again rebuilds it as well.
        let _ = self
            .kept(|connection| connection.pragma_update(None, "user_version", 0).map_err(failed));
        self.connection = None;
    }

    /// Whether the file is open. It is closed once it turned out damaged.
    pub fn is_open(&self) -> bool {
        self.connection.is_some()
    }

    /// Runs an operation on the file. A file that turns out damaged is discarded, and the next use
    /// rebuilds it.
    fn kept<T>(&mut self, work: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => {
                let (connection, anew) = file::writer(&self.search.0.file, self.workspace)?;
                if anew {
                    self.search.made_anew();
                }
                self.checked.clear();
                none.insert(connection)
            }
        };
        let done = work(connection);
        if let Err(Error::Corrupt(why)) = &done {
            tracing::warn!(%why, "the search index is damaged and will be rebuilt");
            let spoilt = connection.pragma_update(None, "user_version", 0);
            self.connection = None;
            if spoilt.is_err() {
                file::remove(&self.search.0.file)?;
            }
        }
        done
    }
}

/// Whether the position belongs to this log: a folder may have been restored from a copy and
/// continued differently.
fn is_of_log(readers: &Readers, key: ConversationKey, at: Place, base: Seq) -> Result<bool> {
    if at.seq == 0 || at.seq < base.0 {
        return Ok(true);
    }
    if at.seq == base.0 {
        return Ok(readers.base(key)?.is_none_or(|base| base.hash == at.hash));
    }
    let found = readers.log(key, Seq(at.seq - 1), 1)?;
    Ok(found.first().is_some_and(|event| event.seq.0 == at.seq && event.hash == at.hash))
}

fn place(connection: &Connection, key: ConversationKey) -> Result<Place> {
    let sql = "SELECT seq, hash, base FROM place WHERE conversation = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let found = statement.query_row([key.0 as i64], |row| {
        let (seq, base): (i64, i64) = (row.get(0)?, row.get(2)?);
        Ok(Place { seq: seq as u64, hash: row.get(1)?, base: base as u64 })
    });
    Ok(found.optional().map_err(failed)?.unwrap_or_default())
}

fn write(
    connection: &mut Connection,
    key: ConversationKey,
    at: Place,
    entries: &[StoredEntry],
    changed: &[StoredEntry],
) -> Result<()> {
    let begun = connection.transaction().map_err(failed)?;
    for stored in entries {
        if matches!(stored.entry.event.change, Change::Posted(_)) {
            put(&begun, stored)?;
        }
    }
    for stored in changed {
        remove(&begun, key, stored.entry.event.seq)?;
        put(&begun, stored)?;
    }
    let sql =
        "INSERT OR REPLACE INTO place (conversation, seq, hash, base) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = begun.prepare_cached(sql).map_err(failed)?;
    statement
        .execute(params![key.0 as i64, at.seq as i64, at.hash, at.base as i64])
        .map_err(failed)?;
    drop(statement);
    begun.commit().map_err(failed)
}

/// Indexes a message in its present form. Ephemeral messages are not indexed (design section 5,
/// "Policy").
fn put(connection: &Connection, stored: &StoredEntry) -> Result<()> {
    let event = &stored.entry.event;
    let Some(content) = stored.content.as_ref().filter(|_| event.only().is_none()) else {
        return Ok(());
    };
    let words: Vec<String> =
        search::words(&content.text).into_iter().map(|word| word.folded).collect();
    if words.is_empty() {
        return Ok(());
    }
    let (words, tags) = (words.join(" "), format!("c{} a{}", event.conversation.0, event.actor.0));
    let id = next_id(connection, event.at)?;
    let sql = "INSERT INTO doc (id, conversation, seq, tags, words) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let values = params![id, event.conversation.0 as i64, event.seq.0 as i64, tags, words];
    statement.execute(values).map_err(failed)?;
    let sql = "INSERT INTO ft (rowid, words, tags) VALUES (?1, ?2, ?3)";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    statement.execute(params![id, words, tags]).map_err(failed).map(drop)
}

/// The first id of a second.
pub(super) fn first_id(at: Timestamp) -> i64 {
    (at.0.max(0) / 1_000) << IDS_BITS
}

/// The next free id of the second, or of a later one.
fn next_id(connection: &Connection, at: Timestamp) -> Result<i64> {
    let first = first_id(at);
    let end = first.saturating_add(1 << IDS_BITS);
    let sql = "SELECT max(id) FROM doc WHERE id >= ?1 AND id < ?2";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let last: Option<i64> = statement.query_row([first, end], |row| row.get(0)).map_err(failed)?;
    match last {
        Some(last) if last + 1 == end => {
            next_id(connection, Timestamp((at.0.max(0) / 1_000 + 1) * 1_000))
        }
        Some(last) => Ok(last + 1),
        None => Ok(first),
    }
}

/// Removes one message.
fn remove(connection: &Connection, key: ConversationKey, seq: Seq) -> Result<()> {
    let sql = "SELECT id, words, tags FROM doc WHERE conversation = ?1 AND seq = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let found = statement.query_row([key.0 as i64, seq.0 as i64], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
    });
    let Some((id, words, tags)) = found.optional().map_err(failed)? else { return Ok(()) };
    let sql = "INSERT INTO ft (ft, rowid, words, tags) VALUES ('delete', ?1, ?2, ?3)";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    statement.execute(params![id, words, tags]).map_err(failed)?;
    let mut statement =
        connection.prepare_cached("DELETE FROM doc WHERE id = ?1").map_err(failed)?;
    statement.execute([id]).map_err(failed).map(drop)
}

/// Removes everything at or before a seq.
fn drop_until(connection: &mut Connection, key: ConversationKey, through: Seq) -> Result<()> {
    let begun = connection.transaction().map_err(failed)?;
    let sql = "SELECT seq FROM doc WHERE conversation = ?1 AND seq <= ?2";
    let mut statement = begun.prepare_cached(sql).map_err(failed)?;
    let rows =
        statement.query_map(params![key.0 as i64, through.0 as i64], |row| row.get::<_, i64>(0));
    let rows: Vec<i64> =
        rows.and_then(|rows| rows.collect::<rusqlite::Result<_>>()).map_err(failed)?;
    drop(statement);
    for seq in rows {
        remove(&begun, key, Seq(seq as u64))?;
    }
    begun.commit().map_err(failed)
}

/// Removes a whole conversation and its position.
fn drop_all(connection: &mut Connection, key: ConversationKey) -> Result<()> {
    drop_until(connection, key, Seq(i64::MAX as u64))?;
    let sql = "DELETE FROM place WHERE conversation = ?1";
    connection.execute(sql, [key.0 as i64]).map_err(failed).map(drop)
}

/// Empties the write-ahead log; false when a long search is in the way.
fn scrub(connection: &mut Connection) -> Result<bool> {
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let busy: i64 = connection.query_row(sql, [], |row| row.get(0)).map_err(failed)?;
    Ok(busy == 0)
}
