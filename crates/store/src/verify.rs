//! Walks the logs of a host at work, to find what the disk has changed before anything is built upon it.
//!
//! A step reads a stretch of one log as of one moment: every event in its place, its hash following from the one before,
//! its content the one that was hashed, and the end where the head says. What is found is noted ([`crate::damage`]). The
//! doctor looks at far more; this is what a conversation needs that is written to.

use chorus_core::model::event::{Event, Hash};
use chorus_core::model::ids::{ConversationKey, Seq};

use crate::db::{Db, Error, Result};
use crate::reader::Readers;
use crate::{conversation, event, log_snapshot};

/// How far a log was walked.
#[derive(Clone, Debug)]
pub struct Walk {
    key: ConversationKey,
    /// The newest event that was looked at, and its hash; none before the first step.
    at: Option<(Seq, Hash)>,
}

impl Walk {
    pub fn new(key: ConversationKey) -> Self {
        Self { key, at: None }
    }

    /// Looks at no more than `limit` events; says whether there are more.
    pub(crate) fn step(&mut self, db: &dyn Db, workspace: i64, limit: usize) -> Result<Looked> {
        let key = self.key;
        let Some(head) = conversation::head(db, workspace, key)? else { return Ok(Looked::Whole) };
        let begin = log_snapshot::end(db, workspace, key)?.unwrap_or_default();
        // What was walked may have been dropped since.
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

/// What a step has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    More,
    Whole,
    /// What is wrong, and where.
    Damaged(String),
}

impl Readers {
    /// One step of a walk; says whether there are more. What is damaged takes no posts from then on.
    pub fn verify(&self, walk: &mut Walk, limit: usize) -> Result<bool> {
        let what = match self.read(|db, workspace| walk.step(db, workspace, limit)) {
            Ok(Looked::More) => return Ok(true),
            Ok(Looked::Whole) => return Ok(false),
            Ok(Looked::Damaged(what)) => what,
            // A page of the file, by the engine's own look.
            Err(Error::Corrupt(what)) => what,
            Err(error) => return Err(error),
        };
        self.damage().note(walk.key, what);
        Ok(false)
    }
}
