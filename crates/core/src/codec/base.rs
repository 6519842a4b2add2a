//! What stands beside a base's seq, hash and time: what the dropped events had made of their room.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::body::{get_settings, put_settings};
use super::code::Coded;
use super::work::{get_work, put_work};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::event::Hash;
use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp, Uid};
use crate::model::log_snapshot::LogSnapshot;
use crate::model::thread::Thread;

pub fn base(base: &LogSnapshot) -> Vec<u8> {
    let mut out = Writer::default();
    out.number(base.unattended.into());
    out.number(base.roster.len() as u64);
    for (member, participation) in &base.roster {
        out.number(member.0.into());
        out.code(*participation);
    }
    out.number(base.threads.len() as u64);
    base.threads.iter().for_each(|thread| put_thread(&mut out, thread));
    out.number(base.gone.len() as u64);
    for (member, thread) in &base.gone {
        out.number(member.0.into());
        out.option(thread.map(|t| t.0));
    }
    // Settings end what they stand in.
    put_settings(&mut out, &base.settings);
    out.0
}

/// Reads what [`base`] wrote: rising keys only, so that one base has one encoding.
pub fn read_base(seq: Seq, hash: Hash, at: Timestamp, bytes: &[u8]) -> Result<LogSnapshot> {
    let mut reader = Reader(bytes);
    let r = &mut reader;
    let unattended = r.small()?;
    let count = r.count()?;
    let roster = (0..count).map(|_| Ok((MemberKey(r.small()?), r.code()?)));
    let roster = roster.collect::<Result<Vec<_>>>()?;
    let count = r.count()?;
    let threads = (0..count).map(|_| get_thread(r)).collect::<Result<Vec<_>>>()?;
    let count = r.count()?;
    let gone = (0..count).map(|_| Ok((MemberKey(r.small()?), r.option()?.map(ThreadKey))));
    let gone = gone.collect::<Result<Vec<_>>>()?;
    let settings = get_settings(r)?;
    let ordered = roster.is_sorted_by(|a, b| a.0 < b.0)
        && threads.is_sorted_by(|a, b| a.key < b.key)
        && gone.is_sorted_by(|a, b| a < b);
    if !ordered {
        return Err(Corrupt);
    }
    Ok(LogSnapshot { seq, hash, at, unattended, settings, roster, threads, gone })
}

/// Beside the code of a thread's kind: its work stands at the end. Bases from before have no such thread.
const WORK: u8 = 0x80;

fn put_thread(out: &mut Writer, thread: &Thread) {
    out.number(thread.key.0);
    out.0.extend_from_slice(&thread.uid.0.to_be_bytes());
    out.option(thread.root.map(|s| s.0));
    out.text(&thread.title);
    let marked = if thread.work.is_plain() { 0 } else { WORK };
    out.byte(thread.kind.code() | marked);
    out.code(thread.status);
    out.option(thread.owner.map(|o| o.0.into()));
    out.number(thread.last_seq);
    out.number(thread.participants.len() as u64);
    thread.participants.iter().for_each(|m| out.number(m.0.into()));
    out.number(thread.unattended.into());
    out.signed(thread.created_at.0);
    out.signed(thread.updated_at.0);
    if marked != 0 {
        put_work(out, &thread.work);
    }
}

fn get_thread(r: &mut Reader<'_>) -> Result<Thread> {
    let key = ThreadKey(r.number()?);
    let uid: [u8; 16] = r.bytes(16)?.try_into().map_err(|_| Corrupt)?;
    let root = r.option()?.map(Seq);
    let title = r.text()?;
    let (kind, status) = (r.byte()?, r.code()?);
    let owner = r.option()?.map(u32::try_from).transpose().map_err(|_| Corrupt)?;
    let last_seq = r.number()?;
    let count = r.count()?;
    let members = (0..count).map(|_| r.small().map(MemberKey)).collect::<Result<Vec<_>>>()?;
    if !members.is_sorted_by(|a, b| a < b) {
        return Err(Corrupt);
    }
    let unattended = r.small()?;
    let (created_at, updated_at) = (Timestamp(r.signed()?), Timestamp(r.signed()?));
    let work = if kind & WORK == 0 { Arc::default() } else { Arc::new(get_work(r)?) };
    if kind & WORK != 0 && work.is_plain() {
        return Err(Corrupt);
    }
    Ok(Thread {
        key,
        uid: Uid(u128::from_be_bytes(uid)),
        root,
        title,
        kind: Coded::from_code(kind & !WORK).ok_or(Corrupt)?,
        status,
        owner: owner.map(MemberKey),
        last_seq,
        participants: members.into_iter().collect::<BTreeSet<_>>(),
        unattended,
        work,
        created_at,
        updated_at,
    })
}
