//! Memberships: joining, leaving, and membership settings: the member's name in the conversation,
//! and which of its sessions receives offers.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::derived;
use crate::language::names::confusables::look_alike;
use crate::language::names::rules::check_title;
use crate::model::conversation::{Conversation, Participation, Settings, Terms, TermsPatch};
use crate::model::delivery::State;
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::event::Change;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, SessionKey, Uid};
use crate::model::limits;

impl Context<'_> {
    /// Adds or changes a membership. Anybody who may see a public channel may join it; adding
    /// others requires the right to moderate the room.
    pub(super) fn set_seat(
        &mut self,
        uid: Uid,
        member: MemberKey,
        participation: Participation,
        terms: TermsPatch,
    ) -> Result<Arc<Conversation>> {
        let key = self.seat_to_change(uid, member)?;
        let settings = self.with_terms(key, member, terms)?;
        self.sit_by_right(key, member);
        if self.room(key).roster().get(&member) != Some(&participation) {
            self.log_plain(key, self.drawn.uid, Change::Joined { member, participation })?;
        }
        if settings != self.room(key).conversation().settings {
            let pinned = |s: &Settings| s.pinned_session(member);
            let moves = pinned(&settings) != pinned(&self.room(key).conversation().settings);
            let change = Change::SettingsChanged(settings);
            self.log_plain(key, derived(self.drawn.uid, 0), change)?;
            if moves {
                self.offer_anew(key, member)?;
            }
        }
        Ok(self.room(key).conversation().clone())
    }

    pub(super) fn remove_seat(&mut self, uid: Uid, member: MemberKey) -> Result<Arc<Conversation>> {
        let key = self.seat_to_change(uid, member)?;
        self.must_not_be_mirrored(key, member)?;
        if self.room(key).roster().contains_key(&member) {
            self.log_plain(key, self.drawn.uid, Change::Left { member })?;
            self.drop_deliveries(key, member)?;
        }
        Ok(self.room(key).conversation().clone())
    }

    fn seat_to_change(&mut self, uid: Uid, member: MemberKey) -> Result<ConversationKey> {
        let key = self.room_by_uid(uid)?;
        self.must_be_member(member)?;
        if member != self.by.member {
            self.must_govern()?;
        }
        Ok(key)
    }

    /// The settings with these membership settings changed, if they are valid.
    fn with_terms(
        &self,
        key: ConversationKey,
        member: MemberKey,
        patch: TermsPatch,
    ) -> Result<Settings> {
        let mut settings = self.room(key).conversation().settings.clone();
        let old = settings.seats.get(&member).cloned().unwrap_or_default();
        let new = old.changed(patch);
        if new == old {
            return Ok(settings);
        }
        if !self.directory().is_agent(member) {
            let why = "a name and a session can be set for an agent's membership only";
            return Err(Refusal::invalid(why).into());
        }
        check_title("display name", new.name.as_deref())?;
        if let Some(name) = new.name.as_ref().filter(|_| new.name != old.name) {
            self.directory().must_not_be_taken_for_another(name, member)?;
            let others = settings.seats.iter().filter(|(seat, _)| **seat != member);
            let mut names = others.filter_map(|(_, terms)| terms.name.as_deref());
            if let Some(other) = names.find(|other| look_alike(other, name)) {
                let why = format!("the name {name:?} looks like {other:?}, which another has here");
                return Err(Refusal::new(Code::Conflict, why).into());
            }
        }
        if let Some(uid) = new.session.filter(|uid| old.session != Some(*uid)) {
            let session = self.directory().session_by_uid(uid);
            if session.is_none_or(|session| session.member != member) {
                return Err(Refusal::invalid("the session is not one of the member").into());
            }
        }
        if new == Terms::default() {
            settings.seats.remove(&member);
        } else {
            settings.seats.insert(member, new);
        }
        let most = limits::SEATS_SET;
        if settings.seats.len() > most {
            let why = format!("a conversation has settings for at most {most} memberships");
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        Ok(settings)
    }

    /// The member leaves: what it owes there moves on, its other pending deliveries are dropped, and
    /// nothing more is said there in its name.
    pub(crate) fn drop_deliveries(
        &mut self,
        key: ConversationKey,
        member: MemberKey,
    ) -> Result<()> {
        let owed: Vec<EventRef> =
            self.ws.owed.get(&member).into_iter().flatten().copied().collect();
        let why = "the member has no seat any more";
        for at in owed.into_iter().filter(|at| at.conversation == key) {
            let open = self.room(key).open().get(&at.seq);
            let delivery = open.and_then(|open| open.delivery(member));
            match delivery.is_some_and(|d| d.is_open() && d.is_obligation()) {
                true => self.hand_over(at, member, why)?,
                false => self.take_from(at, member, why)?,
            }
        }
        let said = "its source is no longer a member of the channel";
        self.cancel_stimuli(key, said, |stimulus| stimulus.source == member);
        Ok(())
    }

    /// What the member owes moves on, as if its run had failed.
    pub(crate) fn hand_over(
        &mut self,
        at: EventRef,
        member: MemberKey,
        reason: &'static str,
    ) -> Result<()> {
        let now = self.now;
        let open = self.room_mut(at.conversation).open_mut(at.seq);
        let delivery = open.and_then(|o| o.delivery_mut(member)).filter(|d| d.is_open());
        let Some(delivery) = delivery else { return Ok(()) };
        let before = delivery.clone();
        delivery.come_back();
        delivery.withhold(false, now);
        self.cancel_all(at, vec![before], reason)?;
        self.settle(at, member, Disposition::Failed)
    }

    /// Withdraws an event from a member and ends its run. If it held a claim, another member of the
    /// role is asked.
    pub(super) fn take_from(
        &mut self,
        at: EventRef,
        member: MemberKey,
        reason: &'static str,
    ) -> Result<()> {
        let now = self.now;
        let Some(open) = self.room(at.conversation).open().get(&at.seq) else { return Ok(()) };
        let holds = open.claim.is_some_and(|c| c.holder == member);
        let before = open.delivery(member).filter(|d| d.is_open()).cloned();
        let room = self.room_mut(at.conversation);
        let delivery = room.open_mut(at.seq).and_then(|o| o.delivery_mut(member));
        if let Some(delivery) = delivery.filter(|d| d.is_open()) {
            delivery.next_fence();
            let how = if holds { Disposition::Ignored } else { Disposition::Superseded };
            delivery.settle(how, now);
        }
        self.cancel_all(at, before.into_iter().collect(), reason)?;
        if holds {
            self.pass_on(at)?;
        }
        self.settle_if_done(at);
        Ok(())
    }

    /// Another session receives the offers from now on: offers that were not accepted are withdrawn
    /// and offered to it. A run continues where it began.
    fn offer_anew(&mut self, key: ConversationKey, member: MemberKey) -> Result<()> {
        let now = self.now;
        let owed = self.ws.owed.get(&member).into_iter().flatten();
        let owed: Vec<EventRef> = owed.copied().filter(|at| at.conversation == key).collect();
        for at in owed {
            let delivery = self.room(key).open().get(&at.seq).and_then(|o| o.delivery(member));
            let Some(delivery) = delivery.cloned() else { continue };
            match delivery.state {
                State::Offered { session, .. } if !self.may_ask(key, member, session) => {
                    self.cancel_all(at, vec![delivery], "another session is asked")?;
                    let open = self.room_mut(key).open_mut(at.seq);
                    if let Some(delivery) = open.and_then(|o| o.delivery_mut(member)) {
                        delivery.interrupt(now);
                    }
                }
                State::Waiting => {}
                _ => continue,
            }
            self.offer(at, member)?;
            self.ws.track(at);
        }
        Ok(())
    }

    /// Whether the session may receive the room's offers: any may but a runner's, which is woken
    /// instead, unless the membership is pinned to one.
    pub(crate) fn may_ask(
        &self,
        key: ConversationKey,
        member: MemberKey,
        session: SessionKey,
    ) -> bool {
        if self.is_runner(session) || self.directory().is_paused(member) {
            return false;
        }
        let Some(pinned) = self.room(key).conversation().settings.pinned_session(member) else {
            return true;
        };
        self.directory().sessions.get(&session).is_some_and(|s| s.uid == pinned)
    }

    pub(crate) fn is_runner(&self, session: SessionKey) -> bool {
        self.directory().sessions.get(&session).is_some_and(|session| session.runner)
    }

    /// Whether an event of the room reaches the member soon: a connected session takes it, or a
    /// runner wakes it.
    pub(crate) fn is_reachable(&self, key: ConversationKey, member: MemberKey) -> bool {
        !self.asked_sessions(key, member).is_empty() || self.runner_of(key, member).is_some()
    }

    /// The connected sessions of a member that may receive the room's offers, newest last.
    pub(crate) fn asked_sessions(
        &self,
        key: ConversationKey,
        member: MemberKey,
    ) -> Arc<[SessionKey]> {
        let connected = self.directory().connected(member).iter().copied();
        connected.filter(|session| self.may_ask(key, member, *session)).collect()
    }
}
