//! Turns, played: people and agents of every temper talk about thousands of subjects, a million messages, and
//! what the module promises holds after every step.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail loudly")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use chorus_core::model::ids::{MemberKey, Seq, Timestamp};
use chorus_core::model::limits;
use chorus_core::model::turn::{Bar, Candidate, Rules, RulesPatch, Turn};

/// Numbers that follow from a seed (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % n.max(1)
    }

    fn percent(&mut self, p: u64) -> bool {
        self.below(100) < p
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Person,
    Accepts(MemberKey, Seq),
    Ends(MemberKey, Seq),
    Overdue(MemberKey, Seq),
    Due,
}

/// How an agent is.
struct Temper {
    /// Its sessions never answer.
    absent: bool,
    /// How often a run only nods, asks another agent, or says more than one thing; in percent.
    nods: u64,
    asks: u64,
    repeats: u64,
}

/// One subject, and everybody who talks about it.
struct Subject {
    dice: Dice,
    rules: Rules,
    turn: Turn,
    agents: Vec<Temper>,
    candidates: Vec<Candidate>,
    agenda: BinaryHeap<Reverse<(i64, u64, Next)>>,
    count: u64,
    planned: Option<i64>,
    now: i64,
    seq: u64,
    /// Fences of turns that have spoken since a person did, and whose lease is younger than that.
    paid: HashSet<u32>,
    /// Of leases that are older.
    prepaid: HashSet<u32>,
    /// Of leases for what a person has asked.
    asked: HashSet<u32>,
    /// What was offered beside a turn, so that it is taken up once.
    along: HashSet<(MemberKey, Seq)>,
    messages: u64,
    granted: u64,
    beside: u64,
    expired: u64,
    dropped: u64,
    people_until: i64,
}

impl Subject {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let agents = (0..2 + dice.below(7)).map(|_| Temper {
            absent: dice.percent(12),
            nods: dice.below(60),
            asks: dice.below(70),
            repeats: dice.below(30),
        });
        let agents = agents.collect();
        let speakers = if dice.percent(75) { 1 } else { 1 + dice.below(3) as u8 };
        let patch = RulesPatch {
            speakers: Some(speakers),
            replies: Some(1 + dice.below(6) as u16),
            ..RulesPatch::default()
        };
        let rules = Rules::default().changed(patch).unwrap();
        let mut subject = Self {
            dice,
            rules,
            turn: Turn::default(),
            agents,
            candidates: Vec::new(),
            agenda: BinaryHeap::new(),
            count: 0,
            planned: None,
            now: 0,
            seq: 0,
            paid: HashSet::new(),
            prepaid: HashSet::new(),
            asked: HashSet::new(),
            along: HashSet::new(),
            messages: 0,
            granted: 0,
            beside: 0,
            expired: 0,
            dropped: 0,
            people_until: i64::MAX,
        };
        subject.plan(0, Next::Person);
        subject
    }

    fn plan(&mut self, after: i64, next: Next) {
        self.count += 1;
        self.agenda.push(Reverse((self.now + after, self.count, next)));
    }

    /// Plays until so many messages were said, then lets the agents come to an end without a person.
    fn play(&mut self, messages: u64) {
        while let Some(Reverse((at, _, next))) = self.agenda.pop() {
            assert!(
                self.count < 100 * messages,
                "no end of {:?} {}",
                self.turn.leases,
                self.candidates.len()
            );
            self.now = at;
            if self.messages >= messages {
                self.people_until = self.people_until.min(at);
            }
            match next {
                Next::Person => self.person(),
                Next::Accepts(member, cause) => self.accepts(member, cause),
                Next::Ends(member, cause) => self.ends(member, cause),
                Next::Overdue(member, cause) => {
                    // Nobody took it up: it is moved elsewhere.
                    let held = self.is_offered(member, cause);
                    self.candidates
                        .retain(|c| !held || c.accepted || (c.member, c.cause) != (member, cause));
                }
                Next::Due => {}
            }
            self.arbitrate();
            self.check();
        }
    }

    fn person(&mut self) {
        if self.now >= self.people_until {
            return;
        }
        self.messages += 1;
        self.seq += 1;
        let (cause, members) = (Seq(self.seq), self.agents.len() as u64);
        let addressed = self.dice.below(3);
        let first = self.dice.below(members);
        let told: Vec<_> = (0..members)
            .map(|n| (MemberKey(1 + ((first + n) % members) as u32), n < addressed))
            .collect();
        self.turn.refill(addressed.min(members) as u16);
        self.prepaid = self.turn.leases.iter().map(|l| l.fence).collect();
        self.paid.clear();
        // What was only wanted is not wanted any more.
        let turn = &self.turn;
        self.candidates.retain(|c| c.obligation || turn.holds(c.member, c.cause));
        let now = Timestamp(self.now);
        for (member, addressed) in told {
            if !addressed && !self.dice.percent(25) {
                continue;
            }
            let old = self.turn.lease(member).map(|l| l.cause);
            if self.turn.supersede(member, cause, &self.rules, now) {
                let is_old = |c: &Candidate| Some(c.cause) == old && c.member == member;
                self.candidates.retain(|c| !is_old(c) || c.obligation);
                for again in self.candidates.iter_mut().filter(|c| is_old(c)) {
                    again.accepted = false;
                    self.along.remove(&(again.member, again.cause));
                }
                let lease = self.turn.lease(member).unwrap();
                if !lease.prepaid {
                    self.prepaid.remove(&lease.fence);
                }
                if addressed {
                    self.asked.insert(lease.fence);
                }
                self.accept_later(member, cause);
            }
            self.tell(member, cause, addressed, true);
        }
        let pause = 1_000 + self.dice.below(240_000) as i64;
        self.plan(pause, Next::Person);
    }

    fn tell(&mut self, member: MemberKey, cause: Seq, addressed: bool, by_person: bool) {
        self.candidates.push(Candidate {
            member,
            cause,
            since: Timestamp(self.now),
            obligation: addressed,
            asked: addressed && by_person,
            accepted: false,
            present: true,
            addressed,
            replied_to: false,
            reacted: false,
            bias: 0,
            running: 0,
        });
    }

    fn accept_later(&mut self, member: MemberKey, cause: Seq) {
        self.plan(300_000, Next::Overdue(member, cause));
        if !self.agents[member.0 as usize - 1].absent {
            let slow = self.dice.percent(5);
            let after = self.dice.below(if slow { 90_000 } else { 2_000 }) as i64;
            self.plan(after, Next::Accepts(member, cause));
        }
    }

    fn is_offered(&self, member: MemberKey, cause: Seq) -> bool {
        let came = |c: &&Candidate| (c.member, c.cause) == (member, cause);
        let asked = self.candidates.iter().find(came).is_some_and(|c| c.asked);
        self.turn.holds(member, cause) || (asked && self.turn.goes_along(member))
    }

    fn accepts(&mut self, member: MemberKey, cause: Seq) {
        if !self.is_offered(member, cause) {
            self.along.remove(&(member, cause));
            return;
        }
        let found = self.candidates.iter_mut().find(|c| c.member == member && c.cause == cause);
        let Some(candidate) = found else { return };
        candidate.accepted = true;
        let run = 500 + self.dice.below(60_000) as i64;
        self.plan(run, Next::Ends(member, cause));
    }

    fn ends(&mut self, member: MemberKey, cause: Seq) {
        let temper = &self.agents[member.0 as usize - 1];
        let (nods, repeats, asks) = (temper.nods, temper.repeats, temper.asks);
        let Some(at) = self.candidates.iter().position(|c| c.member == member && c.cause == cause)
        else {
            return;
        };
        if !self.candidates[at].accepted {
            return;
        }
        if self.turn.lease(member).is_none() {
            // It went along, and the turn went on to another: it waits for its own.
            assert!(self.candidates[at].asked);
            self.plan(5_000, Next::Ends(member, cause));
            return;
        }
        if !self.dice.percent(nods) {
            let addressed = self.candidates[at].addressed;
            self.says(member, cause, addressed);
            if self.dice.percent(repeats) {
                self.says(member, cause, addressed);
            }
            if self.dice.percent(asks) {
                let other = MemberKey(1 + self.dice.below(self.agents.len() as u64) as u32);
                if other != member {
                    self.tell(other, Seq(self.seq), true, false);
                }
            }
        }
        self.candidates.remove(at);
    }

    fn says(&mut self, member: MemberKey, cause: Seq, addressed: bool) {
        let now = Timestamp(self.now);
        let may = self.turn.may_say(member, Some(cause), addressed, &self.rules, now);
        assert_eq!(may, Ok(()), "a holder may speak");
        self.turn.said(member, Some(cause), now);
        self.messages += 1;
        self.seq += 1;
        let fence = self.turn.lease(member).unwrap().fence;
        if !self.prepaid.contains(&fence) {
            self.paid.insert(fence);
        }
    }

    fn arbitrate(&mut self) {
        let before = self.turn.leases.len();
        let passed = self.turn.passed.clone();
        let step = self.turn.arbitrate(&self.rules, &self.candidates, Timestamp(self.now));
        for (member, cause) in &step.granted {
            self.granted += 1;
            let came = |c: &&Candidate| (c.member, c.cause) == (*member, *cause);
            if self.candidates.iter().find(came).unwrap().asked {
                self.asked.insert(self.turn.lease(*member).unwrap().fence);
            }
            self.check_patience(*member, *cause, &passed);
            self.accept_later(*member, *cause);
        }
        for (member, cause) in &step.along {
            if self.along.insert((*member, *cause)) {
                self.beside += 1;
                self.accept_later(*member, *cause);
            }
        }
        self.expired += step.expired.len() as u64;
        self.dropped += step.dropped.len() as u64;
        assert!(before + step.granted.len() >= self.turn.leases.len());
        self.candidates.retain(|c| !step.dropped.contains(&(c.member, c.cause)));
        if let Some(due) = step.due {
            assert!(due.0 > self.now, "time goes on");
            if self.planned.is_none_or(|at| at <= self.now || at > due.0) {
                self.planned = Some(due.0);
                self.plan(due.0 - self.now, Next::Due);
            }
        }
    }

    /// Nobody is overtaken by who came later, once it has waited long for what it owes.
    fn check_patience(&self, member: MemberKey, cause: Seq, passed: &[MemberKey]) {
        let came = |c: &&Candidate| (c.member, c.cause) == (member, cause);
        let granted = self.candidates.iter().find(came).unwrap();
        for other in self.candidates.iter().filter(|c| c.obligation && !granted.accepted) {
            let long = self.now - other.since.0 >= limits::TURN_PATIENCE_MS;
            let asked = passed.contains(&other.member) || self.turn.passed.contains(&other.member);
            let paid = other.asked || !granted.asked;
            let free = self.turn.lease(other.member).is_none() && !asked && paid;
            assert!(!(long && free && other.addressed && other.since < granted.since));
        }
    }

    fn check(&self) {
        let turn = &self.turn;
        assert!(turn.leases.len() <= usize::from(self.rules.speakers), "too many speak");
        let members: HashSet<_> = turn.leases.iter().map(|l| l.member).collect();
        assert_eq!(members.len(), turn.leases.len(), "a member holds two leases");
        let budget = usize::from(turn.budget(&self.rules));
        let added = self.paid.difference(&self.asked).count();
        assert!(added <= budget, "{added} turns spoke of {budget}, beside what was asked");
        assert_eq!(usize::from(turn.spent), self.paid.len(), "turns are counted wrongly");
        for lease in &turn.leases {
            let run = |c: &&Candidate| c.member == lease.member && c.cause == lease.cause;
            assert_eq!(self.candidates.iter().filter(run).count(), 1, "a lease without its run");
        }
        let owes = |c: &Candidate| c.obligation && turn.lease(c.member).is_none();
        assert!(!turn.alone || !self.candidates.iter().any(owes), "who speaks is not alone");
        let free = turn.leases.len() < usize::from(self.rules.speakers);
        for waiting in self.candidates.iter().filter(|c| turn.lease(c.member).is_none()) {
            let now = Timestamp(self.now);
            let may = turn.may_say(waiting.member, None, waiting.addressed, &self.rules, now);
            assert!(
                !(free && waiting.obligation && may == Ok(())),
                "{waiting:?} waits beside a free place"
            );
            assert!(
                !(free && waiting.asked),
                "what a person asked is always paid for: {waiting:?}"
            );
            assert!(free || may == Err(Bar::Held));
        }
    }

    /// Without a person the agents came to an end, and what is still owed is with somebody, or was not paid for.
    fn check_end(&self) {
        let waits = |c: &&Candidate| self.turn.lease(c.member).is_none();
        let left = self.candidates.iter().filter(waits).count();
        let spent = usize::from(self.turn.spent) + self.turn.leases.len();
        assert!(
            left == 0
                || !self.turn.leases.is_empty()
                || spent >= usize::from(self.turn.budget(&self.rules))
        );
    }
}

// covers: CHN-20, CHN-21, CHN-22, CHN-24
#[test]
fn a_million_messages_hold_every_promise() {
    let (mut messages, mut granted, mut beside, mut expired, mut dropped) = (0, 0, 0, 0, 0);
    for seed in 0..1_000 {
        let mut subject = Subject::new(seed);
        subject.play(1_000);
        subject.check_end();
        messages += subject.messages;
        granted += subject.granted;
        beside += subject.beside;
        expired += subject.expired;
        dropped += subject.dropped;
    }
    eprintln!("{messages} messages, {granted} turns granted, {expired} expired, {dropped} dropped");
    assert!(messages >= 1_000_000 && granted > messages / 4 && expired > 1_000 && dropped > 1_000);
    assert!(beside > 1_000, "{beside} were offered along");
}

#[test]
fn the_same_seed_plays_the_same() {
    let play = |seed| {
        let mut subject = Subject::new(seed);
        subject.play(500);
        (subject.turn, subject.granted, subject.now)
    };
    assert_eq!(play(7), play(7));
    assert_ne!(play(7), play(8));
}
