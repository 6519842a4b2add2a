//! A conversation said again in a room of Chorus, message by message, each decided as the host decides a post.
//!
//! What is called is what `workspace/post.rs` calls: [`IncomingMessage::read`] over the room as the messages before have made
//! it, and [`directedness::decide`]. Every line is said by a person, the agents' too, because people said them; as
//! receivers the chosen ones are agents.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use chorus_core::attention::directedness::{self, IncomingMessage, People};
use chorus_core::attention::flow::{self, Saying, Weighed};
use chorus_core::language::analysis::Analysis;
use chorus_core::language::intent::asks_question;
use chorus_core::language::names::{Target, mentions};
use chorus_core::model::attention::{Attention, Decision, Directedness, Policy};
use chorus_core::model::conversation::{
    Conversation, ConversationKind, Participation, Settings, Visibility,
};
use chorus_core::model::event::{Change, Message};
use chorus_core::model::flow::Settings as FlowSettings;
use chorus_core::model::ids::{ConversationKey, MemberKey, Timestamp, Uid};
use chorus_core::model::maps::KeyMap;
use chorus_core::model::member::{Member, MemberFields, MemberKind};
use chorus_core::state::directory::Directory;
use chorus_core::state::room::Room;
use chorus_core::state::room::apply::Draft;

use crate::lines::Heard;

/// How a line was decided.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub attention: Attention,
    /// It asks for an answer in words.
    pub asks: bool,
    /// Whom its text names, as the product reads names; the first first.
    pub named: Vec<usize>,
}

/// What deciding a line cost: the least of a few times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub nanos: u64,
    pub allocations: u64,
}

/// The room in which a conversation is said again.
pub(crate) struct Replay {
    room: Room,
    directory: Directory,
    speakers: Vec<Arc<Member>>,
    granted: KeyMap<MemberKey, Timestamp>,
    running: KeyMap<MemberKey, usize>,
    flow: FlowSettings,
}

/// Every decision is timed so often.
const TIMES: usize = 3;

pub(crate) fn key(author: usize) -> MemberKey {
    MemberKey(author as u32 + 1)
}

impl Replay {
    /// An empty room with a seat for each of `authors`; those in `agents` are agents. `silent` seats are added for
    /// members who never say anything.
    pub(crate) fn new(
        authors: &[String],
        agents: &BTreeSet<usize>,
        silent: usize,
        flow: FlowSettings,
    ) -> Result<Self, String> {
        let mut directory = Directory::default();
        let mut speakers = Vec::new();
        let more = (0..silent).map(|n| format!("silent-{n}"));
        for (n, id) in authors.iter().cloned().chain(more).enumerate() {
            let agent = agents.contains(&n);
            let kind = if agent { MemberKind::Agent } else { MemberKind::Human };
            let member = directory
                .add_member(&id, kind, &MemberFields::default())
                .map_err(|refusal| format!("{id}: {}", refusal.message))?;
            speakers.push(Arc::new(Member { kind: MemberKind::Human, ..Member::clone(&member) }));
        }
        let mut room = Room::new(channel());
        let settings = room.conversation().settings.clone();
        log(&mut room, MemberKey(1), Timestamp(0), None, Change::Created { kind: KIND, settings });
        for member in speakers.iter().map(|m| m.key) {
            let participation = Participation::default();
            let joined = Change::Joined { member, participation };
            log(&mut room, member, Timestamp(0), None, joined);
        }
        Ok(Self {
            room,
            directory,
            speakers,
            granted: KeyMap::default(),
            running: KeyMap::default(),
            flow,
        })
    }

    /// Decides every line that somebody said; the others are none.
    pub(crate) fn play(&mut self, lines: &[Heard]) -> Vec<Option<Decided>> {
        lines.iter().map(|line| self.say(line, false).map(|(decided, _)| decided)).collect()
    }

    /// Says every line, and gives what the flow weighs of each before it is said.
    pub(crate) fn weigh(
        &mut self,
        lines: &[Heard],
        mut seen: impl FnMut(usize, &Decided, &Weighed),
    ) {
        for (at, line) in lines.iter().enumerate() {
            let Some(author) = line.author.filter(|_| line.said) else { continue };
            let analysis = Analysis::of(&line.text);
            let saying = Saying {
                author: key(author),
                thread: None,
                at: Timestamp(line.at.unwrap_or_default()).max(self.room.head().last_at),
                analysis: &analysis,
            };
            let handle = |m: MemberKey| self.directory.member(m).map(|m| &*m.handle);
            let weighed = flow::weigh(self.room.talk(), &saying, self.flow.off, handle);
            if let Some((decided, _)) = self.say(line, false) {
                seen(at, &decided, &weighed);
            }
        }
    }

    /// What each decision costs.
    pub(crate) fn costs(&mut self, lines: &[Heard]) -> Vec<Cost> {
        lines.iter().filter_map(|line| self.say(line, true).map(|(_, cost)| cost)).collect()
    }

    fn say(&mut self, line: &Heard, timed: bool) -> Option<(Decided, Cost)> {
        let author = self.speakers.get(line.author.filter(|_| line.said)?)?.clone();
        let at = Timestamp(line.at.unwrap_or_default());
        let mut cost = Cost { nanos: u64::MAX, allocations: u64::MAX };
        for _ in 0..if timed { TIMES } else { 0 } {
            let began = Instant::now();
            let decision = self.decide(&author, &line.text, at);
            cost.nanos = cost.nanos.min(began.elapsed().as_nanos() as u64);
            drop(decision);
            let counted = allocation_counter::measure(|| {
                drop(self.decide(&author, &line.text, at));
            });
            cost.allocations = cost.allocations.min(counted.count_total);
        }
        let attention = self.decide(&author, &line.text, at);
        let decided = Decided {
            attention: attention.clone(),
            asks: asks_question(&line.text),
            named: self.named(&line.text, author.key),
        };
        let message = Message { text: line.text.as_str().into(), ..Message::default() };
        let attention = Some(Arc::new(attention));
        log(&mut self.room, author.key, at, attention, Change::Posted(message));
        // Nothing here is written: what would be is let go.
        let _ = self.room.take_dirty();
        Some((decided, cost))
    }

    /// The decision of the product.
    fn decide(&self, author: &Member, text: &str, at: Timestamp) -> Attention {
        let people = People {
            directory: &self.directory,
            granted: &self.granted,
            running: &self.running,
            flow: self.flow,
        };
        directedness::decide(
            &self.room,
            people,
            &IncomingMessage::read(&self.room, author, None, text, &Analysis::of(text), at),
        )
    }

    fn named(&self, text: &str, author: MemberKey) -> Vec<usize> {
        let targets = mentions(text, &self.directory.names).into_iter().map(|m| m.target);
        let mut named = Vec::new();
        for target in targets {
            if let Target::Member(member) = target
                && member != author
                && !named.contains(&(member.0 as usize - 1))
            {
                named.push(member.0 as usize - 1);
            }
        }
        named
    }
}

impl Decided {
    /// What the member was decided to owe and be shown.
    pub(crate) fn of(&self, author: usize) -> Decision {
        let told = self.attention.told.iter().find(|told| told.member == key(author));
        told.map_or_else(
            || directedness::for_the_rest(&self.attention, false),
            |told| told.decision,
        )
    }

    /// Whether the member must answer it.
    pub(crate) fn owes(&self, author: usize) -> bool {
        self.of(author).policy == Policy::MustRespond
    }

    /// The one whom it is taken to be for: the first who is told that it is for them.
    pub(crate) fn addressee(&self) -> Option<usize> {
        if let Some(meant) = self.attention.meant {
            return Some(meant.member.0 as usize - 1);
        }
        let meant = |d: &Decision| d.directedness == Directedness::ToMe;
        let told = self.attention.told.iter().find(|told| meant(&told.decision))?;
        Some(told.member.0 as usize - 1)
    }
}

const KIND: ConversationKind = ConversationKind::Channel;

fn channel() -> Conversation {
    Conversation {
        key: ConversationKey(1),
        uid: Uid(1),
        kind: KIND,
        settings: Settings {
            title: "replay".into(),
            description: "".into(),
            purpose: "".into(),
            visibility: Visibility::Public,
            ..Settings::default()
        },
        created_at: Timestamp(0),
    }
}

fn log(
    room: &mut Room,
    actor: MemberKey,
    at: Timestamp,
    attention: Option<Arc<Attention>>,
    change: Change,
) {
    let uid = Uid(u128::from(room.head().seq.0) + 2);
    room.log(Draft {
        uid,
        at,
        actor,
        session: None,
        thread: None,
        reply_to: None,
        cause: None,
        hop: 0,
        idempotency: None,
        attention,
        change,
        salt: [0; 16],
        heard: None,
    });
}
