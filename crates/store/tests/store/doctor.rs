//! The doctor finds each kind of damage and names where it is; and nothing where there is none.

use chorus_core::commands::{conversations, deliveries, messages};
use chorus_core::model::ids::{ConversationKey, Seq, Timestamp};
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::OpenThread;
use chorus_core::model::thread::ThreadKind;

use crate::ground::{ADA, BOB, Ground, by, damage, doctor, person};

/// A folder with a bit of everything in it, stopped.
fn lived_in() -> (tempfile::TempDir, ConversationKey) {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    ground.connect(ADA);
    let first = ground.say(room.uid, "@ada what is the time?");
    let second = ground.say(room.uid, "nobody in particular");
    let opening = OpenThread {
        home: room.uid.into(),
        root: Some(second.event.uid),
        title: "a thread".into(),
        kind: ThreadKind::Conversation,
        owner: Some(BOB),
        participants: vec![ADA],
        idempotency: None,
    };
    assert!(ground.ask(person(), opening).unwrap().opened);
    let react =
        |on| messages::React { message: second.event.uid, signal: Signal::Agree, detail: None, on };
    ground.ask(by(ADA), react(true)).unwrap();
    ground.pass(2_000);
    let dismissed = deliveries::Dispose {
        event: first.event.uid,
        disposition: chorus_core::model::disposition::Disposition::Ignored,
        note: None,
    };
    ground.ask(by(ADA), dismissed).unwrap();
    ground.say(room.uid, "@bob and you?");
    ground.pass(2_000);
    ground
        .ask(person(), conversations::SetCursor { conversation: room.uid, read: Seq(3) })
        .unwrap();
    ground.writer.stop();
    (folder, room.key)
}

#[test]
fn a_folder_in_order_has_nothing_wrong() {
    let (folder, _) = lived_in();
    let report = doctor(folder.path());
    assert_eq!(report.problems, []);
    assert_eq!(report.conversations, 1);
    assert!(report.events >= 8, "{report:?}");
}

#[test]
fn a_running_host_can_be_examined() {
    let (folder, _) = lived_in();
    let ground = Ground::at(folder.path(), Timestamp(1_100_000));
    assert_eq!(doctor(folder.path()).problems, []);
    ground.writer.stop();
}

#[test]
fn each_kind_of_damage_is_found_where_it_is() {
    for (sql, seq, word) in [
        ("UPDATE event SET body = x'010568656c6c6f000000' WHERE seq = 6", Some(6), "content"),
        ("UPDATE event SET body = x'ff' WHERE seq = 6", Some(6), "body"),
        ("UPDATE event SET body = NULL WHERE seq = 6", Some(6), "body"),
        (
            "UPDATE event SET salt = x'00000000000000000000000000000000' WHERE seq = 6",
            Some(6),
            "content",
        ),
        ("UPDATE event SET actor = 2 WHERE seq = 6", Some(6), "hash"),
        ("UPDATE event SET at = at + 1 WHERE seq = 6", Some(6), "hash"),
        ("DELETE FROM event WHERE seq = 6", Some(6), "missing"),
        ("DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)", None, "the log ends"),
        ("UPDATE head SET seq = seq + 1", None, "the log ends"),
        ("UPDATE head SET last_at = 1", None, "time"),
        ("UPDATE roster SET participation = 4 WHERE member = 2", None, "seat of member 2"),
        ("DELETE FROM roster WHERE member = 2", None, "seat of member 2"),
        ("INSERT INTO roster VALUES (1, 1, 9, 1)", None, "seat of member 9"),
        ("UPDATE thread SET title = 'other'", None, "thread"),
        ("DELETE FROM thread", None, "thread"),
        ("DELETE FROM message", None, "message"),
        ("UPDATE conversation SET title = 'other'", None, "row"),
        ("DELETE FROM receipt", Some(5), "neither"),
        ("DELETE FROM pending", Some(10), "neither"),
        (
            "INSERT INTO pending SELECT workspace, conversation, seq, 0, dead, packed FROM receipt",
            Some(5),
            "both",
        ),
        ("UPDATE receipt SET packed = x'00'", None, "receipt cannot be read"),
        ("UPDATE pending SET seq = 5", None, "cannot be read"),
        ("UPDATE mark SET read = 999", Some(999), "beyond"),
        ("UPDATE member SET member = 7 WHERE member = 3", None, "member 7"),
    ] {
        let (folder, key) = lived_in();
        damage(folder.path(), sql);
        let report = doctor(folder.path());
        let found = report.problems.iter().find(|p| {
            let here = seq.is_none_or(|seq| p.seq == Some(Seq(seq)));
            here && p.to_string().contains(word)
        });
        assert!(found.is_some(), "{sql}: {:#?}", report.problems);
        assert!(found.unwrap().conversation.is_none_or(|c| c == key));
    }
}
