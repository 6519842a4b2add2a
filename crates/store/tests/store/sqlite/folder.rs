//! A data folder is private, held by one, and opened only by a program that knows its schema.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chorus_core::model::ids::Uid;
use chorus_store::db::SyncLog;
use chorus_store::sqlite::Vfs;
use chorus_store::{Options, open};
use rusqlite::Connection;

use crate::ground::Ground;

/// A file layer that SQLite does not know.
#[derive(Debug)]
struct Missing;

impl Vfs for Missing {
    fn name(&self) -> &str {
        "missing"
    }

    fn sync_of(&self, _: PathBuf) -> SyncLog {
        Box::new(|| Ok(()))
    }
}

fn refused(folder: &Path) -> String {
    match open(Options::new(folder, Uid(1))) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_folder_is_held_by_one_and_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let why = refused(folder.path());
    assert!(why.contains(&folder.path().display().to_string()), "{why}");
    assert!(why.contains("in use"), "{why}");
    ground.writer.stop();
    drop(open(Options::new(folder.path(), Uid(1))).unwrap());
}

#[test]
fn only_its_owner_reads_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let ground = Ground::open(&data);
    ground.settle();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for file in std::fs::read_dir(&data).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    ground.writer.stop();
}

#[test]
fn the_workspace_keeps_the_id_it_was_made_with() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(Options::new(folder.path(), Uid(7))).unwrap());
    assert_eq!(open(Options::new(folder.path(), Uid(8))).unwrap().tenant().uid, Uid(7));
}

#[test]
fn a_schema_that_is_not_ours_is_refused() {
    for (sql, expect) in [
        ("UPDATE migration SET checksum = x'00'", "another text"),
        ("INSERT INTO migration VALUES (99, 'later', x'00', 0)", "version 99"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        drop(open(Options::new(folder.path(), Uid(1))).unwrap());
        Connection::open(folder.path().join("chorus.db")).unwrap().execute(sql, []).unwrap();
        let why = refused(folder.path());
        assert!(why.contains(expect), "{why}");
    }
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chorus.db"), "not a database, but long enough ".repeat(200))
        .unwrap();
    assert!(refused(folder.path()).contains("not a database"));
}

// covers: OPS-42
#[test]
fn a_start_that_is_refused_takes_back_what_it_has_made_before_another_host_can_begin() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    let missing = Options { vfs: Some(Arc::new(Missing)), ..Options::new(&folder, Uid(0xab)) };
    assert!(open(missing.clone()).is_err());
    assert!(!folder.exists(), "it leaves nothing");
    let done = AtomicBool::new(false);
    let refused = || {
        while !done.load(Ordering::Relaxed) {
            assert!(open(missing.clone()).is_err());
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(refused);
        scope.spawn(refused);
        let mut begun = 0;
        while begun < 100 {
            // It may be held by one that is refused.
            let Ok(store) = open(Options::new(&folder, Uid(0xab))) else { continue };
            for name in ["chorus.db", "lock"] {
                assert!(folder.join(name).exists(), "{name} was taken away, {begun}");
            }
            assert!(open(Options::new(&folder, Uid(0xab))).is_err(), "it is held, {begun}");
            store.take_back();
            begun += 1;
        }
        done.store(true, Ordering::Relaxed);
    });
    let left = std::fs::read_dir(&folder).map_or(0, Iterator::count);
    assert_eq!(left, 0, "but for an empty folder that each took for another's");
}
