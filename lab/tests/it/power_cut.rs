//! The power goes at random moments under load, and everything that was answered is there afterwards;
//! and the test would see it if it were not.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};

use chorus_core::commands::{Command, NotDone, conversations, directory};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::{ConversationKind, Settings, Visibility};
use chorus_core::model::event::{Event, Idempotency, Message};
use chorus_core::model::ids::{ConversationKey, MemberKey, Seq, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::requests::Post;
use chorus_core::model::seed::CommandSeed;
use chorus_lab::lossy::{self, Disk};
use chorus_store::{Line, ManualClock, Options, Page, Start, Sync, Writer, doctor, open};

/// Power cuts of one disk, on one folder that lives through all of them.
const CUTS: u64 = 12;
/// Posts under way at a time.
const CALLERS: usize = 16;

// covers: ATT-101, OPS-441
#[test]
fn what_was_answered_survives_the_power() {
    for seed in 1..=4 {
        match live_through(seed, Sync::Full) {
            Ok(answered) => assert!(answered > 100, "too few to mean anything: {answered}"),
            Err(lost) => panic!("seed {seed}: {lost}"),
        }
    }
}

#[test]
fn an_answer_before_the_sync_is_seen_to_be_lost() {
    assert!(loses_an_answer(Sync::DangerousAnswerFirst), "the test would not see it");
}

#[test]
fn an_answer_without_a_sync_is_seen_to_be_lost() {
    assert!(loses_an_answer(Sync::DangerousNormal), "the test would not see it");
}

/// Whether something that was answered is gone, and not merely something else wrong.
fn loses_an_answer(sync: Sync) -> bool {
    let mut lives = (1..=4).map(|seed| live_through(seed, sync));
    lives.any(|life| life.is_err_and(|why| why.ends_with("was answered and is lost")))
}

/// What the host answered, over all its lives.
#[derive(Default)]
struct Answered {
    rooms: Vec<(ConversationKey, Uid)>,
    events: Vec<Arc<Event>>,
}

/// Says how many posts were answered, all of which are there; or what is wrong.
fn live_through(seed: u64, sync: Sync) -> Result<usize, String> {
    let name = format!("lossy-{sync:?}-{seed}");
    let lossy = lossy::register(&name, seed).unwrap();
    let disk = lossy.disk;
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path(), Uid(1));
    options.vfs = Some(lossy.clone());
    options.sync = sync;
    let mut answered = Answered::default();
    let clock = Arc::new(ManualClock::new(Timestamp(1_000_000)));
    options.clock = clock.clone();
    for cut in 0..CUTS {
        let (writer, readers) = open(options.clone()).unwrap().start(Box::new(drop)).unwrap();
        let life = Life { writer, ids: (seed << 32 | cut) << 24 };
        if cut == 0 {
            answered.rooms = life.settle();
        }
        drop(readers);
        let moment = (seed * 131 + cut * 97) % 500 + 3;
        if cut % 3 == 2 {
            // This one goes while the host stops: closing copies the whole log back into the database.
            life.talk(disk, &clock, &mut answered, 8);
            disk.cut_after(moment % 60);
            life.writer.stop();
            disk.cut();
        } else {
            disk.cut_after(moment);
            life.talk(disk, &clock, &mut answered, usize::MAX);
            life.writer.stop();
        }
        disk.power_on();
        check(&options, &answered)?;
    }
    Ok(answered.events.len())
}

/// One life of the host, from its start to the power cut.
struct Life {
    writer: Writer,
    /// The first of the ids drawn in it.
    ids: u64,
}

impl Life {
    fn settle(&self) -> Vec<(ConversationKey, Uid)> {
        let kinds = [MemberKind::Human, MemberKind::Agent, MemberKind::Agent];
        for (kind, id) in kinds.into_iter().zip(["person", "ada", "bob"]) {
            let fields = MemberFields::default();
            let command = directory::AddMember { id: id.into(), kind, fields };
            self.submit(By::host(), command, 0).recv().unwrap().unwrap();
        }
        (0..3).map(|n| self.make_room(n)).collect()
    }

    fn make_room(&self, n: u64) -> (ConversationKey, Uid) {
        let settings = Settings {
            title: format!("room {n}").into(),
            description: "".into(),
            purpose: "".into(),
            visibility: Visibility::Public,
            ..Settings::default()
        };
        let (kind, members) = (ConversationKind::Channel, vec![MemberKey(2), MemberKey(3)]);
        let command = conversations::CreateConversation { kind, settings, members };
        let made = self.submit(person(), command, n + 1).recv().unwrap().unwrap();
        (made.key, made.uid)
    }

    /// Posts until the power goes, or for so many rounds; keeps what was answered.
    fn talk(&self, disk: &Disk, clock: &ManualClock, answered: &mut Answered, rounds: usize) {
        let mut n = 16;
        for _ in (0..rounds).take_while(|_| disk.is_on()) {
            let waiting: Vec<_> = (0..CALLERS)
                .map(|caller| {
                    n += 1;
                    let (_, room) = answered.rooms[caller % answered.rooms.len()];
                    self.submit(person(), post(room, self.ids + n), n)
                })
                .collect();
            for answer in waiting {
                if let Ok(Ok(logged)) = answer.recv() {
                    answered.events.push(logged.entry.event);
                }
            }
            clock.advance(400);
            self.writer.tick();
        }
    }

    fn submit<C: Command>(
        &self,
        by: By,
        command: C,
        n: u64,
    ) -> Receiver<Result<C::Output, NotDone>> {
        let (answer, answered) = mpsc::channel();
        let answer = Mutex::new(answer);
        let uid = u128::from(self.ids + n) << 32;
        let drawn =
            CommandSeed { uid: Uid(uid), second: Uid(uid + (1 << 31)), salt: [n as u8; 16] };
        self.writer.submit(by, command, drawn, move |outcome| {
            let _ = answer.lock().unwrap().send(outcome);
        });
        answered
    }
}

fn person() -> By {
    By { member: MemberKey(1), session: None, authority: Authority::Operator, turn: None }
}

fn post(room: Uid, n: u64) -> Post {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&n.to_be_bytes());
    let who = ["@ada", "@bob", "nobody"][n as usize % 3];
    Post {
        conversation: room,
        thread: None,
        message: Message { text: format!("{who}, number {n}?").into(), ..Message::default() },
        in_reply_to: None,
        idempotency: Some(Idempotency { key, payload: key }),
        recipient: None,
        mentions: Vec::new(),
        directedness: None,
        audience: Default::default(),
        left_out: Vec::new(),
    }
}

/// Everything answered is there, once and unchanged, and the doctor finds nothing.
fn check(options: &Options, answered: &Answered) -> Result<(), String> {
    let (writer, readers) =
        open(options.clone()).map_err(|e| e.to_string())?.start(Box::new(drop)).unwrap();
    let mut found = Vec::new();
    for (conversation, _) in &answered.rooms {
        let mut after = Seq(0);
        loop {
            let (conversation, limit) = (*conversation, 1_000);
            let page =
                Page { conversation, line: Line::Messages, start: Start::After(after), limit };
            let page = readers.entries(&page).map_err(|e| e.to_string())?;
            let (entries, more) = page.ok_or("a room was answered and is lost")?;
            found.extend(entries.into_iter().map(|e| e.entry.event));
            if !more {
                break;
            }
            after = found.last().unwrap().seq;
        }
    }
    writer.stop();
    drop(readers);
    for event in &answered.events {
        let same = found.iter().filter(|f| f.uid == event.uid).collect::<Vec<_>>();
        match same.as_slice() {
            [one] if **one == *event => {}
            [] => return Err(format!("event {} was answered and is lost", event.seq)),
            other => return Err(format!("event {} is there as {other:?}", event.seq)),
        }
    }
    let report = doctor(&options.place()).map_err(|e| e.to_string())?;
    match report.problems.first() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(()),
    }
}
