//! What the host has still to be told: replies journaled but not sent, and dispositions.

use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::reaction::Signal;
use rusqlite::{Transaction, params};

use super::{Error, Journal};

/// One thing on its way to the host. It stays in the outbox until the host has answered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    Reply {
        event: String,
        key: String,
        body: String,
        delivery: String,
    },
    Disposition {
        event: String,
        disposition: Disposition,
        note: Option<String>,
        signal: Option<Signal>,
        delivery: String,
    },
}

impl Outgoing {
    pub fn event(&self) -> &str {
        match self {
            Self::Reply { event, .. } | Self::Disposition { event, .. } => event,
        }
    }
}

impl Journal {
    /// Everything unsent: replies first, since a reply settles what a disposition would only describe.
    pub fn outbox(&self) -> Result<Vec<Outgoing>, Error> {
        let mut out = Vec::new();
        let mut replies = self.db.prepare_cached(
            "SELECT r.event, r.key, r.body, d.delivery FROM reply r JOIN delivery d ON d.event = r.event
             WHERE r.sent = 0 ORDER BY r.rowid",
        )?;
        let rows = replies.query_map([], |row| {
            Ok(Outgoing::Reply {
                event: row.get(0)?,
                key: row.get(1)?,
                body: row.get(2)?,
                delivery: row.get(3)?,
            })
        })?;
        for row in rows {
            out.push(row?);
        }
        let mut ends = self.db.prepare_cached(
            "SELECT event, disposition, note, signal, delivery FROM delivery WHERE state = 3 AND told = 0
             ORDER BY rowid",
        )?;
        let mut rows = ends.query([])?;
        while let Some(row) = rows.next()? {
            let Some(disposition) = Disposition::from_name(&row.get::<_, String>(1)?) else {
                continue;
            };
            let signal: Option<String> = row.get(3)?;
            out.push(Outgoing::Disposition {
                event: row.get(0)?,
                disposition,
                note: row.get(2)?,
                signal: signal.as_deref().and_then(Signal::from_name),
                delivery: row.get(4)?,
            });
        }
        Ok(out)
    }

    /// The host has the reply: the event is settled as responded.
    pub fn sent(&mut self, event: &str, key: &str, now: Timestamp) -> Result<(), Error> {
        let tx = self.db.transaction()?;
        tx.execute("UPDATE reply SET sent = 1 WHERE key = ?1", [key])?;
        close(&tx, event, Disposition::Responded, None, false, now)?;
        tx.commit()?;
        Ok(())
    }

    /// The host will never take the reply, and it is never sent again. `tell` when it does not know that the event has ended by that.
    pub fn dropped(
        &mut self,
        event: &str,
        key: &str,
        disposition: Disposition,
        note: &str,
        tell: bool,
        now: Timestamp,
    ) -> Result<(), Error> {
        let tx = self.db.transaction()?;
        tx.execute("UPDATE reply SET sent = 2 WHERE key = ?1", [key])?;
        close(&tx, event, disposition, Some(note), tell, now)?;
        tx.commit()?;
        Ok(())
    }

    /// The host knows how the event ended.
    pub fn told(&mut self, event: &str) -> Result<(), Error> {
        self.db.execute("UPDATE delivery SET told = 1 WHERE event = ?1 AND state = 3", [event])?;
        Ok(())
    }

    /// The host offers an event that has ended, so it seems not to know: say it once more, with the same
    /// key and body where it was a reply.
    pub fn repeat(&mut self, event: &str) -> Result<(), Error> {
        let tx = self.db.transaction()?;
        let replies =
            tx.execute("UPDATE reply SET sent = 0 WHERE event = ?1 AND sent = 1", [event])?;
        if replies == 0 {
            tx.execute("UPDATE delivery SET told = 0 WHERE event = ?1 AND state = 3", [event])?;
        }
        tx.commit()?;
        Ok(())
    }
}

fn close(
    tx: &Transaction<'_>,
    event: &str,
    disposition: Disposition,
    note: Option<&str>,
    tell: bool,
    now: Timestamp,
) -> rusqlite::Result<usize> {
    tx.execute(
        "UPDATE delivery SET state = 3, disposition = ?2, note = ?3, told = ?4, at = ?5 WHERE event = ?1",
        params![event, disposition.name(), note, !tell, now.0],
    )
}
