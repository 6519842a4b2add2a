//! Does one thing so often that its instructions can be counted, without HTTP and without a search index:
//! `valgrind --tool=callgrind instructions post N`, `… deliver POSTS SETTLED`, `… decide N`. The count of one is the
//! difference of two runs over the difference of their numbers (`post 500` and `post 1500`; `deliver 1000 0` and
//! `deliver 1000 1000`; `decide 1000` and `decide 3000`). The clock is set by hand, so that nothing depends on how long a
//! run takes: counts repeat within one in a thousand.

use std::path::Path;
use std::sync::{Arc, mpsc};

use chorus_core::attention::directedness::{self, IncomingMessage, People};
use chorus_core::commands::{Command, conversations, deliveries, directory};
use chorus_core::language::analysis::Analysis;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::{
    Conversation, ConversationKind, Participation, Settings, Visibility,
};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Change, Idempotency, Message};
use chorus_core::model::flow::Settings as FlowSettings;
use chorus_core::model::ids::{ConversationKey, EventRef, MemberKey, SessionKey, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::offer::Offer;
use chorus_core::model::requests::Post;
use chorus_core::model::seed::CommandSeed;
use chorus_core::state::directory::Directory;
use chorus_core::state::effect::Effect;
use chorus_core::state::room::Room;
use chorus_core::state::room::apply::Draft;
use chorus_store::{ManualClock, Options, Writer, open};

type Asking<T> = Result<T, Refusal>;
type Anything = Result<(), Box<dyn std::error::Error>>;

const START: Timestamp = Timestamp(1_790_000_000_000);
const PERSON: MemberKey = MemberKey(1);
const ADA: MemberKey = MemberKey(2);

/// What is said, in turn: some of it names an agent, some nobody.
const LINES: [&str; 6] = [
    "@ada can you look at the build of the parser? It has been red since Monday, and the log says nothing",
    "just thinking aloud here about the cache, which is cold every morning",
    "thanks, perfect!",
    "does anybody know why the second run takes so much longer than the first one did?",
    "@bob please deploy what was merged, and tell @cyd when it is done",
    "I will be away until two; the certificate ends on Friday, so somebody should look at it",
];

fn main() -> Anything {
    let mut args = std::env::args().skip(1);
    let what = args.next().unwrap_or_default();
    let numbers = args.map(|n| n.parse()).collect::<Result<Vec<u64>, _>>()?;
    match (&*what, &*numbers) {
        ("post", [posts]) => hosted(*posts, None),
        ("deliver", [posts, settled]) => hosted(*posts, Some(*settled)),
        ("decide", [times]) => decide(*times),
        _ => Err("post N | deliver POSTS SETTLED | decide N".into()),
    }
}

/// A store in a folder of its own, and the one who asks it.
struct Asked {
    writer: Writer,
    clock: Arc<ManualClock>,
    drawn: u64,
}

/// Posts, one after the other, by a person in a room with three agents. With `settled` ada is connected and named by
/// each; so many of the offers are accepted and settled.
fn hosted(posts: u64, settled: Option<u64>) -> Anything {
    let folder = std::env::temp_dir().join(format!("chorus-instructions-{}", std::process::id()));
    let done = run(&folder, posts, settled);
    std::fs::remove_dir_all(&folder)?;
    done
}

fn run(folder: &Path, posts: u64, settled: Option<u64>) -> Anything {
    let clock = Arc::new(ManualClock::new(START));
    let store = open(Options { clock: clock.clone(), ..Options::new(folder, Uid(1)) })?;
    let (offers, offered) = mpsc::channel();
    let sink = move |effects: Vec<Effect>| {
        for effect in effects {
            if let Effect::Offer(offer) = effect {
                // Nobody listens where nothing is settled.
                let _ = offers.send(offer);
            }
        }
    };
    let (writer, _readers) = store.start(Box::new(sink))?;
    let mut asked = Asked { writer, clock, drawn: 0 };
    let room = asked.room()?;
    let session = settled.map(|_| asked.connect()).transpose()?;
    for n in 0..posts {
        let text = match session {
            Some(_) => format!("@ada number {n}: {}", LINES[0]),
            None => format!("{} ({n})", LINES[n as usize % LINES.len()]),
        };
        asked.post(room, n, &text)?;
    }
    if let (Some(session), Some(settled)) = (session, settled) {
        // Each post is offered, if not at once.
        for offer in offered.iter().take(usize::try_from(settled.min(posts))?) {
            asked.settle(session, offer)?;
        }
    }
    asked.writer.stop();
    Ok(())
}

impl Asked {
    fn ask<C: Command>(&mut self, by: By, command: C) -> Asking<C::Output> {
        self.drawn += 1;
        // In steps, so that what is due comes due at the same commands however long each of them takes.
        if self.drawn.is_multiple_of(100) {
            self.clock.advance(1_000);
        }
        let n = u128::from(self.drawn);
        let seed =
            CommandSeed { uid: Uid(n << 40), second: Uid((n << 40) + (1 << 39)), salt: [7; 16] };
        Ok(self.writer.execute(by, command, seed)?)
    }

    fn room(&mut self) -> Asking<Uid> {
        for (id, kind) in MEMBERS {
            let fields = MemberFields::default();
            self.ask(By::host(), directory::AddMember { id: id.into(), kind, fields })?;
        }
        let members = [2, 3, 4].map(MemberKey).to_vec();
        let (kind, settings) = (ConversationKind::Channel, settings());
        let make = conversations::CreateConversation { kind, settings, members };
        Ok(self.ask(person(), make)?.uid)
    }

    fn connect(&mut self) -> Asking<SessionKey> {
        let (managed, resumable, runtime) = (false, false, "lab".into());
        let new = directory::OpenSession { runtime, managed, resumable, ..Default::default() };
        Ok(self.ask(agent(None), new)?.key)
    }

    fn post(&mut self, room: Uid, n: u64, text: &str) -> Asking<()> {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&n.to_be_bytes());
        let post = Post {
            conversation: room,
            thread: None,
            message: Message { text: text.into(), ..Message::default() },
            in_reply_to: None,
            idempotency: Some(Idempotency { key, payload: key }),
            recipient: None,
            mentions: Vec::new(),
            directedness: None,
            audience: Default::default(),
            left_out: Vec::new(),
        };
        self.ask(person(), post).map(drop)
    }

    fn settle(&mut self, session: SessionKey, offer: Offer) -> Asking<()> {
        let (by, attempt) = (agent(Some(session)), offer.attempt);
        let event = &offer.entry.event;
        let event = EventRef { conversation: event.conversation, seq: event.seq };
        self.ask(by, deliveries::Accept { event, attempt, epoch: None })?;
        let (disposition, note) = (Disposition::Responded, None);
        let event = offer.entry.event.uid;
        self.ask(by, deliveries::Dispose { event, disposition, note }).map(drop)
    }
}

const MEMBERS: [(&str, MemberKind); 4] = [
    ("person", MemberKind::Human),
    ("ada", MemberKind::Agent),
    ("bob", MemberKind::Agent),
    ("cyd", MemberKind::Agent),
];

fn person() -> By {
    By { member: PERSON, session: None, authority: Authority::Operator, turn: None }
}

fn agent(session: Option<SessionKey>) -> By {
    By { member: ADA, session, authority: Authority::Worker, turn: None }
}

fn settings() -> Settings {
    Settings { title: "room".into(), visibility: Visibility::Public, ..Settings::default() }
}

/// Decides so often about a line in a room in which two hundred were said, and records nothing.
fn decide(times: u64) -> Anything {
    let mut directory = Directory::default();
    for (id, kind) in MEMBERS {
        directory
            .add_member(id, kind, &MemberFields::default())
            .map_err(|refusal| refusal.message.to_string())?;
    }
    let mut room = Room::new(Conversation {
        key: ConversationKey(1),
        uid: Uid(1),
        kind: ConversationKind::Channel,
        settings: settings(),
        created_at: START,
    });
    let kind = ConversationKind::Channel;
    log(&mut room, PERSON, Change::Created { kind, settings: settings() });
    for member in [1, 2, 3, 4].map(MemberKey) {
        let participation = Participation::default();
        log(&mut room, member, Change::Joined { member, participation });
    }
    let author = directory.member(PERSON).ok_or("nobody is there")?.clone();
    let (granted, running) = Default::default();
    let flow = FlowSettings::default();
    for n in 0..200 {
        let text = LINES[n % LINES.len()];
        let message = Message { text: text.into(), ..Message::default() };
        log(&mut room, MemberKey(1 + n as u32 % 2), Change::Posted(message));
        let _ = room.take_dirty();
    }
    let mut told = 0;
    for n in 0..times {
        let text = LINES[n as usize % LINES.len()];
        let people = People { directory: &directory, granted: &granted, running: &running, flow };
        let (analysis, at) = (Analysis::of(text), room.head().last_at.plus(1_000));
        let said = IncomingMessage::read(&room, &author, None, text, &analysis, at);
        told += directedness::decide(&room, people, &said).told.len();
    }
    println!("{told} were told");
    Ok(())
}

fn log(room: &mut Room, actor: MemberKey, change: Change) {
    let seq = room.head().seq.0;
    room.log(Draft {
        uid: Uid(u128::from(seq) + 2),
        at: START.plus(i64::try_from(seq).unwrap_or_default() * 1_000),
        actor,
        session: None,
        thread: None,
        reply_to: None,
        cause: None,
        hop: 0,
        idempotency: None,
        attention: None,
        change,
        salt: [0; 16],
        heard: None,
    });
}
