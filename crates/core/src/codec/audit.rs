//! A block of audit entries, packed into one row; times count from the block's.

use super::form::{Elsewhere, Number};
use super::stored::{Form, Stored};
use super::{Reader, Result, Writer};
use crate::model::audit::{Record, event, place};
use crate::model::ids::{EventRef, Timestamp};

pub fn audit(at: Timestamp, records: &[Record]) -> Vec<u8> {
    let mut out = Writer::with_room(8 + 32 * records.len());
    out.number(records.len() as u64);
    for record in records {
        out.signed(record.at.0.wrapping_sub(at.0));
        record.put(&mut out);
    }
    out.0
}

pub fn read_audit(at: Timestamp, bytes: &[u8]) -> Result<Vec<Record>> {
    let mut reader = Reader(bytes);
    let r = &mut reader;
    let records = (0..r.count()?).map(|_| {
        let at = Timestamp(at.0.wrapping_add(r.signed()?));
        Ok(Record { at, ..Record::get(r)? })
    });
    let records = records.collect::<Result<_>>()?;
    reader.end()?;
    Ok(records)
}

record!(Record {
    at: Elsewhere,
    by,
    session,
    authority,
    act,
    event: Place,
    subject,
    member,
    name,
    refused: Number,
    took_ms,
    digest,
});

/// A conversation of 0 is none, and no seq follows it.
struct Place;

impl Form<Option<EventRef>> for Place {
    fn put(value: &Option<EventRef>, out: &mut Writer) {
        let (conversation, seq) = place(*value);
        out.number(conversation);
        if conversation > 0 {
            out.number(seq);
        }
    }

    fn get(r: &mut Reader<'_>) -> Result<Option<EventRef>> {
        let conversation = r.number()?;
        let seq = if conversation > 0 { r.number()? } else { 0 };
        Ok(event(conversation, seq))
    }
}
