//! Short lists that stand in one column of a projection: a thread's participants, a message's reactions.

use std::collections::BTreeSet;

use super::stored::put_list;
use super::{Result, Writer, read};
use crate::model::ids::MemberKey;
use crate::model::reaction::Signal;

row!(/** Members in the order of their keys. */ members, read_members: BTreeSet<MemberKey>);

/// Reactions in the order in which they were set.
pub fn reactions(reactions: &[(MemberKey, Signal)]) -> Vec<u8> {
    let mut out = Writer::default();
    put_list(reactions.iter(), &mut out);
    out.0
}

/// Reads what [`reactions`] wrote.
pub fn read_reactions(bytes: &[u8]) -> Result<Vec<(MemberKey, Signal)>> {
    read(bytes)
}
