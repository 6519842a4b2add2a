//! Repairs the work of open threads without replaying the whole log: each thread's own events are
//! applied by the usual code.

use std::sync::Arc;

use chorus_core::model::ids::{Seq, ThreadKey};
use chorus_core::model::thread::Thread;
use chorus_core::state::room::{Head, Room};

use super::Mend;
use crate::db::{Error, Result};
use crate::{conversation, event, log_snapshot, thread};

impl Mend<'_> {
    pub(super) fn thread_work(&mut self, head: &Head) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let threads = thread::with_work(db, workspace, key)?;
        if threads.is_empty() {
            return Ok(());
        }
        let Some(conversation) = conversation::get(db, workspace, key)? else { return Ok(()) };
        let begun = match head.base.0 {
            0 => Room::new(conversation),
            _ => match log_snapshot::get(db, workspace, key)? {
                Some(base) => Room::at_base(conversation, &base),
                None => return Ok(()),
            },
        };
        for at in threads {
            match self.thread_beside(&begun, at) {
                // The log itself is damaged there.
                Err(Error::Corrupt(_)) => {}
                done => done?,
            }
        }
        Ok(())
    }

    fn thread_beside(&mut self, begun: &Room, at: ThreadKey) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let stored = match thread::get(db, workspace, key, at) {
            Err(Error::Corrupt(_)) => None,
            stored => stored?,
        };
        let opening = event::get(db, workspace, self.at(Seq(at.0)))?;
        let mut events: Vec<_> = opening.map(Arc::new).into_iter().collect();
        events.extend(match stored {
            Some(_) => event::of_work(db, workspace, key, at)?,
            // All events of the thread determine its state.
            None => event::of_thread(db, workspace, key, at, Seq(0), i64::MAX as usize)?,
        });
        let Some(replayed) = begun.thread_of(at, &events) else { return Ok(()) };
        let whole = match &stored {
            Some(stored) => Thread { root: replayed.root, work: replayed.work, ..stored.clone() },
            None => replayed,
        };
        self.thread(stored.as_ref(), &whole)
    }
}
