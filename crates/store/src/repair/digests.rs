//! Repairs digests and cursors, which are in no log: invalid ones are removed.

use chorus_core::model::digest::Digest;
use chorus_core::model::ids::Seq;
use chorus_core::state::room::Head;

use super::{Mend, Part};
use crate::db::Result;
use crate::{digest, message, read_cursor, thread};

impl Mend<'_> {
    /// Drops impossible digests, and texts without a digest or with removed words.
    pub(super) fn digests(&mut self, head: &Head) -> Result<()> {
        let db = self.of.db;
        db.thoroughly(&mut || self.each_digest(head))
    }

    fn each_digest(&mut self, head: &Head) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let mut accounted = Seq(0);
        let mut known: Vec<Digest> = Vec::new();
        for (through, at, found) in digest::all(db, workspace, key)? {
            let right = found.filter(|d| {
                let inside = |seq: &Seq| *seq > d.after && *seq <= d.through;
                let calls = d.members.iter().flat_map(|part| &part.calls);
                let everybody = &self.of.everybody;
                (d.through, d.at) == (through, at)
                    && d.after >= accounted
                    && d.after < d.through
                    && d.through <= head.seq
                    && d.statuses.iter().chain(&d.asks).chain(calls).all(inside)
                    && d.members.iter().all(|part| everybody.member(part.member).is_some())
            });
            match right {
                Some(right) => {
                    accounted = right.through;
                    known.push(right);
                }
                None => {
                    digest::remove(db, workspace, key, through)?;
                    self.mended(
                        Part::Digest,
                        Some(through),
                        "the one up to here was invalid and was dropped",
                    );
                }
            }
        }
        if let Some(cursor) = digest::digested(db, workspace, key)? {
            let right = cursor.clamp(accounted, head.seq.max(accounted));
            if right != cursor {
                digest::put_digested(db, workspace, key, right)?;
                self.mended(
                    Part::Digest,
                    Some(right),
                    "the position up to which they cover the log was wrong",
                );
            }
        }
        let gone: Vec<Seq> = message::all(db, workspace, key)?
            .into_iter()
            .filter_map(|(seq, state)| state.deleted_at.map(|_| seq))
            .collect();
        for (member, after, through) in digest::texts(db, workspace, key)? {
            let of = known.iter().find(|d| (d.after, d.through) == (after, through));
            let of_one = of.and_then(|d| d.part(member)).is_some();
            if !of_one || gone.iter().any(|seq| *seq > after && *seq <= through) {
                digest::remove_text(db, workspace, key, through, member)?;
                self.mended(
                    Part::Digest,
                    Some(through),
                    "a text belonged to none, or contained removed words",
                );
            }
        }
        Ok(())
    }

    /// No cursor may be beyond the end.
    pub(super) fn cursors(&mut self, head: &Head) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        for ((member, at), mut cursor) in read_cursor::all(db, workspace, key)? {
            let end = match at {
                None => head.seq,
                Some(at) => Seq(thread::get(db, workspace, key, at)?.map_or(0, |t| t.last_seq)),
            };
            if cursor.read > end {
                cursor.read = end;
                read_cursor::put(db, workspace, key, (member, at), cursor)?;
                let what = format!("member {member} had read beyond the end");
                self.mended(Part::Cursor, Some(end), what);
            }
        }
        Ok(())
    }
}
