//! What was answered is there after the host stopped, and says the same.

use chorus_core::model::error::Code;
use chorus_core::model::ids::{Seq, Timestamp};
use chorus_core::queries;
use chorus_core::state::effect::Effect;
use chorus_store::{Line, Page, Start};

use crate::ground::{ADA, Ground, as_crashed, logged, person, post};

// covers: ATT-7, ATT-101
#[test]
fn what_was_posted_is_read_back_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let said: Vec<_> = (0..100).map(|n| ground.say(room.uid, &format!("number {n}"))).collect();
    ground.writer.stop();

    let ground = Ground::at(folder.path(), Timestamp(2_000_000));
    let page = Page {
        conversation: room.key,
        line: Line::Messages,
        start: Start::After(Seq(0)),
        limit: 1_000,
    };
    let (entries, more) = ground.readers.entries(&page).unwrap().unwrap();
    assert!(!more);
    assert_eq!(entries.len(), said.len());
    for (entry, said) in entries.iter().zip(&said) {
        assert_eq!(entry.entry.event, said.event);
        assert_eq!(entry.content.as_ref(), said.event.change.message());
    }
    let next = ground.say(room.uid, "after");
    assert_eq!(next.event.seq, said.last().unwrap().event.seq.next());
    ground.writer.stop();
}

// covers: ATT-108
#[test]
fn a_key_is_remembered_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let first = logged(ground.ask(person(), post(room.uid, "once", Some(7))).unwrap());
    ground.writer.stop();

    let ground = Ground::at(folder.path(), Timestamp(1_100_000));
    let again = ground.ask(person(), post(room.uid, "once", Some(7))).unwrap();
    assert!(again.duplicate);
    assert_eq!(again.entry.event, first.event);
    let refused = ground.ask(person(), post(room.uid, "other", Some(7))).unwrap_err();
    assert_eq!(refused.code, Code::IdempotencyConflict);
    ground.writer.stop();
}

// covers: ATT-102
#[test]
fn what_is_owed_is_owed_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    ground.say(room.uid, "@ada what is the time?");
    let copy = as_crashed(folder.path());
    ground.writer.stop();

    let ground = Ground::at(copy.path(), Timestamp(1_010_000));
    let session = ground.connect(ADA);
    let owed = queries::Owed { session, limit: 10 };
    let offers = ground.ask(crate::ground::by(ADA), owed).unwrap().offers;
    let attempts: Vec<_> = offers.iter().map(|o| o.attempt).collect();
    assert!(attempts.iter().all(|a| *a >= 2), "{attempts:?}");
    let pending = ground.readers.pending().unwrap();
    assert_eq!(pending.len(), 1, "it got its row at once");
    ground.writer.stop();
}

#[test]
fn effects_come_once_what_caused_them_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    ground.connect(ADA);
    let said = ground.say(room.uid, "@ada what is the time?");
    assert!(ground.readers.entry(said.event.uid).unwrap().is_some());
    // One more answer, so that the effects of the post's batch were handed out.
    ground.pass(0);
    let effects = ground.effects.lock().unwrap();
    let logged = |e: &&Effect| matches!(e, Effect::Logged(l) if l.event.uid == said.event.uid);
    assert_eq!(effects.iter().filter(logged).count(), 1);
    let offers = effects.iter().filter_map(|e| match e {
        Effect::Offer(offer) => Some((offer.member, offer.attempt)),
        _ => None,
    });
    assert_eq!(offers.collect::<Vec<_>>(), [(ADA, 1)]);
    drop(effects);
    ground.writer.stop();
}

#[test]
fn an_obligation_that_is_accepted_goes_on_after_a_clean_stop() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    ground.connect(ADA);
    ground.say(room.uid, "@ada what is the time?");
    ground.writer.stop();

    let ground = Ground::at(folder.path(), Timestamp(1_000_500));
    let pending = ground.readers.pending().unwrap();
    assert_eq!(pending.len(), 1, "it was younger than a second, and has its row");
    assert_eq!(pending[0].1.deliveries[0].attempt, 1);
    ground.writer.stop();
}
