//! A role with its members.

use std::borrow::Cow;

use chorus_core::model::ids::{MemberKey, RoleKey};
use chorus_core::model::member;
use chorus_store::history::{Reading, Snapshot};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfWorkspace, Out, Written};
use crate::history::error::Bad;

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Role<'a> {
    key: u32,
    name: Cow<'a, str>,
    members: Vec<u32>,
    removed: bool,
}

impl OfWorkspace for Role<'_> {
    fn export(out: &mut Out<'_>, _: &Reading, snapshot: &Snapshot) -> Written {
        for r in &snapshot.directory.roles {
            out.put(&Line::Role(Role {
                key: r.key.0,
                name: (&*r.name).into(),
                members: r.members.iter().map(|m| m.0).collect(),
                removed: r.removed,
            }))?;
        }
        Ok(())
    }
}

impl Kind for Role<'_> {
    fn import(self, import: &mut Import) -> Result<(), Bad> {
        Ok(import.writing.role(member::Role {
            key: RoleKey(self.key),
            name: (*self.name).into(),
            members: self.members.into_iter().map(MemberKey).collect(),
            removed: self.removed,
        })?)
    }
}
