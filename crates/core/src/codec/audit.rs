//! A block of audit entries, packed into one row; times count from the block's.

use super::{Coded, Corrupt, Reader, Result, Writer};
use crate::model::audit::{Action, Record, event, place};
use crate::model::caller::Authority;
use crate::model::error::Code;
use crate::model::ids::{MemberKey, SessionKey, Timestamp, Uid};

pub fn audit(at: Timestamp, records: &[Record]) -> Vec<u8> {
    let mut out = Writer::with_room(8 + 32 * records.len());
    out.number(records.len() as u64);
    for record in records {
        put(&mut out, at, record);
    }
    out.0
}

pub fn read_audit(at: Timestamp, bytes: &[u8]) -> Result<Vec<Record>> {
    let mut reader = Reader(bytes);
    let count = reader.count()?;
    let records = (0..count).map(|_| get(&mut reader, at)).collect::<Result<_>>()?;
    reader.end()?;
    Ok(records)
}

fn put(out: &mut Writer, at: Timestamp, record: &Record) {
    let (conversation, seq) = place(record.event);
    out.signed(record.at.0.wrapping_sub(at.0));
    out.number(record.by.0.into());
    out.option(record.session.map(|s| s.0.into()));
    out.code(record.authority);
    out.code(record.act);
    out.number(conversation);
    if conversation > 0 {
        out.number(seq);
    }
    out.byte(record.subject.is_some().into());
    if let Some(subject) = record.subject {
        out.0.extend_from_slice(&subject.0.to_be_bytes());
    }
    out.option(record.member.map(|m| m.0.into()));
    out.optional_text(record.name.as_deref());
    out.option(record.refused.map(|code| code.code().into()));
    out.option(record.took_ms.map(Into::into));
    out.byte(record.digest.is_some().into());
    if let Some(digest) = record.digest {
        out.0.extend_from_slice(&digest);
    }
}

fn get(reader: &mut Reader<'_>, at: Timestamp) -> Result<Record> {
    let at = Timestamp(at.0.wrapping_add(reader.signed()?));
    let by = MemberKey(reader.small()?);
    let session = small(reader.option()?)?.map(SessionKey);
    let (authority, act): (Authority, Action) = (reader.code()?, reader.code()?);
    let conversation = reader.number()?;
    let seq = if conversation > 0 { reader.number()? } else { 0 };
    let subject = get_bytes(reader)?.map(|bytes| Uid(u128::from_be_bytes(bytes)));
    let member = small(reader.option()?)?.map(MemberKey);
    let name = reader.optional_text()?;
    let refused = match small(reader.option()?)? {
        Some(code) => Some(u8::try_from(code).ok().and_then(Code::from_code).ok_or(Corrupt)?),
        None => None,
    };
    let took_ms = small(reader.option()?)?;
    let digest = get_bytes(reader)?;
    let event = event(conversation, seq);
    Ok(Record {
        at,
        by,
        session,
        authority,
        act,
        event,
        subject,
        member,
        name,
        refused,
        took_ms,
        digest,
    })
}

fn get_bytes(reader: &mut Reader<'_>) -> Result<Option<[u8; 16]>> {
    match reader.byte()? {
        0 => Ok(None),
        1 => Ok(Some(reader.bytes(16)?.try_into().map_err(|_| Corrupt)?)),
        _ => Err(Corrupt),
    }
}

fn small(number: Option<u64>) -> Result<Option<u32>> {
    number.map(|n| u32::try_from(n).map_err(|_| Corrupt)).transpose()
}
