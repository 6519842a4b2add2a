//! The schema and its history: numbered migrations, each with the checksum of its text.
//!
//! Invariant: a database is opened only if this program knows every migration that was applied to
//! it, with the same text. A changed migration, or one of a newer program, is refused with a
//! message that names it.

#[cfg(test)]
mod tests;

use std::fmt;

use chorus_core::model::ids::Timestamp;
use sha2::{Digest, Sha256};

use crate::db::{Db, Error};

/// One step of the schema, for one engine.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    pub number: u32,
    pub name: &'static str,
    pub sql: &'static str,
}

/// The steps of one engine.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Creates the table that records steps, if it does not exist.
    table: &'static str,
    /// In order. A released step is never changed; another is added.
    pub steps: &'static [Migration],
    /// Selects this engine's number of a [`Since`].
    since: fn(Since) -> u32,
}

pub const SQLITE: Schema = Schema {
    table: "CREATE TABLE IF NOT EXISTS migration (
    number INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum BLOB NOT NULL,
    applied_at INTEGER NOT NULL
)",
    steps: &[
        Migration { number: 1, name: "rooms", sql: include_str!("sqlite_0001.sql") },
        Migration { number: 2, name: "first weeks", sql: include_str!("sqlite_0002.sql") },
        Migration { number: 3, name: "many months", sql: include_str!("sqlite_0003.sql") },
        Migration { number: 4, name: "work by mcp", sql: include_str!("sqlite_0004.sql") },
        Migration { number: 5, name: "channels", sql: include_str!("sqlite_0005.sql") },
        Migration { number: 6, name: "webhooks", sql: include_str!("sqlite_0006.sql") },
        Migration { number: 7, name: "tokens", sql: include_str!("sqlite_0007.sql") },
        Migration { number: 8, name: "told", sql: include_str!("sqlite_0008.sql") },
        Migration { number: 9, name: "proofs", sql: include_str!("sqlite_0009.sql") },
    ],
    since: |since| since.sqlite,
};

pub const POSTGRES: Schema = Schema {
    table: "CREATE TABLE IF NOT EXISTS migration (
    number BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum BYTEA NOT NULL,
    applied_at BIGINT NOT NULL
)",
    steps: &[
        Migration { number: 1, name: "rooms", sql: include_str!("postgres_0001.sql") },
        Migration { number: 2, name: "tokens", sql: include_str!("postgres_0002.sql") },
        Migration { number: 3, name: "told", sql: include_str!("postgres_0003.sql") },
        Migration { number: 4, name: "proofs", sql: include_str!("postgres_0004.sql") },
    ],
    since: |since| since.postgres,
};

/// For each engine, the first schema version that has something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    pub(crate) sqlite: u32,
    pub(crate) postgres: u32,
}

impl Since {
    pub(crate) const FIRST: Self = Self { sqlite: 1, postgres: 1 };
}

impl Schema {
    /// Whether a database of this version has it.
    pub(crate) fn has(&self, version: u32, since: Since) -> bool {
        version >= (self.since)(since)
    }

    /// The schema as a program of an older version knew it.
    #[must_use]
    pub fn up_to(self, version: usize) -> Self {
        Self { steps: &self.steps[..version.min(self.steps.len())], ..self }
    }

    /// The newest version.
    pub(crate) fn version(&self) -> u32 {
        self.steps.last().map_or(0, |step| step.number)
    }
}

/// Why this program cannot use the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The migration's text differs from the one that was applied.
    Changed {
        number: u32,
    },
    /// The database was made by a newer program.
    Newer {
        found: u32,
        known: u32,
    },
    /// Other hosts with an older program run on it.
    Older {
        found: u32,
        known: u32,
    },
    Database(Error),
}

impl From<Error> for Mismatch {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { number } => {
                write!(f, "migration {number} was applied with another text than this program's")
            }
            Self::Newer { found, known } => write!(
                f,
                "the database is of version {found} and this program knows {known}: use a newer one"
            ),
            Self::Older { found, known } => write!(
                f,
                "running hosts keep the database at version {found} and this program needs {known}: stop them all, and start this one first"
            ),
            Self::Database(error) => error.fmt(f),
        }
    }
}

/// The version whose program left copies of rows where pages were split. The file is rewritten
/// once, so that an erasure finds all copies.
const LEFT_COPIES: u32 = 1;

/// Migrates the database to the newest step, each step in a separate transaction.
pub fn migrate(db: &dyn Db, schema: &Schema, now: Timestamp) -> Result<(), Mismatch> {
    db.execute(schema.table, &[])?;
    let applied = check(db, schema)?;
    if applied == LEFT_COPIES && schema.version() > 1 {
        db.compact()?;
    }
    for step in schema.steps.iter().filter(|s| s.number > applied) {
        db.begin()?;
        let done = apply(db, step, now);
        match done {
            Ok(()) => db.commit()?,
            Err(error) => {
                db.rollback()?;
                return Err(error.into());
            }
        }
    }
    Ok(())
}

/// Refuses a database that is not at the newest step, because other hosts are running on it.
pub(crate) fn must_be_newest(db: &dyn Db, schema: &Schema) -> Result<(), Mismatch> {
    let (found, known) = (check(db, schema)?, schema.version());
    if found == known { Ok(()) } else { Err(Mismatch::Older { found, known }) }
}

/// The newest step of the database, after checking that this program knows all of them.
pub fn check(db: &dyn Db, schema: &Schema) -> Result<u32, Mismatch> {
    let applied = db.all("SELECT number, checksum FROM migration ORDER BY number", &[], |row| {
        Ok((row.int::<u32>(0)?, row.blob(1)?.to_vec()))
    })?;
    let known = schema.version();
    for (number, found) in &applied {
        let step = schema.steps.iter().find(|s| s.number == *number);
        let step = step.ok_or(Mismatch::Newer { found: *number, known })?;
        if found[..] != checksum(step)[..] {
            return Err(Mismatch::Changed { number: *number });
        }
    }
    Ok(applied.last().map_or(0, |(number, _)| *number))
}

fn apply(db: &dyn Db, step: &Migration, now: Timestamp) -> Result<(), Error> {
    for statement in statements(step.sql) {
        db.execute(statement, &[])?;
    }
    db.execute(
        "INSERT INTO migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)",
        &[step.number.into(), step.name.into(), (&checksum(step)).into(), now.0.into()],
    )?;
    Ok(())
}

/// Statements end with a semicolon at the end of a line; none contains one elsewhere.
fn statements(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(";\n")
        .map(str::trim)
        .filter(|s| s.lines().any(|l| !l.trim().is_empty() && !l.starts_with("--")))
}

fn checksum(step: &Migration) -> [u8; 32] {
    Sha256::digest(step.sql.as_bytes()).into()
}
