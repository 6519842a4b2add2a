//! Public turns: which agents may speak now about one subject of a channel (channels spec
//! "Autonomous thread turns", design section 5 "Turns").
//!
//! A subject is a root message with its canonical thread. A member with a pending delivery there is
//! a *candidate*. At most [`Rules::speakers`] candidates hold a *lease* at a time and are offered
//! their deliveries; the others wait with stopped clocks. A lease ends when its run ends, and
//! passes to a successor when nobody accepts it. A lease that speaks uses the turn budget, which a
//! person's message refills.
//!
//! Pure: candidates, settings and time go in, a [`Step`] comes out. Invariants, checked by the
//! simulation in the tests: never more leases than speakers; never more turns with a message than
//! the budget, except those that people asked for themselves; a waiting obligation is granted
//! before any turn that is only wanted; and a place is never left free while somebody may have it.

mod output;
pub mod rules;

use std::cmp::Reverse;

pub use output::Output;
pub use rules::{Rules, RulesPatch};

use crate::model::ids::{MemberKey, Seq, Timestamp};
use crate::model::limits;

/// The reason an agent is given for a cancelled run when a person's newer message replaces the one
/// it answers.
pub const REPLACED: &str = "superseded by a newer message";

/// The right of one member to speak about the subject now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub member: MemberKey,
    /// The event whose delivery is the run.
    pub cause: Seq,
    /// Increases with every lease of the subject.
    pub fence: u32,
    pub granted_at: Timestamp,
    /// Whether a session has accepted the run.
    pub accepted: bool,
    /// Whether it has posted something. Only then it uses the budget.
    pub said: bool,
    /// Whether it has reacted to something of the subject, which is an answer without words.
    pub nodded: bool,
    /// A person has spoken since it was granted: its messages use the previous budget.
    pub prepaid: bool,
    /// How often a person's newer message replaced the event it answers, and since when.
    pub superseded: u8,
    pub since: Timestamp,
}

/// The public turns of one subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    pub leases: Vec<Lease>,
    pub fence: u32,
    /// How many members the newest message of a person addressed.
    pub addressees: u16,
    /// Turns with a message since then.
    pub spent: u16,
    /// The newest turn that used the budget without a lease.
    pub counted: Option<(MemberKey, Seq)>,
    /// Recent speakers, newest last, each once.
    pub spoke: Vec<(MemberKey, Timestamp)>,
    /// Members who did not accept a lease since a person spoke; they are asked last.
    pub passed: Vec<MemberKey>,
    /// Only the speakers owe anything about the subject, so they are offered everything that people
    /// ask of them.
    pub alone: bool,
    /// Output of runs that has not been posted yet.
    pub outputs: Vec<Output>,
}

/// A member with a delivery about the subject that would start a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub member: MemberKey,
    pub cause: Seq,
    /// Since when it has wanted to speak.
    pub since: Timestamp,
    /// An answer is owed.
    pub obligation: bool,
    /// A person asked for the answer, so the turn is granted whatever budget remains.
    pub asked: bool,
    /// Its session is already running it.
    pub accepted: bool,
    /// It has a connected session that may receive the offer.
    pub present: bool,
    /// The text, or the sender, names it.
    pub addressed: bool,
    /// It is a reply to one of its own messages.
    pub replied_to: bool,
    /// It has reacted to the event.
    pub reacted: bool,
    /// How much it wants to take part; a higher value goes first.
    pub bias: u8,
    /// How many deliveries it runs elsewhere.
    pub running: usize,
}

/// The changes made by arbitration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Members that may speak from now on.
    pub granted: Vec<(MemberKey, Seq)>,
    /// Other requests by people to the speakers, which are offered along.
    pub along: Vec<(MemberKey, Seq)>,
    /// Members whose lease passed on because no session accepted it.
    pub expired: Vec<(MemberKey, Seq)>,
    /// Members that are not asked any more, because the budget of a person's message is used up.
    pub dropped: Vec<(MemberKey, Seq)>,
    /// When time next changes anything.
    pub due: Option<Timestamp>,
}

/// Why a member may not speak now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// Another member has the turn.
    Held,
    /// Agents have used up the budget of the newest message by a person.
    Spent,
    /// It has just spoken.
    Cooling { until: Timestamp },
}

impl Turn {
    /// Remaining turns until a person speaks again.
    pub fn budget(&self, rules: &Rules) -> u16 {
        rules.replies.max(self.addressees)
    }

    pub fn holds(&self, member: MemberKey, cause: Seq) -> bool {
        self.leases.iter().any(|l| l.member == member && l.cause == cause)
    }

    /// Whether the member is also offered people's other requests, besides the run that it has the
    /// turn for.
    pub fn goes_along(&self, member: MemberKey) -> bool {
        self.alone && self.lease(member).is_some()
    }

    /// A holder speaks in another run that was offered along: its turn continues with that run.
    pub fn go_on_with(&mut self, member: MemberKey, cause: Seq) {
        if let Some(lease) = self.lease_mut(member).filter(|l| l.cause != cause) {
            lease.cause = cause;
        }
    }

    pub fn lease(&self, member: MemberKey) -> Option<&Lease> {
        self.leases.iter().find(|l| l.member == member)
    }

    pub fn lease_mut(&mut self, member: MemberKey) -> Option<&mut Lease> {
        self.leases.iter_mut().find(|l| l.member == member)
    }

    /// Whether nobody speaks.
    pub fn is_idle(&self) -> bool {
        self.leases.is_empty()
    }

    /// Whether nobody may speak any more until a person does.
    pub fn is_spent(&self, rules: &Rules) -> bool {
        self.left(rules) == 0
    }

    /// A person has spoken about the subject or let the agents continue: the budget is full again.
    /// Active runs continue and use the previous budget.
    pub fn refill(&mut self, addressees: u16) {
        self.addressees = addressees;
        self.spent = 0;
        self.counted = None;
        self.passed.clear();
        self.leases.iter_mut().for_each(|l| l.prepaid = true);
    }

    /// A person's newer message, which the holder is notified of too, replaces the event that its
    /// run answers. False when the run continues instead: it has already said or done something
    /// visible, or was replaced often or for long.
    pub fn supersede(
        &mut self,
        member: MemberKey,
        cause: Seq,
        rules: &Rules,
        now: Timestamp,
    ) -> bool {
        let payable = self.left(rules) > 0;
        let emitted = self.lease(member).is_some_and(|l| self.output(member, l.cause).is_some());
        let Some(lease) = self.lease_mut(member) else { return false };
        let seen = lease.said || lease.nodded || emitted;
        let spared = seen
            || lease.superseded >= limits::TURN_SUPERSEDED
            || now.since(lease.since) >= limits::TURN_SUPERSEDED_MS;
        if spared || lease.cause == cause {
            return false;
        }
        lease.cause = cause;
        lease.superseded += 1;
        lease.granted_at = now;
        lease.accepted = false;
        lease.prepaid &= !payable;
        true
    }

    /// Whether the member may post about the subject now.
    pub fn may_say(
        &self,
        member: MemberKey,
        cause: Option<Seq>,
        addressed: bool,
        rules: &Rules,
        now: Timestamp,
    ) -> Result<(), Bar> {
        if self.lease(member).is_some() {
            return Ok(());
        }
        if self.leases.len() >= usize::from(rules.speakers) {
            return Err(Bar::Held);
        }
        if cause.is_some_and(|cause| self.counted == Some((member, cause))) {
            // It continues the turn that used the budget last.
            return Ok(());
        }
        if self.left(rules) == 0 {
            return Err(Bar::Spent);
        }
        match self.rested_at(member, rules).filter(|until| !addressed && *until > now) {
            Some(until) => Err(Bar::Cooling { until }),
            None => Ok(()),
        }
    }

    /// The member has posted something: its turn uses the budget once.
    pub fn said(&mut self, member: MemberKey, cause: Option<Seq>, now: Timestamp) {
        let paid = match self.lease_mut(member) {
            Some(lease) => std::mem::replace(&mut lease.said, true) || lease.prepaid,
            None => {
                let counted = cause.map(|cause| (member, cause));
                counted.is_some() && std::mem::replace(&mut self.counted, counted) == counted
            }
        };
        if !paid {
            self.spent = self.spent.saturating_add(1);
        }
        self.spoke.retain(|(m, _)| *m != member);
        if self.spoke.len() >= limits::RECENT_SPEAKERS {
            self.spoke.remove(0);
        }
        self.spoke.push((member, now));
    }

    /// Until when a recent speaker rests; none when nobody has spoken.
    pub fn rested(&self, rules: &Rules) -> Option<Timestamp> {
        self.spoke.iter().map(|(_, at)| at.plus(rules.cooldown_ms)).max()
    }

    /// Whether a place is free while a candidate that may have it waits. After [`Turn::arbitrate`]
    /// this is never so.
    pub fn lets_wait(&self, rules: &Rules, candidates: &[Candidate], now: Timestamp) -> bool {
        let is_free = self.leases.len() < usize::from(rules.speakers);
        is_free && self.next(rules, candidates, now).is_some()
    }

    /// Revokes a lease. Returns whether there was one.
    pub fn take_away(&mut self, member: MemberKey) -> bool {
        let before = self.leases.len();
        self.leases.retain(|l| l.member != member);
        let had = self.leases.len() < before;
        if had {
            self.pass(member);
        }
        had
    }

    /// Matches the leases to the candidates: ends those whose run is over, passes on those that
    /// nobody accepted, and grants free places.
    pub fn arbitrate(&mut self, rules: &Rules, candidates: &[Candidate], now: Timestamp) -> Step {
        let mut step = Step::default();
        self.end(candidates, now);
        self.expire(rules, candidates, now, &mut step);
        while self.leases.len() < usize::from(rules.speakers) {
            let Some(next) = self.next(rules, candidates, now) else { break };
            self.grant(next, now);
            step.granted.push((next.member, next.cause));
        }
        if self.left(rules) == 0 {
            let waiting = candidates.iter().filter(|c| !self.holds(c.member, c.cause));
            let idle = waiting.filter(|c| !c.obligation && !c.accepted);
            step.dropped.extend(idle.map(|c| (c.member, c.cause)));
        }
        let waits = |c: &Candidate| c.obligation && self.lease(c.member).is_none();
        self.alone = !self.is_idle() && !candidates.iter().any(waits);
        if self.alone {
            let along = candidates.iter().filter(|c| c.asked && !self.holds(c.member, c.cause));
            step.along.extend(along.map(|c| (c.member, c.cause)));
        }
        step.due = self.due(rules, candidates, now);
        step
    }

    /// Ends leases whose delivery is over. A lease whose session disconnected must be accepted
    /// again.
    fn end(&mut self, candidates: &[Candidate], now: Timestamp) {
        self.leases.retain_mut(|lease| {
            let run =
                candidates.iter().find(|c| c.member == lease.member && c.cause == lease.cause);
            if let Some(run) = run
                && lease.accepted != run.accepted
            {
                lease.accepted = run.accepted;
                lease.granted_at = now;
            }
            run.is_some()
        });
    }

    /// A lease that was not accepted in time passes to a successor; without one it stays. A
    /// connected holder gets the same time again.
    fn expire(&mut self, rules: &Rules, candidates: &[Candidate], now: Timestamp, step: &mut Step) {
        let late = |l: &&Lease| !l.accepted && now.since(l.granted_at) >= rules.acceptance_ms;
        let members: Vec<_> = self.leases.iter().filter(late).map(|l| l.member).collect();
        for member in members {
            let Some(at) = self.leases.iter().position(|l| l.member == member) else { continue };
            let lease = self.leases.remove(at);
            self.pass(member);
            let rank = self.rank_of(&lease, candidates);
            match self.next(rules, candidates, now).filter(|c| self.rank(c) < rank) {
                Some(_) => step.expired.push((member, lease.cause)),
                None if rank == 1 => self.leases.insert(at, Lease { granted_at: now, ..lease }),
                None => self.leases.insert(at, lease),
            }
        }
    }

    /// The candidate for the next turn.
    fn next<'a>(
        &self,
        rules: &Rules,
        candidates: &'a [Candidate],
        now: Timestamp,
    ) -> Option<&'a Candidate> {
        let left = self.left(rules);
        let spare = left > self.owed(candidates);
        let free = candidates.iter().filter(|c| self.may_have(c, rules, now));
        let paid = |c: &&Candidate| c.asked || spare || (left > 0 && c.obligation);
        free.filter(paid).min_by_key(|c| self.order(c, now))
    }

    /// The priority of candidates: those who did not let a turn pass, then those who are connected
    /// again, then the rest.
    fn rank(&self, candidate: &Candidate) -> u8 {
        match (self.passed.contains(&candidate.member), candidate.present) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        }
    }

    /// The same for a holder who has not accepted its lease.
    fn rank_of(&self, lease: &Lease, candidates: &[Candidate]) -> u8 {
        let is_there = candidates.iter().any(|c| c.member == lease.member && c.present);
        if is_there { 1 } else { 2 }
    }

    fn pass(&mut self, member: MemberKey) {
        if !self.passed.contains(&member) {
            self.passed.push(member);
        }
    }

    fn grant(&mut self, to: &Candidate, now: Timestamp) {
        self.fence += 1;
        self.leases.push(Lease {
            member: to.member,
            cause: to.cause,
            fence: self.fence,
            granted_at: now,
            accepted: to.accepted,
            said: false,
            nodded: false,
            prepaid: false,
            superseded: 0,
            since: now,
        });
    }

    /// Turns of the budget that are neither used nor held.
    fn left(&self, rules: &Rules) -> usize {
        let reserved = self.leases.iter().filter(|l| !l.said && !l.prepaid).count();
        usize::from(self.budget(rules)).saturating_sub(usize::from(self.spent) + reserved)
    }

    /// Waiting members who owe an answer: that part of the budget is reserved for them.
    fn owed(&self, candidates: &[Candidate]) -> usize {
        let owes = |c: &Candidate| c.obligation && self.lease(c.member).is_none();
        let mut members: Vec<_> = candidates.iter().filter(|c| owes(c)).map(|c| c.member).collect();
        members.sort_unstable();
        members.dedup();
        members.len()
    }

    fn may_have(&self, candidate: &Candidate, rules: &Rules, now: Timestamp) -> bool {
        let rested = self.rested_at(candidate.member, rules).is_none_or(|at| at <= now);
        let goes_on = candidate.accepted || candidate.addressed;
        self.lease(candidate.member).is_none() && (rested || goes_on)
    }

    /// Until when the member rests after its last message.
    fn rested_at(&self, member: MemberKey, rules: &Rules) -> Option<Timestamp> {
        let spoke = self.spoke.iter().find(|(m, _)| *m == member);
        spoke.map(|(_, at)| at.plus(rules.cooldown_ms))
    }

    /// The order of candidates (design section 5, "Turns"); the least is the first to speak. An
    /// active run comes first. Then obligations come before turns that are only wanted, and among
    /// them those that have waited long, so that nobody waits for ever.
    fn order(&self, c: &Candidate, now: Timestamp) -> impl Ord + use<> {
        let long = c.obligation && now.since(c.since) >= limits::TURN_PATIENCE_MS;
        let at = |m| self.spoke.iter().position(|(s, _)| *s == m);
        let last = self.spoke.last().is_some_and(|(m, _)| *m == c.member);
        (
            (Reverse(c.accepted), self.rank(c), Reverse(c.obligation)),
            (!long, long.then_some(c.since)),
            Reverse(c.addressed),
            Reverse(c.replied_to),
            Reverse(last),
            at(c.member).is_some(),
            c.reacted,
            Reverse(c.bias),
            at(c.member),
            c.running,
            (c.member, c.cause),
        )
    }

    /// When an unaccepted lease passes on, or a waiting member has rested.
    fn due(&self, rules: &Rules, candidates: &[Candidate], now: Timestamp) -> Option<Timestamp> {
        let waiting = || candidates.iter().filter(|c| self.lease(c.member).is_none());
        let first = waiting().map(|c| self.rank(c)).min();
        let succeeds = |l: &&Lease| first.is_some_and(|rank| rank < self.rank_of(l, candidates));
        let unaccepted = self.leases.iter().filter(|l| !l.accepted).filter(succeeds);
        let late = unaccepted.map(|l| l.granted_at.plus(rules.acceptance_ms));
        let free = self.leases.len() < usize::from(rules.speakers);
        let paid = self.left(rules) > 0;
        let may = waiting().filter(|c| free && (paid || c.asked));
        let rested = may.filter_map(|c| self.rested_at(c.member, rules));
        late.chain(rested).filter(|at| *at > now).min()
    }
}
