//! A session of a member, which is not connected when it is read again.

use std::borrow::Cow;

use chorus_core::model::ids::{MemberKey, Prefix, SessionKey, Timestamp};
use chorus_core::model::member;
use chorus_store::history::{Reading, Snapshot};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfWorkspace, Out, Written};
use crate::history::error::Bad;
use crate::history::field::id;

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Session<'a> {
    key: u32,
    id: Cow<'a, str>,
    member: u32,
    runtime: Cow<'a, str>,
    managed: bool,
    resumable: bool,
    seen_at: i64,
}

impl OfWorkspace for Session<'_> {
    fn export(out: &mut Out<'_>, _: &Reading, snapshot: &Snapshot) -> Written {
        for s in snapshot.directory.sessions.values() {
            out.put(&Line::Session(Session {
                key: s.key.0,
                id: s.uid.show(Prefix::Session).into(),
                member: s.member.0,
                runtime: (&*s.runtime).into(),
                managed: s.managed,
                resumable: s.resumable,
                seen_at: s.seen_at.0,
            }))?;
        }
        Ok(())
    }
}

impl Kind for Session<'_> {
    fn import(self, import: &mut Import) -> Result<(), Bad> {
        let key = SessionKey(self.key);
        let (uid, member) = (id(Prefix::Session, &self.id)?, MemberKey(self.member));
        Ok(import.writing.session(member::Session {
            runtime: (*self.runtime).into(),
            managed: self.managed,
            resumable: self.resumable,
            ..member::Session::unconnected(key, uid, member, Timestamp(self.seen_at))
        })?)
    }
}
