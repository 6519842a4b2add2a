//! The database goes away, in the middle of a write or of a commit, and comes back: commands are refused with a
//! code that may be tried again, or finish once, and never half.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use chorus_cluster::{Cluster, Durability, sql_at};
use chorus_core::commands::messages::Logged;
use chorus_core::commands::{Command, directory};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Seq, Uid};
use chorus_core::state::effect::Effect;
use chorus_store::{Line, Page, Start};
use chorus_testing::eventually_blocking;

use super::{ground, problems};
use crate::ground::{ADA, Ground, drawn, person, post};

/// A server that was told to end, or begins, takes this long at most.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn texts(ground: &Ground, room: Uid) -> Vec<String> {
    let conversation = ground.readers.conversation(room).unwrap().unwrap().key;
    let page = Page { conversation, line: Line::Messages, start: Start::After(Seq(0)), limit: 99 };
    let (entries, _) = ground.readers.entries(&page).unwrap().unwrap();
    entries.iter().map(|e| e.content.as_ref().unwrap().text.to_string()).collect()
}

/// Says it until it is said, with one key: as a client does.
pub(super) fn insist(ground: &Ground, room: Uid, text: &str, key: u8) {
    let until = Instant::now() + PATIENCE;
    loop {
        match ground.ask(person(), post(room, text, Some(key))) {
            Ok(_) => return,
            Err(refusal) => {
                assert_eq!(refusal.code, Code::Unavailable, "{refusal}");
                assert!(Instant::now() < until, "{refusal}");
            }
        }
        ground.clock.advance(3_000);
    }
}

#[test]
fn a_connection_that_was_cut_is_made_anew_and_work_goes_on() {
    let url = chorus_cluster::schema().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ground = ground(folder.path(), &url);
    let room = ground.settle();
    ground.connect(ADA);
    ground.say(room.uid, "@ada one?");
    for n in 0..3 {
        let cut = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE application_name LIKE 'chorus %'";
        assert!(sql_at(&url, cut).unwrap().contains('t'));
        insist(&ground, room.uid, &format!("@ada and {n}?"), n);
    }
    ground.pass(2_000);
    assert_eq!(
        texts(&ground, room.uid),
        ["@ada one?", "@ada and 0?", "@ada and 1?", "@ada and 2?"]
    );
    assert_eq!(ground.readers.pending().unwrap().len(), 4, "all of it is still owed");
    assert!(ground.writer.health().ok);
    ground.writer.stop();
    assert_eq!(problems(&url), []);
}

#[test]
fn a_server_that_stops_and_starts_again_finds_the_host_at_work() {
    let mut cluster = Cluster::start(Durability::Durable, &[]).unwrap();
    let url = cluster.url("postgres");
    let folder = tempfile::tempdir().unwrap();
    let ground = ground(folder.path(), &url);
    let room = ground.settle();
    ground.say(room.uid, "before");
    for round in 0..2u8 {
        if round == 0 {
            cluster.stop()
        } else {
            cluster.kill()
        }
        let refused = ground.ask(person(), post(room.uid, "meanwhile", None)).unwrap_err();
        assert_eq!(refused.code, Code::Unavailable);
        assert!(refused.message.contains("nothing of this was written"), "{refused}");
        let health = ground.writer.health();
        assert!(!health.ok && health.reason.unwrap().contains("the database is away"));
        assert!(ground.readers.heads().is_err());
        cluster.run().unwrap();
        insist(&ground, room.uid, &format!("after {round}"), round);
        assert!(ground.writer.health().ok);
    }
    assert_eq!(texts(&ground, room.uid), ["before", "after 0", "after 1"]);
    ground.writer.stop();
    assert_eq!(problems(&url), []);
}

/// What the wire between host and server does with the next COMMIT.
const PASS: u8 = 0;
const CUT_BEFORE: u8 = 1;
pub(super) const CUT_AFTER: u8 = 2;
/// Everything is cut, and who connects anew waits for an answer.
const HANG: u8 = 3;

/// A wire that can be cut at a commit.
fn wire(socket: &Path, server: &Path, how: Arc<AtomicU8>) {
    let listener = UnixListener::bind(socket).unwrap();
    let server = server.to_owned();
    std::thread::spawn(move || {
        let mut hanging = Vec::new();
        for client in listener.incoming() {
            if how.load(Ordering::SeqCst) == HANG {
                hanging.push(client);
                continue;
            }
            // Whoever comes while the server is down is sent away, and comes again.
            let (client, Ok(server)) = (client.unwrap(), UnixStream::connect(&server)) else {
                continue;
            };
            let (mut up, mut down) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let (to, how) = (server.try_clone().unwrap(), how.clone());
            std::thread::spawn(move || carry(&mut up, to, &how));
            std::thread::spawn(move || carry(&mut down, client, &AtomicU8::new(PASS)));
        }
    });
}

/// A cluster, how it is reached over a wire, and what that does.
pub(super) fn wired(between: &Path) -> (Cluster, String, Arc<AtomicU8>) {
    // What is not committed is not on the disk either, for as long as a test takes.
    let late = ["-c", "wal_writer_delay=10s"];
    let cluster = Cluster::start(Durability::Durable, &late).unwrap();
    let how = Arc::new(AtomicU8::new(PASS));
    let name = ".s.PGSQL.5432";
    wire(&between.join(name), &cluster.socket().join(name), how.clone());
    let host = between.display().to_string().replace('/', "%2F");
    (cluster, format!("postgres://chorus@{host}/postgres"), how)
}

fn carry(from: &mut UnixStream, mut to: UnixStream, how: &AtomicU8) {
    let mut bytes = [0; 65_536];
    let cut = |stream: &UnixStream| drop(stream.shutdown(std::net::Shutdown::Both));
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let commits = bytes[..count].windows(6).any(|words| words == b"COMMIT");
        let how = if commits { how.swap(PASS, Ordering::SeqCst) } else { PASS };
        if how == CUT_BEFORE || to.write_all(&bytes[..count]).is_err() {
            cut(from);
            break;
        }
        if how == CUT_AFTER {
            // The host hears nothing more; the server has all of it.
            cut(from);
        }
    }
    cut(&to);
}

#[test]
fn a_commit_whose_answer_is_lost_is_answered_as_it_ended() {
    let between = tempfile::tempdir().unwrap();
    let (cluster, url, how) = wired(between.path());
    let folder = tempfile::tempdir().unwrap();
    let ground = ground(folder.path(), &url);
    let room = ground.settle();
    ground.connect(ADA);

    how.store(CUT_BEFORE, Ordering::SeqCst);
    let undone = ask_away(&ground, post(room.uid, "never", Some(1)));
    assert_eq!(undone.unwrap_err().code, Code::Unavailable);
    assert_eq!(texts(&ground, room.uid), [""; 0]);

    how.store(CUT_AFTER, Ordering::SeqCst);
    let done = ask_away(&ground, post(room.uid, "@ada once?", Some(2)));
    assert!(matches!(done, Ok(Logged { duplicate: false, .. })), "{done:?}");
    let again = ground.ask(person(), post(room.uid, "@ada once?", Some(2))).unwrap();
    assert!(again.duplicate);
    let offers = ground
        .effects
        .lock()
        .unwrap()
        .iter()
        .filter(|effect| matches!(effect, Effect::Offer(_)))
        .count();
    assert_eq!(offers, 1, "what a commit causes is handed out once it is known");

    // Of somebody new, who is in no log.
    how.store(CUT_AFTER, Ordering::SeqCst);
    let add = |id: &str| directory::AddMember {
        id: id.to_owned(),
        kind: chorus_core::model::member::MemberKind::Agent,
        fields: Default::default(),
    };
    assert!(ask_away(&ground, add("new")).is_ok());
    how.store(CUT_BEFORE, Ordering::SeqCst);
    assert_eq!(ask_away(&ground, add("newer")).unwrap_err().code, Code::Unavailable);
    // If it is still away, it looks again by then.
    ground.clock.advance(60_000);
    assert!(ground.ask(person(), add("newer")).is_ok());
    assert_eq!(texts(&ground, room.uid), ["@ada once?"]);
    ground.writer.stop();
    assert_eq!(problems(&cluster.url("postgres")), []);
}

/// The server has never written down that there was such a transaction.
#[test]
fn a_transaction_whose_number_was_forgotten_is_undone() {
    forgotten(0);
}

/// And has given its number to another.
#[test]
fn a_transaction_that_got_the_number_of_a_lost_one_is_not_taken_for_it() {
    forgotten(64);
}

fn forgotten(others: u32) {
    let between = tempfile::tempdir().unwrap();
    let (mut cluster, url, how) = wired(between.path());
    let folder = tempfile::tempdir().unwrap();
    let ground = ground(folder.path(), &url);
    let room = ground.settle();
    how.store(CUT_BEFORE, Ordering::SeqCst);
    let answered = asked(&ground, post(room.uid, "never", Some(1)));
    eventually_blocking("the wire is cut", || !ground.writer.health().ok);
    cluster.kill();
    cluster.run().unwrap();
    let others = format!(
        "DO $$ BEGIN FOR n IN 1..{others} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$"
    );
    cluster.sql("postgres", &others).unwrap();
    let answer = when_back(&ground, &answered);
    assert_eq!(answer.unwrap_err().code, Code::Unavailable);
    insist(&ground, room.uid, "now", 2);
    assert_eq!(texts(&ground, room.uid), ["now"]);
    ground.writer.stop();
    assert_eq!(problems(&cluster.url("postgres")), []);
}

#[test]
fn nobody_waits_for_a_server_that_takes_connections_and_does_not_answer() {
    let between = tempfile::tempdir().unwrap();
    let (cluster, url, how) = wired(between.path());
    let folder = tempfile::tempdir().unwrap();
    let ground = ground(folder.path(), &url);
    let room = ground.settle();
    how.store(HANG, Ordering::SeqCst);
    let cut = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE application_name LIKE 'chorus %'";
    cluster.sql("postgres", cut).unwrap();
    let began = Instant::now();
    for _ in 0..5 {
        let refused = ground.ask(person(), post(room.uid, "meanwhile", None)).unwrap_err();
        assert_eq!(refused.code, Code::Unavailable);
        ground.clock.advance(3_000);
    }
    assert!(ground.writer.health().reason.unwrap().contains("does not answer"));
    // A connection is given up after ten seconds; nobody waited for one.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let began = Instant::now();
    ground.writer.stop();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

/// Asks while the answer waits for the database to be back.
fn ask_away<C: Command>(ground: &Ground, command: C) -> Result<C::Output, Refusal> {
    when_back(ground, &asked(ground, command))
}

/// Asks, and does not wait for the answer.
pub(super) fn asked<C: Command>(
    ground: &Ground,
    command: C,
) -> mpsc::Receiver<Result<C::Output, Refusal>> {
    let (answer, answered) = mpsc::channel();
    ground.writer.submit(person(), command, drawn(), move |done| {
        answer.send(done.map_err(Refusal::from)).unwrap();
    });
    answered
}

/// The answer, which comes when the database is back.
pub(super) fn when_back<T>(
    ground: &Ground,
    answered: &mpsc::Receiver<Result<T, Refusal>>,
) -> Result<T, Refusal> {
    let until = Instant::now() + PATIENCE;
    loop {
        match answered.recv_timeout(Duration::from_millis(50)) {
            Ok(done) => return done,
            Err(_) => assert!(Instant::now() < until, "it is never answered"),
        }
        ground.clock.advance(1_000);
        ground.writer.tick();
    }
}
