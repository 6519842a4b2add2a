//! Who was told of an event, packed: a few bytes a told member, and two for everybody else.

use super::{Coded, Corrupt, Reader, Result, Writer};
use crate::model::attention::{Attention, Decision, Intent, Told};
use crate::model::flow::{Clues, Meant, Nobody};
use crate::model::ids::MemberKey;

/// Set in the first byte when the list of whom it is shown to follows; codes of intents are below it.
const WITH_ONLY: u8 = 0x80;
/// Set in it when whom the flow of talk says it is for stands after that.
const WITH_MEANT: u8 = 0x40;
/// Set in it when why it says that it is for nobody stands there.
const WITH_NOBODY: u8 = 0x20;
/// Set in it when what the sender stated stands there.
const WITH_STATED: u8 = 0x10;

pub fn attention(attention: &Attention) -> Vec<u8> {
    let mut out = Writer::with_room(8 + 12 * attention.told.len());
    put_attention(&mut out, attention);
    out.0
}

pub fn read_attention(bytes: &[u8]) -> Result<Attention> {
    let mut reader = Reader(bytes);
    let attention = get_attention(&mut reader)?;
    reader.end()?;
    Ok(attention)
}

pub(super) fn put_attention(out: &mut Writer, attention: &Attention) {
    let only = attention.only.as_deref();
    let flag = |on: bool, flag: u8| if on { flag } else { 0 };
    let flags = flag(only.is_some(), WITH_ONLY)
        | flag(attention.meant.is_some(), WITH_MEANT)
        | flag(attention.nobody.is_some(), WITH_NOBODY)
        | flag(attention.stated.is_some(), WITH_STATED);
    out.byte(attention.intent.code() | flags);
    out.code(attention.rest);
    if let Some(only) = only {
        out.number(only.len() as u64);
        only.iter().for_each(|member| out.number(member.0.into()));
    }
    if let Some(meant) = attention.meant {
        out.number(meant.member.0.into());
        out.byte(meant.confidence);
        put_reasons(out, meant.because, meant.against);
    }
    if let Some(nobody) = attention.nobody {
        out.byte(nobody.confidence);
        put_reasons(out, nobody.because, nobody.against);
    }
    if let Some(stated) = attention.stated {
        out.code(stated);
    }
    out.number(attention.told.len() as u64);
    for told in &attention.told {
        out.number(told.member.0.into());
        put_decision(out, &told.decision);
    }
}

pub(super) fn get_attention(reader: &mut Reader<'_>) -> Result<Attention> {
    let first = reader.byte()?;
    let intent = Intent::from_code(first & !(WITH_ONLY | WITH_MEANT | WITH_NOBODY | WITH_STATED))
        .ok_or(Corrupt)?;
    let rest = reader.code()?;
    let only = match first & WITH_ONLY {
        0 => None,
        _ => {
            let count = reader.count()?;
            let only = (0..count).map(|_| reader.small().map(MemberKey));
            Some(only.collect::<Result<_>>()?)
        }
    };
    let meant = match first & WITH_MEANT {
        0 => None,
        _ => Some(get_meant(reader)?),
    };
    let nobody = match first & WITH_NOBODY {
        0 => None,
        _ => Some(get_nobody(reader)?),
    };
    let stated = match first & WITH_STATED {
        0 => None,
        _ => Some(reader.code()?),
    };
    let count = reader.count()?;
    let told = (0..count).map(|_| {
        let member = MemberKey(reader.small()?);
        Ok(Told { member, decision: get_decision(reader)? })
    });
    let told = told.collect::<Result<_>>()?;
    Ok(Attention { intent, rest, told, only, meant, nobody, stated })
}

fn get_meant(reader: &mut Reader<'_>) -> Result<Meant> {
    let member = MemberKey(reader.small()?);
    let confidence = reader.byte()?;
    let (because, against) = get_reasons(reader)?;
    Ok(Meant { member, confidence, because, against })
}

fn get_nobody(reader: &mut Reader<'_>) -> Result<Nobody> {
    let confidence = reader.byte()?;
    let (because, against) = get_reasons(reader)?;
    Ok(Nobody { confidence, because, against })
}

/// Rules for and against in one number. What was written when only those for it were kept is the same number.
fn put_reasons(out: &mut Writer, because: Clues, against: Clues) {
    out.number(u64::from(against.0) << 16 | u64::from(because.0));
}

fn get_reasons(reader: &mut Reader<'_>) -> Result<(Clues, Clues)> {
    let both = reader.small::<u32>()?;
    Ok((Clues(both as u16), Clues((both >> 16) as u16)))
}

pub(super) fn put_decision(out: &mut Writer, decision: &Decision) {
    out.code(decision.rule);
    out.code(decision.directedness);
    out.code(decision.policy);
    out.code(decision.mode);
    out.code(decision.priority);
    out.option(decision.deadline_ms.map(Into::into));
}

pub(super) fn get_decision(reader: &mut Reader<'_>) -> Result<Decision> {
    Ok(Decision {
        rule: reader.code()?,
        directedness: reader.code()?,
        policy: reader.code()?,
        mode: reader.code()?,
        priority: reader.code()?,
        deadline_ms: match reader.option()? {
            Some(ms) => Some(u32::try_from(ms).map_err(|_| Corrupt)?),
            None => None,
        },
    })
}
