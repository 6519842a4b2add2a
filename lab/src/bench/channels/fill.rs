//! A folder with years of talk in it: many channels and people, and words as often as words are said (Zipf).

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, mpsc};

use chorus_core::commands::{Command, conversations, directory};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::{ConversationKind, Settings, Visibility};
use chorus_core::model::error::Refusal;
use chorus_core::model::event::Message;
use chorus_core::model::ids::{MemberKey, Prefix, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::requests::Post;
use chorus_core::model::seed::CommandSeed;
use chorus_store::{Clock, Options, Sync, SystemClock, Writer};

pub(super) const ROOMS: u64 = 200;
pub(super) const PEOPLE: u64 = 20;
/// Different words.
const WORDS: u64 = 50_000;
/// Posts on their way to the writer at once.
const AHEAD: u64 = 256;
/// Between two messages: a million are a year.
const STEP_MS: i64 = 30_000;

/// Numbers that look random and are the same in every run.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    /// A word, as often as its rank says: the n-th about a tenth of an n-th of all.
    pub(super) fn word(&mut self) -> String {
        let share = self.below(1 << 30) as f64 / (1u64 << 30) as f64;
        word((WORDS as f64).powf(share) as u64 - 1)
    }

    /// Four to forty words.
    pub(super) fn text(&mut self) -> String {
        let count = 4 + self.below(37);
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

/// The word of a rank, the most frequent first.
pub(super) fn word(rank: u64) -> String {
    let mut word = String::new();
    let mut rest = rank + 20;
    while rest > 0 {
        let (consonant, vowel) = ((rest % 20) as usize, (rest / 20 % 5) as usize);
        word.push(char::from(b"bcdfghjklmnpqrstvwxz"[consonant]));
        word.push(char::from(b"aeiou"[vowel]));
        rest /= 100;
    }
    word
}

/// The text of the message of that number.
pub(super) fn text(number: u64) -> String {
    Chance(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).text()
}

/// A clock that goes on with every message.
#[derive(Debug)]
struct Behind(AtomicI64);

impl Clock for Behind {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// Fills an empty folder; the public ids of its rooms.
pub(super) fn fill(data: &Path, messages: u64) -> Result<Vec<String>, String> {
    let start = SystemClock.now().0 - STEP_MS * (messages as i64 + 1_000);
    let clock = Arc::new(Behind(AtomicI64::new(start)));
    let mut drawn = 0u128;
    let mut draw = |clock: &Behind| {
        // Whatever a command derives from its own id stays clear of the next.
        drawn += 4_096;
        let uid = |n| Uid(((clock.now().0 as u128) << 80) | (7 << 76) | (2 << 62) | n);
        CommandSeed { uid: uid(drawn), second: uid(drawn + 2_048), salt: [7; 16] }
    };
    let options = Options {
        sync: Sync::DangerousNormal,
        clock: clock.clone(),
        ..Options::new(data, draw(&clock).uid)
    };
    let store = chorus_store::open(options).map_err(|e| e.to_string())?;
    let (writer, _) = store.start(Box::new(drop)).map_err(|e| e.to_string())?;
    for n in 1..=PEOPLE {
        let (id, kind) = (format!("person{n}"), MemberKind::Human);
        let add = directory::AddMember { id, kind, fields: MemberFields::default() };
        ask(&writer, By::host(), add, draw(&clock))?;
    }
    let mut rooms = Vec::new();
    for number in 0..ROOMS {
        let settings = Settings {
            title: format!("room {number}").into(),
            visibility: Visibility::Public,
            ..Settings::default()
        };
        let members = (1..=PEOPLE as u32).map(MemberKey).collect();
        let make = conversations::CreateConversation {
            kind: ConversationKind::Channel,
            settings,
            members,
        };
        rooms.push(ask(&writer, by(1), make, draw(&clock))?.uid);
    }
    let (answer, answered) = mpsc::channel::<Option<Refusal>>();
    let mut under_way = 0;
    for number in 0..messages {
        if under_way == AHEAD {
            heard(&answered)?;
            under_way -= 1;
        }
        clock.0.fetch_add(STEP_MS, Ordering::Relaxed);
        let post = Post {
            conversation: rooms[(number.wrapping_mul(7_919) % ROOMS) as usize],
            thread: None,
            message: Message { text: text(number).into(), ..Message::default() },
            in_reply_to: None,
            idempotency: None,
            recipient: None,
            mentions: Vec::new(),
            directedness: None,
            audience: Default::default(),
            left_out: Vec::new(),
        };
        let answer = answer.clone();
        writer.submit(by(1 + number % PEOPLE), post, draw(&clock), move |done| {
            // Nobody listens any more after the first refusal.
            let _ = answer.send(done.err().map(Refusal::from));
        });
        under_way += 1;
    }
    for _ in 0..under_way {
        heard(&answered)?;
    }
    writer.stop();
    Ok(rooms.into_iter().map(|uid| uid.show(Prefix::Conversation)).collect())
}

fn heard(answered: &mpsc::Receiver<Option<Refusal>>) -> Result<(), String> {
    match answered.recv().map_err(|_| "the writer ended")? {
        Some(refusal) => Err(refusal.message),
        None => Ok(()),
    }
}

fn by(member: u64) -> By {
    By {
        member: MemberKey(member as u32),
        session: None,
        authority: Authority::Operator,
        turn: None,
    }
}

fn ask<C: Command>(
    writer: &Writer,
    by: By,
    command: C,
    drawn: CommandSeed,
) -> Result<C::Output, String> {
    writer.execute(by, command, drawn).map_err(|why| Refusal::from(why).message)
}
