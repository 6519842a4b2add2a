//! Short lists that stand in one column of a projection: a thread's participants, a message's reactions.

use std::collections::BTreeSet;

use super::{Corrupt, Reader, Result, Writer};
use crate::model::ids::MemberKey;
use crate::model::reaction::Signal;

/// Members in the order of their keys.
pub fn members(members: &BTreeSet<MemberKey>) -> Vec<u8> {
    let mut out = Writer::default();
    out.number(members.len() as u64);
    members.iter().for_each(|m| out.number(m.0.into()));
    out.0
}

/// Reads what [`members`] wrote: rising keys only, so that one set has one encoding.
pub fn read_members(bytes: &[u8]) -> Result<BTreeSet<MemberKey>> {
    let mut reader = Reader(bytes);
    let count = reader.count()?;
    let list = (0..count).map(|_| reader.small().map(MemberKey)).collect::<Result<Vec<_>>>()?;
    if list.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(Corrupt);
    }
    reader.end()?;
    Ok(list.into_iter().collect())
}

/// Reactions in the order in which they were set.
pub fn reactions(reactions: &[(MemberKey, Signal)]) -> Vec<u8> {
    let mut out = Writer::default();
    out.number(reactions.len() as u64);
    for (member, signal) in reactions {
        out.number(member.0.into());
        out.code(*signal);
    }
    out.0
}

/// Reads what [`reactions`] wrote.
pub fn read_reactions(bytes: &[u8]) -> Result<Vec<(MemberKey, Signal)>> {
    let mut reader = Reader(bytes);
    let count = reader.count()?;
    let list = (0..count).map(|_| Ok((MemberKey(reader.small()?), reader.code()?)));
    let list = list.collect::<Result<_>>()?;
    reader.end()?;
    Ok(list)
}
