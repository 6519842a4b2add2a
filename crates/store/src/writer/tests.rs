//! What goes wrong in a batch touches only what is wrong.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use chorus_core::command::{Authority, By, Command, Drawn, Outcome, Post};
use chorus_core::conversation::{ConversationKind, Settings, Visibility};
use chorus_core::error::{Code, Refusal};
use chorus_core::event::Message;
use chorus_core::ids::{MemberKey, Seq, Timestamp, Uid};
use chorus_core::member::{MemberFields, MemberKind};

use crate::db::{Db, Error, Result, Row, Value};
use crate::reader::{Line, Page, Readers, Start};
use crate::{ManualClock, Options, Writer, doctor, open};

/// A database that fails on purpose: at a row whose bytes hold `BROKEN`, by panicking at one that holds
/// `PANIC`, and at every commit once it is told to.
struct Faulty {
    db: Box<dyn Db>,
    commit_fails: Arc<AtomicBool>,
}

impl Db for Faulty {
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize> {
        let holds = |word: &[u8]| {
            values.iter().any(|v| match v {
                Value::Blob(bytes) => bytes.windows(word.len()).any(|w| w == word),
                _ => false,
            })
        };
        assert!(!holds(b"PANIC"), "a decision that panics");
        if holds(b"BROKEN") {
            return Err(Error::Engine("it broke".to_owned()));
        }
        self.db.execute(sql, values)
    }

    fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.db.query(sql, values, each)
    }

    fn begin(&self) -> Result<()> {
        self.db.begin()
    }

    fn begin_reading(&self) -> Result<()> {
        self.db.begin_reading()
    }

    fn commit(&self) -> Result<()> {
        if self.commit_fails.load(Ordering::SeqCst) {
            return Err(Error::Engine("the disk is gone".to_owned()));
        }
        self.db.commit()
    }

    fn rollback(&self) -> Result<()> {
        self.db.rollback()
    }

    fn housekeep(&self, idle: bool) -> Result<()> {
        self.db.housekeep(idle)
    }

    fn check_file(&self) -> Result<Vec<String>> {
        self.db.check_file()
    }
}

struct Ground {
    folder: tempfile::TempDir,
    writer: Writer,
    readers: Readers,
    commit_fails: Arc<AtomicBool>,
    room: Uid,
    next: AtomicU64,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let commit_fails = Arc::new(AtomicBool::new(false));
        let fails = commit_fails.clone();
        let store = open(Options::new(folder.path(), Uid(1))).unwrap();
        let store = store.map_db(|db| Box::new(Faulty { db, commit_fails: fails }));
        let clock = Arc::new(ManualClock::new(Timestamp(1_000)));
        let (writer, readers) = store.start(clock, Box::new(drop)).unwrap();
        let mut ground =
            Self { folder, writer, readers, commit_fails, room: Uid(0), next: AtomicU64::new(100) };
        for (id, kind) in [("person", MemberKind::Human), ("ada", MemberKind::Agent)] {
            let fields = MemberFields::default();
            let command = Command::AddMember { id: id.into(), kind, fields };
            ground.submit(By::host(), command, 0).recv().unwrap().unwrap();
        }
        let settings = Settings {
            title: "room".into(),
            description: "".into(),
            purpose: "".into(),
            visibility: Visibility::Public,
            stream: None,
            archived: false,
        };
        let (kind, members) = (ConversationKind::Channel, vec![MemberKey(2)]);
        let command = Command::CreateConversation { kind, settings, members };
        match ground.submit(person(), command, 1).recv().unwrap().unwrap() {
            Outcome::Conversation(made) => ground.room = made.uid,
            other => panic!("{other:?}"),
        }
        ground
    }

    fn submit(&self, by: By, command: Command, n: u64) -> mpsc::Receiver<Result<Outcome, Refusal>> {
        let (answer, answered) = mpsc::channel();
        let drawn = Drawn { uid: Uid(u128::from(n + 1) << 32), second: Uid(0), salt: [1; 16] };
        self.writer.submit(by, command, drawn, move |outcome| answer.send(outcome).unwrap());
        answered
    }

    /// Posts all texts as one batch: the writer is kept busy by the first answer until all wait.
    fn post_together(&self, texts: &[&str]) -> Vec<Result<Outcome, Refusal>> {
        let (go, wait) = mpsc::channel::<()>();
        let blocker = Command::Waiting { member: Some(MemberKey(1)), limit: 0 };
        self.writer.submit(person(), blocker, Drawn::default(), move |_| wait.recv().unwrap());
        let waiting: Vec<_> = texts
            .iter()
            .zip(self.next.fetch_add(100, Ordering::SeqCst)..)
            .map(|(text, n)| self.submit(person(), post(self.room, text), n))
            .collect();
        go.send(()).unwrap();
        waiting.into_iter().map(|answer| answer.recv().unwrap()).collect()
    }

    fn texts(&self) -> Vec<String> {
        let conversation = self.readers.conversation(self.room).unwrap().unwrap().key;
        let page =
            Page { conversation, line: Line::Messages, start: Start::After(Seq(0)), limit: 99 };
        let (entries, _) = self.readers.entries(&page).unwrap().unwrap();
        entries.iter().map(|e| e.content.as_ref().unwrap().text.to_string()).collect()
    }
}

fn person() -> By {
    By { member: MemberKey(1), session: None, authority: Authority::Operator, turn: None }
}

fn post(room: Uid, text: &str) -> Command {
    Command::Post(Box::new(Post {
        conversation: room,
        thread: None,
        message: Message { text: text.into(), ..Message::default() },
        in_reply_to: None,
        idempotency: None,
        recipient: None,
        mentions: Vec::new(),
        directedness: None,
    }))
}

#[test]
fn a_batch_is_one_commit() {
    let ground = Ground::new();
    let before = ground.writer.stats();
    let answers = ground.post_together(&["one", "two", "three"]);
    assert!(answers.iter().all(|a| a.is_ok()));
    let after = ground.writer.stats();
    assert_eq!(after.commits - before.commits, 1);
    assert_eq!(ground.texts(), ["one", "two", "three"]);
}

#[test]
fn a_command_that_breaks_takes_no_other_with_it() {
    for (word, code) in [("BROKEN", Code::Unavailable), ("PANIC", Code::Internal)] {
        let ground = Ground::new();
        let answers = ground.post_together(&["one", "@ada two", word, "four"]);
        let codes: Vec<_> = answers.iter().map(|a| a.as_ref().err().map(|r| r.code)).collect();
        assert_eq!(codes, [None, None, Some(code), None], "{word}");
        assert_eq!(ground.texts(), ["one", "@ada two", "four"]);
        assert!(ground.writer.health().ok);
        assert_eq!(ground.writer.stats().split, 1);
        let next = ground.post_together(&["five"]);
        assert!(next[0].is_ok(), "the room is in order again: {next:?}");
        ground.writer.stop();
        let report = doctor(ground.folder.path(), None).unwrap();
        assert_eq!(report.problems, []);
    }
}

#[test]
fn a_command_that_records_nothing_forces_no_commit() {
    let ground = Ground::new();
    let before = ground.writer.stats().commits;
    let Command::Post(preview) = post(ground.room, "what?") else { unreachable!() };
    let answer = ground.submit(person(), Command::Preview(preview), 7).recv().unwrap();
    assert!(matches!(answer, Ok(Outcome::Preview(_))));
    let refused = ground.submit(person(), post(Uid(999), "where?"), 8).recv().unwrap();
    assert_eq!(refused.unwrap_err().code, Code::NotFound);
    assert_eq!(ground.writer.stats().commits, before);
}

#[test]
fn a_commit_that_fails_ends_the_writer_and_is_never_tried_again() {
    let ground = Ground::new();
    ground.commit_fails.store(true, Ordering::SeqCst);
    let answers = ground.post_together(&["one", "two"]);
    let codes: Vec<_> = answers.iter().map(|a| a.as_ref().unwrap_err().code).collect();
    assert_eq!(codes, [Code::Unavailable, Code::Unavailable]);
    ground.commit_fails.store(false, Ordering::SeqCst);
    let after = ground.submit(person(), post(ground.room, "three"), 9).recv().unwrap();
    assert_eq!(after.unwrap_err().code, Code::Unavailable);
    let health = ground.writer.health();
    assert!(!health.ok);
    assert!(health.reason.unwrap().contains("the disk is gone"));
}
