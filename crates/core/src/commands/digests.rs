//! Making digests when they are due, and storing the texts that commands write for them.

use std::sync::Arc;

use crate::commands::command::{Command, Done, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::redact::Redact;
use crate::model::audit::Audit;
use crate::model::digest::Written;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{ConversationKey, MemberKey, Uid};
use crate::model::limits;
use crate::state::effect::Effect;

/// Stores the text that a command wrote for a digest. For the host's own use.
#[derive(Clone)]
pub struct KeepDigest {
    pub conversation: Uid,
    pub written: Written,
}

impl Command for KeepDigest {
    type Output = ();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // The text of a digest contains nothing new.
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.text(&mut self.written.text)
    }

    // It is the host's own.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.keep_digest(self.conversation, self.written)
    }
}

impl Context<'_> {
    /// A followed channel's digest is due. Members who have left or who wrote everything themselves
    /// get none.
    pub(crate) fn digest(&mut self, key: ConversationKey) -> Result<()> {
        let now = self.now;
        let every = self.ws.digests.0;
        let Some(room) = self.ws.rooms.get(&key) else { return Ok(()) };
        if every.and_then(|every| room.tally().due(every)).is_none_or(|due| due > now) {
            return Ok(());
        }
        let directory = self.directory();
        let here = |m: &MemberKey| {
            directory.member(*m).is_some_and(|m| !m.removed) && !room.has_left(*m, None)
        };
        let followers = room.listeners().iter().copied().filter(here);
        let digest = room.tally().digest(followers, room.head().seq, now).map(Arc::new);
        let room = self.room_mut(key);
        room.add_digest(digest.clone());
        let conversation = room.conversation().clone();
        if let Some(digest) = digest {
            self.effect(Effect::Digest { conversation, digest });
        }
        Ok(())
    }

    /// Stores the text that a command wrote for a digest, unless some of its source was removed
    /// meanwhile, which the store checks.
    fn keep_digest(&mut self, conversation: Uid, written: Written) -> Result<()> {
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
        Ok(())
    }
}
