//! What was erased is nowhere: not in memory, not in what is read, not in the files; and the log still holds.

use std::path::Path;

use chorus_core::command::{Command, Effect, Outcome};
use chorus_core::error::Code;
use chorus_core::event::{Change, Message, Reason};
use chorus_core::ids::{Timestamp, Uid};
use chorus_core::reaction::Signal;
use chorus_store::sqlite::Sqlite;
use chorus_store::{doctor, schema};
use rusqlite::Connection;

use crate::ground::{ADA, Ground, by, logged, person, post};

const SECRET: &str = "sk-live-hunter2";

fn erase(message: Uid) -> Command {
    Command::Erase { message, reason: Reason::Secret }
}

/// How often the secret stands in the files of the folder.
fn found_in(folder: &Path) -> usize {
    let files = ["chorus.db", "chorus.db-wal"];
    let read = |file| std::fs::read(folder.join(file)).unwrap_or_default();
    let count =
        |bytes: Vec<u8>| bytes.windows(SECRET.len()).filter(|w| *w == SECRET.as_bytes()).count();
    files.into_iter().map(read).map(count).sum()
}

/// A message with the secret in each of its versions, one of them larger than a page, and in a reaction.
fn tell(ground: &Ground, room: Uid) -> Uid {
    let message = ground.say(room, &format!("@ada the key is {SECRET}")).event.uid;
    let long = format!("{SECRET} {}", "and so on ".repeat(2_000));
    for text in [long, format!("@ada again: {SECRET}")] {
        let content = Message { text: text.into(), ..Message::default() };
        ground.ask(person(), Command::Edit { message, content }).unwrap();
    }
    let detail = Some(format!("I saw {SECRET}").into());
    let seen = Command::React { message, signal: Signal::Seen, detail, on: true };
    ground.ask(by(ADA), seen).unwrap();
    message
}

// covers: OPS-1, OPS-2, OPS-4
#[test]
fn what_was_erased_is_in_no_file_and_the_log_holds() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    ground.connect(ADA);
    ground.say(room.uid, "before");
    let message = tell(&ground, room.uid);
    (0..100).for_each(|n| drop(ground.say(room.uid, &format!("after {n}"))));
    ground.pass(2_000);
    assert!(found_in(folder.path()) > 3);
    let Outcome::Erased { entry, more } = ground.ask(person(), erase(message)).unwrap() else {
        panic!("it is erased")
    };
    assert!(!more);
    assert!(matches!(&entry.event.change, Change::Erased { events, .. } if events.len() == 4));
    // The files are scrubbed before the next command is looked at.
    ground.pass(0);
    assert_eq!(found_in(folder.path()), 0);
    let shown = ground.readers.entry(message).unwrap().unwrap();
    assert!(shown.content.is_none() && shown.entry.event.is_erased());
    assert_eq!(doctor(folder.path(), None).unwrap().problems, []);

    // Again is no error, and logs nothing.
    let Outcome::Erased { entry: again, more } = ground.ask(person(), erase(message)).unwrap()
    else {
        panic!("it is erased")
    };
    assert!(!more && again.event.uid == message);
    assert_eq!(ground.readers.head(room.key).unwrap().unwrap().seq, entry.event.seq);
    ground.writer.stop();
    let ground = Ground::at(folder.path(), Timestamp(2_000_000));
    ground.say(room.uid, "goes on");
    ground.writer.stop();
    assert_eq!(doctor(folder.path(), None).unwrap().problems, []);
}

// covers: OPS-2
#[test]
fn an_erasure_that_a_crash_cut_off_from_its_scrubbing_is_scrubbed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let message = tell(&ground, room.uid);
    // A reader that sees the old text keeps the files from being scrubbed; the host is cut off meanwhile.
    let reader = Connection::open(folder.path().join("chorus.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM event").unwrap();
    ground.ask(person(), erase(message)).unwrap();
    ground.pass(0);
    assert!(found_in(folder.path()) > 0, "somebody still reads it");
    let copy = tempfile::tempdir().unwrap();
    for file in ["chorus.db", "chorus.db-wal"] {
        std::fs::copy(folder.path().join(file), copy.path().join(file)).unwrap();
    }
    // Without a restart: once the reader has gone, the next batch does it.
    drop(reader);
    ground.pass(0);
    ground.pass(0);
    assert_eq!(found_in(folder.path()), 0);
    ground.writer.stop();

    let ground = Ground::at(copy.path(), Timestamp(1_500_000));
    ground.pass(0);
    ground.pass(0);
    assert_eq!(found_in(copy.path()), 0);
    ground.writer.stop();
    assert_eq!(doctor(copy.path(), None).unwrap().problems, []);
}

// covers: OPS-1
#[test]
fn what_was_erased_is_nowhere_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    ground.connect(ADA);
    let keyed = logged(ground.ask(person(), post(room.uid, SECRET, Some(9))).unwrap());
    let message = tell(&ground, room.uid);
    ground.pass(0);
    ground.effects.lock().unwrap().clear();
    ground.ask(person(), erase(message)).unwrap();
    ground.ask(person(), erase(keyed.event.uid)).unwrap();
    ground.pass(400_000);
    let effects = format!("{:?}", ground.effects.lock().unwrap());
    assert!(!effects.contains(SECRET), "nothing that goes out says it");
    assert!(effects.contains("Cancel"), "who has it is told");
    // The key is still known, so that a retry does not bring it back.
    let refused = ground.ask(person(), post(room.uid, SECRET, Some(9))).unwrap_err();
    assert_eq!(refused.code, Code::IdempotencyConflict);
    for command in [
        Command::Claim { event: message },
        Command::Redeliver { event: message, member: ADA },
        Command::React { message, signal: Signal::Agree, detail: None, on: true },
    ] {
        assert_eq!(ground.ask(person(), command).unwrap_err().code, Code::Conflict);
    }
    ground.writer.stop();
    assert_eq!(doctor(folder.path(), None).unwrap().problems, []);
}

// covers: OPS-3
#[test]
fn a_missing_text_is_damage_unless_its_erasure_is_logged() {
    for (erased, sql, seq, word) in [
        (
            false,
            "UPDATE event SET salt = NULL, body = x'0100000000' WHERE seq = 5",
            5,
            "no erasure",
        ),
        (false, "UPDATE event SET salt = NULL, body = NULL WHERE seq = 5", 5, "body"),
        (false, "UPDATE event SET salt = NULL WHERE seq = 5", 5, "says something"),
        (
            true,
            "UPDATE event SET salt = x'01010101010101010101010101010101' WHERE seq = 5",
            5,
            "still",
        ),
        (true, "UPDATE event SET content_hash = hash WHERE seq = 5", 5, "hash"),
        (true, "UPDATE event SET actor = 2 WHERE seq = 5", 5, "hash"),
        (true, "DELETE FROM event WHERE seq = 9", 5, "no erasure"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let ground = Ground::open(folder.path());
        let room = ground.settle();
        let message = tell(&ground, room.uid);
        if erased {
            ground.ask(person(), erase(message)).unwrap();
        }
        ground.writer.stop();
        assert_eq!(doctor(folder.path(), None).unwrap().problems, []);
        let db = Connection::open(folder.path().join("chorus.db")).unwrap();
        assert!(db.execute(sql, []).unwrap() > 0, "{sql}");
        let report = doctor(folder.path(), None).unwrap();
        let named = report
            .problems
            .iter()
            .any(|p| p.seq.is_none_or(|s| s.0 == seq) && p.to_string().contains(word));
        assert!(named, "{sql}: {:#?}", report.problems);
    }
}

// covers: OPS-5
#[test]
fn many_versions_are_erased_by_a_chain_of_commands() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let message = ground.say(room.uid, SECRET).event.uid;
    for n in 0..1_100 {
        let content = Message { text: format!("{SECRET} {n}").into(), ..Message::default() };
        ground.ask(person(), Command::Edit { message, content }).unwrap();
    }
    let mut commands = 0;
    loop {
        commands += 1;
        let Outcome::Erased { more, .. } = ground.ask(person(), erase(message)).unwrap() else {
            panic!("it is erased")
        };
        if !more {
            break;
        }
    }
    assert_eq!(commands, 2);
    ground.pass(0);
    assert_eq!(found_in(folder.path()), 0);
    ground.effects.lock().unwrap().retain(|e| matches!(e, Effect::Logged(_)));
    ground.writer.stop();
    assert_eq!(doctor(folder.path(), None).unwrap().problems, []);
}

// covers: OPS-2
#[test]
fn a_folder_of_the_first_version_is_written_anew_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chorus.db");
    let db = Sqlite::writer(&file, None, chorus_store::Sync::Full).unwrap();
    schema::migrate(&db, &schema::SQLITE[..1], Timestamp(1)).unwrap();
    drop(db);
    // A copy in a page that nothing uses, as the first version left them.
    let db = Connection::open(&file).unwrap();
    let copy = format!(
        "PRAGMA secure_delete = OFF; CREATE TABLE copy (t TEXT); INSERT INTO copy VALUES ('{SECRET}')"
    );
    db.execute_batch(&copy).unwrap();
    db.execute_batch("DROP TABLE copy; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(db);
    assert!(found_in(folder.path()) > 0);
    let ground = Ground::open(folder.path());
    ground.settle();
    ground.pass(0);
    assert_eq!(found_in(folder.path()), 0);
    ground.writer.stop();
    assert_eq!(doctor(folder.path(), None).unwrap().problems, []);
}
