//! Backups: one file, complete or absent.
//!
//! A backup is a copy of the database with one more table, `backup`, that describes it: its time,
//! its workspace, a digest over every row, and the keys if they were requested. A file without that
//! table is not a backup: the database file of a running host lacks what is in its write-ahead log.
//! Only [`check`] can establish that a file is sound; [`restore`] makes a data folder from one.

mod digest;
mod restore;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chorus_core::model::ids::{Prefix, Timestamp, Uid};
pub(crate) use restore::{beside, must_be_empty, settle};
pub use restore::{put_back, restore};

use crate::db::{Db, Error, Sync, Value};
use crate::doctor::{self, Report};
use crate::objects::ReadObjects;
use crate::open_error::OpenError;
use crate::schema::{self, Mismatch};
pub use crate::sqlite::remove_database as remove;
use crate::sqlite::{self, Folder, Sqlite, header};
use crate::{Place, Tenant, asset, directory, newest};

/// The format of the `backup` table. A program refuses formats that it does not know.
const FORMAT: u8 = 1;
/// Prefix of the names of key files in the table.
const KEY: &str = "key/";

/// A backup's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    pub taken_at: Timestamp,
    pub workspace: Uid,
    pub name: String,
    /// Number of rows of all tables.
    pub rows: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Names of the key files in it.
    pub keys: Vec<String>,
    /// The doctor's report on its logs.
    pub report: Report,
}

/// Why there is no backup, or why one cannot be used.
#[derive(Debug)]
pub enum BackupError {
    /// The file is not a sound backup; the text says why.
    Unfit(String),
    /// The folder to restore into, or to back up, is not in the required state.
    Folder(String),
    Io {
        path: PathBuf,
        error: io::Error,
    },
    Open(OpenError),
    Database(Error),
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit(why) | Self::Folder(why) => f.write_str(why),
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Open(error) => error.fmt(f),
            Self::Database(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BackupError {}

impl From<Error> for BackupError {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

pub type Result<T> = std::result::Result<T, BackupError>;

/// Makes a complete backup of a folder that no host holds.
pub fn take(data: &Path, to: &Path, objects: &dyn ReadObjects, now: Timestamp) -> Result<()> {
    let file = Folder::database_in(data);
    if !file.is_file() {
        return Err(BackupError::Folder(format!("{} holds no database", data.display())));
    }
    header::must_be_there(&file)?;
    let _held = Folder::hold(data).map_err(|e| BackupError::Open(OpenError::Folder(e)))?;
    // The backup would be complete but contain only what is left, and taking it would remove what
    // could still be recovered from the log.
    let place = Place::folder(data);
    if let Some(lost) = newest::lost(&place)? {
        return Err(BackupError::Open(OpenError::Lost { place, lost }));
    }
    make(to)?;
    let copied = Sqlite::writer(&file, None, Sync::Full)
        .and_then(|db| db.copy_to(to, &mut || true).map(drop))
        .map_err(BackupError::from);
    let sealed = copied.and_then(|()| seal(to, objects, now));
    if sealed.is_err() {
        sqlite::remove_database(to);
    }
    sealed
}

/// Creates an empty file for a copy, readable by its owner only. An existing file is an error.
pub fn make(file: &Path) -> Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    made.map(drop).map_err(io_at(file))
}

/// Turns a finished copy into a backup: one self-contained file with its description, synced to
/// disk. The bytes of files that are in objects are read from there.
pub fn seal(file: &Path, objects: &dyn ReadObjects, now: Timestamp) -> Result<()> {
    let db = Sqlite::alone(file)?;
    let db: &dyn Db = &db;
    asset::take_in(db, Tenant::OWN, objects)?;
    let digest = digest::digest(db)?;
    db.begin()?;
    db.execute("CREATE TABLE backup (name TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL)", &[])?;
    put(db, "format", &[FORMAT])?;
    put(db, "taken_at", &now.0.to_be_bytes())?;
    put(db, "digest", &digest.hash)?;
    put(db, "rows", &digest.rows.to_be_bytes())?;
    db.commit()?;
    sync(file)
}

/// Adds key files to a backup, each with its name and content. Anybody with the backup then has the
/// keys.
pub fn add_keys(file: &Path, keys: &[(String, Vec<u8>)]) -> Result<()> {
    let db = Sqlite::alone(file)?;
    let db: &dyn Db = &db;
    db.begin()?;
    for (name, bytes) in keys {
        put(db, &format!("{KEY}{name}"), bytes)?;
    }
    db.commit()?;
    sync(file)
}

/// Reads a backup to its end and checks that it was made by this program or an older one, that it
/// is complete and unchanged, and that its content is consistent.
pub fn check(file: &Path) -> Result<Manifest> {
    let named = |why: String| BackupError::Unfit(format!("{}: {why}", file.display()));
    let (length, expected) = lengths(file)?;
    let Some(expected) = expected else {
        return Err(named("this is not a backup".to_owned()));
    };
    if length != expected {
        return Err(named(format!("the backup has {length} bytes and should have {expected}")));
    }
    let db = Sqlite::immutable(file)?;
    let db: &dyn Db = &db;
    // An unreadable page is damage to the file, wherever it occurs.
    let unfit = |error: Error| match error {
        Error::Corrupt(what) => named(format!("the backup is damaged: {what}")),
        other => BackupError::Database(other),
    };
    let is_one = "SELECT count(*) FROM sqlite_schema WHERE name = 'backup'";
    let is_one: Option<u8> = db.one(is_one, &[], |row| row.int(0)).map_err(unfit)?;
    if is_one != Some(1) {
        return Err(named("this is not a completed backup".to_owned()));
    }
    let get = |name: &str| value(db, name).map_err(unfit);
    if get("format")?.as_deref() != Some(&[FORMAT]) {
        return Err(named("the backup was made by a newer program: use that one".to_owned()));
    }
    let version = schema::check(db, &schema::SQLITE).map_err(|why| match why {
        Mismatch::Database(error) => unfit(error),
        other => named(other.to_string()),
    })?;
    // Checks indexes too, each against its rows, because a restored folder would inherit them.
    if let Some(what) = db.check_file().map_err(unfit)?.first() {
        return Err(named(format!("the backup is damaged: {what}")));
    }
    let digest = digest::digest(db).map_err(unfit)?;
    if get("digest")?.as_deref() != Some(&digest.hash) {
        let why = "its rows differ from those that were backed up";
        return Err(named(format!("the backup is damaged: {why}")));
    }
    // The doctor reads the newest schema. An older backup is migrated when a host starts.
    let is_newest = schema::SQLITE.version() == version;
    let report = if is_newest {
        let mut report = Report::default();
        doctor::look(db, &schema::SQLITE, &mut report).map_err(unfit)?;
        report
    } else {
        Report::default()
    };
    if let Some(problem) = report.problems.first() {
        let count = report.problems.len();
        return Err(named(format!("{count} problem(s) in it, the first: {problem}")));
    }
    let tenant = directory::tenant(db, Tenant::OWN).map_err(unfit)?;
    let tenant = tenant.ok_or_else(|| named("it contains no workspace".to_owned()))?;
    let taken_at = get("taken_at")?.and_then(|b| Some(i64::from_be_bytes(b.try_into().ok()?)));
    Ok(Manifest {
        taken_at: Timestamp(taken_at.ok_or_else(|| named("it does not say when".to_owned()))?),
        workspace: tenant.uid,
        name: tenant.name.to_string(),
        rows: digest.rows,
        bytes: length,
        keys: keys(db)?.into_iter().map(|(name, _)| name).collect(),
        report,
    })
}

impl Manifest {
    /// The workspace's public id.
    pub fn workspace_id(&self) -> String {
        self.workspace.show(Prefix::Workspace)
    }
}

/// The length of the file, and the length that its first page states; none when it is not a
/// database.
fn lengths(file: &Path) -> Result<(u64, Option<u64>)> {
    let mut head = [0; header::SIZES];
    let read = File::open(file).and_then(|mut f| {
        let length = f.metadata()?.len();
        Ok((length, f.read_exact(&mut head)))
    });
    let (length, whole) = read.map_err(io_at(file))?;
    if whole.is_err() || !head.starts_with(b"SQLite format 3\0") {
        return Ok((length, None));
    }
    Ok((length, Some(header::length_said(&head))))
}

fn put(db: &dyn Db, name: &str, value: &[u8]) -> crate::db::Result<()> {
    let values = [Value::Text(name), Value::Blob(value)];
    db.execute("INSERT INTO backup (name, value) VALUES ($1, $2)", &values).map(drop)
}

fn value(db: &dyn Db, name: &str) -> crate::db::Result<Option<Vec<u8>>> {
    let sql = "SELECT value FROM backup WHERE name = $1";
    db.one(sql, &[name.into()], |row| Ok(row.blob(0)?.to_vec()))
}

/// The key files in a backup.
fn keys(db: &dyn Db) -> crate::db::Result<Vec<(String, Vec<u8>)>> {
    let sql = "SELECT name, value FROM backup ORDER BY name";
    let all = db.all(sql, &[], |row| Ok((row.text(0)?.to_owned(), row.blob(1)?.to_vec())))?;
    let keys = all.into_iter();
    Ok(keys.filter_map(|(name, bytes)| Some((name.strip_prefix(KEY)?.to_owned(), bytes))).collect())
}

/// Syncs a file to disk.
fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(io_at(path))
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> BackupError + use<'_> {
    move |error| BackupError::Io { path: path.to_owned(), error }
}
