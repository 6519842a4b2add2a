//! Follows up, once, on threads that have been idle for their channel's configured time.

use sha2::{Digest, Sha256};

use super::title::headline;
use crate::commands::context::{Context, Result};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Uid};
use crate::model::limits;
use crate::model::stimulus::{Stimulus, StimulusKind, keys};
use crate::model::thread::Thread;
use crate::state::workspace::Failure;

impl Context<'_> {
    /// Follows up on silent threads, a few at a time. The rest follow a little later.
    pub(super) fn follow_up(&mut self, key: ConversationKey) -> Result<()> {
        let now = self.now;
        let Some(room) = self.ws.rooms.get(&key) else { return Ok(()) };
        if room.silence_at().is_none_or(|at| at > now) {
            return Ok(());
        }
        let mut made = 0;
        for thread in room.silent(now) {
            if made == limits::IDLE_FOLLOWUPS {
                break;
            }
            // Agents with a used-up budget wait for a person, who was told so.
            if self.ws.is_paused(self.room(key), Some(thread.key)) {
                continue;
            }
            let Some(source) = self.who_follows_up(key, &thread)? else { continue };
            let asks = self.followup(key, &thread, source);
            match self.enqueue(key, asks) {
                Ok(_) => made += 1,
                // The queue is full.
                Err(Failure::Refused(_)) => break,
                Err(unavailable) => return Err(unavailable),
            }
        }
        self.room_mut(key).silence_reviewed(now);
        Ok(())
    }

    /// The author of the follow-up: the channel's lead, otherwise the workspace's, otherwise the
    /// thread's author; each only if a member.
    fn who_follows_up(
        &mut self,
        key: ConversationKey,
        thread: &Thread,
    ) -> Result<Option<MemberKey>> {
        let leads = [self.room(key).conversation().settings.lead, self.directory().lead];
        let seated =
            |run: &Self, m: &MemberKey| run.room(key).roster().contains_key(m) && run.is_member(*m);
        if let Some(lead) = leads.into_iter().flatten().find(|m| seated(self, m)) {
            return Ok(Some(lead));
        }
        let Some(seq) = thread.root else { return Ok(None) };
        let root = self.recall_kept(EventRef { conversation: key, seq })?;
        Ok(root.map(|root| root.event.actor).filter(|m| seated(self, m)))
    }

    fn is_member(&self, member: MemberKey) -> bool {
        self.directory().member(member).is_some()
    }

    /// For the thread's owner, if it has one that can answer; otherwise for whoever attention
    /// selects.
    fn followup(&self, key: ConversationKey, thread: &Thread, source: MemberKey) -> Stimulus {
        let room = self.room(key);
        let idle = self.now.since(thread.updated_at);
        let (title, span) = (&thread.title, span(idle));
        let text = format!("Nothing was said about {title:?} for {span}. What became of it?");
        // One for each last message of the thread. The offset keeps these ids apart from those of a
        // schedule's firings.
        let nth = u128::from(thread.last_seq) + 1;
        let uid = Uid(thread.uid.0.wrapping_add(nth << 40));
        let secret = room.tail().iter().rev().find_map(|event| event.salt).unwrap_or_default();
        let hash: [u8; 32] =
            Sha256::new().chain_update(secret).chain_update(uid.0.to_be_bytes()).finalize().into();
        let salt = std::array::from_fn(|n| hash[n]);
        let kind = StimulusKind::ThreadIdleFollowup;
        let owner = thread.owner.filter(|m| *m != source && room.roster().contains_key(m));
        Stimulus {
            thread: Some((thread.key, thread.uid)),
            text: text.as_str().into(),
            title: headline(&text),
            targets: owner.into_iter().collect(),
            dedupe_key: Some(keys::IDLE.into()),
            ..Stimulus::new(uid, kind, source, salt, self.now)
        }
    }
}

/// A duration in words, in its largest whole unit.
fn span(ms: i64) -> String {
    let minutes = ms / 60_000;
    let (n, unit) = match minutes {
        ..120 => (minutes, "minute"),
        120..2_880 => (minutes / 60, "hour"),
        _ => (minutes / 1_440, "day"),
    };
    format!("{n} {unit}{}", if n == 1 { "" } else { "s" })
}
