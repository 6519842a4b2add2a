//! SQLite as an engine: one file, write-ahead log, every commit synced.
//!
//! Invariant: `synchronous = FULL` unless a `Dangerous` setting was requested or the sync is
//! deferred ([`Db::defer_sync`]), so that a commit that returned is on disk. Checkpoints run between
//! batches on the writer's own connection, never inside a commit: `wal_autocheckpoint` is off and [`Db::housekeep`] decides (design section 3,
//! "Engines").

mod folder;
pub(crate) mod header;
mod remove;
mod vfs;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use folder::{Folder, FolderError};
pub use remove::remove_database;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::ffi::SQLITE_IOERR_WRITE;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
pub use vfs::Vfs;

use crate::db::{Db, Error, Fate, Result, Row, RowChange, Sync, SyncLog, TRACE, Table, Value};

/// Growth of the write-ahead log, in pages, after which it is checkpointed: when idle, and at the
/// latest. Each checkpoint syncs the database, so under load it is worth waiting for more.
const CHECKPOINT_IDLE: u32 = 1_000;
const CHECKPOINT_BUSY: u32 = 4_000;
/// Data that is moved or removed within a page is zeroed, which costs no write. Without this, a
/// split page would keep a copy that no later erasure finds.
const ZEROING: &str = "FAST";
/// Prepared statements kept by a connection; there are about fifty in all.
const STATEMENTS: usize = 128;
/// Pages copied by one step of a backup: 256 KiB, well under a millisecond, for which a post may
/// have to wait.
const COPIED: i32 = 64;
/// How long readers wait for a recovery after a crash; nothing else makes anybody wait.
const BUSY: Duration = Duration::from_secs(10);

/// One connection to the database file.
pub struct Sqlite {
    connection: Connection,
    /// Pages in the write-ahead log after the last commit, and at the last checkpoint.
    pages: Arc<AtomicU32>,
    checkpointed: AtomicU32,
    vfs: Option<Arc<dyn Vfs>>,
}

impl Sqlite {
    /// The only connection that writes; creates the file if it does not exist.
    pub fn writer(file: &Path, vfs: Option<&Arc<dyn Vfs>>, sync: Sync) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let this = Self::open(file, flags, vfs)?;
        let synchronous = match sync {
            Sync::Full | Sync::DangerousAnswerFirst => "FULL",
            Sync::DangerousNormal => "NORMAL",
        };
        this.connection.pragma_update(None, "journal_mode", "WAL").map_err(engine)?;
        this.connection.pragma_update(None, "synchronous", synchronous).map_err(engine)?;
        this.connection.pragma_update(None, "secure_delete", ZEROING).map_err(engine)?;
        this.watch()
    }

    /// A read-only connection.
    pub fn reader(file: &Path, vfs: Option<&Arc<dyn Vfs>>) -> Result<Self> {
        Self::open(file, OpenFlags::SQLITE_OPEN_READ_ONLY, vfs)
    }

    /// The only connection to a database that nobody else uses: no files next to it, and every
    /// commit synced. Deleted data is overwritten.
    pub fn alone(file: &Path) -> Result<Self> {
        let this = Self::open(file, OpenFlags::SQLITE_OPEN_READ_WRITE, None)?;
        this.connection.pragma_update(None, "journal_mode", "DELETE").map_err(engine)?;
        this.connection.pragma_update(None, "synchronous", "FULL").map_err(engine)?;
        this.connection.pragma_update(None, "secure_delete", "ON").map_err(engine)?;
        Ok(this)
    }

    /// A read-only connection to a file that nobody changes. Creates no files next to it.
    pub fn immutable(file: &Path) -> Result<Self> {
        let path = std::path::absolute(file).map_err(|e| Error::Engine(e.to_string()))?;
        let mut name = "file://".to_owned();
        for byte in path.as_os_str().as_encoded_bytes() {
            match byte {
                b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                    name.push(char::from(*byte));
                }
                other => name.push_str(&format!("%{other:02x}")),
            }
        }
        name.push_str("?immutable=1");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Self::open(Path::new(&name), flags, None)
    }

    fn open(file: &Path, flags: OpenFlags, vfs: Option<&Arc<dyn Vfs>>) -> Result<Self> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match vfs {
            Some(vfs) => Connection::open_with_flags_and_vfs(file, flags, vfs.name()),
            None => Connection::open_with_flags(file, flags),
        };
        let connection = connection.map_err(engine)?;
        connection.busy_timeout(BUSY).map_err(engine)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(Self {
            connection,
            pages: Arc::default(),
            checkpointed: AtomicU32::new(0),
            vfs: vfs.cloned(),
        })
    }

    /// Counts the pages of the write-ahead log. The hook also replaces SQLite's own checkpoint,
    /// which would run inside a commit.
    fn watch(mut self) -> Result<Self> {
        let pages = self.pages.clone();
        let hook = move |_: &mut rusqlite::hooks::Wal, count: std::ffi::c_int| {
            pages.store(u32::try_from(count).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        };
        self.connection.wal_hook(Some(hook)).map_err(engine)?;
        Ok(self)
    }
}

impl Db for Sqlite {
    fn change(&self, table: &'static Table, how: RowChange, values: &[Value<'_>]) -> Result<()> {
        self.execute(table.statement(how), values).map(drop)
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize> {
        tracing::trace!(target: TRACE, sql);
        let mut statement = self.connection.prepare_cached(sql).map_err(engine)?;
        bind(&mut statement, values)?;
        statement.raw_execute().map_err(engine)
    }

    fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        tracing::trace!(target: TRACE, sql);
        let mut statement = self.connection.prepare_cached(sql).map_err(engine)?;
        bind(&mut statement, values)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(engine)? {
            each(&Shown(row))?;
        }
        Ok(())
    }

    fn begin(&self) -> Result<()> {
        self.execute("BEGIN IMMEDIATE", &[]).map(drop)
    }

    fn begin_reading(&self) -> Result<()> {
        self.execute("BEGIN DEFERRED", &[]).map(drop)
    }

    fn defer_sync(&self) -> Result<Option<SyncLog>> {
        let Some(file) = self.connection.path() else { return Ok(None) };
        let log = PathBuf::from(format!("{file}-wal"));
        // A commit then writes its frames and is visible. The log's first frame still syncs the log and its folder, and
        // a checkpoint syncs the log before it copies anything.
        self.connection.pragma_update(None, "synchronous", "NORMAL").map_err(engine)?;
        Ok(Some(match &self.vfs {
            Some(vfs) => vfs.sync_of(log),
            None => {
                let mut opened = None;
                Box::new(move || {
                    let log = match &mut opened {
                        Some(log) => log,
                        none => none.insert(File::open(&log)?),
                    };
                    log.sync_data()
                })
            }
        }))
    }

    fn commit(&self) -> Result<()> {
        self.execute("COMMIT", &[]).map(drop)
    }

    fn rollback(&self) -> Result<()> {
        // After some errors SQLite has rolled back already; then there is nothing to do.
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.execute("ROLLBACK", &[]).map(drop)
    }

    fn is_lost(&self) -> bool {
        false
    }

    fn recover(&self) -> Result<Fate> {
        Ok(Fate::Undone)
    }

    fn compact(&self) -> Result<()> {
        self.execute("VACUUM", &[]).map(drop)
    }

    fn thoroughly(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let set = |how| self.connection.pragma_update(None, "secure_delete", how).map_err(engine);
        set("ON")?;
        let done = work();
        set(ZEROING)?;
        done
    }

    fn scrub(&self) -> Result<bool> {
        // Readers are short, and waiting for one here would delay every post.
        self.connection.busy_timeout(Duration::ZERO).map_err(engine)?;
        let mut whole = false;
        let done = self.query("PRAGMA wal_checkpoint(TRUNCATE)", &[], &mut |row| {
            whole = row.int::<i64>(0)? == 0;
            Ok(())
        });
        self.connection.busy_timeout(BUSY).map_err(engine)?;
        done?;
        if whole {
            self.checkpointed.store(0, Ordering::Relaxed);
            self.pages.store(0, Ordering::Relaxed);
        }
        Ok(whole)
    }

    fn housekeep(&self, idle: bool) -> Result<bool> {
        let pages = self.pages.load(Ordering::Relaxed);
        let before = self.checkpointed.load(Ordering::Relaxed);
        // After a full checkpoint without readers, the log restarts at its beginning.
        let grown = if pages < before { pages } else { pages - before };
        if grown < if idle { CHECKPOINT_IDLE } else { CHECKPOINT_BUSY } {
            return Ok(false);
        }
        self.query("PRAGMA wal_checkpoint(PASSIVE)", &[], &mut |_| Ok(()))?;
        self.checkpointed.store(pages, Ordering::Relaxed);
        Ok(true)
    }

    fn check_file(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        self.query("PRAGMA integrity_check", &[], &mut |row| {
            found.push(row.text(0)?.to_owned());
            Ok(())
        })?;
        found.retain(|line| line != "ok");
        Ok(found)
    }

    fn copy_to(&self, to: &Path, between: &mut dyn FnMut() -> bool) -> Result<bool> {
        let mut copy = Connection::open(to).map_err(engine)?;
        // The caller syncs it at the end, elsewhere, so that the writer waits for no file but its
        // own. An abandoned copy is deleted and needs no journal.
        copy.pragma_update(None, "synchronous", "OFF").map_err(engine)?;
        copy.pragma_update(None, "journal_mode", "OFF").map_err(engine)?;
        let backup = Backup::new(&self.connection, &mut copy).map_err(engine)?;
        loop {
            // Nobody else locks either file, so every step makes progress.
            if backup.step(COPIED).map_err(engine)? == StepResult::Done {
                return Ok(true);
            }
            if !between() {
                return Ok(false);
            }
        }
    }
}

struct Shown<'a>(&'a rusqlite::Row<'a>);

impl Row for Shown<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        Ok(match self.0.get_ref(column).map_err(engine)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(n) => Value::Int(n),
            ValueRef::Blob(bytes) => Value::Blob(bytes),
            ValueRef::Text(text) => {
                let text = std::str::from_utf8(text);
                Value::Text(text.map_err(|_| Error::corrupt("a text that is not UTF-8"))?)
            }
            ValueRef::Real(_) => return Err(Error::corrupt("a fraction where none is stored")),
        })
    }
}

fn bind(statement: &mut rusqlite::Statement<'_>, values: &[Value<'_>]) -> Result<()> {
    for (n, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(n + 1, Bound(value)).map_err(engine)?;
    }
    Ok(())
}

struct Bound<'a>(&'a Value<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Int(n) => ValueRef::Integer(*n),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn engine(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::Full(error.to_string()),
        // A file size limit or a quota, which SQLite does not distinguish from other errors. Only a
        // failed sync loses data.
        Some(ErrorCode::SystemIoFailure)
            if error.sqlite_error().is_some_and(|e| e.extended_code == SQLITE_IOERR_WRITE) =>
        {
            Error::Full(format!("a write was refused, perhaps by a limit or a quota: {error}"))
        }
        Some(ErrorCode::DatabaseCorrupt) => Error::Corrupt(format!("a page of its file: {error}")),
        Some(ErrorCode::NotADatabase) => Error::Corrupt(format!("its file: {error}")),
        _ => Error::Engine(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_statement_is_prepared_once_whatever_is_bound_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let db = Sqlite::writer(&folder.path().join("db"), None, Sync::Full).unwrap();
        db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER)", &[]).unwrap();
        let sql = "SELECT b FROM t WHERE a > $1 ORDER BY a LIMIT $2";
        for n in 1..=5_u64 {
            db.query(sql, &[n.into(), n.into()], &mut |_| Ok(())).unwrap();
        }
        let statement = db.connection.prepare_cached(sql).unwrap();
        assert_eq!(statement.get_status(StatementStatus::Run), 5);
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
