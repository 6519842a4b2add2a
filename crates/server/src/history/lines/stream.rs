//! A stream.

use std::borrow::Cow;

use chorus_core::model::ids::{MemberKey, Prefix, StreamKey};
use chorus_core::model::member;
use chorus_store::history::{Reading, Snapshot};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfWorkspace, Out, Written};
use crate::history::error::Bad;
use crate::history::field::id;

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Stream<'a> {
    key: u32,
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<u32>,
}

impl OfWorkspace for Stream<'_> {
    fn export(out: &mut Out<'_>, _: &Reading, snapshot: &Snapshot) -> Written {
        for s in &snapshot.directory.streams {
            out.put(&Line::Stream(Stream {
                key: s.key.0,
                id: s.uid.show(Prefix::Stream).into(),
                name: (&*s.name).into(),
                owner: s.owner.map(|o| o.0),
            }))?;
        }
        Ok(())
    }
}

impl Kind for Stream<'_> {
    fn import(self, import: &mut Import) -> Result<(), Bad> {
        Ok(import.writing.stream(member::Stream {
            key: StreamKey(self.key),
            uid: id(Prefix::Stream, &self.id)?,
            name: (*self.name).into(),
            owner: self.owner.map(MemberKey),
        })?)
    }
}
