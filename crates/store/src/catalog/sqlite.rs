//! The catalog as a file.

use std::path::Path;

use crate::db::{Db, Error, Result, Sync};
use crate::sqlite::Sqlite;

const VERSION: i64 = 3;

/// `look` is how the name looks, so that none is made that could be taken for another. `due` is when a workspace that is
/// closed has to be opened next. One that is `open` when the host begins was open when it ended. One was `made` when it
/// was opened for the first time. `workspace` is its key in its own file, which has no other.
const SCHEMA: &[&str] = &[
    "CREATE TABLE workspace_name (
        name TEXT NOT NULL PRIMARY KEY,
        workspace INTEGER NOT NULL,
        look TEXT NOT NULL,
        state INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        removal_at INTEGER,
        due INTEGER,
        open INTEGER NOT NULL DEFAULT 0,
        made INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID",
    "CREATE UNIQUE INDEX workspace_look ON workspace_name (look)",
    "CREATE INDEX workspace_due ON workspace_name (due) WHERE due IS NOT NULL",
    "CREATE INDEX workspace_open ON workspace_name (open) WHERE open = 1",
    "CREATE INDEX workspace_removal ON workspace_name (removal_at) WHERE removal_at IS NOT NULL",
];

/// Before a database had a catalog too.
const FROM_FIRST: &[&str] = &[
    "ALTER TABLE workspace RENAME TO workspace_name",
    "ALTER TABLE workspace_name ADD COLUMN workspace INTEGER NOT NULL DEFAULT 1",
];
/// Before one could be moved, and have a quota of its own.
const FROM_SECOND: &[&str] = &[
    "ALTER TABLE workspace_name ADD COLUMN moved_to TEXT",
    "ALTER TABLE workspace_name ADD COLUMN quota_connections INTEGER",
    "ALTER TABLE workspace_name ADD COLUMN quota_requests INTEGER",
    "ALTER TABLE workspace_name ADD COLUMN quota_burst INTEGER",
    "ALTER TABLE workspace_name ADD COLUMN quota_cpu INTEGER",
    "ALTER TABLE workspace_name ADD COLUMN quota_storage INTEGER",
];

pub(super) fn connect(file: &Path) -> Result<Sqlite> {
    let sqlite = Sqlite::writer(file, None, Sync::Full)?;
    let db: &dyn Db = &sqlite;
    let version = db.one("PRAGMA user_version", &[], |row| row.int::<i64>(0))?.unwrap_or(0);
    let steps = match version {
        VERSION => return Ok(sqlite),
        0 => [SCHEMA, FROM_SECOND].concat(),
        1 => [FROM_FIRST, FROM_SECOND].concat(),
        2 => FROM_SECOND.to_vec(),
        newer => {
            return Err(Error::Engine(format!(
                "{} was written by a newer Chorus (version {newer}, and this one knows {VERSION}); start that one",
                file.display()
            )));
        }
    };
    db.begin()?;
    for step in steps {
        db.execute(step, &[])?;
    }
    db.execute(&format!("PRAGMA user_version = {VERSION}"), &[])?;
    db.commit()?;
    Ok(sqlite)
}
