//! The public turns of a subject, packed into one row.

use std::sync::Arc;

use super::body::{get_message, put_message};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::ids::{MemberKey, Seq, Timestamp};
use crate::model::turn::{Lease, Output, Turn};

pub fn turn(turn: &Turn) -> Vec<u8> {
    let mut out = Writer::default();
    out.number(turn.fence.into());
    out.number(turn.addressees.into());
    out.number(turn.spent.into());
    out.option(turn.counted.map(|(member, _)| member.0.into()));
    out.number(turn.counted.map_or(0, |(_, seq)| seq.0));
    out.number(turn.spoke.len() as u64);
    for (member, at) in &turn.spoke {
        out.number(member.0.into());
        out.signed(at.0);
    }
    out.number(turn.passed.len() as u64);
    turn.passed.iter().for_each(|member| out.number(member.0.into()));
    out.byte(turn.alone.into());
    out.number(turn.leases.len() as u64);
    turn.leases.iter().for_each(|lease| put_lease(&mut out, lease));
    // Nothing is written for none: rows from before outputs stood here read as they always did.
    if !turn.outputs.is_empty() {
        out.number(turn.outputs.len() as u64);
        turn.outputs.iter().for_each(|output| put_output(&mut out, output));
    }
    out.0
}

/// Reads what [`turn`] made.
pub fn read_turn(bytes: &[u8]) -> Result<Turn> {
    let mut reader = Reader(bytes);
    let r = &mut reader;
    let (fence, addressees, spent) = (r.small()?, r.small()?, r.small()?);
    let (member, seq) = (r.option()?, r.number()?);
    let member = member.map(|m| u32::try_from(m).map_err(|_| Corrupt)).transpose()?;
    let spoke = (0..r.count()?).map(|_| Ok((MemberKey(r.small()?), Timestamp(r.signed()?))));
    let spoke = spoke.collect::<Result<_>>()?;
    let passed = (0..r.count()?).map(|_| r.small().map(MemberKey)).collect::<Result<_>>()?;
    let alone = match r.byte()? {
        0 => false,
        1 => true,
        _ => return Err(Corrupt),
    };
    let mut outputs = Vec::new();
    let leases = (0..r.count()?).map(|_| {
        let (lease, output) = get_lease(r)?;
        outputs.extend(output);
        Ok(lease)
    });
    let leases = leases.collect::<Result<_>>()?;
    if !r.0.is_empty() {
        let count = Some(r.count()?).filter(|count| *count > 0 && outputs.is_empty());
        outputs = (0..count.ok_or(Corrupt)?).map(|_| get_output(r)).collect::<Result<_>>()?;
    }
    let counted = member.map(|m| (MemberKey(m), Seq(seq)));
    reader.end()?;
    Ok(Turn { leases, fence, addressees, spent, counted, spoke, passed, alone, outputs })
}

fn put_output(out: &mut Writer, output: &Output) {
    out.number(output.member.0.into());
    out.number(output.cause.0);
    out.number(output.fence.into());
    put_message(out, &output.message);
}

fn get_output(r: &mut Reader<'_>) -> Result<Output> {
    Ok(Output {
        member: MemberKey(r.small()?),
        cause: Seq(r.number()?),
        fence: r.small()?,
        message: Arc::new(get_message(r)?),
    })
}

fn put_lease(out: &mut Writer, lease: &Lease) {
    out.number(lease.member.0.into());
    out.number(lease.cause.0);
    out.number(lease.fence.into());
    out.signed(lease.granted_at.0);
    let flags = [lease.accepted, lease.said, lease.prepaid, lease.nodded];
    out.byte(flags.iter().enumerate().map(|(at, on)| u8::from(*on) << at).sum());
    out.byte(lease.superseded);
    out.signed(lease.since.0);
    out.byte(NO_OUTPUT);
}

/// Ends a lease. Rows of older versions have the run's output here, which stands at the end of the row now.
const NO_OUTPUT: u8 = 0;
const OUTPUT: u8 = 1;

fn get_lease(r: &mut Reader<'_>) -> Result<(Lease, Option<Output>)> {
    let (member, cause) = (MemberKey(r.small()?), Seq(r.number()?));
    let (fence, granted_at) = (r.small()?, Timestamp(r.signed()?));
    let flags = r.byte()?;
    if flags > 15 {
        return Err(Corrupt);
    }
    let (superseded, since) = (r.byte()?, Timestamp(r.signed()?));
    let output = match r.byte()? {
        NO_OUTPUT => None,
        // The run that goes on is the one that has put it out.
        OUTPUT => {
            Some(Output { member, cause, fence: u32::MAX, message: Arc::new(get_message(r)?) })
        }
        _ => return Err(Corrupt),
    };
    let (accepted, said, prepaid) = (flags & 1 > 0, flags & 2 > 0, flags & 4 > 0);
    let nodded = flags & 8 > 0;
    let lease = Lease {
        member,
        cause,
        fence,
        granted_at,
        accepted,
        said,
        prepaid,
        nodded,
        superseded,
        since,
    };
    Ok((lease, output))
}
