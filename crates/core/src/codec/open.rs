//! An event with its deliveries and claim, packed into one row.

use std::sync::Arc;

use super::attention::{get_attention, get_decision, put_attention, put_decision};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::claim::Claim;
use crate::model::delivery::{Before, Clock, Delivery, Open, Retry, State, Taken};
use crate::model::ids::{MemberKey, Seq, SessionKey, ThreadKey, Timestamp, Uid};

pub fn open(open: &Open) -> Vec<u8> {
    let mut out =
        Writer::with_room(64 + 12 * open.attention.told.len() + 48 * open.deliveries.len());
    out.number(open.seq.0);
    out.number((open.uid.0 >> 64) as u64);
    out.number(open.uid.0 as u64);
    out.signed(open.at.0);
    out.option(open.thread.map(|t| t.0));
    out.number(open.author.0.into());
    out.byte(open.hop);
    put_attention(&mut out, &open.attention);
    out.number(open.deliveries.len() as u64);
    for delivery in &open.deliveries {
        put_delivery(&mut out, delivery);
    }
    match open.claim {
        Some(claim) => {
            out.byte(1);
            out.number(claim.holder.0.into());
            out.number(claim.fence.into());
            out.signed(claim.expires.0);
            out.byte(claim.accepted.into());
        }
        None => out.byte(0),
    }
    // Rows from before this was kept end here.
    if let Some(message) = open.edit_of {
        out.number(message.0);
    }
    out.0
}

/// Reads an open event as a row has it: `stored`.
pub fn read_open(bytes: &[u8]) -> Result<Open> {
    let mut reader = Reader(bytes);
    let mut open = Open {
        seq: Seq(reader.number()?),
        uid: Uid(u128::from(reader.number()?) << 64 | u128::from(reader.number()?)),
        at: Timestamp(reader.signed()?),
        thread: reader.option()?.map(ThreadKey),
        author: MemberKey(reader.small()?),
        hop: reader.byte()?,
        attention: Arc::new(get_attention(&mut reader)?),
        deliveries: get_deliveries(&mut reader)?,
        claim: get_claim(&mut reader)?,
        stored: true,
        edit_of: None,
        subject: None,
    };
    if !reader.0.is_empty() {
        open.edit_of = Some(Seq(reader.number()?));
    }
    reader.end()?;
    Ok(open)
}

fn get_deliveries(reader: &mut Reader<'_>) -> Result<Vec<Delivery>> {
    let count = reader.count()?;
    (0..count).map(|_| get_delivery(reader)).collect()
}

fn get_claim(reader: &mut Reader<'_>) -> Result<Option<Claim>> {
    if !flag(reader)? {
        return Ok(None);
    }
    Ok(Some(Claim {
        holder: MemberKey(reader.small()?),
        fence: reader.small()?,
        expires: Timestamp(reader.signed()?),
        accepted: flag(reader)?,
    }))
}

fn put_delivery(out: &mut Writer, delivery: &Delivery) {
    out.number(delivery.member.0.into());
    put_decision(out, &delivery.decision);
    put_clock(out, delivery.clock);
    let set = [delivery.over, delivery.carried, delivery.heard, delivery.moved_on];
    let flags = set.iter().rev().fold(0, |flags, on| flags << 1 | u8::from(*on));
    if delivery.voice > 0 || flags > 0 {
        out.byte(CALLBACK);
        out.number(delivery.voice.into());
        out.byte(flags);
    }
    if let Some(retry) = delivery.retry {
        out.byte(RETRY);
        out.byte(retry.failed);
        out.signed(retry.until.0);
        out.signed(retry.epoch.0);
    }
    put_attempts(out, delivery);
    if let Some(note) = &delivery.note {
        out.byte(NOTE);
        out.text(note);
    }
    if let Some(epoch) = delivery.epoch {
        out.byte(EPOCH);
        out.signed(epoch.0);
    }
    match delivery.state {
        State::Waiting => out.byte(1),
        State::Offered { session, at } => {
            out.byte(2);
            out.number(session.0.into());
            out.signed(at.0);
        }
        State::Accepted { session, at, life, gone } => {
            out.byte(3);
            out.number(session.0.into());
            out.signed(at.0);
            out.signed(life.0);
            put_time(out, gone);
        }
        State::Settled { disposition, at } => {
            out.byte(4);
            out.code(disposition);
            out.signed(at.0);
        }
        State::Dead { at } => {
            out.byte(5);
            out.signed(at.0);
        }
        State::Deferred { at } => {
            out.byte(6);
            out.signed(at.0);
        }
    }
    out.number(delivery.attempt.into());
    out.number(delivery.fence.into());
    put_time(out, delivery.offered_at);
    put_time(out, delivery.accepted_at);
    put_time(out, delivery.retrieved_at);
    out.byte(delivery.said);
    out.byte(delivery.reminders);
}

fn get_delivery(reader: &mut Reader<'_>) -> Result<Delivery> {
    let (member, decision) = (MemberKey(reader.small()?), get_decision(reader)?);
    let mut code = reader.byte()?;
    let clock = if code == CLOCK { get_clock(reader)? } else { Clock::default() };
    if code == CLOCK {
        code = reader.byte()?;
    }
    let (voice, flags) = if code == CALLBACK { get_callback(reader)? } else { (0, 0) };
    if code == CALLBACK {
        code = reader.byte()?;
    }
    let retry = if code == RETRY { Some(get_retry(reader)?) } else { None };
    if code == RETRY {
        code = reader.byte()?;
    }
    let before = if code == BEFORE { get_before(reader)? } else { Before::default() };
    if code == BEFORE {
        code = reader.byte()?;
    }
    let taken = if code == TAKEN { Some(get_taken(reader)?) } else { None };
    if code == TAKEN {
        code = reader.byte()?;
    }
    let note = if code == NOTE { Some(reader.text()?) } else { None };
    if code == NOTE {
        code = reader.byte()?;
    }
    let epoch = if code == EPOCH { Some(Timestamp(reader.signed()?)) } else { None };
    if code == EPOCH {
        code = reader.byte()?;
    }
    Ok(Delivery {
        member,
        decision,
        state: get_state(code, reader)?,
        attempt: reader.small()?,
        fence: reader.small()?,
        offered_at: get_time(reader)?,
        accepted_at: get_time(reader)?,
        retrieved_at: get_time(reader)?,
        said: reader.byte()?,
        reminders: reader.byte()?,
        clock,
        voice,
        over: flags & 1 > 0,
        carried: flags & 2 > 0,
        heard: flags & 4 > 0,
        moved_on: flags & 8 > 0,
        retry,
        before,
        taken,
        epoch,
        note,
    })
}

/// Stands before the state of a delivery whose clock is not plain. No state has this code, so that rows from
/// before there was such a clock read as they always did.
const CLOCK: u8 = 32;

/// Stands before the state of a delivery that goes by a callback, or has moved on; likewise.
const CALLBACK: u8 = 33;

/// Stands before the state of a delivery whose posts have failed; likewise.
const RETRY: u8 = 34;

/// Stands before the state of a delivery whose attempts are not all of one fence and one connection; likewise.
const BEFORE: u8 = 35;

/// Stands before the state of a delivery that is offered again while its run goes on; likewise.
const TAKEN: u8 = 36;

/// Stands before the state of a delivery of which its member has said something; likewise.
const NOTE: u8 = 37;

/// Stands before the state of a delivery that was taken behind a connection string; likewise.
const EPOCH: u8 = 38;

fn put_attempts(out: &mut Writer, delivery: &Delivery) {
    if delivery.before != Before::default() {
        out.byte(BEFORE);
        out.number(delivery.before.fence.into());
        out.number(delivery.before.connection.into());
    }
    if let Some(taken) = delivery.taken {
        out.byte(TAKEN);
        out.signed(taken.at.0);
        out.signed(taken.life.0);
    }
}

fn get_before(reader: &mut Reader<'_>) -> Result<Before> {
    let before = Before { fence: reader.small()?, connection: reader.small()? };
    if before == Before::default() { Err(Corrupt) } else { Ok(before) }
}

fn get_taken(reader: &mut Reader<'_>) -> Result<Taken> {
    Ok(Taken { at: Timestamp(reader.signed()?), life: Timestamp(reader.signed()?) })
}

fn get_retry(reader: &mut Reader<'_>) -> Result<Retry> {
    let failed = Some(reader.byte()?).filter(|failed| *failed > 0).ok_or(Corrupt)?;
    Ok(Retry { failed, until: Timestamp(reader.signed()?), epoch: Timestamp(reader.signed()?) })
}

fn get_callback(reader: &mut Reader<'_>) -> Result<(u16, u8)> {
    let spoken = (reader.small()?, reader.byte()?);
    if spoken == (0, 0) || spoken.1 > 15 { Err(Corrupt) } else { Ok(spoken) }
}

fn put_clock(out: &mut Writer, clock: Clock) {
    if clock != Clock::default() {
        out.byte(CLOCK);
        out.byte(clock.deferrals);
        put_time(out, clock.until);
        put_time(out, clock.withheld);
        out.signed(clock.stood_ms);
    }
}

fn get_clock(reader: &mut Reader<'_>) -> Result<Clock> {
    let clock = Clock {
        deferrals: reader.byte()?,
        until: get_time(reader)?,
        withheld: get_time(reader)?,
        stood_ms: reader.signed()?,
    };
    // A plain one is not written: it would be a second encoding of the same.
    if clock == Clock::default() { Err(Corrupt) } else { Ok(clock) }
}

fn get_state(code: u8, reader: &mut Reader<'_>) -> Result<State> {
    Ok(match code {
        1 => State::Waiting,
        2 => {
            State::Offered { session: SessionKey(reader.small()?), at: Timestamp(reader.signed()?) }
        }
        3 => State::Accepted {
            session: SessionKey(reader.small()?),
            at: Timestamp(reader.signed()?),
            life: Timestamp(reader.signed()?),
            gone: get_time(reader)?,
        },
        4 => State::Settled { disposition: reader.code()?, at: Timestamp(reader.signed()?) },
        5 => State::Dead { at: Timestamp(reader.signed()?) },
        6 => State::Deferred { at: Timestamp(reader.signed()?) },
        _ => return Err(Corrupt),
    })
}

fn put_time(out: &mut Writer, at: Option<Timestamp>) {
    match at {
        Some(at) => {
            out.byte(1);
            out.signed(at.0);
        }
        None => out.byte(0),
    }
}

fn get_time(reader: &mut Reader<'_>) -> Result<Option<Timestamp>> {
    Ok(if flag(reader)? { Some(Timestamp(reader.signed()?)) } else { None })
}

fn flag(reader: &mut Reader<'_>) -> Result<bool> {
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Corrupt),
    }
}
