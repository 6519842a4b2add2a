//! The tables of membership, and the statements on them.
//!
//! They are no part of the schema's steps: whoever migrates must own the workspace first, and hosts
//! of neighbouring versions find each other by them. Times are the database's, so that the clocks of
//! hosts do not matter.

use std::collections::BTreeMap;

use crate::db::{Db, Result, Row};

/// A host that has a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveHost {
    /// New with each start, and after each lease that was lost.
    pub id: String,
    /// Where other hosts reach it: an address and a port. Empty for a program that serves nobody.
    pub peer: String,
    /// Where clients reach it.
    pub url: String,
    pub version: String,
    /// In milliseconds since the Unix epoch.
    pub joined_at: i64,
    /// Milliseconds that its lease goes on.
    pub left: i64,
    /// The fingerprint of the keys that it signs with.
    pub keys: Vec<u8>,
    pub(super) process: String,
}

/// Who owns a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// None after it was handed over, until the next takes it.
    pub host: Option<String>,
    /// Rises with each owner.
    pub epoch: u64,
    /// How many transactions its owners have committed.
    pub batch: u64,
}

/// In this order. Each is made where it is not there.
const TABLES: [&str; 12] = [
    "CREATE TABLE IF NOT EXISTS live_host (
    host TEXT NOT NULL PRIMARY KEY,
    peer TEXT NOT NULL,
    url TEXT NOT NULL,
    version TEXT NOT NULL,
    process TEXT NOT NULL,
    keys BYTEA NOT NULL,
    joined_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
)",
    // A row is written with each batch, in place where its page has room.
    "CREATE TABLE IF NOT EXISTS workspace_owner (
    workspace BIGINT NOT NULL PRIMARY KEY,
    host TEXT,
    epoch BIGINT NOT NULL,
    batch BIGINT NOT NULL,
    keys BYTEA
) WITH (fillfactor = 50)",
    // Owners are few among the workspaces that there are.
    "CREATE INDEX IF NOT EXISTS workspace_owner_host ON workspace_owner (host) WHERE host IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS workspace_name (
    name TEXT NOT NULL PRIMARY KEY,
    workspace BIGINT NOT NULL UNIQUE,
    look TEXT NOT NULL UNIQUE,
    state BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    removal_at BIGINT,
    due BIGINT,
    open BIGINT NOT NULL DEFAULT 0,
    made BIGINT NOT NULL DEFAULT 0
)",
    "CREATE INDEX IF NOT EXISTS workspace_due ON workspace_name (due) WHERE due IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS workspace_removal ON workspace_name (removal_at)
    WHERE removal_at IS NOT NULL",
    "ALTER TABLE workspace_name ADD COLUMN IF NOT EXISTS moved_to TEXT",
    "ALTER TABLE workspace_name ADD COLUMN IF NOT EXISTS quota_connections BIGINT",
    "ALTER TABLE workspace_name ADD COLUMN IF NOT EXISTS quota_requests BIGINT",
    "ALTER TABLE workspace_name ADD COLUMN IF NOT EXISTS quota_burst BIGINT",
    "ALTER TABLE workspace_name ADD COLUMN IF NOT EXISTS quota_cpu BIGINT",
    "ALTER TABLE workspace_name ADD COLUMN IF NOT EXISTS quota_storage BIGINT",
];

/// The database's clock, in milliseconds.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// Makes the tables where they are not there.
pub(super) fn make_tables(db: &dyn Db) -> Result<()> {
    // The last of them.
    let sql = "SELECT count(*) FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = 'workspace_name' AND column_name = 'quota_storage'";
    if db.one(sql, &[], |row| row.flag(0))?.unwrap_or(false) {
        return Ok(());
    }
    for table in TABLES {
        // Two hosts that make it at once are one too many for PostgreSQL.
        db.execute(table, &[]).or_else(|_| db.execute(table, &[]))?;
    }
    Ok(())
}

pub(super) fn join(db: &dyn Db, host: &LiveHost, lease: i64) -> Result<()> {
    let sql = format!(
        "INSERT INTO live_host (host, peer, url, version, process, keys, joined_at, lease_until)
        VALUES ($1, $2, $3, $4, $5, $6, {NOW}, {NOW} + $7)"
    );
    let LiveHost { id, peer, url, version, process, keys, .. } = host;
    let words = [id, peer, url, version, process].map(|word| word.as_str().into());
    let values = [&words[..], &[keys.as_slice().into(), lease.into()]].concat();
    db.execute(&sql, &values).map(drop)
}

/// False for a host that others have given up: its lease had ended, and its row is gone.
pub(super) fn renew(db: &dyn Db, host: &str, lease: i64) -> Result<bool> {
    let sql = format!("UPDATE live_host SET lease_until = {NOW} + $2 WHERE host = $1");
    Ok(db.execute(&sql, &[host.into(), lease.into()])? > 0)
}

/// The host serves nobody any more.
pub(super) fn retire(db: &dyn Db, host: &str) -> Result<()> {
    db.execute("UPDATE live_host SET peer = '' WHERE host = $1", &[host.into()]).map(drop)
}

/// The host has other keys from here on. Which keys the workspace has is open until its next owner:
/// a host that ends before it has kept the new ones comes back with the old.
pub(super) fn rekey(db: &dyn Db, workspace: i64, host: &str, keys: &[u8]) -> Result<()> {
    let sql = "UPDATE live_host SET keys = $2 WHERE host = $1";
    db.execute(sql, &[host.into(), keys.into()])?;
    let sql = "UPDATE workspace_owner SET keys = NULL WHERE workspace = $1 AND host = $2";
    db.execute(sql, &[workspace.into(), host.into()]).map(drop)
}

/// The fingerprint of the keys that the workspace was served with last; none before its first host,
/// and after a restore.
pub(super) fn keys(db: &dyn Db, workspace: i64) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT keys FROM workspace_owner WHERE workspace = $1 AND keys IS NOT NULL";
    db.one(sql, &[workspace.into()], |row| Ok(row.blob(0)?.to_vec()))
}

/// A host leaves, or is known to have ended.
pub(super) fn remove(db: &dyn Db, host: &str) -> Result<()> {
    db.execute("DELETE FROM live_host WHERE host = $1", &[host.into()]).map(drop)
}

/// Gives a host up whose lease has ended. It cannot renew from here on, and its id never returns.
pub(super) fn give_up(db: &dyn Db, host: &str) -> Result<()> {
    let sql = format!("DELETE FROM live_host WHERE host = $1 AND lease_until <= {NOW}");
    db.execute(&sql, &[host.into()]).map(drop)
}

pub(super) fn hosts(db: &dyn Db) -> Result<Vec<LiveHost>> {
    let sql = format!(
        "SELECT host, peer, url, version, process, keys, joined_at, lease_until - {NOW}
        FROM live_host ORDER BY joined_at, host"
    );
    db.all(&sql, &[], |row| {
        let word = |column| Ok::<_, crate::db::Error>(row.text(column)?.to_owned());
        Ok(LiveHost {
            id: word(0)?,
            peer: word(1)?,
            url: word(2)?,
            version: word(3)?,
            process: word(4)?,
            keys: row.blob(5)?.to_vec(),
            joined_at: row.int(6)?,
            left: row.int(7)?,
        })
    })
}

pub(super) fn is_live(db: &dyn Db, host: &str) -> Result<bool> {
    let sql = "SELECT count(*) FROM live_host WHERE host = $1";
    Ok(db.one(sql, &[host.into()], |row| row.flag(0))?.unwrap_or(false))
}

/// How far the database's clock is ahead of `now`, in milliseconds.
pub(super) fn ahead(db: &dyn Db, now: i64) -> Result<i64> {
    Ok(db.one(&format!("SELECT {NOW} - $1"), &[now.into()], |row| row.int(0))?.unwrap_or(0))
}

/// Who owns the workspaces that somebody owns. How much each has written is left out.
pub(super) fn owners(db: &dyn Db) -> Result<BTreeMap<i64, Owner>> {
    let sql = "SELECT workspace, host, epoch FROM workspace_owner WHERE host IS NOT NULL";
    let owners = db.all(sql, &[], |row| {
        let owner = Owner { host: Some(row.text(1)?.to_owned()), epoch: row.int(2)?, batch: 0 };
        Ok((row.int(0)?, owner))
    })?;
    Ok(owners.into_iter().collect())
}

/// Ends the epoch of a workspace, whoever has it.
pub(super) fn revoke(db: &dyn Db, workspace: i64) -> Result<()> {
    let sql = "UPDATE workspace_owner SET host = NULL, epoch = epoch + 1 WHERE workspace = $1";
    db.execute(sql, &[workspace.into()]).map(drop)
}

fn owner(db: &dyn Db, workspace: i64) -> Result<Option<Owner>> {
    let sql = "SELECT host, epoch, batch FROM workspace_owner WHERE workspace = $1";
    db.one(sql, &[workspace.into()], read_owner)
}

fn read_owner(row: &dyn Row) -> Result<Owner> {
    let host = row.maybe_text(0)?.map(str::to_owned);
    Ok(Owner { host, epoch: row.int(1)?, batch: row.int(2)? })
}

/// Takes a workspace whose owner is not live any more, or nobody; none when a live host has it.
///
/// The owner is read, then looked for among the live, and then replaced if it still is the one that
/// was read. An id that is not there after it owned something never comes back, so no live host
/// loses what it owns. A host with other keys than the last gets nothing.
pub(super) fn take(db: &dyn Db, workspace: i64, host: &str, keys: &[u8]) -> Result<Option<Owner>> {
    let first = "INSERT INTO workspace_owner (workspace, epoch, batch) VALUES ($1, 0, 0)
        ON CONFLICT (workspace) DO NOTHING";
    let before = match owner(db, workspace)? {
        Some(before) => before,
        None => {
            db.execute(first, &[workspace.into()])?;
            Owner { host: None, epoch: 0, batch: 0 }
        }
    };
    if let Some(of) = before.host.filter(|of| of != host)
        && is_live(db, &of)?
    {
        return Ok(None);
    }
    let sql = "UPDATE workspace_owner SET host = $2, epoch = epoch + 1, keys = COALESCE($4::bytea, keys)
        WHERE workspace = $1 AND epoch = $3 AND ($4::bytea IS NULL OR keys IS NULL OR keys = $4::bytea)
        RETURNING host, epoch, batch";
    // A program that serves nobody has none.
    let keys = Some(keys).filter(|keys| !keys.is_empty());
    let values = [workspace.into(), host.into(), before.epoch.into(), keys.into()];
    db.one(sql, &values, read_owner)
}

/// Hands the workspace over to whoever takes it next.
pub(super) fn release(db: &dyn Db, workspace: i64, epoch: u64) -> Result<()> {
    let sql = "UPDATE workspace_owner SET host = NULL WHERE workspace = $1 AND epoch = $2";
    db.execute(sql, &[workspace.into(), epoch.into()]).map(drop)
}

/// Before owners had epochs, hosts held a lock of their connection. Whether one of them still runs.
pub(super) fn has_host_of_before(db: &dyn Db) -> Result<bool> {
    let yes = |sql: &str| db.one(sql, &[], |row| row.flag(0)).map(|yes| yes.unwrap_or(false));
    let table = "SELECT count(*) FROM information_schema.tables
        WHERE table_schema = current_schema() AND table_name = 'turn'";
    let free = "SELECT pg_try_advisory_xact_lock(205543941, hashtext(current_schema()))::int";
    Ok(yes(table)? && !yes(free)?)
}
