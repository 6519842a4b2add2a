//! What an event says, packed: the bytes that its `content_hash` is over. The kind of the change and what
//! every event has stand beside it, in columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::stimulus::{get_uid, put_uid};
use super::work::{get_change, get_promotion, put_change, put_promotion};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::conversation::{Keep, Replies, Settings, Terms};
use crate::model::event::{Change, Message, ThreadOpening};
use crate::model::ids::{MemberKey, Seq, StreamKey, Uid};
use crate::model::{stimulus, turn};

pub fn body(change: &Change) -> Vec<u8> {
    let mut out = Writer::with_room(48 + change.message().map_or(0, |m| m.text.len()));
    match change {
        Change::Created { kind, settings } => {
            out.code(*kind);
            put_settings(&mut out, settings);
        }
        Change::SettingsChanged(settings) => put_settings(&mut out, settings),
        Change::Joined { member, participation } => {
            out.number(member.0.into());
            out.code(*participation);
        }
        Change::Withdrew { member } => out.number(member.0.into()),
        Change::Left { member } => out.number(member.0.into()),
        Change::Posted(message) => put_message(&mut out, message),
        Change::Edited { message, content } => {
            out.number(message.0);
            put_message(&mut out, content);
        }
        Change::Deleted { message } => out.number(message.0),
        Change::Reacted { message, signal, detail } => {
            out.number(message.0);
            out.code(*signal);
            out.optional_text(detail.as_deref());
        }
        Change::Unreacted { message, signal } => {
            out.number(message.0);
            out.code(*signal);
        }
        Change::ThreadOpened(opening) => put_opening(&mut out, opening),
        Change::ThreadStatus { status, reason } => {
            out.code(*status);
            out.text(reason);
        }
        Change::ThreadOwner { owner } => out.option(owner.map(|o| o.0.into())),
        Change::Erased { message, reason, events } => {
            out.number(message.0);
            out.code(*reason);
            out.number(events.len() as u64);
            events.iter().for_each(|seq| out.number(seq.0));
        }
        Change::Continued => {}
        Change::ThreadWork(change) => put_change(&mut out, change),
        Change::Promoted(promotion) => put_promotion(&mut out, promotion),
    }
    out.0
}

/// Reads the body of a change whose [`Change::code`] is `code`.
pub fn read_body(code: u8, bytes: &[u8]) -> Result<Change> {
    let mut reader = Reader(bytes);
    let r = &mut reader;
    let change = match code {
        1 => Change::Created { kind: r.code()?, settings: get_settings(r)? },
        2 => Change::SettingsChanged(get_settings(r)?),
        3 => Change::Joined { member: MemberKey(r.small()?), participation: r.code()? },
        4 => Change::Left { member: MemberKey(r.small()?) },
        5 => Change::Posted(get_message(r)?),
        6 => Change::Edited { message: Seq(r.number()?), content: get_message(r)? },
        7 => Change::Deleted { message: Seq(r.number()?) },
        8 => Change::Reacted {
            message: Seq(r.number()?),
            signal: r.code()?,
            detail: r.optional_text()?,
        },
        9 => Change::Unreacted { message: Seq(r.number()?), signal: r.code()? },
        10 => Change::ThreadOpened(get_opening(r)?),
        11 => Change::ThreadStatus { status: r.code()?, reason: r.text()? },
        12 => Change::ThreadOwner { owner: get_member(r)? },
        20 => Change::Withdrew { member: MemberKey(r.small()?) },
        13 => Change::Erased { message: Seq(r.number()?), reason: r.code()?, events: get_seqs(r)? },
        14 => Change::Continued,
        15 => Change::ThreadWork(Box::new(get_change(r)?)),
        16 => Change::Promoted(get_promotion(r)?),
        _ => return Err(Corrupt),
    };
    reader.end()?;
    Ok(change)
}

pub(super) fn put_message(out: &mut Writer, message: &Message) {
    out.code(message.kind);
    out.text(&message.text);
    out.optional_text(message.parts.as_deref());
    out.optional_text(message.metadata.as_deref());
    out.optional_text(message.source.as_deref());
}

pub(super) fn get_message(reader: &mut Reader<'_>) -> Result<Message> {
    Ok(Message {
        kind: reader.code()?,
        text: reader.text()?,
        parts: reader.optional_text()?,
        metadata: reader.optional_text()?,
        source: reader.optional_text()?,
    })
}

pub(super) fn put_settings(out: &mut Writer, settings: &Settings) {
    out.text(&settings.title);
    out.text(&settings.description);
    out.text(&settings.purpose);
    out.code(settings.visibility);
    out.option(settings.stream.map(|s| s.0.into()));
    out.byte(settings.archived.into());
    // What came later: tagged, in the order of the tags, and only what is not as it always was, so that
    // settings from before still have the bytes that were hashed.
    if let Some(lead) = settings.lead {
        out.byte(LEAD);
        out.number(lead.0.into());
    }
    if let Some(budget) = settings.agent_budget {
        out.byte(AGENT_BUDGET);
        out.number(budget.into());
    }
    if let Some(keep) = settings.keep {
        out.byte(KEEP);
        out.number(keep.stored().into());
    }
    put_later(out, settings);
}

/// The settings that have no column of their own: tags from [`TURNS`] on.
fn put_later(out: &mut Writer, settings: &Settings) {
    if let Some(rules) = settings.turns {
        out.byte(TURNS);
        put_rules(out, &rules);
    }
    if settings.replies != Replies::default() {
        out.byte(REPLIES);
        out.code(settings.replies);
    }
    if !settings.pins.is_empty() {
        out.byte(PINS);
        out.number(settings.pins.len() as u64);
        settings.pins.iter().for_each(|pin| put_uid(out, Some(*pin)));
    }
    if let Some(rules) = settings.stimuli {
        out.byte(STIMULI);
        [rules.pending, rules.roots_per_hour, rules.active_roots]
            .into_iter()
            .for_each(|n| out.number(n.into()));
        out.number(rules.quiet_ms as u64);
    }
    if settings.proactive {
        out.byte(PROACTIVE);
    }
    if let Some(idle) = settings.idle_followup {
        out.byte(IDLE_FOLLOWUP);
        out.number(idle as u64);
    }
    if !settings.seats.is_empty() {
        out.byte(SEATS);
        put_seats(out, &settings.seats);
    }
}

const LEAD: u8 = 1;
const AGENT_BUDGET: u8 = 2;
const KEEP: u8 = 3;
const TURNS: u8 = 4;
const REPLIES: u8 = 5;
const PINS: u8 = 6;
const STIMULI: u8 = 7;
const PROACTIVE: u8 = 8;
const IDLE_FOLLOWUP: u8 = 9;
const SEATS: u8 = 10;

pub(super) fn get_settings(reader: &mut Reader<'_>) -> Result<Settings> {
    let mut settings = Settings {
        title: reader.text()?,
        description: reader.text()?,
        purpose: reader.text()?,
        visibility: reader.code()?,
        stream: match reader.option()? {
            Some(key) => Some(StreamKey(u32::try_from(key).map_err(|_| Corrupt)?)),
            None => None,
        },
        archived: match reader.byte()? {
            0 => false,
            1 => true,
            _ => return Err(Corrupt),
        },
        ..Settings::default()
    };
    get_tagged(reader, &mut settings, 0)?;
    Ok(settings)
}

/// Tagged settings end the body they stand in. All tags are above `last`.
fn get_tagged(reader: &mut Reader<'_>, settings: &mut Settings, mut last: u8) -> Result<()> {
    while !reader.0.is_empty() {
        let tag = reader.byte()?;
        if tag <= last {
            return Err(Corrupt);
        }
        last = tag;
        match tag {
            LEAD => settings.lead = Some(MemberKey(reader.small()?)),
            AGENT_BUDGET => settings.agent_budget = Some(reader.small()?),
            KEEP => settings.keep = Some(Keep::from_stored(reader.small()?)),
            TURNS => settings.turns = Some(get_rules(reader)?),
            REPLIES => settings.replies = reader.code()?,
            PINS => settings.pins = get_pins(reader)?,
            STIMULI => settings.stimuli = Some(get_stimulus_rules(reader)?),
            PROACTIVE => settings.proactive = true,
            IDLE_FOLLOWUP => {
                let idle = i64::try_from(reader.number()?).map_err(|_| Corrupt)?;
                settings.idle_followup = Some(idle);
            }
            SEATS => settings.seats = get_seats(reader)?,
            _ => return Err(Corrupt),
        }
    }
    Ok(())
}

fn get_pins(reader: &mut Reader<'_>) -> Result<Vec<Uid>> {
    let count = reader.count()?;
    let pins = (0..count).map(|_| get_uid(reader)?.ok_or(Corrupt));
    let pins = pins.collect::<Result<Vec<_>>>()?;
    if pins.is_empty() { Err(Corrupt) } else { Ok(pins) }
}

fn put_seats(out: &mut Writer, seats: &BTreeMap<MemberKey, Terms>) {
    out.number(seats.len() as u64);
    for (member, terms) in seats {
        out.number(member.0.into());
        out.optional_text(terms.name.as_deref());
        put_uid(out, terms.session);
    }
}

fn get_seats(reader: &mut Reader<'_>) -> Result<BTreeMap<MemberKey, Terms>> {
    let count = reader.count()?;
    let seat = |reader: &mut Reader<'_>| {
        let member = MemberKey(reader.small()?);
        Ok((member, Terms { name: reader.optional_text()?, session: get_uid(reader)? }))
    };
    let seats = (0..count).map(|_| seat(reader)).collect::<Result<Vec<_>>>()?;
    // There is one way of writing them.
    let is_one = !seats.is_empty()
        && seats.is_sorted_by(|a, b| a.0 < b.0)
        && seats.iter().all(|(_, terms)| *terms != Terms::default());
    is_one.then(|| seats.into_iter().collect()).ok_or(Corrupt)
}

fn put_rules(out: &mut Writer, rules: &turn::Rules) {
    out.byte(rules.speakers);
    out.number(rules.replies.into());
    out.number(rules.cooldown_ms as u64);
    out.number(rules.acceptance_ms as u64);
}

fn get_rules(reader: &mut Reader<'_>) -> Result<turn::Rules> {
    let ms = |n: u64| i64::try_from(n).map_err(|_| Corrupt);
    Ok(turn::Rules {
        speakers: reader.byte()?,
        replies: u16::try_from(reader.number()?).map_err(|_| Corrupt)?,
        cooldown_ms: ms(reader.number()?)?,
        acceptance_ms: ms(reader.number()?)?,
    })
}

fn get_stimulus_rules(reader: &mut Reader<'_>) -> Result<stimulus::Rules> {
    let mut count = || u16::try_from(reader.number()?).map_err(|_| Corrupt);
    Ok(stimulus::Rules {
        pending: count()?,
        roots_per_hour: count()?,
        active_roots: count()?,
        quiet_ms: i64::try_from(reader.number()?).map_err(|_| Corrupt)?,
    })
}

/// The settings of a conversation that have no column of their own.
pub fn later_settings(settings: &Settings) -> Vec<u8> {
    let mut out = Writer::default();
    put_later(&mut out, settings);
    out.0
}

/// Adds what [`later_settings`] made to settings. What has a column is not said here a second time.
pub fn read_later_settings(bytes: &[u8], settings: &mut Settings) -> Result<()> {
    get_tagged(&mut Reader(bytes), settings, KEEP)
}

fn put_opening(out: &mut Writer, opening: &ThreadOpening) {
    out.0.extend_from_slice(&opening.uid.0.to_be_bytes());
    out.option(opening.root.map(|s| s.0));
    out.text(&opening.title);
    out.code(opening.kind);
    out.option(opening.owner.map(|o| o.0.into()));
    out.number(opening.participants.len() as u64);
    for member in &opening.participants {
        out.number(member.0.into());
    }
}

fn get_opening(reader: &mut Reader<'_>) -> Result<ThreadOpening> {
    let uid: [u8; 16] = reader.bytes(16)?.try_into().map_err(|_| Corrupt)?;
    let root = reader.option()?.map(Seq);
    let title: Arc<str> = reader.text()?;
    let kind = reader.code()?;
    let owner = get_member(reader)?;
    let count = reader.count()?;
    let participants = (0..count).map(|_| reader.small().map(MemberKey));
    Ok(ThreadOpening {
        uid: Uid(u128::from_be_bytes(uid)),
        root,
        title,
        kind,
        owner,
        participants: participants.collect::<Result<_>>()?,
    })
}

fn get_seqs(reader: &mut Reader<'_>) -> Result<Vec<Seq>> {
    let count = reader.count()?;
    (0..count).map(|_| reader.number().map(Seq)).collect()
}

fn get_member(reader: &mut Reader<'_>) -> Result<Option<MemberKey>> {
    match reader.option()? {
        Some(key) => Ok(Some(MemberKey(u32::try_from(key).map_err(|_| Corrupt)?))),
        None => Ok(None),
    }
}
