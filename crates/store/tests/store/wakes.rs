//! Wakes are kept: over restarts and crashes, by the doctor and by repairs.

use std::path::Path;
use std::sync::Arc;

use chorus_core::commands::directory::{self, Heartbeat, OpenSession, SessionName};
use chorus_core::commands::wakes::ReportWake;
use chorus_core::model::caller::By;
use chorus_core::model::delivery::State;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::{SessionKey, Timestamp, Uid};
use chorus_core::model::limits;
use chorus_core::model::member::{Proof, Session, SessionStatus};
use chorus_core::model::wake::{Lane, OutgoingWake, ReportResult, Wake, WakeState};
use chorus_core::queries;
use chorus_core::state::effect::Effect;
use chorus_store::repair::Part;

use crate::ground::{ADA, Ground, as_crashed, by, damage, doctor, person, place};

fn runner() -> OpenSession {
    OpenSession {
        uid: Some(Uid(0x77)),
        runtime: "codex_cli".into(),
        resumable: true,
        runner: true,
        folder: Some("/home/ada/app".into()),
        resume_id: Some("0199-abcd".into()),
        ..OpenSession::default()
    }
}

fn with(session: SessionKey) -> By {
    By { session: Some(session), ..by(ADA) }
}

fn sent(ground: &Ground) -> Vec<Arc<OutgoingWake>> {
    let effects = ground.effects.lock().unwrap();
    let wakes = effects.iter().filter_map(|effect| match effect {
        Effect::Wake(wake) => Some(wake.clone()),
        _ => None,
    });
    wakes.collect()
}

fn report(sent: &OutgoingWake, result: ReportResult) -> ReportWake {
    ReportWake {
        wake: sent.wake.uid,
        fence: sent.wake.fence,
        lane: Some(Lane::Pty),
        result,
        why: None,
        evidence: None,
        deferred_until: None,
        resume_id: None,
        lines: Some("the last lines".into()),
    }
}

fn wakes(ground: &Ground) -> Vec<Arc<Wake>> {
    ground.ask(person(), queries::Wakes { session: None, event: None }).unwrap()
}

/// Everything about a session but what a restart changes.
fn session(ground: &Ground, uid: Uid) -> Session {
    let effects = ground.effects.lock().unwrap();
    let directory = effects.iter().rev().find_map(|effect| match effect {
        Effect::Directory(directory) => Some(directory.clone()),
        _ => None,
    });
    Session::clone(directory.unwrap().session_by_uid(uid).unwrap())
}

/// A host with a runner that was woken, and whose turn runs.
fn awake(folder: &Path) -> (Ground, SessionKey, Uid) {
    let ground = Ground::open(folder);
    let room = ground.settle();
    let runner = ground.ask(by(ADA), runner()).unwrap().key;
    let asked = ground.say(room.uid, "@ada can you look?").event.uid;
    ground.pass(0);
    let first = sent(&ground).remove(0);
    ground.ask(with(runner), report(&first, ReportResult::Confirmed)).unwrap();
    (ground, runner, asked)
}

// covers: THR-540
#[test]
fn a_wake_is_there_after_a_crash_and_goes_on_with_its_fence() {
    let folder = tempfile::tempdir().unwrap();
    let (ground, key, asked) = awake(folder.path());
    let before = wakes(&ground);
    let copy = as_crashed(folder.path());
    ground.writer.stop();

    let ground = Ground::at(copy.path(), Timestamp(1_010_000));
    let after = wakes(&ground);
    assert_eq!((after.len(), after[0].state), (1, WakeState::Running));
    let lease_until = Some(Timestamp(1_010_000 + limits::WAKE_LEASE_MS));
    assert_eq!(*after[0], Wake { lease_until, ..Wake::clone(&before[0]) });
    let again = ground.ask(by(ADA), runner()).unwrap();
    assert_eq!(again.key, key);
    ground.pass(0);
    let second = sent(&ground);
    assert_eq!(second.len(), 1);
    assert_eq!((second[0].again, second[0].wake.fence), (true, 1));
    let standing = ground.ask(person(), queries::Standing { event: asked }).unwrap().unwrap();
    let state = standing.delivery(ADA).unwrap().state;
    assert!(matches!(state, State::Accepted { session, gone: None, .. } if session == key));
    assert_eq!(doctor(copy.path()).problems, []);
    ground.writer.stop();
}

// covers: THR-541
#[test]
fn a_runner_that_stays_away_after_a_restart_loses_its_wake() {
    let folder = tempfile::tempdir().unwrap();
    let (ground, ..) = awake(folder.path());
    ground.writer.stop();

    let ground = Ground::at(folder.path(), Timestamp(1_010_000));
    ground.pass(limits::WAKE_LEASE_MS);
    assert_eq!((wakes(&ground)[0].fence, wakes(&ground)[0].state), (2, WakeState::Pending));
    ground.pass(limits::WAKE_RUNNER_MS);
    ground.pass(0);
    assert!(!wakes(&ground)[0].is_open());
    ground.writer.stop();
    assert_eq!(doctor(folder.path()).problems, []);
}

// covers: THR-542
#[test]
fn a_hundred_ended_wakes_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let runner = ground.ask(by(ADA), runner()).unwrap().key;
    for n in 0..limits::WAKES_ENDED + 3 {
        let event = ground.say(room.uid, &format!("@ada what of {n}?")).event.uid;
        ground.pass(10_000);
        let last = sent(&ground).pop().unwrap();
        ground.ask(with(runner), report(&last, ReportResult::Confirmed)).unwrap();
        let disposition = Disposition::Responded;
        let done = chorus_core::commands::deliveries::Dispose { event, disposition, note: None };
        ground.ask(with(runner), done).unwrap();
        ground.ask(with(runner), report(&last, ReportResult::Ended)).unwrap();
    }
    let kept = wakes(&ground);
    assert_eq!(kept.len(), limits::WAKES_ENDED);
    ground.writer.stop();
    let ground = Ground::at(folder.path(), Timestamp(9_000_000));
    assert_eq!(wakes(&ground), kept);
    ground.writer.stop();
}

// covers: THR-505
#[test]
fn what_a_session_says_of_itself_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    ground.settle();
    let opened = ground.ask(by(ADA), runner()).unwrap();
    let heartbeat = Heartbeat {
        member: Some("ada".into()),
        session: SessionName::read("sess_rv_12"),
        runtime: "claude_code".into(),
        resumable: true,
        status: SessionStatus::Idle,
    };
    let heard = ground.ask(by(ADA), heartbeat).unwrap();
    ground.writer.stop();

    let ground = Ground::at(folder.path(), Timestamp(1_010_000));
    ground.ask(by(ADA), directory::KnowSession { uid: Uid(5) }).unwrap();
    ground.pass(0);
    let now = session(&ground, opened.uid);
    let connected = false;
    assert_eq!(now, Session { connected, ..Session::clone(&opened) });
    assert_eq!(now.status_at(Timestamp(1_010_000)), SessionStatus::Offline);
    let now = session(&ground, heard.uid);
    assert_eq!(now, *heard);
    assert_eq!((now.proof, now.resume_id.as_deref()), (Proof::Heartbeat, Some("sess_rv_12")));
    ground.writer.stop();
}

// covers: THR-543
#[test]
fn damaged_wakes_are_found_and_removed_and_the_mail_is_there() {
    for (sql, part, word) in [
        ("UPDATE wake SET packed = x'ff' WHERE workspace = 1", Part::Wake, "cannot be read"),
        ("UPDATE wake SET session = 9 WHERE workspace = 1", Part::Wake, "cannot be read"),
        ("DELETE FROM session WHERE workspace = 1", Part::Wake, "of no session"),
        (
            "UPDATE registration SET status = 99 WHERE workspace = 1",
            Part::Session,
            "cannot be read",
        ),
        ("UPDATE registration SET session = 9 WHERE workspace = 1", Part::Session, "of no session"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (ground, ..) = awake(folder.path());
        ground.writer.stop();
        damage(folder.path(), sql);
        let problems = doctor(folder.path()).problems;
        assert!(problems.iter().any(|p| p.what.contains(word)), "{sql}: {problems:#?}");
        // It keeps no host from starting.
        let copy = as_crashed(folder.path());
        let ground = Ground::at(copy.path(), Timestamp(1_010_000));
        ground.ask(by(ADA), runner()).unwrap();
        ground.pass(limits::SESSION_GONE_MS);
        ground.pass(0);
        assert!(!sent(&ground).is_empty(), "{sql}: she is woken");
        ground.writer.stop();
        let repairs = chorus_store::repair(&place(folder.path()), folder.path()).unwrap();
        assert!(repairs.iter().any(|repair| repair.part == part), "{sql}: {repairs:#?}");
        assert_eq!(doctor(folder.path()).problems, [], "{sql}");
    }
}
