//! A block of the audit log that another folder has written.

use chorus_core::model::ids::Timestamp;
use rusqlite::Connection;

use crate::ground::{Ground, doctor};

// covers: OPS-9
#[test]
fn a_block_of_another_chain_breaks_the_one_after_it() {
    let [folder, other] = [0, 1].map(|n| {
        let folder = tempfile::tempdir().unwrap();
        let ground = Ground::at(folder.path(), Timestamp(1_000_000 + n));
        ground.settle();
        ground.writer.stop();
        folder
    });
    let db = Connection::open(folder.path().join("chorus.db")).unwrap();
    let theirs = other.path().join("chorus.db");
    db.execute("ATTACH $1 AS other", [theirs.to_str().unwrap()]).unwrap();
    db.execute(
        "UPDATE audit SET (at, hash, packed) =
            (SELECT at, hash, packed FROM other.audit WHERE block = 1) WHERE block = 1",
        [],
    )
    .unwrap();
    drop(db);
    let report = doctor(folder.path());
    let what: Vec<_> = report.problems.iter().map(|problem| &*problem.what).collect();
    assert_eq!(what, ["audit block 2: its hash does not follow from the one before it"]);
}
