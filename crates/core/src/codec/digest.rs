//! A digest, packed into one row for all its followers.

use super::{Corrupt, Reader, Result, Writer};
use crate::model::digest::{Digest, Part};
use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp};

pub fn digest(digest: &Digest) -> Vec<u8> {
    let mut out = Writer::with_room(64 + 6 * digest.members.len());
    out.number(digest.after.0);
    out.number(digest.through.0);
    out.signed(digest.first_at.0);
    out.signed(digest.at.0);
    out.number(digest.messages.into());
    put_counts(&mut out, digest.authors.iter().map(|(m, n)| (u64::from(m.0), *n)));
    put_counts(&mut out, digest.threads.iter().map(|(t, n)| (t.0, *n)));
    put_seqs(&mut out, &digest.statuses);
    put_seqs(&mut out, &digest.asks);
    out.number(digest.members.len() as u64);
    for part in &digest.members {
        out.number(part.member.0.into());
        out.code(part.policy);
        put_seqs(&mut out, &part.calls);
    }
    out.0
}

pub fn read_digest(bytes: &[u8]) -> Result<Digest> {
    let mut reader = Reader(bytes);
    let r = &mut reader;
    let (after, through) = (Seq(r.number()?), Seq(r.number()?));
    let (first_at, at) = (Timestamp(r.signed()?), Timestamp(r.signed()?));
    let messages = r.small()?;
    let authors = get_counts(r)?
        .into_iter()
        .map(|(key, n)| Ok((MemberKey(u32::try_from(key).map_err(|_| Corrupt)?), n)));
    let authors = authors.collect::<Result<_>>()?;
    let threads = get_counts(r)?.into_iter().map(|(key, n)| (ThreadKey(key), n)).collect();
    let (statuses, asks) = (get_seqs(r)?, get_seqs(r)?);
    let count = r.count()?;
    let members = (0..count).map(|_| {
        Ok(Part { member: MemberKey(r.small()?), policy: r.code()?, calls: get_seqs(r)? })
    });
    let members = members.collect::<Result<_>>()?;
    reader.end()?;
    Ok(Digest { after, through, first_at, at, messages, authors, threads, statuses, asks, members })
}

fn put_counts(out: &mut Writer, counts: impl ExactSizeIterator<Item = (u64, u32)>) {
    out.number(counts.len() as u64);
    for (key, count) in counts {
        out.number(key);
        out.number(count.into());
    }
}

fn get_counts(reader: &mut Reader<'_>) -> Result<Vec<(u64, u32)>> {
    let count = reader.count()?;
    (0..count).map(|_| Ok((reader.number()?, reader.small()?))).collect()
}

fn put_seqs(out: &mut Writer, seqs: &[Seq]) {
    out.number(seqs.len() as u64);
    seqs.iter().for_each(|seq| out.number(seq.0));
}

fn get_seqs(reader: &mut Reader<'_>) -> Result<Vec<Seq>> {
    let count = reader.count()?;
    (0..count).map(|_| reader.number().map(Seq)).collect()
}
