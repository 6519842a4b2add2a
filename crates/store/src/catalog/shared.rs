//! Workspaces of a database: rows, each with the key of its workspace.

use crate::db::{Db, Error, Result};
use crate::{conversation, families};

/// A key that no workspace of a database has had: they are drawn, so that hosts need not agree.
pub(super) fn new_key() -> Result<i64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|why| Error::Engine(format!("no random bytes: {why}")))?;
    // Larger than the hosts' own, and positive.
    Ok(i64::from_be_bytes(bytes) >> 1 & i64::MAX | 1 << 32)
}

/// Removes all that a workspace has in a database, a conversation at a time: no statement takes long.
pub(super) fn remove_rows(db: &dyn Db, workspace: i64) -> Result<()> {
    for key in conversation::keys(db, workspace)? {
        for table in families::tables().filter(|table| table.columns.contains(&"conversation")) {
            // By this row the others are found, if this is cut short.
            if table.name != "conversation" {
                let sql = format!(
                    "DELETE FROM {} WHERE workspace = $1 AND conversation = $2",
                    table.name
                );
                db.execute(&sql, &[workspace.into(), key.0.into()])?;
            }
        }
    }
    for table in families::tables() {
        let sql = format!("DELETE FROM {} WHERE workspace = $1", table.name);
        db.execute(&sql, &[workspace.into()])?;
    }
    Ok(())
}
