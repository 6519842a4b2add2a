//! All tables of a workspace. The schema's tests fail for a table that is not listed here.

use crate::db::{Db, Result, Table};
use crate::{
    approval, asset, audit, conversation, departed, digest, directory, endpoint, event, inbox,
    log_snapshot, message, open, project, read_cursor, schedule, stimulus, thread, token, told,
    turn,
};
use chorus_core::model::ids::ConversationKey;
use chorus_core::model::log_snapshot::LogSnapshot;

impl Table {
    /// Those that every database has.
    pub(crate) const ALL: &[&Self] = &[
        &approval::APPROVAL,
        &asset::ASSET,
        &asset::BLOB,
        &asset::REF,
        &audit::AUDIT,
        &log_snapshot::LOG_SNAPSHOT,
        &conversation::CONVERSATION,
        &conversation::HEAD,
        &conversation::ROSTER,
        &digest::DIGEST,
        &digest::DIGESTED,
        &digest::DIGEST_TEXT,
        &directory::MEMBER,
        &directory::ROLE,
        &directory::ROLE_MEMBER,
        &directory::SESSION,
        &directory::STREAM,
        &directory::TOKEN,
        &directory::WORKSPACE,
        &endpoint::ENDPOINT,
        &event::EVENT,
        &departed::DEPARTED,
        &inbox::CALLBACK,
        &inbox::INBOX,
        &inbox::REMOTE,
        &read_cursor::READ_CURSOR,
        &read_cursor::THREAD_READ_CURSOR,
        &message::MESSAGE,
        &open::PENDING,
        &open::RECEIPT,
        &project::PROJECT,
        &project::TASK,
        &schedule::SCHEDULE,
        &stimulus::STIMULUS,
        &thread::THREAD,
        &token::CUT_OFF,
        &token::ISSUED,
        &told::TOLD,
        &turn::TURN,
    ];

    /// The tables through which hosts that share a database inform each other.
    #[cfg(test)]
    pub(crate) const SHARED: &[&Self] =
        &[&crate::shared::TURN, &crate::shared::NEWS, &crate::shared::CONNECTION];
}

/// Records the new start of the log, and removes earlier rows from every table that is trimmed.
pub(crate) fn trim(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    base: &LogSnapshot,
) -> Result<()> {
    log_snapshot::put(db, workspace, key, base)?;
    for table in Table::ALL {
        let Some(condition) = table.trimmed else { continue };
        let sql = format!(
            "DELETE FROM {} WHERE workspace = $1 AND conversation = $2 AND {condition}",
            table.name
        );
        db.execute(&sql, &[workspace.into(), key.0.into(), base.seq.0.into()])?;
    }
    Ok(())
}
