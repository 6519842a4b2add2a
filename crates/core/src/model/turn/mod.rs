//! Public turns: who of the agents may speak now about one subject of a channel (channels spec "Autonomous
//! thread turns", design section 5 "Turns").
//!
//! A subject is a root message with its canonical thread. Whoever is to be told of something there is a
//! *candidate*; at most [`Rules::speakers`] of them hold a *lease* at a time, and are offered what they are to
//! answer; the others wait, and their clocks stand still. A lease ends when its run ends, moves to a successor
//! when nobody takes it up, and is paid from a budget that a person's message fills.
//!
//! Pure: candidates, settings and time go in, a [`Step`] comes out. The invariants, held by the simulation in
//! the tests: never more leases than speakers, never more turns that spoke than the budget but for what people
//! have asked themselves, an obligation that waits is granted before any turn that is only wanted, and a free
//! place never stays free while somebody may have it.

mod output;
pub mod rules;

use std::cmp::Reverse;

use crate::model::ids::{MemberKey, Seq, Timestamp};
use crate::model::limits;
pub use output::Output;
pub use rules::{Rules, RulesPatch};

/// Why an agent is told that its run is cancelled, where a person's newer message takes the place of what it answers.
pub const REPLACED: &str = "superseded by a newer message";

/// The right of one member to speak about the subject now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub member: MemberKey,
    /// The event whose delivery is the run.
    pub cause: Seq,
    /// Rises with every lease of the subject.
    pub fence: u32,
    pub granted_at: Timestamp,
    /// Whether a session has taken the run.
    pub accepted: bool,
    /// Whether it has said something; only then it is paid for.
    pub said: bool,
    /// Whether it has reacted to something of the subject: an answer without words.
    pub nodded: bool,
    /// A person has spoken since it was granted: what it says is paid from what was there before.
    pub prepaid: bool,
    /// How often a person's newer message replaced what it answers, and since when.
    pub superseded: u8,
    pub since: Timestamp,
}

/// The public turns of one subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    pub leases: Vec<Lease>,
    pub fence: u32,
    /// How many members the newest person's message addressed.
    pub addressees: u16,
    /// Turns that have spoken since.
    pub spent: u16,
    /// The newest turn that was paid for without a lease.
    pub counted: Option<(MemberKey, Seq)>,
    /// Who spoke last, newest last, each once.
    pub spoke: Vec<(MemberKey, Timestamp)>,
    /// Who did not take up a lease since a person spoke, and is asked last.
    pub passed: Vec<MemberKey>,
    /// Nobody but those who speak owes anything about the subject: they are offered all that people ask of them.
    pub alone: bool,
    /// What runs have put out that has not been posted yet.
    pub outputs: Vec<Output>,
}

/// A member that is to be told of something about the subject, by a delivery that would start a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub member: MemberKey,
    pub cause: Seq,
    /// Since when it wants to speak.
    pub since: Timestamp,
    /// An answer is owed.
    pub obligation: bool,
    /// It is owed to a person, whose message pays for it.
    pub asked: bool,
    /// Its session runs it already.
    pub accepted: bool,
    /// A session of it is connected that can be asked.
    pub present: bool,
    /// The text, or the sender, names it.
    pub addressed: bool,
    /// A message of its own is answered.
    pub replied_to: bool,
    /// It has reacted to the event.
    pub reacted: bool,
    /// How much it wants to take part; more is sooner.
    pub bias: u8,
    /// Deliveries that it runs elsewhere.
    pub running: usize,
}

/// What arbitration has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Who may speak from now on.
    pub granted: Vec<(MemberKey, Seq)>,
    /// What else people have asked of who speaks, to be offered along.
    pub along: Vec<(MemberKey, Seq)>,
    /// Whose lease went on to somebody else, because no session took it up.
    pub expired: Vec<(MemberKey, Seq)>,
    /// Who is not asked any more, because what a person's message pays for was said.
    pub dropped: Vec<(MemberKey, Seq)>,
    /// When time will next change anything.
    pub due: Option<Timestamp>,
}

/// Why a member may not speak now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// Somebody else has the turn.
    Held,
    /// Agents have said what the newest person's message pays for.
    Spent,
    /// It has just spoken.
    Cooling { until: Timestamp },
}

impl Turn {
    /// Turns that may speak until a person speaks again.
    pub fn budget(&self, rules: &Rules) -> u16 {
        rules.replies.max(self.addressees)
    }

    pub fn holds(&self, member: MemberKey, cause: Seq) -> bool {
        self.leases.iter().any(|l| l.member == member && l.cause == cause)
    }

    /// Whether the member is offered what people ask of it beside the run that it has the turn for.
    pub fn goes_along(&self, member: MemberKey) -> bool {
        self.alone && self.lease(member).is_some()
    }

    /// A holder speaks in a run that it was offered along: its turn goes on with that.
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

    /// Whether anybody speaks.
    pub fn is_idle(&self) -> bool {
        self.leases.is_empty()
    }

    /// Whether nobody may speak any more until a person does.
    pub fn is_spent(&self, rules: &Rules) -> bool {
        self.left(rules) == 0
    }

    /// A person has spoken about the subject, or let the agents go on: the budget is full again. Runs under way
    /// go on, and are paid from what was there before.
    pub fn refill(&mut self, addressees: u16) {
        self.addressees = addressees;
        self.spent = 0;
        self.counted = None;
        self.passed.clear();
        self.leases.iter_mut().for_each(|l| l.prepaid = true);
    }

    /// Lets a person's newer message, of which the holder is told too, take the place of what its run answers.
    /// False when the run goes on instead: it has said or done what others see or will, or was replaced often or for
    /// long.
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

    /// Whether the member may say something about the subject now.
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
            // Going on with the turn that was paid for last.
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

    /// The member has said something: its turn is paid for once.
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

    /// Until when somebody rests after what it said; none when nobody has spoken.
    pub fn rested(&self, rules: &Rules) -> Option<Timestamp> {
        self.spoke.iter().map(|(_, at)| at.plus(rules.cooldown_ms)).max()
    }

    /// Whether a place is free while somebody waits who may have it: after [`Turn::arbitrate`] it never is.
    pub fn lets_wait(&self, rules: &Rules, candidates: &[Candidate], now: Timestamp) -> bool {
        let is_free = self.leases.len() < usize::from(rules.speakers);
        is_free && self.next(rules, candidates, now).is_some()
    }

    /// Takes a lease away; whether there was one.
    pub fn take_away(&mut self, member: MemberKey) -> bool {
        let before = self.leases.len();
        self.leases.retain(|l| l.member != member);
        let had = self.leases.len() < before;
        if had {
            self.pass(member);
        }
        had
    }

    /// Brings the leases in step with who wants to speak: ends those whose run is over, moves on those that
    /// nobody took up, and grants what is free.
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

    /// Leases whose delivery is over are, too; one whose session went away is to be taken up again.
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

    /// What was not taken up in time goes to a successor; where there is none it stays. A holder that is there has as
    /// much time again.
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

    /// Who is to have the next turn.
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

    /// Who is asked before whom: those who did not let a turn pass, then those who are there again, then the rest.
    fn rank(&self, candidate: &Candidate) -> u8 {
        match (self.passed.contains(&candidate.member), candidate.present) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        }
    }

    /// The same for who holds a lease and has not taken it up.
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

    /// Turns of the budget that nobody has spoken in or holds.
    fn left(&self, rules: &Rules) -> usize {
        let reserved = self.leases.iter().filter(|l| !l.said && !l.prepaid).count();
        usize::from(self.budget(rules)).saturating_sub(usize::from(self.spent) + reserved)
    }

    /// Members that wait and owe an answer: as much of the budget is theirs.
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

    /// Until when the member rests after what it said.
    fn rested_at(&self, member: MemberKey, rules: &Rules) -> Option<Timestamp> {
        let spoke = self.spoke.iter().find(|(m, _)| *m == member);
        spoke.map(|(_, at)| at.plus(rules.cooldown_ms))
    }

    /// The order of candidates (design section 5, "Turns"), the first to speak the least. What is owed comes
    /// before what is only wanted, and first what has waited long, so that nobody waits for ever; a run that goes on
    /// already, before all.
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

    /// When a lease that is not taken up goes on to somebody, or somebody who waits has rested.
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
