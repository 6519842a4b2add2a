//! Turns in a room: deliveries about a subject are offered to the members whose turn it is, one
//! after the other (rules: [`crate::model::turn`]; channels spec "Autonomous thread turns").
//!
//! Code that changes the open events of a subject records the subject. At the end of the command
//! every such subject is arbitrated once. A delivery that must wait has a stopped clock, as in a
//! paused timeline, and is offered when its turn comes.

use crate::commands::context::{Context, Result};
use crate::commands::messages::destination::Place;
use crate::model::attention::{Attention, Directedness, Policy, Rule, Told};
use crate::model::conversation::Participation;
use crate::model::delivery::{Delivery, Open, State};
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::event::Event;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, ThreadKey, Timestamp, Uid};
use crate::model::member::Member;
use crate::model::turn::{Bar, Candidate, REPLACED};
use crate::state::room::turns::{is_asked, is_owed};
use crate::state::workspace::TimerKey;

impl Context<'_> {
    /// Whether an agent may post about the subject now.
    pub(super) fn check_turn(
        &self,
        me: &Member,
        key: ConversationKey,
        subject: Option<Seq>,
        cause: Option<EventRef>,
    ) -> Result<()> {
        let Some(subject) = subject.filter(|_| me.is_agent()) else { return Ok(()) };
        let room = self.room(key);
        let cause = cause.filter(|c| c.conversation == key).map(|c| c.seq);
        let open = cause.and_then(|seq| room.open().get(&seq));
        let delivery = open.and_then(|o| Some((o, o.delivery(me.key)?)));
        let addressed = delivery.is_some_and(|(open, d)| is_addressed(open, d));
        let rules = room.turn_rules();
        let turn = room.turn(subject);
        let may = turn.may_say(me.key, cause, addressed, &rules, self.now);
        may.map_err(|bar| refused(bar, self.now).into())
    }

    /// A message about a subject was logged: it uses the turn budget, or refills it.
    pub(crate) fn count_turn(&mut self, me: &Member, subject: Option<Seq>, event: &Event) {
        let Some(subject) = subject else { return };
        let key = event.conversation;
        let now = self.now;
        if !me.is_agent() {
            let told = event.attention.iter().flat_map(|a| &a.told);
            let owed = told.filter(|t| t.decision.directedness == Directedness::ToMe);
            let agents = owed.filter(|t| self.directory().is_agent(t.member)).count();
            if agents > 0 || self.room(key).turns().get(subject).is_some() {
                let addressees = u16::try_from(agents).unwrap_or(u16::MAX);
                self.room_mut(key).turn_mut(subject).refill(addressees);
            }
        } else if event.is_talk() && event.seq != subject {
            let cause = event.cause.filter(|c| c.conversation == key).map(|c| c.seq);
            self.room_mut(key).turn_mut(subject).said(me.key, cause, now);
        }
    }

    /// Whether the turn budget of a thread's subject is used up until a person speaks.
    pub(super) fn are_turns_spent(&self, key: ConversationKey, thread: Option<ThreadKey>) -> bool {
        let room = self.room(key);
        let subject = thread.and_then(|t| room.subject_of(Seq::default(), Some(t)));
        subject.is_some_and(|subject| room.turn(subject).is_spent(&room.turn_rules()))
    }

    /// Refills the turn budget, because a person let agents continue in a thread or its status
    /// changed.
    pub(crate) fn refill_turns(&mut self, key: ConversationKey, thread: Option<ThreadKey>) {
        let subject = thread.and_then(|t| self.room(key).subject_of(Seq::default(), Some(t)));
        let Some(subject) = subject else { return };
        self.room_mut(key).turn_mut(subject).refill(0);
    }

    /// Whether the member's message uses the last turn that a person's message allows, and asks
    /// another agent for an answer that must wait for a person.
    pub(super) fn ends_turns(
        &self,
        me: &Member,
        place: &Place,
        cause: Option<EventRef>,
        attention: &Attention,
    ) -> bool {
        let asked = |t: &Told| {
            t.decision.policy == Policy::MustRespond && self.directory().is_agent(t.member)
        };
        let Some(subject) = self.subject(place) else { return false };
        if !attention.told.iter().any(asked) {
            return false;
        }
        let room = self.room(place.key);
        let mut turn = room.turn(subject);
        let cause = cause.filter(|c| c.conversation == place.key).map(|c| c.seq);
        turn.said(me.key, cause, self.now);
        turn.take_away(me.key);
        turn.is_spent(&room.turn_rules())
    }

    /// A person has spoken about a subject: turns that were only wanted are dropped, and a run that
    /// has said nothing yet starts again with the new message.
    pub(crate) fn refresh_turns(&mut self, subject: Option<Seq>, event: &Event) -> Result<()> {
        let Some(subject) = subject else { return Ok(()) };
        let (key, now) = (event.conversation, self.now);
        let rules = self.room(key).turn_rules();
        let earlier: Vec<Seq> =
            self.room(key).turns().open(subject).filter(|seq| *seq != event.seq).collect();
        let told: Vec<MemberKey> = match self.room(key).open().get(&event.seq) {
            Some(open) => {
                let told = open.deliveries.iter().filter(|d| self.ws.takes_turns(d));
                told.map(|d| d.member).collect()
            }
            None => Vec::new(),
        };
        for member in told {
            let turn = self.room_mut(key).turn_mut(subject);
            let Some(cause) = turn.lease(member).map(|l| l.cause) else { continue };
            if turn.supersede(member, event.seq, &rules, now) {
                self.replace_run(EventRef { conversation: key, seq: cause }, member)?;
            }
        }
        for seq in earlier {
            let Some(open) = self.room(key).open().get(&seq) else { continue };
            let idle = |d: &&Delivery| {
                let waits = self.ws.takes_turns(d) && self.room(key).waits_for_turn(open, d);
                waits && !is_owed(d) && !d.state.is_running()
            };
            let idle: Vec<_> = open.deliveries.iter().filter(idle).map(|d| d.member).collect();
            for member in idle {
                self.settle(EventRef { conversation: key, seq }, member, Disposition::Superseded)?;
            }
        }
        Ok(())
    }

    /// Ends the run of an older message: its member continues with a newer one, and with the older
    /// one too if it owes an answer to it.
    fn replace_run(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        let now = self.now;
        let open = self.room(at.conversation).open().get(&at.seq);
        let Some(before) = open.and_then(|o| o.delivery(member)).cloned() else { return Ok(()) };
        let (owes, ran) = (is_owed(&before), before.state.is_running());
        self.cancel_all(at, vec![before], REPLACED)?;
        if !owes {
            return self.settle(at, member, Disposition::Superseded);
        }
        let room = self.room_mut(at.conversation);
        if let Some(delivery) = room.delivery_mut(at.seq, member) {
            delivery.come_back();
            delivery.withhold(true, now);
        }
        self.ws.count_running(member, ran, false);
        self.ws.track(at);
        Ok(())
    }

    /// Arbitrates every subject with changes.
    pub(crate) fn arbitrate(&mut self) -> Result<()> {
        while let Some((key, subject)) = self.ws.rooms.take_changed() {
            self.arbitrate_subject(key, subject)?;
        }
        Ok(())
    }

    fn arbitrate_subject(&mut self, key: ConversationKey, subject: Seq) -> Result<()> {
        let now = self.now;
        let candidates = self.candidates(key, subject);
        let room = self.room(key);
        // It may have been offered along with another, and the turn passes on before it is
        // accepted.
        let is_offered = |c: &&Candidate| {
            let delivery = room.open().get(&c.cause).and_then(|o| o.delivery(c.member));
            delivery.is_some_and(|d| matches!(d.state, State::Offered { .. }))
        };
        let offered_before: Vec<_> =
            candidates.iter().filter(is_offered).map(|c| (c.member, c.cause)).collect();
        let rules = room.turn_rules();
        if candidates.is_empty() && room.turns().get(subject).is_none() {
            self.ws.timers.set(TimerKey::turn(key, subject), None);
            return Ok(());
        }
        let before = room.turn(subject);
        let mut turn = before.clone();
        let step = turn.arbitrate(&rules, &candidates, now);
        turn.outputs.retain(|output| {
            let delivery = room.open().get(&output.cause).and_then(|o| o.delivery(output.member));
            delivery.is_some_and(Delivery::is_open)
        });
        debug_assert!(!turn.lets_wait(&rules, &candidates, now), "{turn:?} {candidates:?}");
        let rested = turn.rested(&rules).filter(|at| *at > now);
        let mut offered = step.along;
        offered.extend(turn.leases.iter().map(|l| (l.member, l.cause)));
        offered.sort_unstable_by_key(|(_, seq)| *seq);
        let (mut back, expired) = (step.expired.clone(), step.expired);
        let stray = |c: &(MemberKey, Seq)| turn.lease(c.0).is_none() && !back.contains(c);
        let strays: Vec<_> = offered_before.into_iter().filter(stray).collect();
        back.extend(strays);
        let rests = room.turns().rests(subject) != rested.is_some();
        if rests {
            self.room_mut(key).rest(subject, rested.is_some());
        }
        let room = self.room(key);
        if before != turn || room.turns().is_row_due(subject) {
            let room = self.room_mut(key);
            room.put_turn(subject, turn);
            room.note_granted(step.granted);
            room.note_expired(expired);
        }
        self.ws.timers.set(TimerKey::turn(key, subject), step.due.or(rested));
        for (member, seq) in back {
            self.take_back(EventRef { conversation: key, seq }, member)?;
        }
        for (member, seq) in offered {
            self.let_speak(EventRef { conversation: key, seq }, member)?;
        }
        for (member, seq) in step.dropped {
            self.settle(EventRef { conversation: key, seq }, member, Disposition::Superseded)?;
        }
        Ok(())
    }

    /// The members who speak about a subject or wait to.
    pub(crate) fn candidates(&self, key: ConversationKey, subject: Seq) -> Vec<Candidate> {
        let room = self.room(key);
        let mut candidates = Vec::new();
        if room.is_closed() {
            // Nobody can speak there, and no run continues.
            return candidates;
        }
        for open in room.turns().open(subject).filter_map(|seq| room.open().get(&seq)) {
            let paused = self.ws.is_paused(room, open.thread);
            let wanted = open.deliveries.iter().filter(|d| self.ws.takes_turns(d));
            let holds = |d: &Delivery| {
                room.turns().get(subject).is_some_and(|t| t.holds(d.member, open.seq))
            };
            // In a paused timeline nobody begins to speak.
            candidates.extend(wanted.filter(|d| !paused || holds(d)).map(|d| {
                let participation = room.roster().get(&d.member).copied().unwrap_or_default();
                Candidate {
                    member: d.member,
                    cause: open.seq,
                    since: waits_since(open, d),
                    obligation: is_owed(d),
                    asked: is_asked(open, d),
                    accepted: d.state.is_running(),
                    present: self.is_reachable(key, d.member),
                    addressed: is_addressed(open, d),
                    replied_to: d.decision.rule == Rule::Reply,
                    reacted: has_reacted(room, open.seq, d.member),
                    bias: bias(participation),
                    running: self.ws.running.get(&d.member).copied().unwrap_or(0),
                }
            }));
        }
        candidates
    }

    /// The turn has passed to another member: the offer is withdrawn, and the delivery waits.
    fn take_back(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        let now = self.now;
        let open = self.room(at.conversation).open().get(&at.seq);
        let Some(before) = open.and_then(|o| o.delivery(member)).cloned() else { return Ok(()) };
        if matches!(before.state, State::Offered { .. }) {
            self.cancel_all(at, vec![before], "nobody took the turn up; another has it")?;
        }
        let room = self.room_mut(at.conversation);
        if let Some(delivery) = room.delivery_mut(at.seq, member) {
            if !delivery.state.is_running() {
                delivery.come_back();
            }
            delivery.withhold(true, now);
        }
        self.ws.track(at);
        Ok(())
    }

    /// Offers the holder of the turn the event to answer.
    fn let_speak(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        let now = self.now;
        let room = self.room(at.conversation);
        let Some(open) = room.open().get(&at.seq) else { return Ok(()) };
        let stands = open.delivery(member).is_some_and(Delivery::stands_still);
        if !stands || self.ws.is_paused_here(room, open.thread) {
            return Ok(());
        }
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open_mut(at.seq) else { return Ok(()) };
        if let Some(delivery) = open.delivery_mut(member) {
            delivery.withhold(false, now);
        }
        if let Some(claim) = open.claim.as_mut().filter(|c| c.holder == member) {
            claim.renew(now);
        }
        if open.stored {
            room.must_store(at.seq);
        }
        self.offer_held_back(at, member)?;
        self.ws.track(at);
        Ok(())
    }

    /// An operator revokes a turn: its run is withdrawn, and the next member in line speaks.
    pub(super) fn break_turn(
        &mut self,
        conversation: Uid,
        subject: Uid,
        member: MemberKey,
    ) -> Result<()> {
        self.must_govern()?;
        let key = self.room_by_uid(conversation)?;
        let subject = self.subject_by_uid(key, subject)?;
        let holder = self.room(key).turns().get(subject).and_then(|t| t.lease(member)).cloned();
        let Some(lease) = holder else {
            return Err(Refusal::new(Code::Conflict, "this member does not hold the turn").into());
        };
        let at = EventRef { conversation: key, seq: lease.cause };
        let open = self.room(key).open().get(&at.seq);
        let before = open.and_then(|o| o.delivery(member)).cloned();
        self.room_mut(key).turn_mut(subject).take_away(member);
        if let Some(before) = before {
            self.cancel_all(at, vec![before], "an operator took the turn away")?;
            self.settle(at, member, Disposition::Superseded)?;
        }
        Ok(())
    }

    /// Ends an agent's delivery, with the turn that it holds for it.
    pub(crate) fn end_delivery(&mut self, event: Uid, member: MemberKey) -> Result<()> {
        let at = self.event_by_uid(event, "event")?;
        let unknown = || Refusal::not_found("member");
        let agent = self.directory().member(member).cloned().ok_or_else(unknown)?;
        if !agent.is_agent() {
            return Err(Refusal::invalid("what a person owes is ended by that person").into());
        }
        self.may_steer(&agent)?;
        let room = self.room(at.conversation);
        let delivery = room.open().get(&at.seq).and_then(|open| open.delivery(member));
        let before = delivery.filter(|d| d.is_open()).cloned();
        let Some(before) = before else { return Err(self.has_ended(at, member)?.into()) };
        if let Some(subject) = room.turns().held_for(member, at.seq) {
            self.room_mut(at.conversation).turn_mut(subject).take_away(member);
        }
        if let Some(delivery) = self.room_mut(at.conversation).delivery_mut(at.seq, member) {
            // For good: it does not come back by a claim.
            delivery.over = true;
        }
        self.cancel_all(at, vec![before], "a person has ended it")?;
        self.settle(at, member, Disposition::Superseded)
    }

    /// Why there is nothing to end.
    fn has_ended(&mut self, at: EventRef, member: MemberKey) -> Result<Refusal> {
        let recalled = self.recall(at)?;
        let open = self.room(at.conversation).open().get(&at.seq).or(recalled.receipt.as_ref());
        Ok(match open.and_then(|open| open.delivery(member)) {
            Some(_) => Refusal::new(Code::Conflict, "this delivery has ended"),
            None => Refusal::not_found("delivery"),
        })
    }

    /// A subject by the id of its root message or its thread.
    fn subject_by_uid(&mut self, key: ConversationKey, uid: Uid) -> Result<Seq> {
        let threads = self.room(key).threads().values();
        if let Some(thread) = threads.into_iter().find(|t| t.uid == uid) {
            return Ok(thread.root.unwrap_or(Seq(thread.key.0)));
        }
        let at = self.event_by_uid(uid, "subject")?;
        if at.conversation != key {
            return Err(Refusal::not_found("subject").into());
        }
        Ok(self.recall(at)?.event.edit_of().unwrap_or(at.seq))
    }
}

/// Whether the delivery's member was named, or is asked by a person.
fn is_addressed(open: &Open, delivery: &Delivery) -> bool {
    let rule = delivery.decision.rule;
    // A reaction is to the member's own message.
    let named = matches!(
        rule,
        Rule::Mention | Rule::Recipient | Rule::RoleMention | Rule::Escalated | Rule::Reaction
    );
    // A person has edited a message that the member answered.
    let edited = rule == Rule::EditedAfterResponse && open.hop == 0;
    named || edited || is_asked(open, delivery)
}

fn waits_since(open: &Open, delivery: &Delivery) -> Timestamp {
    delivery.clock.withheld.unwrap_or(open.at)
}

fn has_reacted(room: &crate::state::room::Room, seq: Seq, member: MemberKey) -> bool {
    let state = room.messages().get(&seq);
    state.is_some_and(|m| m.reactions.iter().any(|(by, _)| *by == member))
}

/// How much an unselected member wants to take part.
fn bias(participation: Participation) -> u8 {
    match participation {
        Participation::AlwaysListen => 3,
        Participation::PreferSelected => 2,
        Participation::SelectedOnly => 1,
        Participation::ManualOnly => 0,
    }
}

fn refused(bar: Bar, now: Timestamp) -> Refusal {
    match bar {
        Bar::Held => Refusal::new(
            Code::TurnHeldByOther,
            "another member has the turn in this thread; what you have is offered to you when your turn comes",
        ),
        Bar::Spent => Refusal::new(
            Code::ReplyBudgetSpent,
            "agents have said in this thread what the last message of a person allows; another message of a \
             person, or `chorus continue`, lets them go on",
        ),
        Bar::Cooling { until } => Refusal::new(
            Code::RateLimited,
            format!(
                "you have just spoken in this thread; speak again in {} s, or react",
                (until.since(now) + 999) / 1_000
            ),
        ),
    }
}
