//! What stands beside a base's seq, hash and time: what the dropped events had made of their room.

use std::sync::Arc;

use super::form::Elsewhere;
use super::stored::Stored;
use super::{Coded, Corrupt, Reader, Result, Writer, read};
use crate::model::event::Hash;
use crate::model::ids::{Seq, Timestamp};
use crate::model::log_snapshot::LogSnapshot;
use crate::model::thread::Thread;
use crate::model::thread::work::ThreadWork;

pub fn base(base: &LogSnapshot) -> Vec<u8> {
    let mut out = Writer::default();
    base.put(&mut out);
    out.0
}

/// Reads what [`base`] wrote: rising keys only, so that one base has one encoding.
pub fn read_base(seq: Seq, hash: Hash, at: Timestamp, bytes: &[u8]) -> Result<LogSnapshot> {
    Ok(LogSnapshot { seq, hash, at, ..read(bytes)? })
}

record!(LogSnapshot {
    seq: Elsewhere,
    hash: Elsewhere,
    at: Elsewhere,
    unattended,
    roster,
    threads,
    gone,
    // Settings end what they stand in.
    settings,
} if |it| it.roster.is_sorted_by(|a, b| a.0 < b.0)
    && it.threads.is_sorted_by(|a, b| a.key < b.key)
    && it.gone.is_sorted_by(|a, b| a < b));

/// Beside the code of a thread's kind: its work stands at the end. Bases from before have no such thread.
const WORK: u8 = 0x80;

/// The kind's byte says whether there is work at the end, so `record!` cannot say it.
impl Stored for Thread {
    fn put(&self, out: &mut Writer) {
        let marked = if self.work.is_plain() { 0 } else { WORK };
        self.key.put(out);
        self.uid.put(out);
        self.root.put(out);
        self.title.put(out);
        out.byte(self.kind.code() | marked);
        self.status.put(out);
        self.owner.put(out);
        self.last_seq.put(out);
        self.participants.put(out);
        self.unattended.put(out);
        self.created_at.put(out);
        self.updated_at.put(out);
        if marked != 0 {
            self.work.put(out);
        }
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        let (key, uid, root) = Stored::get(r)?;
        let title = r.text()?;
        let kind = r.byte()?;
        let (status, owner, last_seq) = Stored::get(r)?;
        let (participants, unattended) = Stored::get(r)?;
        let (created_at, updated_at) = Stored::get(r)?;
        let work: Arc<ThreadWork> = if kind & WORK == 0 { Arc::default() } else { Stored::get(r)? };
        if kind & WORK != 0 && work.is_plain() {
            return Err(Corrupt);
        }
        Ok(Self {
            key,
            uid,
            root,
            title,
            kind: Coded::from_code(kind & !WORK).ok_or(Corrupt)?,
            status,
            owner,
            last_seq,
            participants,
            unattended,
            work,
            created_at,
            updated_at,
        })
    }
}
