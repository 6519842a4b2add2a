//! A thread of a conversation.

use std::borrow::Cow;
use std::sync::Arc;

use chorus_core::codec::{self, Coded};
use chorus_core::model::ids::{MemberKey, Prefix, Seq, ThreadKey, Timestamp};
use chorus_core::model::thread;
use chorus_store::history::{Part, Reading};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfConversation, Out, Written};
use crate::history::error::Bad;
use crate::history::field::{Bytes, coded, id};

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Thread<'a> {
    conversation: u64,
    key: u64,
    id: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<u64>,
    title: Cow<'a, str>,
    kind: u8,
    status: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<u32>,
    last_seq: u64,
    participants: Vec<u32>,
    created_at: i64,
    updated_at: i64,
    /// How its work stands, packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    work: Option<Bytes>,
}

impl Thread<'_> {
    fn read(&self) -> Result<thread::Thread, String> {
        Ok(thread::Thread {
            key: ThreadKey(self.key),
            uid: id(Prefix::Thread, &self.id)?,
            root: self.root.map(Seq),
            title: (*self.title).into(),
            kind: coded(self.kind)?,
            status: coded(self.status)?,
            owner: self.owner.map(MemberKey),
            last_seq: self.last_seq,
            participants: self.participants.iter().copied().map(MemberKey).collect(),
            created_at: Timestamp(self.created_at),
            updated_at: Timestamp(self.updated_at),
            // The replay counts it.
            unattended: 0,
            work: match &self.work {
                Some(work) => {
                    codec::read_work(&work.0).map_err(|_| "its work cannot be read")?.into()
                }
                None => Arc::default(),
            },
        })
    }
}

impl OfConversation for Thread<'_> {
    fn export(out: &mut Out<'_>, _: &Reading, part: &Part) -> Written {
        for t in &part.threads {
            out.put(&Line::Thread(Thread {
                conversation: part.conversation.key.0,
                key: t.key.0,
                id: t.uid.show(Prefix::Thread).into(),
                root: t.root.map(|s| s.0),
                title: (&*t.title).into(),
                kind: t.kind.code(),
                status: t.status.code(),
                owner: t.owner.map(|o| o.0),
                last_seq: t.last_seq,
                participants: t.participants.iter().map(|m| m.0).collect(),
                created_at: t.created_at.0,
                updated_at: t.updated_at.0,
                work: (!t.work.is_plain()).then(|| Bytes(codec::work(&t.work))),
            }))?;
        }
        Ok(())
    }
}

impl Kind for Thread<'_> {
    fn check(&self) -> Result<(), String> {
        self.read().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        let thread = self.read()?;
        import.part(self.conversation)?.threads.push(thread);
        Ok(())
    }
}
