//! A stimulus for its row.

use std::sync::Arc;

use super::{Corrupt, Reader, Result, Writer};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, ThreadKey, Timestamp, Uid};
use crate::model::stimulus::{Chain, Stimulus};

pub fn stimulus(s: &Stimulus) -> Vec<u8> {
    let mut out = Writer::default();
    put_uid(&mut out, Some(s.uid));
    out.code(s.kind);
    out.number(s.source.0.into());
    out.option(s.thread.map(|(key, _)| key.0));
    put_uid(&mut out, s.thread.map(|(_, uid)| uid));
    out.text(&s.text);
    out.text(&s.title);
    out.number(s.targets.len() as u64);
    s.targets.iter().for_each(|m| out.number(m.0.into()));
    out.byte(s.private.into());
    for key in [&s.progress_key, &s.dedupe_key, &s.initiative_key, &s.reason] {
        out.optional_text(key.as_deref());
    }
    out.signed(s.created_at.0);
    put_time(&mut out, s.expires_at);
    out.0.extend_from_slice(&s.salt);
    out.code(s.state);
    out.signed(s.due_at.0);
    out.byte(s.attempts);
    out.byte(s.opened.into());
    put_uid(&mut out, s.said);
    put_uid(&mut out, s.by);
    put_time(&mut out, s.ended_at);
    put_chain(&mut out, s.chain);
    out.0
}

pub fn read_stimulus(bytes: &[u8]) -> Result<Stimulus> {
    let mut reader = Reader(bytes);
    let r = &mut reader;
    let uid = get_uid(r)?.ok_or(Corrupt)?;
    let (kind, source) = (r.code()?, MemberKey(r.small()?));
    let thread = match (r.option()?, get_uid(r)?) {
        (Some(key), Some(uid)) => Some((ThreadKey(key), uid)),
        (None, None) => None,
        _ => return Err(Corrupt),
    };
    let (text, title) = (r.text()?, r.text()?);
    let count = r.count()?;
    let targets = (0..count).map(|_| r.small().map(MemberKey)).collect::<Result<Vec<_>>>()?;
    let private = flag(r)?;
    let mut keys: [Option<Arc<str>>; 4] = Default::default();
    for key in &mut keys {
        *key = r.optional_text()?;
    }
    let [progress_key, dedupe_key, initiative_key, reason] = keys;
    let stimulus = Stimulus {
        uid,
        kind,
        source,
        thread,
        text,
        title,
        targets,
        private,
        progress_key,
        dedupe_key,
        initiative_key,
        created_at: Timestamp(r.signed()?),
        expires_at: get_time(r)?,
        salt: r.bytes(16)?.try_into().map_err(|_| Corrupt)?,
        state: r.code()?,
        due_at: Timestamp(r.signed()?),
        attempts: r.byte()?,
        opened: flag(r)?,
        said: get_uid(r)?,
        by: get_uid(r)?,
        reason,
        ended_at: get_time(r)?,
        chain: get_chain(r)?,
    };
    reader.end()?;
    if stimulus.state.is_open() == stimulus.ended_at.is_some() {
        return Err(Corrupt);
    }
    Ok(stimulus)
}

/// At the end of a row: those that were written before there were chains end here, as those without one do.
pub(super) fn put_chain(out: &mut Writer, chain: Option<Chain>) {
    let Some(Chain { cause, hop }) = chain else { return };
    out.byte(hop);
    out.option(cause.map(|at| at.conversation.0));
    out.option(cause.map(|at| at.seq.0));
}

pub(super) fn get_chain(r: &mut Reader<'_>) -> Result<Option<Chain>> {
    if r.0.is_empty() {
        return Ok(None);
    }
    let hop = r.byte()?;
    let cause = match (r.option()?, r.option()?) {
        (Some(conversation), Some(seq)) => {
            Some(EventRef { conversation: ConversationKey(conversation), seq: Seq(seq) })
        }
        (None, None) => None,
        _ => return Err(Corrupt),
    };
    Ok(Some(Chain { cause, hop }))
}

pub(super) fn flag(r: &mut Reader<'_>) -> Result<bool> {
    match r.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Corrupt),
    }
}

pub(super) fn put_time(out: &mut Writer, time: Option<Timestamp>) {
    out.byte(time.is_some().into());
    if let Some(time) = time {
        out.signed(time.0);
    }
}

pub(super) fn get_time(r: &mut Reader<'_>) -> Result<Option<Timestamp>> {
    flag(r)?.then(|| r.signed().map(Timestamp)).transpose()
}

pub(super) fn put_uid(out: &mut Writer, uid: Option<Uid>) {
    out.byte(uid.is_some().into());
    if let Some(uid) = uid {
        out.0.extend_from_slice(&uid.0.to_be_bytes());
    }
}

pub(super) fn get_uid(r: &mut Reader<'_>) -> Result<Option<Uid>> {
    if !flag(r)? {
        return Ok(None);
    }
    let bytes: [u8; 16] = r.bytes(16)?.try_into().map_err(|_| Corrupt)?;
    Ok(Some(Uid(u128::from_be_bytes(bytes))))
}
