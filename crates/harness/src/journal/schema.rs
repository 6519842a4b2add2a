//! The journal's tables, and how durable they are.

use rusqlite::Connection;

/// `told` is 1 when the host knows how the delivery ended, or needs no telling.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS delivery (
    event       TEXT PRIMARY KEY,
    state       INTEGER NOT NULL,
    delivery    TEXT NOT NULL,
    fence       INTEGER NOT NULL,
    knock       INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    disposition TEXT,
    note        TEXT,
    signal      TEXT,
    told        INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS delivery_open ON delivery (state) WHERE state < 3;
CREATE INDEX IF NOT EXISTS delivery_untold ON delivery (told) WHERE state = 3 AND told = 0;
CREATE TABLE IF NOT EXISTS reply (
    key   TEXT PRIMARY KEY,
    event TEXT NOT NULL,
    body  TEXT NOT NULL,
    sent  INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS reply_unsent ON reply (sent) WHERE sent = 0;
CREATE INDEX IF NOT EXISTS reply_event ON reply (event);
CREATE TABLE IF NOT EXISTS program_session (
    program      TEXT NOT NULL,
    folder       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    thread       TEXT NOT NULL,
    session      TEXT NOT NULL,
    at           INTEGER NOT NULL,
    PRIMARY KEY (program, folder, conversation, thread)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
";

/// `FULL` because an acknowledged delivery must survive the machine, not only the process.
pub(super) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "full")?;
    db.execute_batch(TABLES)
}
