//! What was erased is in no file of the folder.

use std::path::Path;

use chorus_core::commands::messages::Erased;
use chorus_core::commands::retention;
use chorus_core::model::caller::By;
use chorus_core::model::conversation::Keep;
use chorus_core::model::event::Change;
use chorus_core::model::ids::Timestamp;
use chorus_core::queries;
use chorus_store::sqlite::Sqlite;
use chorus_store::{Options, schema};
use rusqlite::Connection;

use crate::erase::{SECRET, erase, erase_in_steps, tell};
use crate::ground::{ADA, Ground, doctor, options, person};

/// How often the secret stands in the files of the folder.
fn found_in(folder: &Path) -> usize {
    let files = ["chorus.db", "chorus.db-wal"];
    let read = |file| std::fs::read(folder.join(file)).unwrap_or_default();
    let count =
        |bytes: Vec<u8>| bytes.windows(SECRET.len()).filter(|w| *w == SECRET.as_bytes()).count();
    files.into_iter().map(read).map(count).sum()
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
    let Erased { entry, more } = ground.ask(person(), erase(message)).unwrap();
    assert!(!more);
    assert!(matches!(&entry.event.change, Change::Erased { events, .. } if events.len() == 4));
    // The files are scrubbed before the next command is looked at.
    ground.pass(0);
    assert_eq!(found_in(folder.path()), 0);
    let shown = ground.readers.entry(message).unwrap().unwrap();
    assert!(shown.content.is_none() && shown.entry.event.is_erased());
    assert_eq!(doctor(folder.path()).problems, []);

    // Again is no error, and logs nothing.
    let Erased { entry: again, more } = ground.ask(person(), erase(message)).unwrap();
    assert!(!more && again.event.uid == message);
    assert_eq!(ground.readers.head(room.key).unwrap().unwrap().seq, entry.event.seq);
    ground.writer.stop();
    let ground = Ground::at(folder.path(), Timestamp(2_000_000));
    ground.say(room.uid, "goes on");
    ground.writer.stop();
    assert_eq!(doctor(folder.path()).problems, []);
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
    assert_eq!(doctor(copy.path()).problems, []);
}

// covers: OPS-5
#[test]
fn what_many_commands_erase_is_scrubbed() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let message = erase_in_steps(&ground, room.uid);
    ground.pass(0);
    assert_eq!(found_in(folder.path()), 0);
    assert!(ground.readers.entry(message).unwrap().unwrap().entry.event.is_erased());
    ground.writer.stop();
}

// covers: OPS-2
#[test]
fn a_folder_of_the_first_version_is_written_anew_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chorus.db");
    let db = Sqlite::writer(&file, None, chorus_store::Sync::Full).unwrap();
    schema::migrate(&db, &schema::SQLITE.up_to(1), Timestamp(1)).unwrap();
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
    assert_eq!(doctor(folder.path()).problems, []);
}

// covers: OPS-445
#[test]
fn what_is_too_old_to_be_kept_is_in_no_file_while_the_host_runs() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Options { keep: Keep::Days(1), ..options(folder.path()) };
    let ground = Ground::with(keep, Timestamp(1_000_000));
    let room = ground.settle();
    for n in 0..20 {
        ground.say(room.uid, &format!("{n}: {SECRET}"));
    }
    assert!(found_in(folder.path()) >= 20);
    ground.pass(2 * 24 * 3_600_000);
    let conversation = room.uid;
    let may = ground.ask(By::host(), queries::Droppable { conversation }).unwrap();
    let trim = retention::Trim { conversation, through: may.through, erased: None };
    ground.ask(By::host(), trim).unwrap();
    // The files are scrubbed before the next command is looked at.
    ground.pass(0);
    assert_eq!(found_in(folder.path()), 0);
    ground.say(room.uid, "later");
    ground.writer.stop();
    assert_eq!(doctor(folder.path()).problems, []);
}

// covers: OPS-445
#[test]
fn a_host_that_stops_leaves_nothing_in_the_log_beside_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    ground.say(room.uid, "hello");
    // Its connection is open still when the writer has ended.
    ground.readers.heads().unwrap();
    let log = folder.path().join("chorus.db-wal");
    assert!(std::fs::metadata(&log).unwrap().len() > 0);
    ground.writer.stop();
    assert_eq!(std::fs::metadata(&log).map_or(0, |log| log.len()), 0);
    drop(ground);
}
