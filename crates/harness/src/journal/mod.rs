//! The harness's memory: what was delivered to it, what it answered, and what it still owes the host.
//!
//! Invariant: a delivery is committed here before it is acknowledged, and a reply before it is sent; so a
//! harness that dies at any moment starts again knowing what it has accepted and what it has said (C2A
//! "Reliability"; design section 5, "One holder, one fence"). One file in the state folder, owned by one
//! process: a second harness on the same folder is refused.

mod outbox;
mod schema;
mod sessions;
mod step;

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;
pub use outbox::Outgoing;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
pub use sessions::SessionKey;
pub use step::Step;

/// Settled entries older than this are forgotten: the host no longer offers an event of last week.
const KEPT_MS: i64 = 7 * 24 * 3_600_000;

/// The open journal of one agent's harness.
pub struct Journal {
    db: Connection,
    folder: PathBuf,
    /// Held for as long as the journal is open; the system releases it when the process ends.
    _lock: File,
}

/// Why the journal cannot be used.
#[derive(Debug)]
pub enum Error {
    /// Another harness owns this state folder.
    InUse(PathBuf),
    Folder(PathBuf, std::io::Error),
    /// The folder has what another workspace asked.
    OtherWorkspace {
        folder: PathBuf,
        kept: String,
        found: String,
    },
    Database(rusqlite::Error),
}

/// How far a delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Acknowledged to the host; no turn has begun.
    Accepted,
    /// A turn was begun. After a crash it may or may not have said something.
    Started,
    /// A reply is journaled, and may or may not have reached the host.
    Replied,
    /// It has ended.
    Settled,
}

/// What the journal knows of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub event: String,
    pub state: State,
    /// The params of `chat/deliver` as they last arrived.
    pub delivery: String,
    /// The fence of the turn it was offered under; 0 without one.
    pub fence: u64,
    /// Whether it was offered as a knock, without its body.
    pub knock: bool,
    /// Turns begun for it so far.
    pub attempts: u32,
    pub disposition: Option<Disposition>,
}

/// What an offered delivery is to this harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// Never seen, or offered anew under a stronger right: it is work.
    New,
    /// Seen and not settled: it is in hand already, and only its wording and token are refreshed.
    Open(Entry),
    /// Seen and settled: the host is told once more how it ended.
    Settled(Entry),
}

/// One delivery as it is journaled.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    pub event: &'a str,
    pub delivery: &'a str,
    pub fence: u64,
    pub knock: bool,
}

impl Journal {
    /// Opens the journal in `folder`, making both where they are missing.
    pub fn open(folder: &Path, now: Timestamp) -> Result<Self, Error> {
        let in_folder = |e| Error::Folder(folder.to_owned(), e);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(in_folder)?;
        let lock = private(&folder.join("harness.lock")).map_err(in_folder)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::InUse(folder.to_owned())),
            Err(TryLockError::Error(e)) => return Err(in_folder(e)),
        }
        // The files that SQLite makes beside this one get its mode.
        let file = folder.join(FILE);
        private(&file).map_err(in_folder)?;
        let db = Connection::open(file)?;
        schema::prepare(&db)?;
        let mut journal = Self { db, folder: folder.to_owned(), _lock: lock };
        journal.prune(now)?;
        Ok(journal)
    }

    /// Journals an offered delivery and says what it is. On return it is on disk.
    ///
    /// A settled event counts as new when the host offers it under a stronger right and it was never
    /// answered: a knock that now brings its body, or an obligation that came back with a later fence.
    pub fn accept(&mut self, offer: &Offer<'_>, now: Timestamp) -> Result<Known, Error> {
        let Some(entry) = self.entry(offer.event)? else {
            self.db.execute(
                "INSERT INTO delivery (event, state, delivery, fence, knock, at) VALUES (?1, 0, ?2, ?3, ?4, ?5)",
                params![offer.event, offer.delivery, offer.fence as i64, offer.knock, now.0],
            )?;
            return Ok(Known::New);
        };
        let stronger = offer.fence > entry.fence || (entry.knock && !offer.knock);
        let answered = entry.disposition == Some(Disposition::Responded);
        match entry.state {
            State::Settled if stronger && !answered => {
                // A reply that was refused under the old right may be given under the new one.
                self.db.execute("DELETE FROM reply WHERE event = ?1", [offer.event])?;
                self.db.execute(
                    "UPDATE delivery SET state = 0, delivery = ?2, fence = ?3, knock = ?4, at = ?5, attempts = 0,
                     disposition = NULL, note = NULL, signal = NULL, told = 0 WHERE event = ?1",
                    params![offer.event, offer.delivery, offer.fence as i64, offer.knock, now.0],
                )?;
                Ok(Known::New)
            }
            state => {
                if offer.fence >= entry.fence && (entry.knock || !offer.knock) {
                    self.refresh(offer)?;
                }
                Ok(if state == State::Settled { Known::Settled(entry) } else { Known::Open(entry) })
            }
        }
    }

    /// Replaces what is known of an open event: a claim brought its body, or it was offered again.
    pub fn refresh(&mut self, offer: &Offer<'_>) -> Result<(), Error> {
        self.db.execute(
            "UPDATE delivery SET delivery = ?2, fence = ?3, knock = ?4 WHERE event = ?1",
            params![offer.event, offer.delivery, offer.fence as i64, offer.knock],
        )?;
        Ok(())
    }

    /// Drops an event as if it had never been offered.
    pub fn forget(&mut self, event: &str) -> Result<(), Error> {
        self.db.execute("DELETE FROM delivery WHERE event = ?1", [event])?;
        Ok(())
    }

    pub fn entry(&self, event: &str) -> Result<Option<Entry>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM delivery WHERE event = ?1");
        Ok(self.db.prepare_cached(&sql)?.query_row([event], read).optional()?)
    }

    /// Deliveries that were accepted and have neither ended nor been answered, oldest first.
    pub fn unanswered(&self) -> Result<Vec<Entry>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM delivery WHERE state IN (0, 1) ORDER BY rowid");
        let mut statement = self.db.prepare(&sql)?;
        let rows = statement.query_map([], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The event accepted last: where a reconnecting session resumes.
    pub fn last_event(&self) -> Result<Option<String>, Error> {
        let sql = "SELECT event FROM delivery ORDER BY rowid DESC LIMIT 1";
        Ok(self.db.query_row(sql, [], |row| row.get(0)).optional()?)
    }

    /// The session this harness was last connected as.
    pub fn session(&self) -> Result<Option<String>, Error> {
        let sql = "SELECT value FROM fact WHERE name = 'session'";
        Ok(self.db.query_row(sql, [], |row| row.get(0)).optional()?)
    }

    pub fn set_session(&mut self, session: &str) -> Result<(), Error> {
        self.db.execute(
            "INSERT INTO fact (name, value) VALUES ('session', ?1)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [session],
        )?;
        Ok(())
    }

    /// Ties the journal to the workspace of the host, when it is tied to none; refuses a host of another, since what one
    /// workspace asked is no business of the other.
    pub fn belongs_to(&mut self, workspace: &str) -> Result<(), Error> {
        let kept = kept_workspace(&self.db)?;
        must_be_of(&self.folder, kept.as_deref(), workspace)?;
        if kept.is_none() {
            let sql = "INSERT INTO fact (name, value) VALUES ('workspace', ?1)";
            self.db.execute(sql, [workspace])?;
        }
        Ok(())
    }

    /// As [`Journal::belongs_to`], of a folder that may have no journal yet, and changing nothing.
    pub fn may_belong_to(folder: &Path, workspace: &str) -> Result<(), Error> {
        let file = folder.join(FILE);
        if !file.exists() {
            return Ok(());
        }
        let db = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // One of an earlier version may have no such table; it is tied when it is opened.
        let kept = kept_workspace(&db).unwrap_or_default();
        must_be_of(folder, kept.as_deref(), workspace)
    }

    /// Forgets what has ended more than seven days ago, and sessions of programs that were not used for long; what the
    /// host was not told yet stays.
    pub fn prune(&mut self, now: Timestamp) -> Result<usize, Error> {
        let before = now.plus(-KEPT_MS).0;
        let settled = "state = 3 AND told = 1 AND at < ?1";
        let tx = self.db.transaction()?;
        tx.execute(
            &format!(
                "DELETE FROM reply WHERE event IN (SELECT event FROM delivery WHERE {settled})"
            ),
            [before],
        )?;
        let gone = tx.execute(&format!("DELETE FROM delivery WHERE {settled}"), [before])?;
        sessions::prune(&tx, now)?;
        tx.commit()?;
        Ok(gone)
    }
}

/// The journal in its folder.
const FILE: &str = "harness.db";

fn kept_workspace(db: &Connection) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT value FROM fact WHERE name = 'workspace'";
    db.query_row(sql, [], |row| row.get(0)).optional()
}

fn must_be_of(folder: &Path, kept: Option<&str>, found: &str) -> Result<(), Error> {
    match kept {
        Some(kept) if kept != found => {
            let (folder, kept, found) = (folder.to_owned(), kept.to_owned(), found.to_owned());
            Err(Error::OtherWorkspace { folder, kept, found })
        }
        _ => Ok(()),
    }
}

const COLUMNS: &str = "event, state, delivery, fence, knock, attempts, disposition";

/// Opens a file for its owner alone, making it where it is missing: it has what was said to the agent.
fn private(path: &Path) -> std::io::Result<File> {
    let mut open = OpenOptions::new();
    let file = open.create(true).truncate(false).write(true).mode(0o600).open(path)?;
    // One of an earlier version could be read by others.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let state = match row.get::<_, i64>(1)? {
        0 => State::Accepted,
        1 => State::Started,
        2 => State::Replied,
        _ => State::Settled,
    };
    let disposition: Option<String> = row.get(6)?;
    Ok(Entry {
        event: row.get(0)?,
        state,
        delivery: row.get(2)?,
        fence: row.get::<_, i64>(3)? as u64,
        knock: row.get(4)?,
        attempts: row.get(5)?,
        disposition: disposition.as_deref().and_then(Disposition::from_name),
    })
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InUse(folder) => {
                let folder = folder.display();
                write!(f, "another harness runs on {folder}; give this one its own --state-dir")
            }
            Self::Folder(folder, e) => {
                write!(f, "cannot use the state folder {}: {e}", folder.display())
            }
            Self::OtherWorkspace { folder, kept, found } => write!(
                f,
                "{} is of an agent in another workspace ({kept}, and the host has {found}); name the host that is meant \
                 with --url, --data or --profile, or give this agent its own --state-dir",
                folder.display()
            ),
            Self::Database(e) => write!(f, "the harness's journal failed: {e}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<rusqlite::Error> for Error {
    fn from(e: rusqlite::Error) -> Self {
        Self::Database(e)
    }
}

#[cfg(test)]
mod tests;
