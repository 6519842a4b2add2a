//! Verifies the logs of a running host, to find changes by the disk before anything builds upon
//! them.
//!
//! A step reads a range of one log as of one moment: every event in its place, its hash following
//! from the previous one, its content matching its hash, and the end where the head says. Findings
//! are recorded ([`crate::damage`]). The doctor checks far more; this is what a conversation needs
//! before it is written to.

use chorus_core::model::event::{Event, Hash};
use chorus_core::model::ids::{ConversationKey, Seq};

use crate::db::{Db, Error, Result};
use crate::reader::Readers;
use crate::{conversation, event, log_snapshot};

/// How far a log has been verified.
#[derive(Clone, Debug)]
pub struct Walk {
    key: ConversationKey,
    /// The newest verified event and its hash; none before the first step.
    at: Option<(Seq, Hash)>,
}

impl Walk {
    pub fn new(key: ConversationKey) -> Self {
        Self { key, at: None }
    }

    /// Verifies at most `limit` events; returns whether there are more.
    pub(crate) fn step(&mut self, db: &dyn Db, workspace: i64, limit: usize) -> Result<Looked> {
        let key = self.key;
        let Some(head) = conversation::head(db, workspace, key)? else { return Ok(Looked::Whole) };
        let begin = log_snapshot::end(db, workspace, key)?.unwrap_or_default();
        // The verified part may have been dropped since.
        let (mut seq, mut hash) = self.at.filter(|at| at.0 >= begin.0).unwrap_or(begin);
        let sql = format!(
            "{} WHERE workspace = $1 AND conversation = $2 AND seq > $3 ORDER BY seq LIMIT $4",
            event::EVENT.select()
        );
        let values = [workspace.into(), key.0.into(), seq.0.into(), (limit as u64).into()];
        let (mut count, mut wrong) = (0, None);
        db.query(&sql, &values, &mut |row| {
            count += 1;
            if wrong.is_some() {
                return Ok(());
            }
            let (found, read) = (Seq(row.int(2)?), event::checked(row));
            wrong = match read {
                _ if found != seq.next() => Some(format!("event {}: it is missing", seq.next())),
                Err(Error::Corrupt(what)) => Some(format!("event {found}: {what}")),
                Err(error) => return Err(error),
                Ok(event) if !follows(&event, &hash) => {
                    Some(format!("event {found}: its hash does not follow from the one before it"))
                }
                Ok(event) => {
                    (seq, hash) = (found, event.hash);
                    None
                }
            };
            Ok(())
        })?;
        self.at = Some((seq, hash));
        Ok(match wrong {
            Some(what) => Looked::Damaged(what),
            None if count == limit => Looked::More,
            None if seq != head.seq || hash != head.hash => Looked::Damaged(format!(
                "its log ends at event {seq}, and its head at {}",
                head.seq
            )),
            None => Looked::Whole,
        })
    }
}

fn follows(event: &Event, before: &Hash) -> bool {
    event.chain(before) == event.hash
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    More,
    Whole,
    /// What is wrong, and where.
    Damaged(String),
}

impl Readers {
    /// One step of verifying; returns whether there are more. A damaged log accepts no posts from
    /// then on.
    pub fn verify(&self, walk: &mut Walk, limit: usize) -> Result<bool> {
        let what = match self.read(|db, workspace| walk.step(db, workspace, limit)) {
            Ok(Looked::More) => return Ok(true),
            Ok(Looked::Whole) => return Ok(false),
            Ok(Looked::Damaged(what)) => what,
            // An unreadable page, as reported by the engine.
            Err(Error::Corrupt(what)) => what,
            Err(error) => return Err(error),
        };
        self.damage().note(walk.key, what);
        Ok(false)
    }
}
