//! The end of a conversation's log.

use chorus_core::model::event::Hash;
use chorus_core::model::ids::{ConversationKey, Seq};
use chorus_store::history::{Part, Reading};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfConversation, Out, Written};
use crate::history::error::Bad;
use crate::history::field::Bytes;

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Head {
    conversation: u64,
    seq: u64,
    hash: Bytes,
}

impl Head {
    pub(in crate::history) fn of(conversation: ConversationKey, seq: Seq, hash: &Hash) -> Self {
        Self { conversation: conversation.0, seq: seq.0, hash: Bytes::of(hash) }
    }
}

impl OfConversation for Head {
    fn export(out: &mut Out<'_>, _: &Reading, part: &Part) -> Written {
        let (key, head) = (part.conversation.key, &part.head);
        out.put(&Line::Head(Self::of(key, head.seq, &head.hash)))
    }
}

impl Kind for Head {
    fn import(self, import: &mut Import) -> Result<(), Bad> {
        let part = import.part(self.conversation)?;
        part.head.seq = Seq(self.seq);
        part.head.hash = self.hash.array()?;
        let part = import.part.take();
        part.map_or(Ok(()), |part| Ok(import.writing.end(&part)?))
    }
}
