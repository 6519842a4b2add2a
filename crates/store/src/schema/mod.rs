//! The schema and its history: numbered migrations, each with the checksum of its text.
//!
//! The first migrations of each engine were written for it alone. The later ones are shared: one
//! text in SQLite's dialect, which is translated for PostgreSQL.
//!
//! Invariant: a database is opened only if this program knows every migration that was applied to
//! it, with the same text. A changed migration, or one of a newer program, is refused with a
//! message that names it.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use chorus_core::model::ids::Timestamp;
use sha2::{Digest, Sha256};

use crate::db::{Db, Error};

/// One step of the schema: an engine's own, or a shared one.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Counted from 1, for each engine's own and for the shared ones.
    pub number: u32,
    pub name: &'static str,
    pub sql: &'static str,
}

/// The steps that all engines share, in order.
const SHARED: &[Migration] = &[
    Migration { number: 1, name: "wakes", sql: include_str!("shared_0001.sql") },
    Migration { number: 2, name: "registry", sql: include_str!("shared_0002.sql") },
    Migration { number: 3, name: "pauses", sql: include_str!("shared_0003.sql") },
    Migration { number: 4, name: "owners", sql: include_str!("shared_0004.sql") },
];

/// A step as one engine takes it.
struct Step {
    number: u32,
    name: &'static str,
    sql: Cow<'static, str>,
}

/// The steps of one engine.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Creates the table that records steps, if it does not exist.
    table: &'static str,
    /// The engine's own, in order. They are complete.
    pub own: &'static [Migration],
    /// Those of all engines, which follow its own. A released step is never changed; another is
    /// added.
    pub shared: &'static [Migration],
    /// Translates the text of a shared step for this engine.
    translate: fn(&'static str) -> Cow<'static, str>,
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
    own: &[
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
    shared: SHARED,
    translate: Cow::Borrowed,
    since: |since| since.sqlite,
};

pub const POSTGRES: Schema = Schema {
    table: "CREATE TABLE IF NOT EXISTS migration (
    number BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum BYTEA NOT NULL,
    applied_at BIGINT NOT NULL
)",
    own: &[
        Migration { number: 1, name: "rooms", sql: include_str!("postgres_0001.sql") },
        Migration { number: 2, name: "tokens", sql: include_str!("postgres_0002.sql") },
        Migration { number: 3, name: "told", sql: include_str!("postgres_0003.sql") },
        Migration { number: 4, name: "proofs", sql: include_str!("postgres_0004.sql") },
    ],
    shared: SHARED,
    translate: for_postgres,
    since: |since| since.postgres,
};

/// The text as PostgreSQL takes it. What differs more than this cannot be in a shared step.
fn for_postgres(sql: &'static str) -> Cow<'static, str> {
    let sql = sql.replace(" INTEGER", " BIGINT").replace(" BLOB", " BYTEA");
    sql.replace(" WITHOUT ROWID", "").into()
}

/// For each engine, the first schema version that has something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    pub(crate) sqlite: u32,
    pub(crate) postgres: u32,
}

impl Since {
    pub(crate) const FIRST: Self = Self { sqlite: 1, postgres: 1 };

    /// The version that the shared step of this number makes.
    pub(crate) const fn shared(number: u32) -> Self {
        let (sqlite, postgres) = (SQLITE.own.len() as u32, POSTGRES.own.len() as u32);
        Self { sqlite: sqlite + number, postgres: postgres + number }
    }
}

impl Schema {
    /// Whether a database of this version has it.
    pub(crate) fn has(&self, version: u32, since: Since) -> bool {
        version >= (self.since)(since)
    }

    /// The schema as a program of an older version knew it.
    #[must_use]
    pub fn up_to(self, version: usize) -> Self {
        let own = version.min(self.own.len());
        let shared = (version - own).min(self.shared.len());
        Self { own: &self.own[..own], shared: &self.shared[..shared], ..self }
    }

    /// The newest version.
    pub(crate) fn version(&self) -> u32 {
        self.steps().last().map_or(0, |step| step.number)
    }

    /// All steps in order; the shared ones are numbered on from its own.
    fn steps(&self) -> impl Iterator<Item = Step> {
        let own = self.own.iter().map(|m| (m.number, m, Cow::Borrowed(m.sql)));
        let shared = self.shared.iter();
        let before = self.own.len() as u32;
        let shared = shared.map(move |m| (before + m.number, m, (self.translate)(m.sql)));
        own.chain(shared).map(|(number, m, sql)| Step { number, name: m.name, sql })
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
    for step in schema.steps().filter(|s| s.number > applied) {
        db.begin()?;
        let done = apply(db, &step, now);
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

/// The newest step of the database, after checking that this program knows all of them.
pub fn check(db: &dyn Db, schema: &Schema) -> Result<u32, Mismatch> {
    let applied = db.all("SELECT number, checksum FROM migration ORDER BY number", &[], |row| {
        Ok((row.int::<u32>(0)?, row.blob(1)?.to_vec()))
    })?;
    let (known, steps) = (schema.version(), schema.steps().collect::<Vec<_>>());
    for (number, found) in &applied {
        let step = steps.iter().find(|s| s.number == *number);
        let step = step.ok_or(Mismatch::Newer { found: *number, known })?;
        if found[..] != checksum(step)[..] {
            return Err(Mismatch::Changed { number: *number });
        }
    }
    Ok(applied.last().map_or(0, |(number, _)| *number))
}

fn apply(db: &dyn Db, step: &Step, now: Timestamp) -> Result<(), Error> {
    for statement in statements(&step.sql) {
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

/// Of the text as the engine takes it, so that the translation of a released step never changes
/// either.
fn checksum(step: &Step) -> [u8; 32] {
    Sha256::digest(step.sql.as_bytes()).into()
}
