//! A failure in a batch affects only its cause.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod deferred;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use chorus_core::commands::messages::Logged;
use chorus_core::commands::{Command, conversations, directory};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::{ConversationKind, Settings, Visibility};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Message;
use chorus_core::model::ids::{MemberKey, Seq, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::requests::Post;
use chorus_core::model::seed::CommandSeed;
use chorus_core::queries;
use chorus_core::state::effect::Effect;
use deferred::Syncs;

use crate::db::{Db, Error, Fate, Result, Row, RowChange, Sync, SyncLog, Table, Value};
use crate::postgres::Address;
use crate::reader::{Line, Page, Readers, Start};
use crate::{ManualClock, Options, Place, Writer, doctor, open};

/// A database that fails deliberately: at a row that contains `BROKEN`, with a panic at one that
/// contains `PANIC`, and at commits once told to.
struct Faulty {
    db: Box<dyn Db>,
    commit_fails: Arc<AtomicBool>,
    syncs: Arc<Syncs>,
    /// The disk is full: only commits say so.
    full: Arc<AtomicBool>,
    /// The next commit loses the connection, and is undone.
    loses: Arc<AtomicBool>,
    lost: Cell<bool>,
    /// The conversation whose pending rows cannot be written; 0 for none.
    pending_fails: Arc<AtomicI64>,
}

impl Db for Faulty {
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize> {
        self.db.execute(sql, values)
    }

    fn change(&self, table: &'static Table, how: RowChange, values: &[Value<'_>]) -> Result<()> {
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
        let pending_fails = Value::Int(self.pending_fails.load(Ordering::SeqCst));
        let pending = table.name == "pending" && how == RowChange::Put;
        assert!(!pending || values[1] != pending_fails, "a timer");
        self.db.change(table, how, values)
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

    fn flush(&self) -> Result<()> {
        self.db.flush()
    }

    fn is_lost(&self) -> bool {
        self.lost.get() || self.db.is_lost()
    }

    fn recover(&self) -> Result<Fate> {
        self.lost.set(false);
        self.db.rollback().map(|()| Fate::Undone)
    }

    fn begin_reading(&self) -> Result<()> {
        self.db.begin_reading()
    }

    fn defer_sync(&self) -> Result<Option<SyncLog>> {
        let Some(mut sync) = self.db.defer_sync()? else { return Ok(None) };
        let syncs = self.syncs.clone();
        Ok(Some(Box::new(move || {
            syncs.pass()?;
            sync()
        })))
    }

    fn commit(&self) -> Result<()> {
        if self.commit_fails.load(Ordering::SeqCst) {
            return Err(Error::Engine("the disk is gone".to_owned()));
        }
        if self.loses.swap(false, Ordering::SeqCst) {
            self.lost.set(true);
            return Err(Error::Lost("it was cut".to_owned()));
        }
        if self.full.load(Ordering::SeqCst) {
            return Err(Error::Full("no space".to_owned()));
        }
        self.db.commit()
    }

    fn rollback(&self) -> Result<()> {
        self.db.rollback()
    }

    fn compact(&self) -> Result<()> {
        self.db.compact()
    }

    fn thoroughly(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.db.thoroughly(work)
    }

    fn scrub(&self) -> Result<bool> {
        self.db.scrub()
    }

    fn housekeep(&self, idle: bool) -> Result<bool> {
        self.db.housekeep(idle)
    }

    fn check_file(&self) -> Result<Vec<String>> {
        self.db.check_file()
    }

    fn copy_to(&self, to: &std::path::Path, between: &mut dyn FnMut() -> bool) -> Result<bool> {
        self.db.copy_to(to, between)
    }
}

struct Ground {
    _folder: tempfile::TempDir,
    place: Place,
    writer: Writer,
    readers: Readers,
    commit_fails: Arc<AtomicBool>,
    syncs: Arc<Syncs>,
    full: Arc<AtomicBool>,
    loses: Arc<AtomicBool>,
    pending_fails: Arc<AtomicI64>,
    effects: Arc<Mutex<Vec<Effect>>>,
    clock: Arc<ManualClock>,
    room: Uid,
    next: AtomicU64,
}

impl Ground {
    fn new() -> Self {
        Self::with(Sync::Full)
    }

    fn with(sync: Sync) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let commit_fails = Arc::new(AtomicBool::new(false));
        let syncs = Arc::<Syncs>::default();
        let full = Arc::new(AtomicBool::new(false));
        let loses = Arc::new(AtomicBool::new(false));
        let pending_fails = Arc::new(AtomicI64::new(0));
        let url = chorus_cluster::under_test(folder.path()).unwrap();
        let database = url.map(|url| Arc::new(Address::read(&url).unwrap()));
        let clock = Arc::new(ManualClock::new(Timestamp(1_000)));
        let options =
            Options { database, sync, clock: clock.clone(), ..Options::new(folder.path(), Uid(1)) };
        let (place, store) = (options.place(), open(options).unwrap());
        let (commit, pending) = (commit_fails.clone(), pending_fails.clone());
        let (no_space, cut, held) = (full.clone(), loses.clone(), syncs.clone());
        let faulty = |db| Faulty {
            db,
            commit_fails: commit,
            syncs: held,
            full: no_space,
            loses: cut,
            lost: Cell::new(false),
            pending_fails: pending,
        };
        let store = store.map_db(|db| Box::new(faulty(db)));
        let effects = Arc::new(Mutex::new(Vec::new()));
        let caused = effects.clone();
        let sink = move |new: Vec<Effect>| caused.lock().unwrap().extend(new);
        let (writer, readers) = store.start(Box::new(sink)).unwrap();
        let (room, next) = (Uid(0), AtomicU64::new(100));
        let mut ground = Self {
            _folder: folder,
            place,
            writer,
            readers,
            commit_fails,
            syncs,
            full,
            loses,
            pending_fails,
            effects,
            clock,
            room,
            next,
        };
        for (id, kind) in [("person", MemberKind::Human), ("ada", MemberKind::Agent)] {
            let fields = MemberFields::default();
            let command = directory::AddMember { id: id.into(), kind, fields };
            ground.submit(By::host(), command, 0).recv().unwrap().unwrap();
        }
        ground.room = ground.make_room(1);
        ground
    }

    fn make_room(&self, n: u64) -> Uid {
        let settings = Settings {
            title: "room".into(),
            description: "".into(),
            purpose: "".into(),
            visibility: Visibility::Public,
            ..Settings::default()
        };
        let (kind, members) = (ConversationKind::Channel, vec![MemberKey(2)]);
        let command = conversations::CreateConversation { kind, settings, members };
        self.submit(person(), command, n).recv().unwrap().unwrap().uid
    }

    /// Advances the clock and waits for its effects.
    fn pass(&self, ms: i64) {
        self.clock.advance(ms);
        self.writer.tick();
        // A batch that is split answers its commands before its timers fire; the next one comes
        // after both.
        for _ in 0..2 {
            let idle = queries::Waiting { member: Some(MemberKey(1)), limit: 0 };
            self.submit(person(), idle, 0).recv().unwrap().unwrap();
        }
    }

    /// The conversations that have a pending row.
    fn pending(&self) -> Vec<u64> {
        self.readers.pending().unwrap().iter().map(|(key, _)| key.0).collect()
    }

    fn submit<C: Command>(&self, by: By, command: C, n: u64) -> Answer<C::Output> {
        let (answer, answered) = mpsc::channel();
        let drawn =
            CommandSeed { uid: Uid(u128::from(n + 1) << 32), second: Uid(0), salt: [1; 16] };
        self.writer.submit(by, command, drawn, move |done| {
            answer.send(done.map_err(Refusal::from)).unwrap();
        });
        answered
    }

    /// Posts all texts as one batch, and waits for the answers.
    fn post_together(&self, texts: &[&str]) -> Vec<std::result::Result<Logged, Refusal>> {
        self.submit_together(texts).into_iter().map(|answer| answer.recv().unwrap()).collect()
    }

    /// The first answer keeps the writer busy until all wait.
    fn submit_together(&self, texts: &[&str]) -> Vec<Answer<Logged>> {
        let (go, wait) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel::<()>();
        let blocker = queries::Waiting { member: Some(MemberKey(1)), limit: 0 };
        self.writer.submit(person(), blocker, CommandSeed::default(), move |_| {
            begin.send(()).unwrap();
            wait.recv().unwrap();
        });
        // Only then is its batch closed, and everything that follows forms the next one.
        begun.recv().unwrap();
        let waiting: Vec<_> = texts
            .iter()
            .zip(self.next.fetch_add(100, Ordering::SeqCst)..)
            .map(|(text, n)| self.submit(person(), post(self.room, text), n))
            .collect();
        go.send(()).unwrap();
        waiting
    }

    fn texts(&self) -> Vec<String> {
        let conversation = self.readers.conversation(self.room).unwrap().unwrap().key;
        let page =
            Page { conversation, line: Line::Messages, start: Start::After(Seq(0)), limit: 99 };
        let (entries, _) = self.readers.entries(&page).unwrap().unwrap();
        entries.iter().map(|e| e.content.as_ref().unwrap().text.to_string()).collect()
    }
}

/// Receives a command's answer.
type Answer<T> = mpsc::Receiver<std::result::Result<T, Refusal>>;

fn person() -> By {
    By { member: MemberKey(1), session: None, authority: Authority::Operator, turn: None }
}

fn post(room: Uid, text: &str) -> Post {
    Post {
        conversation: room,
        thread: None,
        message: Message { text: text.into(), ..Message::default() },
        in_reply_to: None,
        idempotency: None,
        recipient: None,
        mentions: Vec::new(),
        directedness: None,
        audience: Default::default(),
        left_out: Vec::new(),
    }
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
        let report = doctor(&ground.place).unwrap();
        assert_eq!(report.problems, []);
    }
}

#[test]
fn a_command_that_records_nothing_forces_no_commit() {
    let ground = Ground::new();
    let before = ground.writer.stats().commits;
    let preview = post(ground.room, "what?");
    let answer = ground.submit(person(), queries::Preview(preview), 7).recv().unwrap();
    assert!(answer.is_ok());
    let refused = ground.submit(person(), post(Uid(999), "where?"), 8).recv().unwrap();
    assert_eq!(refused.unwrap_err().code, Code::NotFound);
    assert_eq!(ground.writer.stats().commits, before);
}

#[test]
fn a_full_disk_refuses_and_goes_on_when_there_is_space() {
    let ground = Ground::new();
    ground.post_together(&["@ada one"]);
    ground.full.store(true, Ordering::SeqCst);
    for texts in [["two", "@ada three"], ["four", "five"]] {
        for answer in ground.post_together(&texts) {
            let refusal = answer.unwrap_err();
            assert_eq!(refusal.code, Code::Unavailable);
            assert!(refusal.message.contains("nothing of this was written"), "{refusal}");
        }
        ground.clock.advance(2_000);
        ground.writer.tick();
    }
    let health = ground.writer.health();
    assert!(!health.ok && health.reason.as_ref().unwrap().contains("no space"), "{health:?}");
    assert_eq!(ground.texts(), ["@ada one"]);
    ground.full.store(false, Ordering::SeqCst);
    ground.pass(1_000);
    assert!(ground.writer.health().ok);
    assert!(ground.post_together(&["six"])[0].is_ok());
    assert_eq!(ground.texts(), ["@ada one", "six"]);
    assert_eq!(ground.pending(), [1], "what was owed before is owed, and its row is written now");
    ground.writer.stop();
    assert_eq!(doctor(&ground.place).unwrap().problems, []);
}

/// Who answers before it commits has told of what never was.
#[test]
fn a_writer_that_cannot_trust_what_it_remembers_loads_it_again() {
    let ground = Ground::with(Sync::DangerousAnswerFirst);
    let ada = By { member: MemberKey(2), authority: Authority::Worker, ..person() };
    let open = directory::OpenSession { runtime: "test".into(), ..Default::default() };
    let session = ground.submit(ada, open.clone(), 50).recv().unwrap().unwrap();
    ground.post_together(&["@ada one"]);
    // Its commit comes after its answer.
    ground.pass(0);
    ground.loses.store(true, Ordering::SeqCst);
    let lost = ground.submit(person(), post(ground.room, "two"), 51).recv().unwrap().unwrap();
    while ground.writer.health().ok {
        std::thread::yield_now();
    }
    ground.pass(1_000);
    assert!(ground.writer.health().ok);
    {
        let effects = ground.effects.lock().unwrap();
        let ended = |e: &Effect| matches!(e, Effect::Ended(key) if *key == session.key);
        let at = effects.iter().position(ended).expect("her connection ends");
        assert!(effects[at..].iter().any(|e| matches!(e, Effect::Anything)));
    }
    assert_eq!(ground.texts(), ["@ada one"]);
    let next = ground.post_together(&["three"]).remove(0).unwrap();
    assert_eq!(next.entry.event.seq, lost.entry.event.seq, "the room is as it is written");
    let again = directory::OpenSession { uid: Some(session.uid), ..open };
    assert_eq!(ground.submit(ada, again, 52).recv().unwrap().unwrap().key, session.key);
    ground.pass(2_000);
    assert_eq!(ground.pending(), [1, 1], "she owes what she owed before, and what was said since");
    ground.writer.stop();
    assert_eq!(doctor(&ground.place).unwrap().problems, []);
}

#[test]
fn a_room_whose_timers_fail_holds_up_no_other() {
    let ground = Ground::new();
    let other = ground.make_room(2);
    ground.pending_fails.store(1, Ordering::SeqCst);
    for (room, n) in [(ground.room, 3), (other, 4)] {
        let said = ground.submit(person(), post(room, "@ada what is the time?"), n);
        said.recv().unwrap().unwrap();
    }
    ground.pass(2_000);
    assert_eq!(ground.pending(), [2]);
    let said = ground.submit(person(), post(other, "@ada and now?"), 5).recv().unwrap();
    assert!(said.is_ok(), "{said:?}");
    ground.pass(2_000);
    assert_eq!(ground.pending(), [2, 2]);
    assert!(ground.writer.health().ok);

    ground.pending_fails.store(0, Ordering::SeqCst);
    ground.pass(60_000);
    assert_eq!(ground.pending(), [1, 2, 2], "it has rested, and is tried again");
    ground.writer.stop();
    assert_eq!(doctor(&ground.place).unwrap().problems, []);
}
