//! Making digests when their time has come, and keeping what a command made of one.

use std::sync::Arc;

use super::{Result, Run};
use crate::command::{Effect, Outcome};
use crate::digest::{Tally, Written};
use crate::error::{Code, Refusal};
use crate::event::EventRef;
use crate::ids::{ConversationKey, MemberKey, Seq, Uid};
use crate::limits;

impl Run<'_> {
    /// A followed channel's time has come. Whoever left it, or said all that was said, is told nothing.
    pub(super) fn digest(&mut self, key: ConversationKey) -> Result<()> {
        let now = self.now;
        let every = self.ws.digests.0;
        let Some(room) = self.ws.rooms.get(&key) else { return Ok(()) };
        if every.and_then(|every| room.tally.due(every)).is_none_or(|due| due > now) {
            return Ok(());
        }
        let directory = self.directory();
        let here = |m: &MemberKey| {
            directory.member(*m).is_some_and(|m| !m.removed) && !room.has_left(*m, None)
        };
        let followers = room.listeners.iter().copied().filter(here);
        let digest = room.tally.digest(followers, room.head.seq, now).map(Arc::new);
        let room = self.room_mut(key);
        room.tally = Tally::from(room.head.seq);
        room.add_digest(digest.clone());
        let conversation = room.conversation.clone();
        if let Some(digest) = digest {
            self.effect(Effect::Digest { conversation, digest });
        }
        Ok(())
    }

    /// What a command made of a digest is kept beside it, unless something it was made of has gone meanwhile,
    /// which the store sees.
    pub(super) fn keep_digest(&mut self, conversation: Uid, written: Written) -> Result<Outcome> {
        if self.by.member != MemberKey::HOST {
            return Err(Refusal::new(Code::Forbidden, "the host itself writes digests").into());
        }
        if written.text.len() > limits::DIGEST_TEXT_BYTES {
            let max = limits::DIGEST_TEXT_BYTES;
            return Err(Refusal::new(
                Code::PayloadTooLarge,
                format!("the text of a digest has at most {max} bytes"),
            )
            .into());
        }
        let key = self.room_by_uid(conversation)?;
        self.room_mut(key).add_written(written);
        Ok(Outcome::Done)
    }
}

/// How often digests are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Every(pub(super) Option<i64>);

impl Default for Every {
    fn default() -> Self {
        Self(Some(limits::DIGEST_MS))
    }
}

/// A conversation's digest has a timer as an event has one; no event has this seq.
pub(super) fn digest_timer(conversation: ConversationKey) -> EventRef {
    EventRef { conversation, seq: Seq(0) }
}
