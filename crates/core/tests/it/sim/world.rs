//! A small world: three people, nine agents, two channels and a direct conversation, played by a seed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use chorus_core::commands::{Command, NotDone, Prepared, conversations, directory};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::{ConversationKind, Participation, Settings, Visibility};
use chorus_core::model::delivery::State;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, SessionKey, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::offer::Offer;
use chorus_core::model::seed::CommandSeed;
use chorus_core::queries;
use chorus_core::state::directory::Directory;
use chorus_core::state::effect::Effect;
use chorus_core::state::workspace::Workspace;

use super::tempers::{TEMPERS, Temper};
use crate::log::Log;

pub(crate) struct World {
    pub ws: Workspace,
    pub log: Log,
    pub now: Timestamp,
    pub random: u64,
    pub ids: u128,
    pub people: Vec<MemberKey>,
    pub agents: Vec<(MemberKey, Temper)>,
    pub sessions: BTreeMap<MemberKey, SessionKey>,
    pub channels: Vec<Uid>,
    pub inbox: VecDeque<Offer>,
    /// Successful replies, by event and member.
    pub replies: BTreeMap<(Uid, MemberKey), u32>,
    pub refusals: BTreeMap<Code, u32>,
    pub people_refused: u32,
    pub posted: u32,
    pub human_posts: Vec<Uid>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut world = Self {
            ws: Workspace::new(Directory::default(), 0),
            log: Log::default(),
            now: Timestamp(1_700_000_000_000),
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            ids: 0,
            people: Vec::new(),
            agents: Vec::new(),
            sessions: BTreeMap::new(),
            channels: Vec::new(),
            inbox: VecDeque::new(),
            replies: BTreeMap::new(),
            refusals: BTreeMap::new(),
            people_refused: 0,
            posted: 0,
            human_posts: Vec::new(),
        };
        world.populate();
        world
    }

    fn populate(&mut self) {
        for name in ["alice", "bob", "carol"] {
            let key = self.add_member(name, MemberKind::Human);
            self.people.push(key);
        }
        self.must(By::host(), directory::SetLead { member: Some(self.people[0]) });
        let tempers = TEMPERS.into_iter().chain([Temper::Eager]).enumerate();
        for (n, temper) in tempers {
            let key = self.add_member(&format!("agent{n}"), MemberKind::Agent);
            self.agents.push((key, temper));
        }
        let role = self.must(By::host(), directory::AddRole { name: "helpers".into() });
        for n in [0, 5, 6, 7] {
            let member = self.agents[n].0;
            self.must(By::host(), directory::SetRoleMember { role: role.key, member, on: true });
        }
        for (title, kind) in [
            ("ops", ConversationKind::Channel),
            ("work", ConversationKind::Channel),
            ("pair", ConversationKind::Dm),
        ] {
            let everybody: Vec<_> =
                self.people.iter().copied().chain(self.agents.iter().map(|a| a.0)).collect();
            let members = if kind == ConversationKind::Dm {
                vec![self.people[1], self.agents[1].0, self.agents[2].0]
            } else {
                everybody
            };
            let settings = Settings {
                title: title.into(),
                description: "".into(),
                purpose: "".into(),
                visibility: Visibility::Private,
                ..Settings::default()
            };
            let by = self.by(self.people[0]);
            let command = conversations::CreateConversation { kind, settings, members };
            let conversation = self.must(by, command);
            self.channels.push(conversation.uid);
        }
        let (listener, conversation) = (self.agents[0].0, self.channels[1]);
        let seat = conversations::SetSeat {
            conversation,
            member: listener,
            participation: Participation::AlwaysListen,
            terms: Default::default(),
        };
        self.must(self.by(self.people[0]), seat);
        for (member, _) in self.agents.clone() {
            self.connect(member);
        }
    }

    fn add_member(&mut self, id: &str, kind: MemberKind) -> MemberKey {
        let fields = MemberFields::default();
        self.must(By::host(), directory::AddMember { id: id.into(), kind, fields }).key
    }

    pub(crate) fn by(&self, member: MemberKey) -> By {
        let person = self.people.contains(&member);
        let authority = if person { Authority::Operator } else { Authority::Worker };
        By { member, session: self.sessions.get(&member).copied(), authority, turn: None }
    }

    fn connect(&mut self, member: MemberKey) {
        let by = By { session: None, ..self.by(member) };
        let open = directory::OpenSession { runtime: "sim".into(), ..Default::default() };
        let session = self.must(by, open);
        self.sessions.insert(member, session.key);
        let by = self.by(member);
        let owed = queries::Owed { session: session.key, limit: 50 };
        let owed = self.must(by, owed);
        self.inbox.extend(owed.offers);
    }

    pub(crate) fn disconnect(&mut self, member: MemberKey) {
        if let Some(session) = self.sessions.remove(&member) {
            self.must(By::host(), directory::CloseSession { session });
        }
    }

    fn must<C: Command>(&mut self, by: By, command: C) -> C::Output {
        self.run(by, command).expect("the world is built of what is allowed")
    }

    /// Runs a command that waits for no person, and lets its effects happen.
    pub(crate) fn run<C: Command>(&mut self, by: By, command: C) -> Result<C::Output, Refusal> {
        self.try_run(by, command).map_err(|not_done| match not_done {
            NotDone::Refused(refusal) => refusal,
            NotDone::AwaitsApproval(approval) => panic!("it waits for a person: {approval:?}"),
        })
    }

    pub(crate) fn try_run<C: Command>(&mut self, by: By, command: C) -> Result<C::Output, NotDone> {
        self.ids += 1_000;
        let drawn = CommandSeed { uid: Uid(self.ids), second: Uid(self.ids + 500), salt: [7; 16] };
        let result = self.ws.execute(&mut self.log, by, &Prepared::new(command, drawn), self.now);
        let done = result.expect("memory is always there").done;
        if let Err(NotDone::Refused(_)) = done {
            assert!(
                self.ws.touched().iter().all(|k| !self.ws.room(*k).unwrap().is_dirty()),
                "a refusal writes nothing"
            );
        }
        self.absorb();
        done
    }

    fn absorb(&mut self) {
        let changes = self.ws.take_changes();
        self.log.write(&self.ws, &changes);
        for effect in changes.effects {
            if let Effect::Offer(offer) = effect {
                self.inbox.push_back(offer);
            }
        }
    }

    pub(crate) fn dice(&mut self, sides: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % sides
    }

    /// Lets `messages` messages be tried, by people and agents, with time passing between them.
    pub(crate) fn play(&mut self, messages: u32) {
        while self.posted < messages {
            match self.dice(12) {
                0..=3 => self.somebody_speaks(),
                4 => self.somebody_changes_a_message(),
                5 => {
                    let n = self.dice(self.agents.len() as u64) as usize;
                    let member = self.agents[n].0;
                    if self.sessions.contains_key(&member) {
                        self.disconnect(member)
                    } else {
                        self.connect(member)
                    }
                }
                _ => self.agents_act(),
            }
            let pause = [100, 900, 4_000, 20_000, 70_000][self.dice(5) as usize];
            self.pass(pause);
        }
    }

    /// As [`World::play`], so many messages more.
    pub(crate) fn play_on(&mut self, messages: u32) {
        self.play(self.posted + messages);
    }

    /// People answer what came to them in the end.
    pub(crate) fn people_answer(&mut self) {
        for person in self.people.clone() {
            let waiting = queries::Waiting { member: Some(person), limit: 10_000 };
            for (conversation, open) in self.must(self.by(person), waiting) {
                let _ = self.post(person, conversation.uid, "seen to", Some(open.uid), None);
            }
        }
        self.rest();
    }

    fn pass(&mut self, ms: i64) {
        self.now = self.now.plus(ms);
        self.ws.fire_due(&mut self.log, self.now, 10_000).expect("memory is always there");
        self.absorb();
    }

    /// Lets everybody come back and finish, and an hour go by.
    pub(crate) fn rest(&mut self) {
        for (member, _) in self.agents.clone() {
            self.disconnect(member);
            self.connect(member);
        }
        for _ in 0..240 {
            while !self.inbox.is_empty() {
                self.agents_act();
            }
            self.pass(30_000);
        }
    }

    pub(crate) fn summary(&self) -> String {
        let mut text = format!("{} posts tried, {} events", self.posted, self.log.events.len());
        for (code, n) in &self.refusals {
            let _ = write!(text, ", {code:?} {n}");
        }
        let dead = self.log.receipts.values().flat_map(|o| &o.deliveries);
        let dead = dead.filter(|d| matches!(d.state, State::Dead { .. })).count();
        let _ = write!(text, ", {dead} dead letters");
        text
    }

    pub(crate) fn fingerprint(&self) -> Vec<[u8; 32]> {
        self.ws.rooms().map(|r| r.head().hash).collect::<BTreeSet<_>>().into_iter().collect()
    }
}
