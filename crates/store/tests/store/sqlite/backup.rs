//! Backups: taken while posts go on, whole or not there, and refused when they are not what was backed up.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;

use chorus_core::model::ids::{ConversationKey, Seq, Timestamp, Uid};
use chorus_store::backup::{add_keys, check, make, remove, restore, seal, take};
use chorus_store::db::Db;
use chorus_store::history::Reading;
use chorus_store::objects::NoObjects;
use chorus_store::sqlite::Sqlite;
use chorus_store::{Line, Options, Page, Place, Readers, Start, Sync, open, schema};

use crate::ground::{Ground, doctor, drawn, person, post};

const NOW: Timestamp = Timestamp(5_000_000);

/// Makes a sealed backup of a store at work.
fn back_up(ground: &Ground, to: &Path) {
    let (tell, told) = mpsc::channel();
    make(to).unwrap();
    ground.writer.copy_to(to.to_owned(), move |copied| tell.send(copied).unwrap());
    told.recv().unwrap().unwrap();
    seal(to, &NoObjects, NOW).unwrap();
}

/// Posts many messages without waiting between them.
fn fill(ground: &Ground, room: Uid, count: usize) {
    let (tell, told) = mpsc::channel();
    for n in 0..count {
        let tell = tell.clone();
        let text = format!("message {n} {}", "x".repeat(1_500));
        let reply = move |outcome: Result<_, _>| tell.send(outcome.map(drop)).unwrap();
        ground.writer.submit(person(), post(room, &text, None), drawn(), reply);
    }
    drop(tell);
    assert!(told.iter().all(|answer| answer.is_ok()));
}

fn small(folder: &Path) -> (PathBuf, Uid) {
    let data = folder.join("data");
    let ground = Ground::open(&data);
    let room = ground.settle();
    ground.say(room.uid, "@ada what is the time?");
    ground.pass(2_000);
    let file = folder.join("backup.db");
    back_up(&ground, &file);
    ground.writer.stop();
    (file, room.uid)
}

fn uids(readers: &Readers, conversation: ConversationKey) -> Vec<Uid> {
    let (mut found, mut after) = (Vec::new(), Seq(0));
    loop {
        let start = Start::After(after);
        let page = Page { conversation, line: Line::Messages, start, limit: 1_000 };
        let (entries, more) = readers.entries(&page).unwrap().unwrap();
        found.extend(entries.iter().map(|e| e.entry.event.uid));
        let Some(last) = entries.last().filter(|_| more) else { return found };
        after = last.entry.event.seq;
    }
}

// covers: OPS-30, OPS-31
#[test]
fn posts_go_on_during_a_backup_and_all_that_was_answered_before_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(&folder.path().join("data"));
    let room = ground.settle();
    fill(&ground, room.uid, 6_000);
    let before = uids(&ground.readers, room.key);
    let file = folder.path().join("backup.db");
    make(&file).unwrap();
    let (tell, told) = mpsc::channel();
    ground.writer.copy_to(file.clone(), move |copied| tell.send(copied).unwrap());
    let mut during = Vec::new();
    while told.try_recv().map(|copied| copied.unwrap()).is_err() {
        during.push(ground.say(room.uid, "and this meanwhile").event.uid);
    }
    // How long each waited is the disk's affair, and so is how many there are of them; one that waited for the whole
    // copy would be the only one.
    assert!(during.len() >= 3, "only {} posts came through during the copy", during.len());
    seal(&file, &NoObjects, NOW).unwrap();
    assert!(check(&file).unwrap().report.events > 6_000);
    ground.writer.stop();

    let again = folder.path().join("again");
    restore(&file, &again).unwrap();
    let ground = Ground::at(&again, NOW);
    let there = uids(&ground.readers, room.key);
    assert_eq!(there[..before.len()], before);
    // What came meanwhile is there without a gap, up to the moment the copy was complete.
    let meanwhile = &there[before.len()..];
    assert_eq!(meanwhile, &during[..meanwhile.len()]);
    ground.say(room.uid, "here it goes on");
    ground.writer.stop();
    assert_eq!(doctor(&again).problems, []);
}

// covers: OPS-33
#[test]
fn a_restored_folder_is_the_same_workspace_in_another_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let (file, room) = small(folder.path());
    add_keys(&file, &[("signing.pem".to_owned(), b"a key".to_vec())]).unwrap();
    let data = folder.path().join("again");
    let manifest = restore(&file, &data).unwrap();
    assert_eq!((manifest.taken_at, manifest.workspace), (NOW, Uid(0xab)));
    assert_eq!(fs::read(data.join("keys/signing.pem")).unwrap(), b"a key");
    let text = |path: &Path| fs::read(path).unwrap().windows(5).any(|w| w == b"a key");
    assert!(text(&file) && !text(&data.join("chorus.db")), "the key is in its own file alone");
    let store = open(Options::new(&data, Uid(1))).unwrap();
    assert_eq!((store.tenant().uid, store.tenant().epoch), (Uid(0xab), 2));
    drop(store);
    let ground = Ground::at(&data, NOW);
    assert_eq!(ground.readers.conversation(room).unwrap().unwrap().uid, room);
    ground.writer.stop();
    assert_eq!(doctor(&data).problems, []);
}

#[test]
fn a_folder_without_a_host_is_backed_up_and_one_with_a_host_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let ground = Ground::open(&data);
    let room = ground.settle();
    ground.say(room.uid, "hello");
    let file = folder.path().join("backup.db");
    assert!(
        take(&data, &file, &NoObjects, NOW)
            .unwrap_err()
            .to_string()
            .contains("another running host")
    );
    assert!(!file.exists());
    ground.writer.stop();
    take(&data, &file, &NoObjects, NOW).unwrap();
    assert_eq!(check(&file).unwrap().workspace, Uid(0xab));
    assert!(take(&data, &file, &NoObjects, NOW).is_err(), "one that is there is not written over");
    check(&file).unwrap();
    assert!(take(&folder.path().join("nowhere"), &file, &NoObjects, NOW).is_err());
    assert!(!folder.path().join("nowhere").exists(), "looking makes nothing");
}

// covers: OPS-32
#[test]
fn what_is_not_the_whole_backup_is_refused_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = small(folder.path());
    let whole = fs::read(&file).unwrap();
    let data = folder.path().join("again");
    let refused = |bytes: &[u8], expected: &str| {
        let path = folder.path().join("other.db");
        fs::write(&path, bytes).unwrap();
        let why = restore(&path, &data).unwrap_err().to_string();
        assert!(why.contains(expected), "{expected:?} is not in {why:?}");
        assert!(!data.exists() && !folder.path().join("again.partial").exists());
        remove(&path);
    };
    refused(b"", "not a backup");
    refused(b"SQLite format 3\0 and then something else", "bytes and should have");
    refused(&whole[..whole.len() - 4_096], "bytes and should have");
    refused(&whole[..whole.len() / 2], "");
    refused(&[&whole[..], b"more"].concat(), "bytes and should have");
    // Any byte of a text that changes, in a table that has no hash of its own or in one that has.
    for word in ["person", "what is the time", "room"] {
        let at = whole.windows(word.len()).position(|w| w == word.as_bytes()).unwrap();
        let mut changed = whole.clone();
        changed[at + 1] ^= 1;
        refused(&changed, "damaged");
    }
    // The database of a host is no backup, and neither is a copy that was not finished.
    let ground = Ground::open(&folder.path().join("data"));
    ground.writer.stop();
    refused(&fs::read(folder.path().join("data/chorus.db")).unwrap(), "not a completed backup");
    let change = |sql: &str| {
        let path = folder.path().join("changed.db");
        fs::write(&path, &whole).unwrap();
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        fs::read(&path).unwrap()
    };
    let newer = "INSERT INTO migration VALUES (99, 'later', x'00', 1)";
    refused(&change(newer), "use a newer one");
    refused(&change("UPDATE backup SET value = x'63' WHERE name = 'format'"), "newer program");
    refused(
        &change("UPDATE member SET handle = 'eve' WHERE member = 2"),
        "differ from those that were",
    );
}

#[test]
fn a_folder_with_something_in_it_is_not_restored_into() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = small(folder.path());
    let data = folder.path().join("data");
    assert!(restore(&file, &data).unwrap_err().to_string().contains("is not empty"));
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    // Left over from a restore that was killed.
    fs::create_dir(folder.path().join("empty.partial")).unwrap();
    fs::write(folder.path().join("empty.partial/chorus.db"), b"half").unwrap();
    restore(&file, &empty).unwrap();
    assert!(empty.join("chorus.db").exists() && !folder.path().join("empty.partial").exists());
}

#[test]
fn a_copy_that_fails_or_is_broken_off_leaves_no_file_and_the_writer_at_work() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(&folder.path().join("data"));
    let room = ground.settle();
    let (tell, told) = mpsc::channel();
    let nowhere = folder.path().join("no/such/folder.db");
    ground.writer.copy_to(nowhere, move |copied| tell.send(copied).unwrap());
    told.recv().unwrap().unwrap_err();
    ground.say(room.uid, "still here");
    fill(&ground, room.uid, 3_000);
    let file = folder.path().join("backup.db");
    make(&file).unwrap();
    let (tell, told) = mpsc::channel();
    let (first, second) = (tell.clone(), tell);
    ground.writer.copy_to(file.clone(), move |copied| first.send(("first", copied)).unwrap());
    ground.writer.copy_to(file.clone(), move |copied| second.send(("second", copied)).unwrap());
    let (which, refused) = told.recv().unwrap();
    assert_eq!(which, "second");
    assert!(refused.unwrap_err().to_string().contains("another copy"));
    ground.writer.stop();
    let (_, broken_off) = told.recv().unwrap();
    assert!(broken_off.unwrap_err().to_string().contains("stopping"));
    assert!(!file.exists());
}

#[test]
fn a_backup_of_an_older_program_is_restored_and_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join("old.db"), folder.path().join("data"));
    let db: Box<dyn Db> = Box::new(Sqlite::writer(&file, None, Sync::Full).unwrap());
    schema::migrate(&*db, &schema::SQLITE.up_to(1), NOW).unwrap();
    let sql = "INSERT INTO workspace VALUES (1, $1, 'old', 1, NULL, 5)";
    db.execute(sql, &[(&7u128.to_be_bytes()).into()]).unwrap();
    drop(db);
    seal(&file, &NoObjects, NOW).unwrap();
    assert_eq!(restore(&file, &data).unwrap().workspace, Uid(7));
    let ground = Ground::at(&data, NOW);
    let room = ground.settle();
    ground.say(room.uid, "@ada hello?");
    ground.writer.stop();
    assert_eq!(doctor(&data).problems, []);
}

#[test]
fn export_of_a_folder_that_is_not_migrated_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chorus.db");
    let db = Sqlite::writer(&file, None, Sync::Full).unwrap();
    schema::migrate(&db, &schema::SQLITE.up_to(4), NOW).unwrap();
    drop(db);
    let refused = Reading::open(&Place::folder(folder.path()), Arc::new(NoObjects))
        .err()
        .unwrap()
        .to_string();
    assert!(refused.contains("version 4"), "{refused}");
    assert!(refused.contains("start this version's host"), "{refused}");
}
