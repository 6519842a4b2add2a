//! The context and output of a run in a public turn. Output is stored with the lease and posted
//! once, when the run ends (channels spec "How agents participate").

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::messages::Logged;
use crate::model::delivery::Delivery;
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::event::{Event, Idempotency, Message};
use crate::model::ids::{EventRef, MemberKey};
use crate::model::limits;
use crate::model::offer::ChannelDelivery;
use crate::model::requests::{Audience, Post};
use crate::model::turn::{Lease, Output};
use crate::state::workspace::Failure;

/// What happened to the output of a run that has ended.
pub(crate) enum Published {
    /// There was none.
    Nothing,
    As(Disposition),
    /// It may no longer be posted.
    Refused(Refusal),
}

impl Context<'_> {
    /// Stores the message to post when the run ends. The newest one with content counts. Output
    /// that could not be posted now is refused, and the stored output stays.
    pub(super) fn emit_output(&mut self, message: Message) -> Result<()> {
        let turn = self.by.turn.ok_or_else(|| {
            Refusal::invalid("emit_output is called in a turn: pass the turn's token as `turn`")
        })?;
        let at = EventRef { conversation: turn.conversation, seq: turn.seq };
        self.load(at.conversation)?;
        self.must_sit(at.conversation)?;
        let me = self.me()?.key;
        let open = self.room(at.conversation).open().get(&at.seq);
        let mine = open.and_then(|o| o.delivery(me)).cloned();
        if !mine.as_ref().is_some_and(|d| d.is_open() && d.fence <= turn.fence) {
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
        let turn = self.room(at.conversation).turns().get(subject);
        if !turn.is_some_and(|t| t.holds(me, at.seq) || t.goes_along(me)) {
            return Err(Refusal::new(Code::TurnHeldByOther, "another member has the turn").into());
        }
        let fence = mine.map_or(0, |d| d.fence);
        let post = self.post_of_output(at, me, fence, message)?;
        self.preview(&post)?;
        self.check_assets(&post.message)?;
        let room = self.room_mut(at.conversation);
        let turn = room.turn_mut(subject);
        turn.go_on_with(me, at.seq);
        let message = Arc::new(post.message);
        turn.keep_output(Output { member: me, cause: at.seq, fence, message });
        Ok(())
    }

    /// The member has reacted to a message. If it has the turn for that subject, the reaction
    /// counts as an answer without words.
    pub(super) fn note_nod(&mut self, member: MemberKey, message: &Event) {
        let key = message.conversation;
        let Some(subject) = self.room(key).subject_of(message.seq, message.thread) else { return };
        if self.room(key).turns().get(subject).and_then(|t| t.lease(member)).is_none() {
            return;
        }
        let room = self.room_mut(key);
        if let Some(lease) = room.turn_mut(subject).lease_mut(member) {
            lease.nodded = true;
        }
    }

    /// The disposition of a run that ends without a message. One that reacted has answered. One
    /// that answers by a callback and posted nothing for its obligation has failed.
    pub(crate) fn ended_without_words(
        &self,
        at: EventRef,
        member: MemberKey,
        disposition: Disposition,
    ) -> Disposition {
        let by_callback = self.by.turn.is_some_and(|turn| turn.attempt > 0);
        let open = self.room(at.conversation).open().get(&at.seq);
        let owes = open.and_then(|o| o.delivery(member)).is_some_and(Delivery::is_obligation);
        let disposition = match disposition {
            Disposition::Acknowledged if by_callback && owes => Disposition::Failed,
            other => other,
        };
        let silent = matches!(disposition, Disposition::Failed | Disposition::Ignored);
        let lease = self.lease(at, member);
        if silent && lease.is_some_and(|l| l.nodded) {
            return Disposition::Acknowledged;
        }
        disposition
    }

    /// A run closes with a text. Its output, if any, is posted instead.
    pub(super) fn close_run(&mut self, mut post: Post) -> Result<Logged> {
        let at = match (self.by.turn, post.in_reply_to) {
            (Some(turn), _) => Some(EventRef { conversation: turn.conversation, seq: turn.seq }),
            (None, Some(uid)) => Some(self.event_by_uid(uid, "event to reply to")?),
            (None, None) => None,
        };
        if let Some(at) = at {
            self.load(at.conversation)?;
            let me = self.by.member;
            let open = self.room(at.conversation).open().get(&at.seq);
            let fence = open.and_then(|o| o.delivery(me)).map_or(0, |d| d.fence);
            // The output of an earlier run of the same delivery is older than this closing text.
            if let Some(output) = self.output(at, me).filter(|output| output.fence >= fence) {
                post.message = Message::clone(&output.message);
            }
        }
        self.post(post)
    }

    /// A run ends without a text: its output is posted now.
    pub(crate) fn publish_output(&mut self, at: EventRef, of: &Delivery) -> Result<Published> {
        let Some(output) = self.output(at, of.member) else { return Ok(Published::Nothing) };
        let message = Message::clone(&output.message);
        let post = self.post_of_output(at, of.member, of.fence, message)?;
        match self.post(post) {
            Err(Failure::AwaitsApproval(_)) => Ok(Published::As(Disposition::Deferred)),
            Ok(_) => Ok(Published::As(Disposition::Responded)),
            Err(Failure::Refused(refusal)) => Ok(Published::Refused(refusal)),
            Err(unavailable) => Err(unavailable),
        }
    }

    /// The message that a run's output becomes.
    fn post_of_output(
        &mut self,
        at: EventRef,
        member: MemberKey,
        fence: u32,
        message: Message,
    ) -> Result<Post> {
        let event = self.recall_event(at)?.uid;
        // Posted once per run: the key is derived from the event it answers and its fence.
        let key =
            event.0.wrapping_add(u128::from(member.0) << 40 | u128::from(fence)).to_be_bytes();
        Ok(Post {
            conversation: self.room(at.conversation).conversation().uid,
            thread: None,
            message,
            in_reply_to: Some(event),
            idempotency: Some(Idempotency { key, payload: key }),
            recipient: None,
            mentions: Vec::new(),
            directedness: None,
            audience: Audience::AsAnswered,
            left_out: Vec::new(),
        })
    }

    /// The context of the public turn in which a member answers this event; none when it has no
    /// turn.
    pub(crate) fn channel_delivery(
        &self,
        at: EventRef,
        member: MemberKey,
    ) -> Option<ChannelDelivery> {
        let room = self.room(at.conversation);
        let subject = room.open().get(&at.seq)?.subject?;
        let turn = room.turns().get(subject).filter(|turn| turn.lease(member).is_some())?;
        let rules = room.turn_rules();
        let candidates = self.candidates(at.conversation, subject);
        let waits = candidates.iter().filter(|c| turn.lease(c.member).is_none());
        let mut waiting: Vec<_> = waits.map(|c| c.member).collect();
        waiting.sort_unstable();
        waiting.dedup();
        waiting.truncate(limits::AUDIENCE_NAMED);
        let mut members: Vec<_> = room.roster().keys().copied().collect();
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

    fn output(&self, at: EventRef, member: MemberKey) -> Option<&Output> {
        let room = self.room(at.conversation);
        let subject = room.open().get(&at.seq)?.subject?;
        room.turns().get(subject)?.output(member, at.seq)
    }

    /// The public turn that a delivery runs in.
    fn lease(&self, at: EventRef, member: MemberKey) -> Option<&Lease> {
        let room = self.room(at.conversation);
        let subject = room.open().get(&at.seq)?.subject?;
        room.turns().get(subject)?.lease(member).filter(|lease| lease.cause == at.seq)
    }
}
