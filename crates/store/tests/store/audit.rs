//! What is done beside the conversations' logs is in the audit log, once, chained, and nothing that was said.

use chorus_core::commands::{deliveries, directory};
use chorus_core::model::audit::{Action, Record};
use chorus_core::model::error::Code;
use chorus_core::model::ids::{EventRef, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::state::effect::Effect;
use chorus_store::AuditPlace;

use crate::ground::{ADA, BOB, Ground, PERSON, by, damage, doctor, person};

fn records(ground: &Ground) -> Vec<Record> {
    let all = ground.readers.audit(AuditPlace::default(), Timestamp(0), 10_000, &|_| true).unwrap();
    all.into_iter().map(|(_, record)| record).collect()
}

fn acts(ground: &Ground) -> Vec<Action> {
    records(ground).iter().map(|record| record.act).collect()
}

/// The offer to ada is accepted and ignored.
fn settle_one(ground: &Ground, room: Uid) -> EventRef {
    let session = Some(ground.connect(ADA));
    ground.effects.lock().unwrap().clear();
    let entry = ground.say(room, "@ada what is hunter2?");
    ground.pass(0);
    let attempt = ground.effects.lock().unwrap().iter().find_map(|effect| match effect {
        Effect::Offer(offer) if offer.entry.event.uid == entry.event.uid => Some(offer.attempt),
        _ => None,
    });
    let event = EventRef { conversation: entry.event.conversation, seq: entry.event.seq };
    let ada = chorus_core::model::caller::By { session, ..by(ADA) };
    ground.ask(ada, deliveries::Accept { event, attempt: attempt.unwrap(), epoch: None }).unwrap();
    let disposition = chorus_core::model::disposition::Disposition::Ignored;
    let event_id = entry.event.uid;
    ground.ask(ada, deliveries::Dispose { event: event_id, disposition, note: None }).unwrap();
    event
}

// covers: OPS-7
#[test]
fn what_is_done_is_kept_and_what_is_said_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    ground.say(room.uid, "hunter2");
    let event = settle_one(&ground, room.uid);
    let ending = ground.say(room.uid, "@bob and you?").event.uid;
    ground.ask(by(BOB), deliveries::Claim { event: ending }).unwrap();
    let add = directory::AddMember {
        id: "x".into(),
        kind: MemberKind::Agent,
        fields: MemberFields::default(),
    };
    assert!(ground.ask(by(ADA), add).is_err());
    ground.pass(2_000);
    let records = records(&ground);
    let kept = acts(&ground);
    for act in [
        Action::AddMember,
        Action::OpenSession,
        Action::Accept,
        Action::Dispose,
        Action::Settle,
        Action::Claim,
    ] {
        assert!(kept.contains(&act), "{act:?}: {kept:?}");
    }
    let accepted = records.iter().find(|r| r.act == Action::Accept).unwrap();
    assert_eq!((accepted.by, accepted.event), (ADA, Some(event)));
    assert!(accepted.session.is_some());
    let disposed = records.iter().find(|r| r.act == Action::Dispose).unwrap();
    assert_eq!((disposed.name.as_deref(), disposed.event), (Some("ignored"), Some(event)));
    let refused: Vec<_> = records.iter().filter(|r| r.refused.is_some()).collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].refused, Some(Code::InsufficientAuthority));
    assert_eq!((refused[0].by, refused[0].name.as_deref()), (ADA, Some("x")));
    assert!(!format!("{records:?}").contains("hunter2"));
    ground.writer.stop();
    assert_eq!(doctor(folder.path()).problems, []);

    // The chain goes on after a restart, and lists once what was there.
    let before = records.len();
    let ground = Ground::at(folder.path(), Timestamp(2_000_000));
    assert!(acts(&ground).len() >= before);
    ground.ask(person(), directory::SetLead { member: Some(PERSON) }).unwrap();
    assert_eq!(acts(&ground).iter().filter(|act| **act == Action::SetLead).count(), 1);
    ground.writer.stop();
    assert_eq!(doctor(folder.path()).problems, []);
}

// covers: OPS-8
#[test]
fn a_post_that_tells_nobody_costs_no_audit_row() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    ground.pass(2_000);
    let before = ground.readers.audit_head().unwrap();
    (0..50).for_each(|n| drop(ground.say(room.uid, &format!("line {n}"))));
    ground.pass(2_000);
    assert_eq!(ground.readers.audit_head().unwrap(), before);
    ground.writer.stop();
}

// covers: OPS-9
#[test]
fn what_was_changed_in_the_audit_log_is_found() {
    for (sql, word) in [
        ("UPDATE audit SET at = at + 1 WHERE block = 2", "block 2: its hash"),
        ("UPDATE audit SET packed = x'00' WHERE block = 2", "block 2: its hash"),
        ("UPDATE audit SET packed = x'ff' WHERE block = 2", "block 2"),
        (
            "UPDATE audit SET hash = (SELECT hash FROM audit WHERE block = 1) WHERE block = 2",
            "block 2",
        ),
        ("DELETE FROM audit WHERE block = 2", "block 2: it is missing"),
        ("DELETE FROM audit WHERE block = 1", "block 1: it is missing"),
        (
            "UPDATE receipt SET packed = CAST(packed || x'00' AS BLOB)",
            "differs from the one in the audit log",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let ground = Ground::open(folder.path());
        let room = ground.settle();
        settle_one(&ground, room.uid);
        ground.writer.stop();
        assert_eq!(doctor(folder.path()).problems, []);
        damage(folder.path(), sql);
        let report = doctor(folder.path());
        let named = report.problems.iter().any(|problem| problem.to_string().contains(word));
        assert!(named, "{sql}: {:#?}", report.problems);
    }
}
