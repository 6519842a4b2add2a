//! What a turn does to the journal. The steps of one decision are recorded together or not at all.

use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::reaction::Signal;
use rusqlite::{Transaction, params};

use super::{Error, Journal};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A turn begins for these events; with each, the how-manieth it is, counted from 1.
    Started { events: Vec<(String, u32)> },
    /// The turn was stopped by the harness itself and does not count as an attempt.
    Stopped { events: Vec<String> },
    /// This is said in answer to the event, as the `n`-th message of its turn.
    Reply { event: String, n: u8, body: String },
    /// The event has ended. With `tell`, the host is told: by the signal where there is one, else by the
    /// bare disposition.
    Settle {
        event: String,
        disposition: Disposition,
        note: Option<String>,
        signal: Option<Signal>,
        tell: bool,
    },
}

/// The key under which the `n`-th message of an event's turn is sent: two runs of one delivery collide on
/// purpose, so that the second learns that it has already answered.
pub(super) fn reply_key(event: &str, n: u8) -> String {
    format!("reply:{event}:{n}")
}

impl Journal {
    /// Records all steps in one transaction. On return they are on disk.
    pub fn record(&mut self, steps: &[Step], now: Timestamp) -> Result<(), Error> {
        if steps.is_empty() {
            return Ok(());
        }
        let tx = self.db.transaction()?;
        for step in steps {
            record(&tx, step, now)?;
        }
        tx.commit()?;
        Ok(())
    }
}

fn record(tx: &Transaction<'_>, step: &Step, now: Timestamp) -> rusqlite::Result<()> {
    match step {
        Step::Started { events } => {
            let sql = "UPDATE delivery SET state = 1, attempts = ?2 WHERE event = ?1 AND state < 2";
            let mut update = tx.prepare_cached(sql)?;
            for (event, attempts) in events {
                update.execute(params![event, attempts])?;
            }
        }
        Step::Stopped { events } => {
            let sql = "UPDATE delivery SET state = 0, attempts = max(attempts - 1, 0)
                       WHERE event = ?1 AND state = 1";
            let mut update = tx.prepare_cached(sql)?;
            for event in events {
                update.execute([event])?;
            }
        }
        Step::Reply { event, n, body } => {
            // A second run never changes what the first has journaled under the same key.
            tx.execute(
                "INSERT INTO reply (key, event, body) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO NOTHING",
                params![reply_key(event, *n), event, body],
            )?;
            tx.execute("UPDATE delivery SET state = 2 WHERE event = ?1 AND state < 3", [event])?;
        }
        Step::Settle { event, disposition, note, signal, tell } => {
            tx.execute(
                "UPDATE delivery SET state = 3, disposition = ?2, note = ?3, signal = ?4, told = ?5, at = ?6
                 WHERE event = ?1",
                params![event, disposition.name(), note, signal.map(Signal::name), !tell, now.0],
            )?;
        }
    }
    Ok(())
}
