//! A small house to play requirements in: alice (who leads) and bob, the agents scout, reviewer and writer,
//! the role `helpers` of all three, the channel `ops` with everybody, and a direct conversation of alice and
//! scout. Nothing happens but what a test asks for.

use std::sync::Arc;

use chorus_core::commands::messages::{self, Logged};
use chorus_core::commands::{Command, NotDone, Prepared, conversations, deliveries, directory};
use chorus_core::model::attention::{Attention, Decision};
use chorus_core::model::caller::{Authority, By, TurnRef};
use chorus_core::model::conversation::{
    ConversationKind, Participation, Replies, Settings, Visibility,
};
use chorus_core::model::delivery::{Delivery, Open};
use chorus_core::model::digest::Digest;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::{Event, Message};
use chorus_core::model::ids::{EventRef, MemberKey, RoleKey, SessionKey, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::offer::Offer;
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::SettingsPatch;
use chorus_core::model::seed::CommandSeed;
use chorus_core::model::wake::OutgoingWake;
use chorus_core::queries;
use chorus_core::state::directory::Directory;
use chorus_core::state::effect::Effect;
use chorus_core::state::room::{Parts, Room};
use chorus_core::state::workspace::Workspace;

use crate::log::Log;
pub use crate::say::Say;

pub const ALICE: MemberKey = MemberKey(1);
pub const BOB: MemberKey = MemberKey(2);
pub const SCOUT: MemberKey = MemberKey(3);
pub const REVIEWER: MemberKey = MemberKey(4);
pub const WRITER: MemberKey = MemberKey(5);
pub const AGENTS: [MemberKey; 3] = [SCOUT, REVIEWER, WRITER];

/// A withdrawn delivery, as its session is told of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Cancelled {
    pub event: Uid,
    pub member: MemberKey,
    pub attempt: u16,
}

pub struct House {
    pub ws: Workspace,
    pub log: Log,
    pub now: Timestamp,
    pub ops: Uid,
    pub pair: Uid,
    pub helpers: RoleKey,
    pub cancelled: Vec<Cancelled>,
    pub digests: Vec<Arc<Digest>>,
    /// Wakes that were sent to runners.
    pub wakes: Vec<Arc<OutgoingWake>>,
    offers: Vec<Offer>,
    ids: u128,
}

impl House {
    /// The same, where answers in `#ops` go into the thread of what they answer.
    pub fn with_subjects() -> Self {
        let mut house = Self::new();
        let settings = SettingsPatch { replies: Some(Replies::Thread), ..SettingsPatch::default() };
        let conversation = house.ops;
        let change = conversations::ChangeConversation { conversation, settings };
        house.run(house.by(ALICE), change).expect("an operator");
        house
    }

    /// The house, with all three agents connected.
    pub fn new() -> Self {
        let mut house = Self::asleep();
        AGENTS.into_iter().for_each(|agent| {
            house.connect(agent);
        });
        house
    }

    /// The house, with no agent connected.
    pub fn asleep() -> Self {
        let mut house = Self {
            ws: Workspace::new(Directory::default(), 0),
            log: Log::default(),
            now: Timestamp(1_700_000_000_000),
            ops: Uid::default(),
            pair: Uid::default(),
            helpers: RoleKey::default(),
            cancelled: Vec::new(),
            digests: Vec::new(),
            wakes: Vec::new(),
            offers: Vec::new(),
            ids: 0,
        };
        for (id, kind) in [
            ("alice", MemberKind::Human),
            ("bob", MemberKind::Human),
            ("scout", MemberKind::Agent),
            ("reviewer", MemberKind::Agent),
            ("writer", MemberKind::Agent),
        ] {
            house.add_member(id, kind);
        }
        house.must(By::host(), directory::SetLead { member: Some(ALICE) });
        let role = house.must(By::host(), directory::AddRole { name: "helpers".into() });
        house.helpers = role.key;
        for member in AGENTS {
            let role = role.key;
            house.must(By::host(), directory::SetRoleMember { role, member, on: true });
        }
        let everybody = vec![ALICE, BOB, SCOUT, REVIEWER, WRITER];
        house.ops = house.conversation("ops", ConversationKind::Channel, everybody);
        house.pair = house.conversation("pair", ConversationKind::Dm, vec![ALICE, SCOUT]);
        house
    }

    pub fn add_member(&mut self, id: &str, kind: MemberKind) -> MemberKey {
        let fields = MemberFields::default();
        self.must(By::host(), directory::AddMember { id: id.into(), kind, fields }).key
    }

    /// A private conversation that alice makes.
    pub fn conversation(
        &mut self,
        title: &str,
        kind: ConversationKind,
        members: Vec<MemberKey>,
    ) -> Uid {
        let settings = Settings {
            title: title.into(),
            description: "".into(),
            purpose: "".into(),
            visibility: Visibility::Private,
            ..Settings::default()
        };
        let command = conversations::CreateConversation { kind, settings, members };
        self.must(self.by(ALICE), command).uid
    }

    pub fn seat(&mut self, conversation: Uid, member: MemberKey, participation: Participation) {
        let seat = conversations::SetSeat {
            conversation,
            member,
            participation,
            terms: Default::default(),
        };
        self.must(self.by(ALICE), seat);
    }

    /// Who asks: people are operators, agents workers with the session they are connected as.
    pub fn by(&self, member: MemberKey) -> By {
        let agent = self.ws.directory().is_agent(member);
        let authority = if agent { Authority::Worker } else { Authority::Operator };
        let session = self.ws.directory().connected(member).last().copied();
        By { member, session, authority, turn: None }
    }

    /// A connection of the agent begins; what is owed is offered to it.
    pub fn connect(&mut self, member: MemberKey) -> SessionKey {
        let by = By { session: None, ..self.by(member) };
        let (managed, resumable, runtime) = (false, false, "test".into());
        let open = directory::OpenSession { runtime, managed, resumable, ..Default::default() };
        let session = self.must(by, open);
        self.offer_owed(member, session.key);
        session.key
    }

    /// The same session is connected again.
    pub fn reconnect(&mut self, member: MemberKey, session: SessionKey) {
        let uid = Some(self.ws.directory().sessions[&session].uid);
        let by = By { session: None, ..self.by(member) };
        let (managed, resumable, runtime) = (false, false, "test".into());
        let open =
            directory::OpenSession { uid, runtime, managed, resumable, ..Default::default() };
        self.must(by, open);
        self.offer_owed(member, session);
    }

    fn offer_owed(&mut self, member: MemberKey, session: SessionKey) {
        let by = By { session: Some(session), ..self.by(member) };
        let owed = queries::Owed { session, limit: 100 };
        let owed = self.must(by, owed);
        self.offers.extend(owed.offers);
    }

    pub fn disconnect(&mut self, member: MemberKey) {
        for session in self.ws.directory().connected(member).to_vec() {
            self.must(By::host(), directory::CloseSession { session });
        }
    }

    /// The member posts in `ops`.
    pub fn says(&mut self, member: MemberKey, text: &str) -> Uid {
        self.post(member, Say::to(self.ops, text)).expect("a person or a free agent may speak")
    }

    pub fn post(&mut self, member: MemberKey, say: Say) -> Result<Uid, Refusal> {
        self.post_as(self.by(member), say).map(|(uid, _)| uid)
    }

    /// Posts; gives the event and whether it is one that had been posted before.
    pub fn post_as(&mut self, by: By, say: Say) -> Result<(Uid, bool), Refusal> {
        let logged = self.run(by, say.0)?;
        Ok((logged.entry.event.uid, logged.duplicate))
    }

    /// What was offered to the member since last asked.
    pub fn offers(&mut self, member: MemberKey) -> Vec<Offer> {
        let (mine, rest) = self.offers.drain(..).partition(|o| o.member == member);
        self.offers = rest;
        mine
    }

    /// The one offer that waits for the member.
    pub fn offer(&mut self, member: MemberKey) -> Offer {
        let mut offers = self.offers(member);
        assert_eq!(offers.len(), 1, "one offer for {member}: {offers:?}");
        offers.remove(0)
    }

    pub fn take(&mut self, member: MemberKey) -> Offer {
        let offer = self.offer(member);
        self.accept(&offer).expect("an offer can be accepted");
        offer
    }

    pub fn accept(&mut self, offer: &Offer) -> Result<(), Refusal> {
        let by = By { session: Some(offer.session), ..self.by(offer.member) };
        let (event, attempt) = (at(&offer.entry.event), offer.attempt);
        self.run(by, deliveries::Accept { event, attempt, epoch: None })
    }

    /// The member answers in the turn of an offer.
    pub fn reply(&mut self, offer: &Offer, text: &str) -> Result<Uid, Refusal> {
        let say = Say::to(offer.entry.conversation.uid, text).answering(offer.entry.event.uid);
        self.post_as(self.in_turn(offer), say).map(|(uid, _)| uid)
    }

    /// The member, in the turn of an offer, as the turn's token states it.
    pub fn in_turn(&self, offer: &Offer) -> By {
        let EventRef { conversation, seq } = at(&offer.entry.event);
        let turn = TurnRef { conversation, seq, fence: offer.fence, attempt: 0 };
        By { turn: Some(turn), ..self.by(offer.member) }
    }

    pub fn dispose(
        &mut self,
        member: MemberKey,
        event: Uid,
        disposition: Disposition,
    ) -> Result<Disposition, Refusal> {
        let command = deliveries::Dispose { event, disposition, note: None };
        self.run(self.by(member), command).map(|disposed| disposed.disposition)
    }

    /// Reacts; gives how that ended the member's delivery, if it did.
    pub fn react(
        &mut self,
        member: MemberKey,
        message: Uid,
        signal: Signal,
    ) -> Result<Option<Disposition>, Refusal> {
        let command = messages::React { message, signal, detail: None, on: true };
        self.run(self.by(member), command).map(|reacted| reacted.disposition)
    }

    /// Claims; gives the fence held.
    pub fn claim(&mut self, member: MemberKey, event: Uid) -> Result<u32, Refusal> {
        self.run(self.by(member), deliveries::Claim { event }).map(|claimed| claimed.claim.fence)
    }

    pub fn edit(&mut self, member: MemberKey, message: Uid, text: &str) -> Result<Uid, Refusal> {
        let content = Message { text: text.into(), ..Message::default() };
        let logged = self.run(self.by(member), messages::Edit { message, content })?;
        Ok(logged.entry.event.uid)
    }

    pub fn delete(&mut self, member: MemberKey, message: Uid) -> Result<Logged, Refusal> {
        self.run(self.by(member), messages::Delete { message })
    }

    /// Time passes, second by second, and does what it does.
    pub fn pass(&mut self, ms: i64) {
        let end = self.now.plus(ms);
        while self.now < end {
            self.now = self.now.plus(1_000).min(end);
            self.ws.fire_due(&mut self.log, self.now, 10_000).expect("memory is always there");
            self.absorb();
        }
    }

    pub fn event(&self, uid: Uid) -> &Arc<Event> {
        &self.log.events[&self.log.by_uid[&uid]]
    }

    pub fn attention(&self, uid: Uid) -> &Attention {
        self.event(uid).attention.as_ref().expect("a message is decided")
    }

    /// What was decided for one member, if it has an answer of its own.
    pub fn decision(&self, uid: Uid, member: MemberKey) -> Option<Decision> {
        self.attention(uid).told.iter().find(|t| t.member == member).map(|t| t.decision)
    }

    /// An event with its deliveries, open or ended.
    pub fn open(&self, uid: Uid) -> Option<&Open> {
        let at = self.log.by_uid[&uid];
        let room = self.ws.room(at.conversation).expect("a room");
        room.open().get(&at.seq).or_else(|| self.log.receipts.get(&at))
    }

    pub fn delivery(&self, uid: Uid, member: MemberKey) -> Option<&Delivery> {
        self.open(uid)?.delivery(member)
    }

    pub fn disposition(&self, uid: Uid, member: MemberKey) -> Option<Disposition> {
        self.delivery(uid, member)?.disposition()
    }

    /// How many events are logged, and every row beside them: what a refusal must leave alone.
    pub fn fingerprint(&self) -> String {
        let rooms = self.ws.rooms().map(|r| (r.key(), *r.head(), r.open().clone()));
        let mut rooms: Vec<_> = rooms.collect();
        rooms.sort_by_key(|r| r.0);
        format!(
            "{} {rooms:?} {:?} {:?}",
            self.log.events.len(),
            self.log.pending,
            self.log.receipts
        )
    }

    /// The host is gone and comes back with what was written: no agent is connected.
    pub fn restart(&mut self) {
        let mut directory = Directory::clone(self.ws.directory());
        let sessions: Vec<SessionKey> = directory.sessions.keys().copied().collect();
        sessions.into_iter().for_each(|s| directory.set_connected(s, false, self.now));
        let mut again = Workspace::new(directory, self.ws.rooms().count() as u64);
        for room in self.ws.rooms() {
            let (key, head) = (room.key(), *room.head());
            let receipts = self.log.receipts.keys();
            let pending = self.log.pending.iter();
            let events = self.log.events.values().filter(|e| e.conversation == key);
            let sent = events.clone().filter_map(|e| Some((e.at, e.idempotency?.key, e.seq)));
            let parts = Parts {
                conversation: room.conversation().clone(),
                head,
                roster: room.roster().iter().map(|(m, p)| (*m, *p)).collect(),
                threads: room.threads().values().map(|t| (**t).clone()).collect(),
                digested: self.log.digested.get(&key).copied(),
                gone: room.gone().iter().copied().collect(),
                stimuli: self.log.stimuli_of(key),
                schedules: room.schedules().values().map(|s| (**s).clone()).collect(),
                remote: room.remote().cloned(),
                sent: sent.collect(),
                turns: self.log.turns_of(key),
                events: events.cloned().collect(),
                pending: pending
                    .filter(|(at, _)| at.conversation == key)
                    .map(|(_, o)| o.clone())
                    .collect(),
                receipts: receipts
                    .filter(|at| at.conversation == key && at.seq > head.settled)
                    .map(|at| at.seq)
                    .collect(),
            };
            again.admit(Room::restore(parts, again.directory(), self.now));
        }
        again.wakes_after_start(self.now);
        self.ws = again;
        self.offers.clear();
        self.wakes.clear();
        self.absorb();
    }

    fn must<C: Command>(&mut self, by: By, command: C) -> C::Output {
        self.run(by, command).expect("the house is built of what is allowed")
    }

    /// Runs a command that waits for no person.
    pub fn run<C: Command>(&mut self, by: By, command: C) -> Result<C::Output, Refusal> {
        self.try_run(by, command).map_err(refusal)
    }

    pub fn try_run<C: Command>(&mut self, by: By, command: C) -> Result<C::Output, NotDone> {
        self.ids += 1_000;
        let drawn = CommandSeed { uid: Uid(self.ids), second: Uid(self.ids + 500), salt: [7; 16] };
        let result = self.ws.execute(&mut self.log, by, &Prepared::new(command, drawn), self.now);
        self.absorb();
        match result {
            Ok(executed) => executed.done,
            Err(why) => panic!("memory is always there: {why:?}"),
        }
    }

    fn absorb(&mut self) {
        let changes = self.ws.take_changes();
        self.log.write(&self.ws, &changes);
        for effect in changes.effects {
            match effect {
                Effect::Offer(offer) => self.offers.push(offer),
                Effect::Wake(wake) => self.wakes.push(wake),
                Effect::Digest { digest, .. } => self.digests.push(digest),
                Effect::Cancel { event, member, attempt, .. } => {
                    self.cancelled.push(Cancelled { event, member, attempt });
                }
                _ => {}
            }
        }
    }
}

pub fn at(event: &Event) -> EventRef {
    EventRef { conversation: event.conversation, seq: event.seq }
}

/// Why it was refused.
pub fn refusal(not_done: NotDone) -> Refusal {
    match not_done {
        NotDone::Refused(refusal) => refusal,
        NotDone::AwaitsApproval(approval) => panic!("it waits for a person: {approval:?}"),
    }
}

/// The code of a refusal.
pub fn code<T: std::fmt::Debug>(result: Result<T, impl Into<NotDone>>) -> Code {
    let not_done = result.map_err(Into::into).expect_err("this is refused");
    refusal(not_done).code
}
