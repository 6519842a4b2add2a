//! What a run in a public turn is shown, and what it puts out: kept with the lease, and posted once, when the run ends (channels spec
//! "How agents participate").

use std::sync::Arc;

use super::{Failure, Result, Run};
use crate::command::{Audience, ChannelDelivery, Outcome, Post};
use crate::delivery::{Delivery, Disposition};
use crate::error::{Code, Refusal};
use crate::event::{Event, EventRef, Idempotency, Message};
use crate::ids::MemberKey;
use crate::limits;
use crate::turn::Lease;

impl Run<'_> {
    /// Keeps what is to be said when the run ends; the newest that says something counts.
    pub(super) fn emit_output(&mut self, message: Message) -> Result<Outcome> {
        let turn = self.by.turn.ok_or_else(|| {
            Refusal::invalid("emit_output is called in a turn: pass the turn's token as `turn`")
        })?;
        let at = EventRef { conversation: turn.conversation, seq: turn.seq };
        self.load(at.conversation)?;
        self.must_sit(at.conversation)?;
        let me = self.me()?.key;
        let open = self.room(at.conversation).open.get(&at.seq);
        let mine = open.and_then(|o| o.delivery(me));
        if !mine.is_some_and(|d| d.is_open() && d.fence <= turn.fence) {
            return Err(
                Refusal::new(Code::StaleTurn, "this turn is over, or was taken back").into()
            );
        }
        let Some(subject) = open.and_then(|o| o.subject) else {
            return Err(Refusal::new(
                Code::Conflict,
                "turns are not taken here: say it with chat.send_message",
            )
            .into());
        };
        let turn = self.room(at.conversation).turns.get(subject);
        if !turn.is_some_and(|t| t.holds(me, at.seq) || t.goes_along(me)) {
            return Err(Refusal::new(Code::TurnHeldByOther, "another member has the turn").into());
        }
        super::post::check_message(&message)?;
        let room = self.room_mut(at.conversation);
        let turn = room.turn_mut(subject);
        turn.go_on_with(me, at.seq);
        if let Some(lease) = turn.lease_mut(me) {
            lease.output = Some(Arc::new(message));
        }
        Ok(Outcome::Done)
    }

    /// The member has reacted to a message: of the subject it has the turn of, that is an answer without words.
    pub(super) fn note_nod(&mut self, member: MemberKey, message: &Event) {
        let key = message.conversation;
        let Some(subject) = self.room(key).subject_of(message.seq, message.thread) else { return };
        if self.room(key).turns.get(subject).and_then(|t| t.lease(member)).is_none() {
            return;
        }
        let room = self.room_mut(key);
        if let Some(lease) = room.turn_mut(subject).lease_mut(member) {
            lease.nodded = true;
        }
    }

    /// How a run ends that says nothing: one that has nodded has answered.
    pub(super) fn ended_without_words(
        &self,
        at: EventRef,
        member: MemberKey,
        disposition: Disposition,
    ) -> Disposition {
        let silent = matches!(disposition, Disposition::Failed | Disposition::Ignored);
        let lease = self.lease(at, member);
        if silent && lease.is_some_and(|l| l.nodded) {
            return Disposition::Acknowledged;
        }
        disposition
    }

    /// A run closes with a text: what it has put out is posted in its place.
    pub(super) fn close_run(&mut self, mut post: Post) -> Result<Outcome> {
        let at = match (self.by.turn, post.in_reply_to) {
            (Some(turn), _) => Some(EventRef { conversation: turn.conversation, seq: turn.seq }),
            (None, Some(uid)) => Some(self.event_by_uid(uid, "event to reply to")?),
            (None, None) => None,
        };
        if let Some(at) = at {
            self.load(at.conversation)?;
            let output = self.output(at, self.by.member);
            post.message = output.map_or(post.message, Arc::unwrap_or_clone);
        }
        self.post(post)
    }

    /// A run ends without a text: what it has put out is posted now. None when that is nothing, or is refused.
    pub(super) fn publish_output(
        &mut self,
        at: EventRef,
        of: &Delivery,
    ) -> Result<Option<Disposition>> {
        let Some(output) = self.output(at, of.member) else { return Ok(None) };
        let event = self.recall_event(at)?.uid;
        // Once a run: the key follows from what it answers and its fence.
        let key = event
            .0
            .wrapping_add(u128::from(of.member.0) << 40 | u128::from(of.fence))
            .to_be_bytes();
        let post = Post {
            conversation: self.room(at.conversation).conversation.uid,
            thread: None,
            message: Arc::unwrap_or_clone(output),
            in_reply_to: Some(event),
            idempotency: Some(Idempotency { key, payload: key }),
            recipient: None,
            mentions: Vec::new(),
            directedness: None,
            audience: Audience::AsAnswered,
        };
        match self.post(post) {
            Ok(Outcome::Held(_)) => Ok(Some(Disposition::Deferred)),
            Ok(_) => Ok(Some(Disposition::Responded)),
            Err(Failure::Refused(_)) => Ok(None),
            Err(unavailable) => Err(unavailable),
        }
    }

    /// What a member is to know of the public turn that it answers this event in; none where it has none.
    pub(super) fn channel_delivery(
        &self,
        at: EventRef,
        member: MemberKey,
    ) -> Option<ChannelDelivery> {
        let room = self.room(at.conversation);
        let subject = room.open.get(&at.seq)?.subject?;
        let turn = room.turns.get(subject).filter(|turn| turn.lease(member).is_some())?;
        let rules = room.turn_rules();
        let candidates = self.candidates(at.conversation, subject);
        let waits = candidates.iter().filter(|c| turn.lease(c.member).is_none());
        let mut waiting: Vec<_> = waits.map(|c| c.member).collect();
        waiting.sort_unstable();
        waiting.dedup();
        waiting.truncate(limits::AUDIENCE_NAMED);
        let mut members: Vec<_> = room.roster.keys().copied().collect();
        let members_more = members.len().saturating_sub(limits::AUDIENCE_NAMED);
        if members_more > 0 {
            members.select_nth_unstable(limits::AUDIENCE_NAMED);
            members.truncate(limits::AUDIENCE_NAMED);
        }
        members.sort_unstable();
        Some(ChannelDelivery {
            members,
            members_more,
            speakers: rules.speakers,
            left: turn.budget(&rules).saturating_sub(turn.spent).max(1),
            waiting,
        })
    }

    fn output(&self, at: EventRef, member: MemberKey) -> Option<Arc<Message>> {
        self.lease(at, member)?.output.clone()
    }

    /// The public turn that a delivery is run in.
    fn lease(&self, at: EventRef, member: MemberKey) -> Option<&Lease> {
        let room = self.room(at.conversation);
        let subject = room.open.get(&at.seq)?.subject?;
        room.turns.get(subject)?.lease(member).filter(|lease| lease.cause == at.seq)
    }
}
