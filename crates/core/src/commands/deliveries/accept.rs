//! A session's responses to an offer: it accepts, rejects, or reports progress (design section 5,
//! "One holder, one fence").

use crate::commands::context::{Context, Result};
use crate::commands::deliveries::deliver::never_offered;
use crate::commands::deliveries::{Disposed, Working};
use crate::model::delivery::Unanswered;
use crate::model::delivery::{Delivery, State};
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{EventRef, SessionKey, Timestamp, Uid};
use crate::state::effect::{Effect, RemoteNews, RemoteRun};

impl Context<'_> {
    /// The harness has accepted. It may acknowledge any attempt of the present fence, however late.
    /// Accepting an event that was never offered to this session is refused.
    pub(super) fn accept(
        &mut self,
        at: EventRef,
        attempt: u16,
        epoch: Option<Timestamp>,
    ) -> Result<()> {
        let session = self.offered(at)?;
        let now = self.now;
        let member = self.by.member;
        let is_asked = self.may_ask(at.conversation, member, session);
        let ws = &mut *self.ws;
        let Some(room) = ws.rooms.get_mut(&at.conversation) else { return Ok(()) };
        let Some(open) = room.open_run(at.seq) else { return Ok(()) };
        let mine = open.delivery_mut(member);
        // After the maximum number of offers to one connection the delivery waits; that connection
        // may still accept it.
        let waits = |d: &Delivery| {
            d.state == State::Waiting && !d.stands_still() && d.is_of_fence(attempt) && is_asked
        };
        let has_it = |d: &&mut Delivery| d.session() == Some(session) || waits(d);
        let Some(delivery) = mine.filter(has_it) else {
            return Err(never_offered().into());
        };
        if !delivery.is_of_fence(attempt) || delivery.state.is_running() {
            return Ok(());
        }
        let waited = delivery.session().is_none();
        ws.touched.insert(at.conversation);
        delivery.accept(session, epoch, now);
        let subject = open.subject;
        if let Some(claim) = open.claim.as_mut().filter(|c| c.holder == member) {
            claim.accepted = true;
            claim.renew(now);
        }
        // An endpoint cannot report after a crash that it has accepted, and would get the event
        // twice.
        if epoch.is_some() {
            room.must_store(at.seq);
        }
        // Accepting keeps the turn, even after a reminder.
        let is_news = |subject| room.turns().get(subject)?.lease(member).filter(|l| !l.accepted);
        if let Some(subject) = subject.filter(|subject| is_news(*subject).is_some()) {
            room.note_subject(subject);
        }
        self.ws.count_running(member, false, true);
        self.note_told(at)?;
        self.tell_remote(at, member, RemoteNews::Began(at.seq));
        self.effect(Effect::Began { conversation: at.conversation });
        // Accepting moves the due time only later, and a timer that fires early resets itself. A
        // delivery that waited may have no timer.
        if waited {
            self.ws.track(at);
        }
        Ok(())
    }

    /// The session cannot take it: it is offered again later.
    pub(super) fn reject(&mut self, at: EventRef, attempt: u16) -> Result<()> {
        let session = self.offered(at)?;
        let member = self.by.member;
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open_mut(at.seq) else { return Ok(()) };
        if let Some(delivery) = open.delivery_mut(member)
            && delivery.session() == Some(session)
            && delivery.attempt == attempt
            && !delivery.state.is_running()
        {
            // The state remains offered. The acknowledgement timeout offers it again, so that a
            // session that rejects everything does not cause a busy loop.
            room.must_store(at.seq);
        }
        Ok(())
    }

    /// The acknowledging session, if the event was ever offered to its member.
    pub(crate) fn offered(&mut self, at: EventRef) -> Result<SessionKey> {
        let session = self.by.session.ok_or_else(never_offered)?;
        self.load(at.conversation)?;
        let room = self.room(at.conversation);
        let open =
            room.open().get(&at.seq).or_else(|| room.closed().iter().find(|o| o.seq == at.seq));
        if open.and_then(|o| o.delivery(self.by.member)).is_none_or(|d| d.attempt == 0) {
            return Err(never_offered().into());
        }
        Ok(session)
    }

    /// Determines which run reports progress: that of the named event, of the turn, or the one the
    /// session began last. The progress is shown in its conversation and counts as a sign of life.
    pub(super) fn progress(&mut self, event: Option<Uid>) -> Result<Working> {
        let (me, turn) = (self.by.member, self.by.turn);
        let is_named = event.is_some() || turn.is_some();
        let at = match (event, turn) {
            (Some(uid), _) => Some(self.event_by_uid(uid, "event")?),
            (None, Some(turn)) => Some(EventRef { conversation: turn.conversation, seq: turn.seq }),
            (None, None) => self.begun_last(),
        };
        let at = at.ok_or_else(|| {
            Refusal::new(Code::Conflict, "no run of yours is under way; name its event in eventId")
        })?;
        self.load(at.conversation)?;
        self.must_sit(at.conversation)?;
        let receipt = match self.room(at.conversation).open().contains_key(&at.seq) {
            true => None,
            false => self.recall(at)?.receipt,
        };
        let open = self.room(at.conversation).open().get(&at.seq).or(receipt.as_ref());
        let Some(open) = open.filter(|o| o.delivery(me).is_some_and(|d| d.attempt > 0)) else {
            return Err(never_offered().into());
        };
        let event = open.uid;
        let is_open = open.delivery(me).is_some_and(Delivery::is_open);
        let only = self.recall_event(at)?.only().cloned();
        if let Some(session) = self.by.session {
            // For display, a run that nothing names may be guessed; for a sign of life it may not.
            match is_named {
                true => self.lives(at, session),
                false => self.life(session).map(drop)?,
            }
        }
        Ok(Working {
            conversation: self.room(at.conversation).conversation().clone(),
            event,
            only,
            remote: self.came_with(at, me).map(|_| RemoteRun { event: at.seq, is_open }),
        })
    }

    /// Unprompted actions require a membership and a conversation that allows them to its agents.
    /// What they show beside messages cannot wait for approval, so it is refused where it may
    /// disclose what they were told in private.
    pub(super) fn may_act_unasked(&mut self, conversation: Uid, shows: bool) -> Result<()> {
        let key = self.room_by_uid(conversation)?;
        self.must_sit(key)?;
        if !self.room(key).conversation().settings.proactive {
            let why = "this channel does not let agents speak unprompted through a callback";
            return Err(Refusal::new(Code::Forbidden, why).into());
        }
        if shows && self.carries_into(key)? {
            let why = "you were told something in private that is not for all of this channel, and what you do is \
                       not shown here meanwhile; say it as a message, which a person is asked about";
            return Err(Refusal::new(Code::Forbidden, why).into());
        }
        Ok(())
    }

    /// The most recently begun of the caller's session's active runs.
    fn begun_last(&self) -> Option<EventRef> {
        let session = self.by.session?;
        let began = |at: &EventRef| {
            let open = self.ws.rooms.get(&at.conversation)?.open().get(&at.seq)?;
            match open.delivery(self.by.member)?.state {
                State::Accepted { session: holder, at, .. } if holder == session => Some(at),
                _ => None,
            }
        };
        let under_way = self.owed_by(session).into_iter().filter_map(|at| Some((began(&at)?, at)));
        under_way.max().map(|(_, at)| at)
    }

    /// The harness has cancelled a delivery: an obligation counts as failed and moves on at once,
    /// and anything else is ignored. The run's output is discarded.
    pub(super) fn cancel_delivery(
        &mut self,
        uid: Uid,
        attempt: Option<u16>,
    ) -> Result<Option<Disposed>> {
        let (at, delivery) = self.own_delivery(uid)?;
        let me = delivery.member;
        // A delivery of an older fence no longer belongs to the caller, and a dead letter has ended
        // already.
        let stale = attempt.is_some_and(|attempt| !delivery.is_of_fence(attempt));
        if stale || delivery.is_dead() {
            return Ok(None);
        }
        let given_up = delivery.is_deferred() && !self.waits_for_person(at, me);
        if let Some(ended) = delivery.disposition().filter(|_| !given_up) {
            return Ok(Some(Disposed { event: uid, disposition: ended }));
        }
        let disposition = match delivery.is_obligation() {
            true => Disposition::Failed,
            false => Disposition::Ignored,
        };
        let reason = "its program cancelled the run";
        self.remark(at, me, Some(reason.into()));
        self.settle(at, me, disposition)?;
        if disposition == Disposition::Failed {
            self.report_unanswered(at, &delivery, Unanswered::Failed, Some(reason))?;
        }
        self.run_is_over(at, me, disposition)?;
        Ok(Some(Disposed { event: uid, disposition }))
    }

    /// A sign of life from the run whose turn it comes with. Without a turn it counts for the
    /// session's only active run; with several runs it is ambiguous and ignored.
    pub(super) fn life(&mut self, session: SessionKey) -> Result<()> {
        let mine =
            self.directory().sessions.get(&session).map(|s| s.member) == Some(self.by.member);
        if !mine {
            return Err(Refusal::not_found("session").into());
        }
        let only = self.by.turn.map(|t| EventRef { conversation: t.conversation, seq: t.seq });
        if let Some(at) = only.or_else(|| self.only_run(session)) {
            self.lives(at, session);
        }
        Ok(())
    }

    /// The session's active run, if it has exactly one.
    fn only_run(&self, session: SessionKey) -> Option<EventRef> {
        let runs = |at: &EventRef| {
            let open =
                self.ws.rooms.get(&at.conversation).and_then(|room| room.open().get(&at.seq));
            let mine = open.and_then(|open| open.delivery(self.by.member));
            mine.is_some_and(|d| d.session() == Some(session) && d.is_under_way())
        };
        let mut under_way = self.owed_by(session).into_iter().filter(runs);
        under_way.next().filter(|_| under_way.next().is_none())
    }

    /// The run of the caller's session at this event is alive: its timeout starts again.
    fn lives(&mut self, at: EventRef, session: SessionKey) {
        let (now, me) = (self.now, self.by.member);
        let heard = self.by.turn.is_some_and(|turn| turn.attempt > 0);
        let ws = &mut *self.ws;
        let Some(room) = ws.rooms.get_mut(&at.conversation) else { return };
        let Some(open) = room.open_run(at.seq) else { return };
        ws.touched.insert(at.conversation);
        if let Some(delivery) = open.delivery_mut(me) {
            delivery.heard |= heard;
            let lives = delivery.session() == Some(session) && delivery.live(now);
            if let Some(claim) = open.claim.as_mut().filter(|c| lives && c.holder == me) {
                claim.renew(now);
            }
        }
        self.ws.track(at);
    }
}
