//! A database that ends before it should is found, whatever became of its end; one that only was copied is not.

use std::fs;
use std::path::Path;

use chorus_core::model::ids::{Timestamp, Uid};
use chorus_store::objects::NoObjects;
use chorus_store::repair::Part;
use chorus_store::{Options, open};

use crate::ground::{Ground, damage, doctor, place};

const FILES: [&str; 3] = ["chorus.db", "chorus.db-wal", "newest"];

/// What a crash leaves of a folder now.
fn killed(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in FILES {
        fs::copy(folder.join(name), copy.path().join(name)).unwrap();
    }
    copy
}

/// A folder whose host was killed after so many posts, too few for the write-ahead log to be copied back.
fn killed_after(posts: usize) -> (tempfile::TempDir, Uid) {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle().uid;
    (0..posts).for_each(|n| drop(ground.say(room, &format!("number {n}"))));
    (killed(folder.path()), room)
}

/// The disk changes one byte of a file, at so many hundredths of it.
fn flip(file: &Path, hundredths: usize) {
    let mut bytes = fs::read(file).unwrap();
    let at = bytes.len() * hundredths / 100;
    bytes[at] ^= 0x10;
    fs::write(file, bytes).unwrap();
}

fn refused(folder: &Path) -> String {
    match open(Options::new(folder, Uid(0xab))) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

// covers: OPS-440
#[test]
fn a_log_that_one_byte_cut_short_is_refused_named_and_gone_on_with_knowingly() {
    for hundredths in [60, 75, 90] {
        let (folder, room) = killed_after(100);
        let wal = folder.path().join("chorus.db-wal");
        flip(&wal, hundredths);
        let left = fs::read(&wal).unwrap();
        for _ in 0..2 {
            let why = refused(folder.path());
            assert!(why.contains("ends before it should"), "{why}");
            assert!(why.contains(folder.path().to_str().unwrap()), "{why}");
            assert!(why.contains("doctor --repair"), "{why}");
        }
        let backup = folder.path().join("backup.db");
        let taken = chorus_store::backup::take(folder.path(), &backup, &NoObjects, Timestamp(1));
        assert!(taken.unwrap_err().to_string().contains("ends before it should"));
        assert!(!backup.exists());
        assert_eq!(fs::read(&wal).unwrap(), left, "what can be saved of it is still there");
        let report = doctor(folder.path());
        let named = report.problems.iter().filter(|p| p.what.contains("ends before")).count();
        assert_eq!(named, 1, "{:#?}", report.problems);

        // So many are missing as it says.
        let missing: u64 = refused(folder.path())
            .split_once("should: ")
            .and_then(|(_, rest)| rest.split_once(" of the "))
            .map(|(count, _)| count.parse().unwrap())
            .unwrap();
        assert!(missing > 0);
        let repairs = chorus_store::repair(&place(folder.path()), folder.path()).unwrap();
        assert!(repairs.iter().any(|r| r.part == Part::LogEnd), "{repairs:#?}");
        assert_eq!(doctor(folder.path()).problems, []);
        let again = chorus_store::repair(&place(folder.path()), folder.path()).unwrap();
        assert_eq!(again, []);
        let store = open(Options::new(folder.path(), Uid(0xab))).unwrap();
        assert_eq!(store.tenant().epoch, 2, "earlier turns are void");
        drop(store);
        let ground = Ground::at(folder.path(), Timestamp(2_000_000));
        let head = ground.readers.heads().unwrap()[0].1;
        let said = ground.say(room, "and on it goes").event.seq;
        assert_eq!(said, head.seq.next());
        ground.writer.stop();
        assert_eq!(doctor(folder.path()).problems, []);
    }
}

// covers: OPS-440
#[test]
fn a_log_that_is_gone_or_an_older_database_in_its_place_is_found_too() {
    let (folder, _) = killed_after(20);
    fs::remove_file(folder.path().join("chorus.db-wal")).unwrap();
    assert!(
        refused(folder.path()).contains("ends before it should"),
        "nothing was copied back yet"
    );

    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle().uid;
    ground.writer.stop();
    let database = folder.path().join("chorus.db");
    let older = fs::read(&database).unwrap();
    let ground = Ground::at(folder.path(), Timestamp(2_000_000));
    ground.say(room, "later");
    ground.writer.stop();
    fs::write(&database, older).unwrap();
    let why = refused(folder.path());
    assert!(why.contains("1 of the "), "{why}");
}

// covers: OPS-440
#[test]
fn a_repair_that_is_refused_has_accepted_no_loss() {
    let accepts_nothing = |folder: &Path, reason: &str| {
        let noted = fs::read(folder.join("newest")).unwrap();
        for _ in 0..2 {
            let why = chorus_store::repair(&place(folder), folder).unwrap_err().to_string();
            assert!(why.contains(reason), "{why}");
        }
        assert_eq!(fs::read(folder.join("newest")).unwrap(), noted);
        assert!(refused(folder).contains("ends before it should"));
    };
    let (folder, _) = killed_after(20);
    fs::remove_file(folder.path().join("chorus.db-wal")).unwrap();
    let database = folder.path().join("chorus.db");
    fs::remove_file(&database).unwrap();
    let without_tables = rusqlite::Connection::open(&database).unwrap();
    without_tables.pragma_update(None, "user_version", 1).unwrap();
    drop(without_tables);
    accepts_nothing(folder.path(), "nothing is left in it");

    // Of an older version.
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle().uid;
    ground.writer.stop();
    let database = folder.path().join("chorus.db");
    let older = fs::read(&database).unwrap();
    let ground = Ground::at(folder.path(), Timestamp(2_000_000));
    ground.say(room, "later");
    ground.writer.stop();
    fs::write(&database, older).unwrap();
    damage(
        folder.path(),
        "DELETE FROM migration WHERE number = (SELECT max(number) FROM migration)",
    );
    accepts_nothing(folder.path(), "start this version's host on it first");
    let db = chorus_store::sqlite::Sqlite::alone(&database).unwrap();
    let db: &dyn chorus_store::db::Db = &db;
    let epoch = db
        .one("SELECT epoch FROM workspace WHERE workspace = 1", &[], |row| row.int::<u64>(0))
        .unwrap();
    assert_eq!(epoch, Some(1), "turns of before are good");
}

// covers: OPS-441
#[test]
fn what_is_noted_may_be_behind_or_of_another_workspace_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle().uid;
    let before = fs::read(folder.path().join("newest")).unwrap();
    (0..20).for_each(|n| drop(ground.say(room, &format!("number {n}"))));
    let other = tempfile::tempdir().unwrap();
    let elsewhere = Ground::with(Options::new(other.path(), Uid(0xcd)), Timestamp(1_000_000));
    elsewhere.settle();
    (0..99).for_each(|n| drop(elsewhere.channel(&format!("room {n}"))));
    let foreign = fs::read(other.path().join("newest")).unwrap();
    for newest in [Some(before), Some(foreign), Some(b"nonsense".to_vec()), None] {
        let copy = killed(folder.path());
        let file = copy.path().join("newest");
        match newest {
            Some(bytes) => fs::write(&file, bytes).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        assert_eq!(doctor(copy.path()).problems, []);
        let ground = Ground::at(copy.path(), Timestamp(2_000_000));
        // The log is emptied once after a start.
        (0..10).for_each(|n| drop(ground.say(room, &format!("goes on {n}"))));
        ground.pass(0);
        let after = killed(copy.path());
        ground.writer.stop();
        // From here on it knows again how far it came.
        flip(&after.path().join("chorus.db-wal"), 5);
        assert!(refused(after.path()).contains("ends before it should"));
    }
}

// covers: OPS-43, OPS-440
#[test]
fn what_cannot_be_counted_keeps_no_other_conversation_from_its_work() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let rooms = [ground.settle().uid, ground.channel("other").uid];
    rooms.iter().for_each(|room| drop(ground.say(*room, "hello")));
    ground.writer.stop();
    let first = "(SELECT min(conversation) FROM conversation)";
    let sql =
        format!("UPDATE head SET seq = 'none' WHERE workspace = 1 AND conversation = {first}");
    damage(folder.path(), &sql);
    assert_ne!(doctor(folder.path()).problems, [], "it is named");
    let ground = Ground::at(folder.path(), Timestamp(2_000_000));
    ground.say(rooms[1], "and on it goes");
}

/// All files of a folder, with what is in them.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| (path.display().to_string(), fs::read(path).unwrap()))
        .collect();
    all.sort();
    all
}

// covers: OPS-413, OPS-475
#[test]
fn a_database_that_is_none_is_refused_unopened_and_its_log_stays() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 6] = [
        ("is empty", |db| fs::write(db, b"").unwrap()),
        ("not a database", |db| fs::write(db, b"x").unwrap()),
        ("not a database", |db| fs::write(db, vec![0; 300_000]).unwrap()),
        ("not a database", |db| fs::write(db, "my notes ".repeat(100)).unwrap()),
        ("not a database", |db| {
            let bytes = fs::read(db).unwrap();
            fs::write(db, &bytes[..300]).unwrap();
        }),
        ("is gone", |db| fs::remove_file(db).unwrap()),
    ];
    for (reason, harm) in harms {
        for beside in [&["newest", "chorus.db-wal"][..], &["chorus.db-wal"], &["newest"]] {
            let (folder, _) = killed_after(20);
            for name in ["newest", "chorus.db-wal"] {
                if !beside.contains(&name) {
                    fs::remove_file(folder.path().join(name)).unwrap();
                }
            }
            harm(&folder.path().join("chorus.db"));
            let before = files(folder.path());
            let backup = folder.path().join("backup.db");
            let place = place(folder.path());
            for why in [
                refused(folder.path()),
                chorus_store::doctor(&place).unwrap_err().to_string(),
                chorus_store::repair(&place, folder.path()).unwrap_err().to_string(),
                refused(folder.path()),
            ] {
                assert!(why.contains(reason) && why.contains("restore a backup"), "{why}");
                assert!(why.contains(folder.path().to_str().unwrap()), "{why}");
            }
            assert!(
                chorus_store::backup::take(folder.path(), &backup, &NoObjects, Timestamp(1))
                    .is_err()
            );
            assert!(files(folder.path()) == before, "{reason}, {beside:?}");
        }
    }
    // And where nothing was a host's.
    for bytes in [&b"x"[..], b"my notes"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("chorus.db"), bytes).unwrap();
        let before = files(folder.path());
        assert!(refused(folder.path()).contains("not a database"));
        assert_eq!(files(folder.path()), before);
    }
    // What a first start leaves that was killed is begun with.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chorus.db"), b"").unwrap();
    drop(open(Options::new(folder.path(), Uid(0xab))).unwrap());
}

// covers: OPS-413, OPS-475
#[test]
fn a_database_that_was_cut_is_refused_and_nothing_is_made_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    ground.settle();
    ground.writer.stop();
    for name in ["chorus.db-wal", "chorus.db-shm", "lock", "reserve"] {
        let _ = fs::remove_file(folder.path().join(name));
    }
    let database = folder.path().join("chorus.db");
    let whole = fs::read(&database).unwrap();
    for length in [512, 4_096, 9_000, whole.len() - 1] {
        fs::write(&database, &whole[..length]).unwrap();
        let before = files(folder.path());
        let why = refused(folder.path());
        assert!(why.contains("is truncated") && why.contains("restore a backup"), "{why}");
        assert!(chorus_store::doctor(&place(folder.path())).is_err());
        assert!(files(folder.path()) == before, "{length}");
    }
}

// covers: OPS-475
#[test]
fn a_database_without_a_workspace_is_no_new_one_where_there_was_one() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("chorus.db");
    let without_tables = || {
        let db = rusqlite::Connection::open(&database).unwrap();
        db.pragma_update(None, "user_version", 1).unwrap();
    };
    without_tables();
    let again = Options { may_begin: false, ..Options::new(folder.path(), Uid(0xab)) };
    let before = files(folder.path());
    assert!(open(again).is_err_and(|why| why.to_string().contains("no workspace")));
    fs::write(folder.path().join("newest"), b"of which nothing can be read").unwrap();
    assert!(refused(folder.path()).contains("no workspace"));
    fs::remove_file(folder.path().join("newest")).unwrap();
    assert!(files(folder.path()) == before, "nothing was made");
    drop(open(Options::new(folder.path(), Uid(0xab))).unwrap());
}
