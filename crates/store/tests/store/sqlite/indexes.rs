//! Indexes that do not fit their rows, and members that are not who came: found by whoever says that all is well.

use std::fs;
use std::path::Path;

use chorus_core::commands::messages;
use chorus_core::model::event::Message;
use chorus_core::model::ids::Timestamp;
use chorus_store::backup::{check, restore, take};
use chorus_store::objects::NoObjects;
use chorus_store::repair::Part;
use rusqlite::Connection;

use crate::ground::{Ground, damage, doctor, person, place};

/// A folder with some messages, stopped; everything is in its one file.
fn stopped() -> tempfile::TempDir {
    stopped_after(20)
}

fn stopped_after(messages: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    (0..messages).for_each(|n| drop(ground.say(room.uid, &format!("number {n}"))));
    let message = ground.say(room.uid, "not so").event.uid;
    let content = Message { text: "so".into(), ..Message::default() };
    ground.ask(person(), messages::Edit { message, content }).unwrap();
    ground.writer.stop();
    folder
}

/// An index of uids has others than the rows have, and as many.
fn harm_index(folder: &Path, index: &str) {
    harm(folder, index, ", uid)", ", hash)");
}

/// An index is what it would be if its definition said `that` and not `this`.
fn harm(folder: &Path, index: &str, this: &str, that: &str) {
    let db = Connection::open(folder.join("chorus.db")).unwrap();
    let without_one = format!(
        "CREATE TABLE kept AS SELECT sql FROM sqlite_schema WHERE name = '{index}';
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, '{this}', '{that}') WHERE name = '{index}';
         PRAGMA writable_schema = RESET;
         REINDEX {index};
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = (SELECT sql FROM kept) WHERE name = '{index}';
         PRAGMA writable_schema = RESET;
         DROP TABLE kept;"
    );
    db.execute_batch(&without_one).unwrap();
}

// covers: OPS-476, CHN-200
#[test]
fn an_index_that_does_not_fit_its_rows_is_found_and_made_anew() {
    let folder = stopped();
    harm_index(folder.path(), "event_uid");
    let problems = doctor(folder.path()).problems;
    assert!(problems.iter().any(|p| p.what.contains("index event_uid")), "{problems:#?}");
    // Nor is it a backup, or what one is restored from.
    let parent = tempfile::tempdir().unwrap();
    let backup = parent.path().join("backup.db");
    take(folder.path(), &backup, &NoObjects, Timestamp(5_000_000)).unwrap();
    assert!(check(&backup).unwrap_err().to_string().contains("index event_uid"));
    let restored = parent.path().join("restored");
    assert!(restore(&backup, &restored).is_err() && !restored.exists());

    let repairs = chorus_store::repair(&place(folder.path()), folder.path()).unwrap();
    assert_eq!(repairs.iter().map(|r| r.part).collect::<Vec<_>>(), [Part::Index], "{repairs:#?}");
    assert_eq!(doctor(folder.path()).problems, []);
    assert_eq!(chorus_store::repair(&place(folder.path()), folder.path()).unwrap(), []);
    fs::remove_file(&backup).unwrap();
    take(folder.path(), &backup, &NoObjects, Timestamp(5_000_000)).unwrap();
    check(&backup).unwrap();
}

// covers: OPS-476
#[test]
fn all_indexes_are_made_anew_where_more_is_wrong_than_sqlite_says_at_once() {
    let folder = stopped_after(150);
    harm_index(folder.path(), "event_uid");
    harm(folder.path(), "event_about", "kind IN", "kind NOT IN");
    let repairs = chorus_store::repair(&place(folder.path()), folder.path()).unwrap();
    assert_eq!(repairs.len(), 2, "{repairs:#?}");
    assert_eq!(doctor(folder.path()).problems, []);
}

// covers: OPS-476
#[test]
fn a_member_that_is_not_who_came_is_found() {
    let folder = stopped();
    damage(folder.path(), "UPDATE member SET id = 'aob' WHERE member = 3");
    let problems = doctor(folder.path()).problems;
    assert!(problems.iter().any(|p| p.what.contains("its id is now aob")), "{problems:#?}");
    damage(folder.path(), "DELETE FROM member WHERE member = 3");
    let problems = doctor(folder.path()).problems;
    assert!(problems.iter().any(|p| p.what.contains("does not exist")), "{problems:#?}");
}
