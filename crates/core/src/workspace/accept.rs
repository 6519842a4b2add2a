//! What a session says of what it was offered: that it has it, cannot take it, or is at work (design section 5, "One
//! holder, one fence").

use super::deliver::never_offered;
use super::{Result, Run, is_running};
use crate::command::{Outcome, RemoteNews};
use crate::delivery::State;
use crate::error::Refusal;
use crate::event::EventRef;
use crate::ids::SessionKey;

impl Run<'_> {
    /// The harness has it. Accepting what was never offered to this session is refused.
    pub(super) fn accept(&mut self, at: EventRef, attempt: u16) -> Result<Outcome> {
        let session = self.offered(at)?;
        let now = self.now;
        let member = self.by.member;
        let Some(room) = self.ws.rooms.get_mut(&at.conversation) else { return Ok(Outcome::Done) };
        let Some(open) = room.open_mut(at.seq) else { return Ok(Outcome::Done) };
        let mine = open.delivery_mut(member);
        let Some(delivery) = mine.filter(|d| d.session() == Some(session)) else {
            return Err(never_offered().into());
        };
        if delivery.attempt != attempt || is_running(delivery.state) {
            return Ok(Outcome::Done);
        }
        self.ws.touched.insert(at.conversation);
        delivery.accept(session, now);
        if let Some(claim) = open.claim.as_mut().filter(|c| c.holder == member) {
            claim.accepted = true;
            claim.renew(now);
        }
        self.ws.count_running(member, false, true);
        self.tell_remote(at, member, RemoteNews::Began(at.seq));
        // Accepting moves the due time only later: the timer that fires early sets itself anew.
        Ok(Outcome::Done)
    }

    /// It could not be taken: offered again later.
    pub(super) fn reject(&mut self, at: EventRef, attempt: u16) -> Result<Outcome> {
        let session = self.offered(at)?;
        let member = self.by.member;
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open_mut(at.seq) else { return Ok(Outcome::Done) };
        if let Some(delivery) = open.delivery_mut(member)
            && delivery.session() == Some(session)
            && delivery.attempt == attempt
            && !is_running(delivery.state)
        {
            // Left as offered: the acknowledgement's time-out offers it again, so that a session that
            // rejects everything is not asked in a circle.
            room.must_store(at.seq);
        }
        Ok(Outcome::Done)
    }

    /// The session that acknowledges, if the event was ever offered to its member.
    pub(super) fn offered(&mut self, at: EventRef) -> Result<SessionKey> {
        let session = self.by.session.ok_or_else(never_offered)?;
        self.load(at.conversation)?;
        let room = self.room(at.conversation);
        let open = room.open.get(&at.seq).or_else(|| room.closed.iter().find(|o| o.seq == at.seq));
        if open.and_then(|o| o.delivery(self.by.member)).is_none_or(|d| d.attempt == 0) {
            return Err(never_offered().into());
        }
        Ok(session)
    }

    /// Proof of life of a session's runs, or of the one whose turn it comes with: their clocks begin anew.
    pub(super) fn life(&mut self, session: SessionKey) -> Result<Outcome> {
        let now = self.now;
        let mine =
            self.directory().sessions.get(&session).map(|s| s.member) == Some(self.by.member);
        if !mine {
            return Err(Refusal::not_found("session").into());
        }
        let only = self.by.turn.map(|t| EventRef { conversation: t.conversation, seq: t.seq });
        let alive = self.owed_by(session).into_iter().filter(|at| only.is_none_or(|o| o == *at));
        for at in alive {
            let Some(room) = self.ws.rooms.get_mut(&at.conversation) else { continue };
            let Some(open) = room.open_mut(at.seq) else { continue };
            self.ws.touched.insert(at.conversation);
            let heard = self.by.turn.is_some_and(|turn| turn.attempt > 0);
            for delivery in &mut open.deliveries {
                delivery.heard |= heard && delivery.member == self.by.member;
                if let State::Accepted { session: holder, life, .. } = &mut delivery.state
                    && *holder == session
                {
                    *life = now;
                    let member = delivery.member;
                    if let Some(claim) = open.claim.as_mut().filter(|c| c.holder == member) {
                        claim.renew(now);
                    }
                }
            }
            self.ws.track(at);
        }
        Ok(Outcome::Done)
    }
}
