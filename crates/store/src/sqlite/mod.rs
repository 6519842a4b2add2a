//! SQLite as an engine: one file, write-ahead log, every commit synced.
//!
//! Invariant: `synchronous = FULL` unless a `Dangerous` setting was asked for, so that a commit that
//! returned is on disk. Checkpoints run between batches on the writer's own connection, never inside a
//! commit: `wal_autocheckpoint` is off and [`Db::housekeep`] decides (design section 3, "Engines").

mod folder;
pub(crate) mod header;
mod remove;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::ffi::SQLITE_IOERR_WRITE;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};

use crate::db::{Db, Error, Fate, Result, Row, RowChange, Sync, TRACE, Table, Value};

pub use folder::{Folder, FolderError};
pub use remove::remove_database;

/// Pages by which the write-ahead log has grown when it is copied back: while nothing is asked, and at
/// the latest. Each copy syncs the database, so under load it is worth to wait for more.
const CHECKPOINT_IDLE: u32 = 1_000;
const CHECKPOINT_BUSY: u32 = 4_000;
/// What moves or goes within a page is zeroed where it was, which costs no write. Without it a page that is split
/// keeps a copy that no later erasure would find.
const ZEROING: &str = "FAST";
/// Prepared statements kept by a connection; there are about fifty in all.
const STATEMENTS: usize = 128;
/// Pages copied by one step of a backup: 256 KiB, well under a millisecond, which a post may have to wait.
const COPIED: i32 = 64;
/// Readers wait this long for a recovery after a crash; nobody waits for anything else.
const BUSY: Duration = Duration::from_secs(10);

/// One connection to the database file.
pub struct Sqlite {
    connection: Connection,
    /// Pages in the write-ahead log after the last commit, and at the last checkpoint.
    pages: Arc<AtomicU32>,
    checkpointed: AtomicU32,
}

impl Sqlite {
    /// The one connection that writes; makes the file when there is none.
    pub fn writer(file: &Path, vfs: Option<&str>, sync: Sync) -> Result<Self> {
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

    /// A connection that can only read.
    pub fn reader(file: &Path, vfs: Option<&str>) -> Result<Self> {
        Self::open(file, OpenFlags::SQLITE_OPEN_READ_ONLY, vfs)
    }

    /// The one connection to a database that nobody else uses: no files beside it, and every commit synced.
    /// What is deleted is overwritten.
    pub fn alone(file: &Path) -> Result<Self> {
        let this = Self::open(file, OpenFlags::SQLITE_OPEN_READ_WRITE, None)?;
        this.connection.pragma_update(None, "journal_mode", "DELETE").map_err(engine)?;
        this.connection.pragma_update(None, "synchronous", "FULL").map_err(engine)?;
        this.connection.pragma_update(None, "secure_delete", "ON").map_err(engine)?;
        Ok(this)
    }

    /// A connection that can only read a file that nobody changes, and makes none beside it.
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

    fn open(file: &Path, flags: OpenFlags, vfs: Option<&str>) -> Result<Self> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match vfs {
            Some(vfs) => Connection::open_with_flags_and_vfs(file, flags, vfs),
            None => Connection::open_with_flags(file, flags),
        };
        let connection = connection.map_err(engine)?;
        connection.busy_timeout(BUSY).map_err(engine)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(Self { connection, pages: Arc::default(), checkpointed: AtomicU32::new(0) })
    }

    /// Counts the pages of the write-ahead log; the hook also takes the place of SQLite's own checkpoint,
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

    fn commit(&self) -> Result<()> {
        self.execute("COMMIT", &[]).map(drop)
    }

    fn rollback(&self) -> Result<()> {
        // SQLite has rolled back by itself after some errors; there is nothing more to do then.
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
        // Readers are short; waiting for one here would keep every post waiting.
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
        // Once all of it was copied back and no reader needs it, the log begins again at its start.
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
        // Whoever asked syncs it in the end, elsewhere: the writer waits for no other file than its own. A copy
        // that is broken off is thrown away, and needs no journal.
        copy.pragma_update(None, "synchronous", "OFF").map_err(engine)?;
        copy.pragma_update(None, "journal_mode", "OFF").map_err(engine)?;
        let backup = Backup::new(&self.connection, &mut copy).map_err(engine)?;
        loop {
            // Nobody else locks either file, so every step gets on.
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
        // A limit of the file's size or a quota, which SQLite does not tell from others. Only what a sync says is lost.
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
