//! Turns always pass, whatever is done in whatever order: after each command no place is free about a subject while
//! somebody waits who may have it, and whoever holds one is an agent with an open run.

use std::collections::VecDeque;

use chorus_core::commands::turns::{self, Subject};
use chorus_core::commands::{Command, conversations, deliveries, messages};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::{Participation, Replies, TermsPatch};
use chorus_core::model::delivery::Open;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::event::Message;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::offer::Offer;
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::SettingsPatch;
use chorus_core::model::turn::RulesPatch;
use chorus_core::queries;
use chorus_core::state::room::turns::takes_turns;
use proptest::prelude::*;

use crate::house::{AGENTS, ALICE, BOB, House, Say};

/// One thing that is done; numbers choose among what there is.
#[derive(Clone, Debug)]
enum Act {
    Says { who: usize, text: usize, about: Option<usize> },
    Accept(usize),
    Reply { run: usize, text: usize },
    Dispose { run: usize, how: usize },
    Emit(usize),
    React { who: usize, message: usize, signal: usize },
    Defer(usize),
    Claim { who: usize, message: usize },
    Release { who: usize, message: usize },
    Edit { message: usize, text: usize },
    Delete(usize),
    Break,
    Seat { who: usize, on: bool },
    Leave(usize),
    Archive(bool),
    Connect { who: usize, on: bool },
    Continue(usize),
    Settings { speakers: u8, replies: u16, threads: bool },
    Restart,
    Pass(i64),
}

const TEXTS: [&str; 8] = [
    "@scout @reviewer @writer can you look at the deploy?",
    "@scout can you check it?",
    "@reviewer what do you think?",
    "@helpers who can look at the flaky test?",
    "it is fine",
    "and one more thing",
    "@writer please take over, this is urgent",
    "thanks!",
];

const WHO: [MemberKey; 5] = [ALICE, BOB, AGENTS[0], AGENTS[1], AGENTS[2]];

fn act() -> impl Strategy<Value = Act> {
    let nth = 0..64_usize;
    prop_oneof![
        6 => (0..2_usize, 0..TEXTS.len(), prop::option::of(nth.clone()))
            .prop_map(|(who, text, about)| Act::Says { who, text, about }),
        8 => nth.clone().prop_map(Act::Accept),
        6 => (nth.clone(), 0..TEXTS.len()).prop_map(|(run, text)| Act::Reply { run, text }),
        6 => (nth.clone(), 0..7_usize).prop_map(|(run, how)| Act::Dispose { run, how }),
        2 => nth.clone().prop_map(Act::Emit),
        3 => (0..5_usize, nth.clone(), 0..9_usize)
            .prop_map(|(who, message, signal)| Act::React { who, message, signal }),
        1 => nth.clone().prop_map(Act::Defer),
        2 => (0..5_usize, nth.clone()).prop_map(|(who, message)| Act::Claim { who, message }),
        1 => (0..5_usize, nth.clone()).prop_map(|(who, message)| Act::Release { who, message }),
        1 => (nth.clone(), 0..TEXTS.len()).prop_map(|(message, text)| Act::Edit { message, text }),
        1 => nth.clone().prop_map(Act::Delete),
        1 => Just(Act::Break),
        2 => (0..3_usize, any::<bool>()).prop_map(|(who, on)| Act::Seat { who, on }),
        1 => (0..3_usize).prop_map(Act::Leave),
        1 => any::<bool>().prop_map(Act::Archive),
        2 => (0..3_usize, any::<bool>()).prop_map(|(who, on)| Act::Connect { who, on }),
        1 => nth.clone().prop_map(Act::Continue),
        1 => (1..3_u8, 1..4_u16, prop::bool::weighted(0.8))
            .prop_map(|(speakers, replies, threads)| Act::Settings { speakers, replies, threads }),
        1 => Just(Act::Restart),
        4 => prop::sample::select(vec![1_000, 15_000, 61_000, 130_000, 400_000, 1_900_000])
            .prop_map(Act::Pass),
    ]
}

/// A channel, and what was offered and accepted there.
struct Play {
    house: House,
    said: Vec<Uid>,
    offered: VecDeque<Offer>,
    running: Vec<Offer>,
}

impl Play {
    fn new() -> Self {
        let house = House::new();
        let mut play = Self { house, said: vec![], offered: VecDeque::new(), running: vec![] };
        play.set(SettingsPatch { replies: Some(Replies::Thread), ..SettingsPatch::default() });
        play
    }

    fn set(&mut self, settings: SettingsPatch) {
        let conversation = self.house.ops;
        let change = conversations::ChangeConversation { conversation, settings };
        self.house.run(self.house.by(ALICE), change).expect("an operator");
    }

    fn message(&self, n: usize) -> Option<Uid> {
        self.said.get(n.checked_rem(self.said.len())?).copied()
    }

    /// A run that was accepted; it is over by what follows.
    fn run(&mut self, n: usize) -> Option<Offer> {
        let at = n.checked_rem(self.running.len())?;
        Some(self.running.remove(at))
    }

    /// What is refused has changed nothing, and is no matter here.
    fn tries<C: Command>(&mut self, by: By, command: C) {
        let done = self.house.try_run(by, command);
        self.said.extend(done.iter().filter_map(C::logged).map(|entry| entry.event.uid));
    }

    fn play(&mut self, act: Act) {
        let conversation = self.house.ops;
        match act {
            Act::Says { who, text, about } => {
                let say = Say::to(conversation, TEXTS[text]);
                let about = about.and_then(|n| self.message(n));
                let say = about.map_or(say.clone(), |event| say.answering(event));
                self.tries(self.house.by(WHO[who]), say.0);
            }
            Act::Accept(n) => {
                let Some(at) = n.checked_rem(self.offered.len()) else { return };
                let offer = self.offered.remove(at).expect("it is there");
                if self.house.accept(&offer).is_ok() {
                    self.running.push(offer);
                }
            }
            Act::Reply { run, text } => {
                let Some(offer) = self.run(run) else { return };
                let say = Say::to(conversation, TEXTS[text]).answering(offer.entry.event.uid);
                self.tries(self.house.in_turn(&offer), say.0);
            }
            Act::Dispose { run, how } => {
                let Some(offer) = self.run(run) else { return };
                let (event, disposition) = (offer.entry.event.uid, Disposition::ALL[how]);
                let dispose = deliveries::Dispose { event, disposition, note: None };
                self.tries(self.house.in_turn(&offer), dispose);
            }
            Act::Emit(n) => {
                let Some(at) = n.checked_rem(self.running.len()) else { return };
                let message = Message { text: "all is well".into(), ..Message::default() };
                let by = self.house.in_turn(&self.running[at]);
                self.tries(by, messages::EmitOutput { message });
            }
            Act::React { who, message, signal } => {
                let Some(message) = self.message(message) else { return };
                let (signal, detail) = (Signal::ALL[signal], None);
                let react = messages::React { message, signal, detail, on: true };
                self.tries(self.house.by(WHO[who]), react);
            }
            Act::Defer(run) => {
                let Some(offer) = self.run(run) else { return };
                let (event, until) = (offer.entry.event.uid, self.house.now.plus(90_000));
                self.tries(
                    self.house.in_turn(&offer),
                    deliveries::Defer { event, until: Some(until), reason: None },
                );
            }
            Act::Claim { who, message } => {
                let Some(event) = self.message(message) else { return };
                self.tries(self.house.by(WHO[who]), deliveries::Claim { event });
            }
            Act::Release { who, message } => {
                let Some(event) = self.message(message) else { return };
                self.tries(self.house.by(WHO[who]), deliveries::Release { event });
            }
            Act::Edit { message, text } => {
                let Some(message) = self.message(message) else { return };
                let content = Message { text: TEXTS[text].into(), ..Message::default() };
                let by = self.house.by(ALICE);
                let _ = self.house.run(by, messages::Edit { message, content });
            }
            Act::Delete(n) => {
                let Some(message) = self.message(n) else { return };
                let by = self.house.by(ALICE);
                let _ = self.house.run(by, messages::Delete { message });
            }
            Act::Break => {
                let held = self.subjects().into_iter().find(|s| !s.turn.is_idle());
                let Some(held) = held else { return };
                let (subject, member) = (held.root, held.turn.leases[0].member);
                let command = turns::BreakTurn { conversation, subject, member };
                self.tries(self.house.by(ALICE), command);
            }
            Act::Seat { who, on } => {
                let member = AGENTS[who];
                let (participation, terms) = (Participation::default(), TermsPatch::default());
                let by = self.house.by(ALICE);
                let seat = conversations::SetSeat { conversation, member, participation, terms };
                match on {
                    true => self.tries(by, seat),
                    false => self.tries(by, conversations::RemoveSeat { conversation, member }),
                }
            }
            Act::Leave(who) => {
                let leave =
                    conversations::Leave { conversation, thread: None, member: AGENTS[who] };
                self.tries(self.house.by(ALICE), leave);
            }
            Act::Archive(on) => {
                self.set(SettingsPatch { archived: Some(on), ..SettingsPatch::default() });
            }
            Act::Connect { who, on: true } => {
                self.house.connect(AGENTS[who]);
            }
            Act::Connect { who, on: false } => self.house.disconnect(AGENTS[who]),
            Act::Continue(n) => {
                let thread = self.message(n).and_then(|uid| {
                    let event = self.house.event(uid).clone();
                    let room = self.house.ws.room(event.conversation)?;
                    Some(room.thread(event.thread?)?.uid)
                });
                self.tries(self.house.by(ALICE), turns::Continue { conversation, thread });
            }
            Act::Settings { speakers, replies, threads } => {
                let turns = RulesPatch {
                    speakers: Some(speakers),
                    replies: Some(replies),
                    ..RulesPatch::default()
                };
                let replies = Some(if threads { Replies::Thread } else { Replies::Line });
                self.set(SettingsPatch { turns, replies, ..SettingsPatch::default() });
            }
            Act::Restart => {
                self.house.restart();
                self.offered.clear();
                self.running.clear();
                for agent in AGENTS {
                    self.house.connect(agent);
                }
            }
            Act::Pass(ms) => {
                self.house.now = self.house.now.plus(ms);
                self.house.pass(1);
            }
        }
        for agent in AGENTS {
            self.offered.extend(self.house.offers(agent));
        }
    }

    fn subjects(&mut self) -> Vec<Subject> {
        let conversation = self.house.ops;
        let by = self.house.by(ALICE);
        self.house.run(by, queries::Turns { conversation }).expect("an operator")
    }

    /// What is promised after every command.
    fn check(&mut self) -> Result<(), TestCaseError> {
        for Subject { turn, causes, waiting, .. } in self.subjects() {
            let house = &self.house;
            let room = house.ws.rooms().find(|r| r.conversation().uid == house.ops).expect("it");
            let rules = room.turn_rules();
            prop_assert!(turn.leases.len() <= usize::from(rules.speakers).max(1) + 1);
            for (lease, cause) in turn.leases.iter().zip(causes) {
                let directory = house.ws.directory();
                prop_assert!(directory.is_agent(lease.member), "{lease:?} is no agent's");
                let open = room.open().get(&lease.cause);
                let run = open.and_then(|o| o.delivery(lease.member));
                prop_assert!(
                    run.is_some_and(takes_turns),
                    "{lease:?} {cause:?} has no run: {run:?}"
                );
                let escalated =
                    |o: &Open| o.deliveries.iter().any(|d| d.is_escalated() && d.is_open());
                let left = |o: &Open| o.left().any(|m| m == lease.member) && escalated(o);
                prop_assert!(!open.is_some_and(left), "{lease:?}: somebody else owes it");
                prop_assert!(room.roster().contains_key(&lease.member), "{lease:?} has no seat");
            }
            let is_free = turn.leases.len() < usize::from(rules.speakers);
            for waits in waiting.iter().filter(|w| turn.lease(w.member).is_none()) {
                let directory = house.ws.directory();
                prop_assert!(directory.is_agent(waits.member), "{waits:?}: a person waits");
                let asked = waits.obligation && house.event(waits.event).hop == 0;
                prop_assert!(!(is_free && asked), "{waits:?} beside a free place: {turn:?}");
                let may = turn.may_say(waits.member, None, false, &rules, house.now);
                let idle = is_free && waits.obligation && may == Ok(());
                prop_assert!(!idle, "{waits:?} beside a free place: {turn:?}");
                prop_assert!(is_free || !turn.leases.is_empty());
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    // covers: CHN-320, CHN-321, CHN-350
    #[test]
    fn no_place_stays_free_while_somebody_waits(acts in prop::collection::vec(act(), 1..60)) {
        let mut play = Play::new();
        for act in acts {
            play.play(act);
            play.check()?;
        }
    }
}
