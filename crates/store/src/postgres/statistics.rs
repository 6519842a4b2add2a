//! Statistics for a new database. Without any, the server takes all indexes that begin with the workspace for equally
//! good, and reads a whole workspace for each row. Its own autovacuum gathers them after a minute or more; a host has it
//! done sooner, as the first rows come.

use std::sync::Arc;

use super::Postgres;
use super::address::Address;
use crate::db::{Db, Result};

/// Rows of this process after which there is something new to count.
const AFTER: [u64; 3] = [1_000, 10_000, 100_000];
/// A log of as many entries is not new.
const MANY: i64 = 1_000_000;

/// Rows were written.
pub(super) fn wrote(address: &Arc<Address>, rows: usize) {
    let written = address.written.add(rows);
    if !AFTER.iter().any(|after| written.contains(after)) {
        return;
    }
    let address = address.clone();
    let gather = move || {
        if let Err(why) = gather(&address) {
            // The server does it by itself soon.
            tracing::debug!(%why, "no statistics were gathered");
        }
    };
    // Without a thread, the same.
    let _ = std::thread::Builder::new().name("postgres analyze".to_owned()).spawn(gather);
}

fn gather(address: &Arc<Address>) -> Result<()> {
    let postgres = Postgres::examiner(address)?;
    let db: &dyn Db = &postgres;
    let sql = "SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = 'event'::regclass";
    if db.one(sql, &[], |row| row.int::<i64>(0))?.is_some_and(|rows| rows > MANY) {
        return Ok(());
    }
    let sql = "SELECT table_name::text FROM information_schema.tables
        WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'";
    let tables = db.all(sql, &[], |row| Ok(format!("\"{}\"", row.text(0)?)))?;
    postgres.link()?.run(&format!("ANALYZE {}", tables.join(", ")))
}
