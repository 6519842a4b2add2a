//! Who was told of an event, packed: a few bytes a told member, and two for everybody else.

use super::{Coded, Corrupt, Reader, Result, Writer};
use crate::attention::flow::{Clues, Meant};
use crate::attention::{Attention, Decision, Intent, Told};
use crate::ids::MemberKey;

/// Set in the first byte when the list of whom it is shown to follows; codes of intents are below it.
const WITH_ONLY: u8 = 0x80;
/// Set in it when whom the flow of talk says it is for stands after that.
const WITH_MEANT: u8 = 0x40;

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
    let flags = flag(only.is_some(), WITH_ONLY) | flag(attention.meant.is_some(), WITH_MEANT);
    out.byte(attention.intent.code() | flags);
    out.code(attention.rest);
    if let Some(only) = only {
        out.number(only.len() as u64);
        only.iter().for_each(|member| out.number(member.0.into()));
    }
    if let Some(meant) = attention.meant {
        out.number(meant.member.0.into());
        out.byte(meant.confidence);
        out.number(meant.because.0.into());
    }
    out.number(attention.told.len() as u64);
    for told in &attention.told {
        out.number(told.member.0.into());
        put_decision(out, &told.decision);
    }
}

pub(super) fn get_attention(reader: &mut Reader<'_>) -> Result<Attention> {
    let first = reader.byte()?;
    let intent = Intent::from_code(first & !(WITH_ONLY | WITH_MEANT)).ok_or(Corrupt)?;
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
    let count = reader.count()?;
    let told = (0..count).map(|_| {
        let member = MemberKey(reader.small()?);
        Ok(Told { member, decision: get_decision(reader)? })
    });
    Ok(Attention { intent, rest, told: told.collect::<Result<_>>()?, only, meant })
}

fn get_meant(reader: &mut Reader<'_>) -> Result<Meant> {
    let member = MemberKey(reader.small()?);
    let confidence = reader.byte()?;
    let because = reader.small::<u16>()?;
    Ok(Meant { member, confidence, because: Clues(because) })
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
