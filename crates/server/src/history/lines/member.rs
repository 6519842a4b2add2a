//! A member of the workspace.

use std::borrow::Cow;

use chorus_core::codec::Coded;
use chorus_core::model::ids::{MemberKey, Timestamp};
use chorus_core::model::member;
use chorus_store::history::{Reading, Snapshot};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfWorkspace, Out, Written};
use crate::history::error::Bad;
use crate::history::field::coded;

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Member<'a> {
    key: u32,
    id: Cow<'a, str>,
    kind: u8,
    handle: Cow<'a, str>,
    display_name: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identities: Option<Cow<'a, str>>,
    removed: bool,
    /// By whom it is paused, and since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paused_by: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paused_at: Option<i64>,
}

impl<'a> Member<'a> {
    pub(in crate::history) fn of(m: &'a member::Member) -> Self {
        Self {
            key: m.key.0,
            id: (&*m.id).into(),
            kind: m.kind.code(),
            handle: (&*m.handle).into(),
            display_name: (&*m.display_name).into(),
            owner: m.owner.as_deref().map(Into::into),
            identities: m.identities.as_deref().map(Into::into),
            removed: m.removed,
            paused_by: m.pause.map(|pause| pause.by.0),
            paused_at: m.pause.map(|pause| pause.since.0),
        }
    }
}

impl OfWorkspace for Member<'_> {
    fn export(out: &mut Out<'_>, _: &Reading, snapshot: &Snapshot) -> Written {
        let mut members = snapshot.directory.members.iter();
        members.try_for_each(|m| out.put(&Line::Member(Member::of(m))))
    }
}

impl Kind for Member<'_> {
    fn import(self, import: &mut Import) -> Result<(), Bad> {
        Ok(import.writing.member(member::Member {
            key: MemberKey(self.key),
            id: (*self.id).into(),
            kind: coded(self.kind)?,
            handle: (*self.handle).into(),
            display_name: (*self.display_name).into(),
            owner: self.owner.as_deref().map(Into::into),
            identities: self.identities.as_deref().map(Into::into),
            removed: self.removed,
            pause: self.paused_at.map(|since| member::Pause {
                by: MemberKey(self.paused_by.unwrap_or_default()),
                since: Timestamp(since),
            }),
        })?)
    }
}
