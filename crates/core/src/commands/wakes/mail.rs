//! What a wake covers: mail that its runner's session takes up, keeps alive and puts away.
//!
//! Invariant: what a confirmed wake has taken up is held by the runner's session like what any other
//! session has accepted: with a fence, a sign of life, and a time by which the session must be back.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::model::delivery::Unanswered;
use crate::model::delivery::{Delivery, State};
use crate::model::disposition::Disposition;
use crate::model::ids::{ConversationKey, EventRef, Uid};
use crate::model::wake::{Left, Outcome, Wake};
use crate::state::effect::RemoteNews;
use crate::state::room::turns::is_owed;
use crate::state::workspace::Failure;

impl Context<'_> {
    /// The open deliveries that a wake covers, oldest first: those that wait, and those that its
    /// session runs.
    fn covered(&self, wake: &Wake) -> Vec<(EventRef, &Delivery)> {
        let owed = self.ws.owed.get(&wake.member);
        let covered = |at: &EventRef| {
            let open = self.ws.rooms.get(&at.conversation)?.open().get(&at.seq)?;
            let delivery = open.delivery(wake.member)?;
            let is_here = match delivery.state {
                State::Waiting => true,
                State::Accepted { session, .. } => session == wake.session,
                _ => false,
            };
            let counts = is_here && !delivery.stands_still() && wake.covers(*at, open.thread);
            counts.then_some((*at, delivery))
        };
        owed.into_iter().flatten().filter_map(covered).collect()
    }

    /// What is still owed of what a wake covers.
    pub(super) fn left_of(&self, wake: &Wake) -> Left {
        let mut left = Left::default();
        for (_, delivery) in self.covered(wake).into_iter().filter(|(_, d)| is_owed(d)) {
            match delivery.state.is_running() {
                true => left.told = true,
                false => left.untold = true,
            }
        }
        left
    }

    fn covered_by(
        &self,
        uid: Uid,
        which: impl Fn(&Wake, EventRef, &Delivery) -> bool,
    ) -> Vec<EventRef> {
        let Some(wake) = self.directory().wakes.get(&uid) else { return Vec::new() };
        let all = self.covered(wake).into_iter();
        all.filter(|(at, delivery)| which(wake, *at, delivery)).map(|(at, _)| at).collect()
    }

    /// The program is awake: its session takes up everything of which it was told.
    pub(super) fn take_up_mail(&mut self, uid: Uid) -> Result<()> {
        let told = self.covered_by(uid, |wake, at, _| {
            let room = self.ws.rooms.get(&at.conversation);
            let thread = room.and_then(|r| r.open().get(&at.seq)).and_then(|open| open.thread);
            wake.has_sent(at, thread)
        });
        for at in told {
            match self.take_up_event(uid, at) {
                Err(Failure::Unavailable(why)) if why.damaged => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// The program may speak about what a prompt quotes before it is known to be awake.
    pub(super) fn note_quoted(&mut self, wake: &Wake) -> Result<()> {
        let quoted = self.covered(wake).into_iter();
        let quoted = quoted.filter(|(_, delivery)| delivery.decision.mode.shows_content());
        for at in quoted.map(|(at, _)| at).collect::<Vec<_>>() {
            self.note_told_to(wake.member, Some(wake.session), at)?;
        }
        Ok(())
    }

    /// As an offer that is accepted at once.
    fn take_up_event(&mut self, uid: Uid, at: EventRef) -> Result<()> {
        let Some(wake) = self.directory().wakes.get(&uid).cloned() else { return Ok(()) };
        let (member, session, now) = (wake.member, wake.session, self.now);
        let room = self.room(at.conversation);
        let open = room.open().get(&at.seq);
        let withheld =
            open.is_none_or(|o| o.delivery(member).is_none_or(|d| self.ws.is_withheld(room, o, d)));
        if withheld {
            return Ok(());
        }
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open_mut(at.seq) else { return Ok(()) };
        if let Some(claim) = open.claim.as_mut().filter(|claim| claim.holder == member) {
            claim.accepted = true;
            claim.renew(now);
        }
        let Some(delivery) = open.delivery_mut(member) else { return Ok(()) };
        let was_running = delivery.state.is_running();
        if was_running {
            delivery.live(now);
            self.ws.track(at);
            return Ok(());
        }
        delivery.offer(session, now);
        delivery.carried = false;
        delivery.accept(session, None, now);
        // A run that is under way must not begin again because the host was killed.
        room.must_store(at.seq);
        self.ws.count_running(member, was_running, true);
        self.note_told_to(member, Some(session), at)?;
        self.tell_remote(at, member, RemoteNews::Began(at.seq));
        self.ws.track(at);
        Ok(())
    }

    /// The runner reports that the turn runs.
    pub(super) fn runs_live(&mut self, uid: Uid) -> Result<()> {
        let now = self.now;
        for at in self.covered_by(uid, |_, _, delivery| delivery.state.is_running()) {
            let member = self.by.member;
            let Some(room) = self.ws.rooms.get_mut(&at.conversation) else { continue };
            let Some(open) = room.open_run(at.seq) else { continue };
            if let Some(delivery) = open.delivery_mut(member) {
                delivery.live(now);
            }
            if let Some(claim) = open.claim.as_mut().filter(|claim| claim.holder == member) {
                claim.renew(now);
            }
            self.ws.touched.insert(at.conversation);
            self.ws.track(at);
        }
        Ok(())
    }

    /// The turn has ended and nothing is owed any more: what it had taken up besides is settled.
    pub(super) fn put_away(&mut self, wake: &Wake) -> Result<()> {
        let read: Vec<_> = self.covered(wake).into_iter().map(|(at, d)| (at, d.state)).collect();
        for (at, _) in read.into_iter().filter(|(_, state)| state.is_running()) {
            self.settle(at, wake.member, Disposition::Acknowledged)?;
        }
        Ok(())
    }

    /// The wake is a dead letter: what it covers has failed and moves on, and whoever asked is told.
    pub(super) fn give_up_wake(&mut self, mut wake: Wake, outcome: Outcome) -> Result<()> {
        if wake.is_open() {
            wake.end(outcome, self.now);
        }
        self.ws.put_wake(wake.clone());
        let owed: Vec<(EventRef, Delivery)> =
            self.covered(&wake).into_iter().map(|(at, delivery)| (at, delivery.clone())).collect();
        for (at, delivery) in owed {
            if self.is_in_other_hands(&wake, at) {
                continue;
            }
            if !is_owed(&delivery) {
                if delivery.state.is_running() {
                    self.settle(at, wake.member, Disposition::Ignored)?;
                }
                continue;
            }
            let why = Self::failed_because(&wake, outcome);
            self.remark(at, wake.member, Some(Arc::from(&*why)));
            self.settle(at, wake.member, Disposition::Failed)?;
            let reported = self.report_unanswered(at, &delivery, Unanswered::Failed, Some(&why));
            match reported {
                Err(Failure::Unavailable(why)) if why.damaged => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// Whether another runner of the agent, which is connected, has an open wake about it too.
    fn is_in_other_hands(&self, wake: &Wake, at: EventRef) -> bool {
        let directory = self.directory();
        let thread = self.ws.rooms.get(&at.conversation).and_then(|room| room.open().get(&at.seq));
        let thread = thread.and_then(|open| open.thread);
        directory.wakes.values().any(|other| {
            let runner = directory.sessions.get(&other.session);
            let is_theirs = other.member == wake.member && other.session != wake.session;
            is_theirs
                && other.is_open()
                && other.covers(at, thread)
                && runner.is_some_and(|runner| runner.connected)
        })
    }

    /// Drops what programs showed while they were awake for mail of a conversation: it may repeat a
    /// message that is erased.
    pub(crate) fn drop_lines_about(&mut self, conversation: ConversationKey) {
        let shows = |wake: &&Arc<Wake>| {
            wake.lines.is_some() && wake.threads.iter().any(|t| t.conversation == conversation)
        };
        let all: Vec<_> = self.directory().wakes.values().filter(shows).cloned().collect();
        for wake in all {
            self.ws.put_wake(Wake { lines: None, ..Wake::clone(&wake) });
        }
    }

    /// Why the agent did not answer, as all who read the conversation see it. What the program's screen showed is for
    /// operators: a person's terminal has other things on it.
    fn failed_because(wake: &Wake, outcome: Outcome) -> String {
        let why = match outcome {
            Outcome::WakeFailed => "the agent could not be woken",
            Outcome::NoProgress => "the agent was woken and did not answer",
            _ => "the agent sleeps, and no runner of it is connected",
        };
        match wake.lines {
            Some(_) => format!("{why}; an operator sees the end of its screen with `chorus why`"),
            None => why.to_owned(),
        }
    }
}
