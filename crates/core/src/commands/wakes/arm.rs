//! When wakes are opened, joined and handed over.
//!
//! An agent's obligation that no connected session takes opens a wake of its runner, or joins the
//! open one. Nothing else does by itself: what the agent may leave unanswered, what it caused
//! itself, and reports that something was finished wait until it is awake.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::commands::context::{Context, Result};
use crate::model::delivery::{Delivery, State};
use crate::model::event::{Event, MessageKind};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, SessionKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::member::Session;
use crate::model::stimulus::StimulusKind;
use crate::model::wake::{Wake, WakeState, WakeThread};
use crate::state::room::turns::is_owed;
use crate::state::workspace::Failure;

impl Context<'_> {
    /// A delivery waits and no session takes it: its agent's runner is to wake it.
    pub(crate) fn wake_for(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        let Some(runner) = self.runner_of(at.conversation, member) else { return Ok(()) };
        let room = self.room(at.conversation);
        let Some(open) = room.open().get(&at.seq) else { return Ok(()) };
        let waits = |d: &&Delivery| d.state == State::Waiting && is_owed(d) && !d.stands_still();
        let Some(delivery) = open.delivery(member).filter(waits) else { return Ok(()) };
        let (author, thread) = (open.author, open.thread);
        if self.ws.is_withheld(room, open, delivery) {
            let now = self.now;
            let room = self.room_mut(at.conversation);
            let delivery = room.open_mut(at.seq).and_then(|o| o.delivery_mut(member));
            if delivery.is_some_and(|delivery| delivery.withhold(true, now)) {
                room.must_store(at.seq);
            }
            return Ok(());
        }
        if author == member || self.reports_completion(at)? {
            return Ok(());
        }
        // A new event is not among what its members owe until its command ends.
        self.ws.track(at);
        let (conversation, through_seq) = (at.conversation, at.seq);
        let place = WakeThread { conversation, thread, through_seq, sent_seq: Default::default() };
        let mut wake = self.wake_to_change(&runner, at);
        let known = wake.covers(at, thread);
        if known && wake.state == WakeState::Running && wake.has_sent(at, thread) {
            // It came back to the agent, whose turn does not know that.
            wake.tell_again(at, thread);
        } else if known || !wake.add(place, self.now) {
            return Ok(());
        }
        self.push_wake(wake, false)
    }

    /// Wakes a runner for everything that waits for its member.
    pub(crate) fn wake_for_all(&mut self, session: SessionKey, member: MemberKey) -> Result<()> {
        for at in self.owed_by(session) {
            match self.wake_for(at, member) {
                // Deliveries in a damaged conversation wait until it is mended.
                Err(Failure::Unavailable(why)) if why.damaged => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// The runner's session that can wake a member for mail of a conversation: a connected one, the
    /// newest first, or one that was connected lately; none of a paused agent.
    pub(crate) fn runner_of(
        &self,
        key: ConversationKey,
        member: MemberKey,
    ) -> Option<Arc<Session>> {
        let directory = self.directory();
        if directory.is_paused(member) {
            return None;
        }
        let pinned = self.room(key).conversation().settings.pinned_session(member);
        let runners = directory.runners(member).iter();
        let runners = runners.filter_map(|key| directory.sessions.get(key));
        let here = runners.filter(|session| pinned.is_none_or(|pinned| pinned == session.uid));
        let lately = |session: &&Arc<Session>| {
            session.connected || self.now.since(session.seen_at) < limits::WAKE_RUNNER_MS
        };
        here.filter(lately).max_by_key(|s| (s.connected, s.seen_at, s.key)).cloned()
    }

    /// The open wake of a runner's session, or a new one.
    pub(super) fn wake_to_change(&self, runner: &Session, about: EventRef) -> Wake {
        let directory = self.directory();
        if let Some(open) = directory.open_wake(runner.key) {
            return Wake::clone(open);
        }
        let earlier = directory.wakes.values().filter(|wake| wake.session == runner.key);
        let before = earlier.max_by_key(|wake| (wake.changed_at, wake.uid));
        let uid = self.wake_id(runner, about, before.map(|wake| wake.uid));
        Wake::open(uid, runner.key, runner.member, before.map(|wake| &**wake), self.now)
    }

    /// A new id in the form of all ids. Timers draw none, so it is derived from what happened.
    fn wake_id(&self, runner: &Session, about: EventRef, before: Option<Uid>) -> Uid {
        let head = self.ws.rooms.get(&about.conversation).map(|room| room.head().hash);
        let hash = Sha256::new()
            .chain_update(b"chorus wake\0")
            .chain_update(runner.uid.0.to_be_bytes())
            .chain_update(before.unwrap_or_default().0.to_be_bytes())
            .chain_update(about.conversation.0.to_be_bytes())
            .chain_update(about.seq.0.to_be_bytes())
            .chain_update(head.unwrap_or_default())
            .finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        let time = (self.now.0 as u128) << 80;
        let version = 0x7_u128 << 76;
        let variant = 0x2_u128 << 62;
        let random = u128::from_be_bytes(bytes);
        let random = random & !(u128::MAX << 80) & !(0xf << 76) & !(0x3 << 62);
        Uid(time | version | variant | random)
    }

    /// Records a changed wake, and hands it to its runner or tells it of more mail if that is due.
    /// `at_once`: whatever was told to it a moment ago.
    pub(super) fn push_wake(&mut self, mut wake: Wake, at_once: bool) -> Result<()> {
        let now = self.now;
        let runner = self.directory().sessions.get(&wake.session).cloned();
        let connected = runner.is_some_and(|runner| runner.connected);
        let mut again = None;
        if connected && wake.state == WakeState::Pending {
            if wake.deferred_until.is_none_or(|until| until <= now) {
                match self.too_often(&wake) {
                    Some(until) => wake.put_off(until, now),
                    None => {
                        wake.hand(now);
                        again = Some(false);
                    }
                }
            }
        } else if connected && wake.is_out() {
            let due = wake.mail_due().is_some_and(|due| due <= now);
            if due || at_once {
                wake.sent(now);
                again = Some(true);
            }
        }
        let sent = again.map(|again| (again, wake.uid));
        self.ws.put_wake(wake);
        match sent {
            Some((again, uid)) => self.send_wake(uid, again),
            None => Ok(()),
        }
    }

    /// Until when the agent was woken too often about one of the places.
    fn too_often(&self, wake: &Wake) -> Option<Timestamp> {
        let all = &self.directory().wakes;
        let until = |place| match Wake::count_woken(all.values(), wake, place, self.now) {
            (count, until) if count >= limits::WAKES_PER_MINUTE => until,
            _ => None,
        };
        wake.threads.iter().filter_map(until).max()
    }

    /// Whether the event only reports that something was finished.
    fn reports_completion(&mut self, at: EventRef) -> Result<bool> {
        let event = self.recall_event(at)?;
        Ok(completes(&event))
    }
}

/// Whether the event is a stimulus of a kind that says that something was finished.
fn completes(event: &Event) -> bool {
    let message = event.change.message().filter(|m| m.kind == MessageKind::Event);
    let Some(metadata) = message.and_then(|m| m.metadata.as_deref()) else { return false };
    StimulusKind::ALL.iter().filter(|kind| kind.is_completion()).any(|kind| {
        // Written by the host, in one form.
        metadata.contains(&format!(r#""stimulus_kind":"{}""#, kind.name()))
    })
}
