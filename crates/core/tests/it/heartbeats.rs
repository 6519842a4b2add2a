//! Heartbeats: sessions that report themselves.

use chorus_core::commands::directory::{Heartbeat, KnowSession, SessionName};
use chorus_core::model::caller::By;
use chorus_core::model::error::Code;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::limits;
use chorus_core::model::member::{Proof, SessionStatus};

use crate::house::{ALICE, House, REVIEWER, SCOUT, code};

fn heartbeat(name: &str) -> Heartbeat {
    Heartbeat {
        member: Some("scout".into()),
        session: SessionName::read(name),
        runtime: "codex_cli".into(),
        resumable: true,
        status: SessionStatus::Idle,
    }
}

// covers: THR-500
#[test]
fn a_session_reports_itself_under_its_own_id() {
    let mut house = House::asleep();
    let scout = By { session: None, ..house.by(SCOUT) };
    let first = house.run(scout, heartbeat("sess_rv_12")).unwrap();
    assert_eq!((&*first.runtime, first.resumable, first.managed), ("codex_cli", true, false));
    assert_eq!(first.resume_id.as_deref(), Some("sess_rv_12"));
    assert_eq!((first.status, first.proof), (SessionStatus::Idle, Proof::Heartbeat));
    house.now = house.now.plus(30_000);
    let again = house.run(scout, heartbeat("sess_rv_12")).unwrap();
    assert_eq!((again.key, again.uid, again.seen_at), (first.key, first.uid, house.now));
    let other = house.run(scout, heartbeat("sess_rv_13")).unwrap();
    assert_ne!(other.uid, first.uid);
    let ours = house.run(scout, heartbeat(&first.uid.show(Prefix::Session))).unwrap();
    assert_eq!(ours.key, first.key);
}

// covers: THR-501
#[test]
fn without_a_report_for_ninety_seconds_a_session_counts_as_offline() {
    let mut house = House::asleep();
    let scout = By { session: None, ..house.by(SCOUT) };
    let session = house.run(scout, heartbeat("one")).unwrap();
    let later = |ms| session.status_at(house.now.plus(ms));
    assert_eq!(later(limits::HEARTBEAT_STALE_MS - 1), SessionStatus::Idle);
    assert_eq!(later(limits::HEARTBEAT_STALE_MS), SessionStatus::Offline);
}

// covers: THR-501
#[test]
fn a_call_proves_a_session_as_a_report_does() {
    let mut house = House::asleep();
    let scout = By { session: None, ..house.by(SCOUT) };
    let uid = house.run(scout, heartbeat("one")).unwrap().uid;
    house.pass(limits::HEARTBEAT_STALE_MS);
    let calls = house.run(scout, KnowSession { uid }).unwrap();
    assert_eq!((calls.status_at(house.now), calls.proof), (SessionStatus::Active, Proof::Call));
    house.pass(limits::HEARTBEAT_STALE_MS);
    let kept = house.ws.directory().sessions[&calls.key].clone();
    assert_eq!(kept.status_at(house.now), SessionStatus::Offline);
    house.run(scout, heartbeat("one")).unwrap();
    let reported = house.run(scout, KnowSession { uid }).unwrap();
    assert_eq!(reported.proof, Proof::Heartbeat, "what was just reported says more");
}

// covers: THR-505
#[test]
fn what_a_report_does_not_say_stays_and_a_connection_proves_more() {
    let mut house = House::asleep();
    let scout = By { session: None, ..house.by(SCOUT) };
    house.run(scout, heartbeat("one")).unwrap();
    let again = Heartbeat { runtime: String::new(), ..heartbeat("one") };
    assert_eq!(&*house.run(scout, again).unwrap().runtime, "codex_cli");
    let connected = house.connect(SCOUT);
    let uid = house.ws.directory().sessions[&connected].uid.show(Prefix::Session);
    let offline = Heartbeat { status: SessionStatus::Offline, ..heartbeat(&uid) };
    let said = house.run(house.by(SCOUT), offline).unwrap();
    assert_eq!((said.connected, said.status), (true, SessionStatus::Idle));
}

// covers: THR-502
#[test]
fn a_heartbeat_connects_nothing() {
    let mut house = House::asleep();
    let scout = By { session: None, ..house.by(SCOUT) };
    let session = house.run(scout, heartbeat("one")).unwrap();
    assert!(!session.connected && house.ws.directory().connected(SCOUT).is_empty());
    house.says(ALICE, "@scout can you look?");
    assert!(house.offers(SCOUT).is_empty() && house.wakes.is_empty());
}

// covers: THR-503
#[test]
fn a_session_reports_itself_for_its_own_member_alone() {
    let mut house = House::new();
    let reviewer = By { session: None, ..house.by(REVIEWER) };
    assert_eq!(code(house.run(reviewer, heartbeat("one"))), Code::ClaimMismatch);
    let scouts = house.by(SCOUT).session.map(|key| house.ws.directory().sessions[&key].uid);
    let scouts = scouts.unwrap().show(Prefix::Session);
    let others = Heartbeat { member: None, ..heartbeat(&scouts) };
    assert_eq!(code(house.run(reviewer, others)), Code::NotFound);
    // A token of a session is for that session.
    let other = heartbeat(&Uid(77).show(Prefix::Session));
    assert_eq!(code(house.run(house.by(SCOUT), other)), Code::ClaimMismatch);
}

// covers: THR-504
#[test]
fn a_program_that_calls_with_its_runners_token_is_the_runners_session() {
    let mut house = House::asleep();
    let runner = house.run_program(SCOUT, None);
    let session = house.run(house.by(SCOUT), heartbeat("0199-abcd")).unwrap();
    assert_eq!(session.key, runner);
    assert_eq!(session.resume_id.as_deref(), Some("0199-abcd"));
    assert!(session.connected && session.runner && session.managed);
    assert_eq!((session.status, session.proof), (SessionStatus::Idle, Proof::Heartbeat));
}

#[test]
fn bad_names_are_refused_and_a_member_reports_so_many_sessions_a_day() {
    let mut house = House::asleep();
    let scout = By { session: None, ..house.by(SCOUT) };
    for bad in ["", "a\nb", &"x".repeat(limits::SESSION_NAME_BYTES + 1)] {
        assert_eq!(code(house.run(scout, heartbeat(bad))), Code::ValidationError, "{bad:?}");
    }
    for n in 0..limits::SESSIONS_HEARD {
        house.run(scout, heartbeat(&format!("session {n}"))).unwrap();
    }
    assert_eq!(code(house.run(scout, heartbeat("one more"))), Code::RateLimited);
    house.run(scout, heartbeat("session 1")).unwrap();
    house.now = house.now.plus(25 * 3_600_000);
    house.run(scout, heartbeat("one more")).unwrap();
}
