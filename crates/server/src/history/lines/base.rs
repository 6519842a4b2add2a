//! Where a conversation's log begins, when its beginning was dropped: the newest event that is gone.

use chorus_core::codec;
use chorus_core::model::ids::{ConversationKey, Seq, Timestamp};
use chorus_core::model::log_snapshot::LogSnapshot;
use chorus_store::history::{Part, Reading};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfConversation, Out, Written};
use crate::history::error::Bad;
use crate::history::field::Bytes;

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Base {
    conversation: u64,
    seq: u64,
    hash: Bytes,
    at: i64,
    /// What had become of the conversation by then, packed.
    state: Bytes,
}

impl Base {
    pub(in crate::history) fn of(conversation: ConversationKey, base: &LogSnapshot) -> Self {
        Self {
            conversation: conversation.0,
            seq: base.seq.0,
            hash: Bytes::of(&base.hash),
            at: base.at.0,
            state: Bytes(codec::base(base)),
        }
    }

    fn read(&self) -> Result<LogSnapshot, String> {
        let (seq, hash, at) = (Seq(self.seq), self.hash.array()?, Timestamp(self.at));
        let base = codec::read_base(seq, hash, at, &self.state.0);
        base.map_err(|_| "its state cannot be read".to_owned())
    }
}

impl OfConversation for Base {
    fn export(out: &mut Out<'_>, _: &Reading, part: &Part) -> Written {
        let mut base = part.base.iter();
        base.try_for_each(|base| out.put(&Line::Base(Self::of(part.conversation.key, base))))
    }
}

impl Kind for Base {
    fn check(&self) -> Result<(), String> {
        self.read().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        import.part(self.conversation)?;
        Ok(import.writing.base(&self.read()?)?)
    }
}
