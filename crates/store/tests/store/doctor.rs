//! The doctor finds each kind of damage and names where it is; and nothing where there is none.

use chorus_core::commands::{conversations, deliveries, jobs, ledger, messages, registry};
use chorus_core::model::caller::By;
use chorus_core::model::ids::{ConversationKey, Seq, Timestamp, Uid};
use chorus_core::model::job::{JobResult, Payment};
use chorus_core::model::ledger::Credits;
use chorus_core::model::reaction::Signal;
use chorus_core::model::registry::{Registration, Skill};
use chorus_core::model::requests::OpenThread;
use chorus_core::model::thread::ThreadKind;

use crate::ground::{ADA, BOB, Ground, by, damage, doctor, person};

/// Bob is hired by Ada: one job is paid, one is under way.
fn hire(ground: &Ground) {
    let any = || "{}".into();
    let skill = Skill {
        name: "sum".into(),
        description: "adds numbers".into(),
        cost: Credits(10),
        input: any(),
        output: any(),
    };
    let agent = Some(Uid(7));
    let asked = Registration {
        agent,
        name: "Bob".into(),
        endpoint: None,
        pulls: true,
        skills: vec![skill],
    };
    ground.ask(by(BOB), registry::Register { asked, owner: None }).unwrap();
    let (to, amount) = ("ada".into(), Credits(1_000));
    ground.ask(By::host(), ledger::Mint { transfer: Uid(8), to, amount, memo: None }).unwrap();
    for job in [Uid(9), Uid(10)] {
        let request = jobs::Request {
            job,
            agent: Uid(7),
            orchestrator: None,
            skill: "sum".into(),
            input: any(),
            budget: Credits(15),
            payment: Payment::Escrow,
            payment_identifier: None,
            callback: None,
            evaluation: None,
            timeout_ms: 600_000,
            thread: None,
            pipeline: None,
        };
        ground.ask(by(ADA), request).unwrap();
    }
    let result = JobResult {
        success: true,
        output: Some(any()),
        cost: Credits(10),
        time_ms: 1,
        error: None,
        stated_at: Timestamp(1_000_000),
    };
    ground.ask(by(BOB), jobs::Deliver { job: Uid(9), agent: Uid(7), result, next: None }).unwrap();
}

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
    hire(&ground);
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
        ("UPDATE listing SET packed = x'00'", None, "listing of agent"),
        ("DELETE FROM listing", None, "is missing, and its skills are not"),
        ("UPDATE skill SET rank = rank + 1", None, "other skills than it has"),
        ("DELETE FROM skill", None, "other skills than it has"),
        ("UPDATE job SET packed = x'00' WHERE state = 4", None, "cannot be read"),
        ("UPDATE job SET state = 5 WHERE state = 4", None, "another state than its row says"),
        ("UPDATE job SET due_at = 1 WHERE state = 2", None, "another state than its row says"),
        ("DELETE FROM job WHERE state = 2", None, "escrow has 0.15"),
        ("UPDATE account SET balance = balance + 1 WHERE owner = 'ada'", None, "entries make"),
        ("DELETE FROM account WHERE owner = 'ada'", None, "and no account"),
        ("UPDATE ledger_entry SET amount = 999 WHERE number = 2", None, "another hash"),
        ("UPDATE ledger_entry SET memo = 'thanks' WHERE number = 1", None, "another hash"),
        ("UPDATE ledger_entry SET kind = 99 WHERE number = 1", None, "entry 1 of the ledger"),
        ("DELETE FROM ledger_entry WHERE number = 2", None, "does not follow the one before"),
        (
            "DELETE FROM ledger_entry WHERE number = (SELECT max(number) FROM ledger_entry)",
            None,
            "the ledger ends elsewhere",
        ),
        ("UPDATE ledger SET minted = minted + 1", None, "the ledger ends elsewhere"),
        ("DELETE FROM ledger", None, "the ledger ends elsewhere"),
        ("UPDATE reputation SET before = before + 1", None, "does not follow from itself"),
        ("UPDATE reputation SET after = after + 1", None, "than its history gives it"),
        ("DELETE FROM reputation", None, "than its history gives it"),
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
