//! A schedule for its row.

use std::sync::Arc;

use super::stimulus::{flag, get_chain, get_time, get_uid, put_chain, put_time, put_uid};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::ids::{MemberKey, ThreadKey, Timestamp};
use crate::model::schedule::{Firing, Schedule, When};

pub fn schedule(s: &Schedule) -> Vec<u8> {
    let mut out = Writer::default();
    put_uid(&mut out, Some(s.uid));
    match &s.when {
        When::Every(ms) => {
            out.byte(1);
            out.signed(*ms);
        }
        When::Cron { expression, zone } => {
            out.byte(2);
            out.text(expression);
            out.text(zone);
        }
    }
    out.number(s.source.0.into());
    out.number(s.maker.0.into());
    out.option(s.thread.map(|(key, _)| key.0));
    put_uid(&mut out, s.thread.map(|(_, uid)| uid));
    out.text(&s.text);
    out.text(&s.title);
    out.number(s.targets.len() as u64);
    s.targets.iter().for_each(|m| out.number(m.0.into()));
    for key in [&s.progress_key, &s.initiative_key] {
        out.optional_text(key.as_deref());
    }
    out.signed(s.created_at.0);
    out.byte(s.paused.into());
    put_time(&mut out, s.next_at);
    out.number(s.fired.into());
    let (last, earlier) = match s.firings.split_last() {
        Some((last, earlier)) => (Some(last), earlier),
        None => (None, [].as_slice()),
    };
    put_time(&mut out, last.map(|f| f.at));
    if let Some(last) = last {
        put_uid(&mut out, Some(last.stimulus));
        out.code(last.how);
    }
    out.0.extend_from_slice(&s.salt);
    // Of those before, rows that were written first know nothing, and end here.
    if !earlier.is_empty() || s.chain.is_some() {
        out.number(earlier.len() as u64);
        for firing in earlier {
            out.signed(firing.at.0);
            put_uid(&mut out, Some(firing.stimulus));
            out.code(firing.how);
        }
        put_chain(&mut out, s.chain);
    }
    out.0
}

pub fn read_schedule(bytes: &[u8]) -> Result<Schedule> {
    let mut reader = Reader(bytes);
    let r = &mut reader;
    let uid = get_uid(r)?.ok_or(Corrupt)?;
    let when = match r.byte()? {
        1 => When::Every(r.signed()?),
        2 => When::Cron { expression: r.text()?, zone: r.text()? },
        _ => return Err(Corrupt),
    };
    let (source, maker) = (MemberKey(r.small()?), MemberKey(r.small()?));
    let thread = match (r.option()?, get_uid(r)?) {
        (Some(key), Some(uid)) => Some((ThreadKey(key), uid)),
        (None, None) => None,
        _ => return Err(Corrupt),
    };
    let (text, title) = (r.text()?, r.text()?);
    let count = r.count()?;
    let targets = (0..count).map(|_| r.small().map(MemberKey)).collect::<Result<Vec<_>>>()?;
    let mut keys: [Option<Arc<str>>; 2] = Default::default();
    for key in &mut keys {
        *key = r.optional_text()?;
    }
    let [progress_key, initiative_key] = keys;
    let created_at = Timestamp(r.signed()?);
    let (paused, next_at, fired) = (flag(r)?, get_time(r)?, r.small()?);
    let last = match get_time(r)? {
        Some(at) => Some(get_firing(r, at)?),
        None => None,
    };
    let salt = r.bytes(16)?.try_into().map_err(|_| Corrupt)?;
    let mut firings = Vec::new();
    let mut chain = None;
    if !r.0.is_empty() {
        let count = r.count()?;
        if count > 0 && last.is_none() {
            return Err(Corrupt);
        }
        for _ in 0..count {
            let at = Timestamp(r.signed()?);
            firings.push(get_firing(r, at)?);
        }
        chain = get_chain(r)?;
        if count == 0 && chain.is_none() {
            return Err(Corrupt);
        }
    }
    firings.extend(last);
    reader.end()?;
    Ok(Schedule {
        uid,
        when,
        source,
        maker,
        thread,
        text,
        title,
        targets,
        chain,
        progress_key,
        initiative_key,
        created_at,
        paused,
        next_at,
        fired,
        firings,
        salt,
    })
}

fn get_firing(r: &mut Reader<'_>, at: Timestamp) -> Result<Firing> {
    Ok(Firing { at, stimulus: get_uid(r)?.ok_or(Corrupt)?, how: r.code()? })
}
