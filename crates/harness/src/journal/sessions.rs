//! The sessions of programs that keep their own: one for each conversation, and for each thread of it.

use std::path::Path;

use chorus_core::model::ids::Timestamp;
use rusqlite::{OptionalExtension, Transaction, params};

use super::{Error, Journal};

/// A session that was not used for this long is forgotten; the programs themselves keep theirs for about a month.
const KEPT_MS: i64 = 90 * 24 * 3_600_000;

/// What a session belongs to. Programs find their sessions by the working folder, so it is part of it.
#[derive(Clone, Copy, Debug)]
pub struct SessionKey<'a> {
    pub program: &'a str,
    pub folder: &'a Path,
    pub conversation: &'a str,
    pub thread: Option<&'a str>,
}

impl Journal {
    /// The session that the last turn at this place ran in.
    pub fn program_session(&self, key: &SessionKey<'_>) -> Result<Option<String>, Error> {
        let sql = "SELECT session FROM program_session
                   WHERE program = ?1 AND folder = ?2 AND conversation = ?3 AND thread = ?4";
        let mut statement = self.db.prepare_cached(sql)?;
        let thread = key.thread.unwrap_or("");
        let found = statement
            .query_row(params![key.program, folder(key), key.conversation, thread], |row| {
                row.get(0)
            });
        Ok(found.optional()?)
    }

    /// The next turn at this place goes on in this session.
    pub fn keep_program_session(
        &self,
        key: &SessionKey<'_>,
        session: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        let thread = key.thread.unwrap_or("");
        self.db.execute(
            "INSERT INTO program_session (program, folder, conversation, thread, session, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (program, folder, conversation, thread)
             DO UPDATE SET session = excluded.session, at = excluded.at",
            params![key.program, folder(key), key.conversation, thread, session, now.0],
        )?;
        Ok(())
    }
}

pub(super) fn prune(tx: &Transaction<'_>, now: Timestamp) -> rusqlite::Result<usize> {
    tx.execute("DELETE FROM program_session WHERE at < ?1", [now.plus(-KEPT_MS).0])
}

fn folder<'a>(key: &SessionKey<'a>) -> std::borrow::Cow<'a, str> {
    key.folder.to_string_lossy()
}
