//! What was erased is nowhere: not in memory, not in what is read, not in the files; and the log still holds.

use chorus_core::commands::{deliveries, messages};
use chorus_core::model::error::Code;
use chorus_core::model::event::{Message, Reason};
use chorus_core::model::ids::Uid;
use chorus_core::model::reaction::Signal;
use chorus_core::state::effect::Effect;

use crate::ground::{ADA, Ground, damage, doctor, logged, person, post};

pub(crate) const SECRET: &str = "sk-live-hunter2";

pub(crate) fn erase(message: Uid) -> messages::Erase {
    messages::Erase { message, reason: Reason::Secret }
}

/// A message with the secret in each of its versions, one of them larger than a page, and in a reaction.
pub(crate) fn tell(ground: &Ground, room: Uid) -> Uid {
    let message = ground.say(room, &format!("@ada the key is {SECRET}")).event.uid;
    let long = format!("{SECRET} {}", "and so on ".repeat(2_000));
    for text in [long, format!("@ada again: {SECRET}")] {
        let content = Message { text: text.into(), ..Message::default() };
        ground.ask(person(), messages::Edit { message, content }).unwrap();
    }
    let detail = Some(format!("I saw {SECRET}").into());
    let seen = messages::React { message, signal: Signal::Seen, detail, on: true };
    ground.ask(person(), seen).unwrap();
    message
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
    {
        let effects = ground.effects.lock().unwrap();
        let entries = effects.iter().filter_map(|effect| match effect {
            Effect::Logged(entry) => Some(entry),
            Effect::Offer(offer) => Some(&offer.entry),
            _ => None,
        });
        let said = entries.filter_map(|entry| entry.event.change.message());
        for message in said {
            assert!(!message.text.contains(SECRET), "nothing that goes out says it");
        }
        let cancelled = effects.iter().any(|effect| matches!(effect, Effect::Cancel { .. }));
        assert!(cancelled, "who has it is told");
    }
    // The key is still known, so that a retry does not bring it back.
    let refused = ground.ask(person(), post(room.uid, SECRET, Some(9))).unwrap_err();
    assert_eq!(refused.code, Code::IdempotencyConflict);
    let react = messages::React { message, signal: Signal::Agree, detail: None, on: true };
    let refused = [
        ground.ask(person(), deliveries::Claim { event: message }).err(),
        ground.ask(person(), deliveries::Redeliver { event: message, member: ADA }).err(),
        ground.ask(person(), react).err(),
    ];
    assert!(refused.iter().flatten().all(|r| r.code == Code::Conflict), "{refused:?}");
    assert_eq!(refused.iter().flatten().count(), refused.len(), "{refused:?}");
    ground.writer.stop();
    assert_eq!(doctor(folder.path()).problems, []);
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
        (false, "UPDATE event SET salt = NULL WHERE seq = 5", 5, "but it has content"),
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
        assert_eq!(doctor(folder.path()).problems, []);
        damage(folder.path(), sql);
        let report = doctor(folder.path());
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
    erase_in_steps(&ground, room.uid);
    ground.pass(0);
    ground.effects.lock().unwrap().retain(|e| matches!(e, Effect::Logged(_)));
    ground.writer.stop();
    assert_eq!(doctor(folder.path()).problems, []);
}

/// A message of more versions than one command erases, and its erasure.
pub(crate) fn erase_in_steps(ground: &Ground, room: Uid) -> Uid {
    let message = ground.say(room, SECRET).event.uid;
    for n in 0..1_100 {
        let content = Message { text: format!("{SECRET} {n}").into(), ..Message::default() };
        ground.ask(person(), messages::Edit { message, content }).unwrap();
    }
    let mut commands = 0;
    loop {
        commands += 1;
        if !ground.ask(person(), erase(message)).unwrap().more {
            break;
        }
    }
    assert_eq!(commands, 2);
    message
}
