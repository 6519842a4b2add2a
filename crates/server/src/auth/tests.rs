#![allow(clippy::unwrap_used, clippy::expect_used)]

use chorus_core::model::ids::{ConversationKey, MemberKey, Seq, SessionKey};
use chorus_core::model::member::{MemberFields, MemberKind};

use super::*;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const HERE: Uid = Uid(7);

fn auth(folder: &std::path::Path, workspace: Uid) -> Auth {
    Auth::new(workspace, Keys::open(folder).unwrap())
}

fn directory() -> Directory {
    let mut directory = Directory::default();
    for id in ["ann", "bot"] {
        directory.add_member(id, MemberKind::Agent, &MemberFields::default()).unwrap();
    }
    directory
}

fn token(auth: &Auth, agent: &str, jti: &str, ttl_ms: i64) -> String {
    auth.issue(&Issued {
        agent,
        authority: Authority::Worker,
        session: None,
        owner: None,
        jti,
        nonce: Uid(1),
        at: NOW,
        expires: NOW.plus(ttl_ms),
        used: Use::Bearer,
        parents: &[],
    })
    .unwrap()
}

fn code(result: Result<Caller, Refusal>) -> Code {
    result.unwrap_err().code
}

// covers: ATT-130
#[test]
fn a_token_is_its_member_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let auth = auth(folder.path(), HERE);
    let mut directory = directory();
    let bearer = token(&auth, "ann", "j1", 60_000);
    let caller = auth.verify(&bearer, &directory, NOW).unwrap();
    assert_eq!((&*caller.member.id, caller.authority()), ("ann", Authority::Worker));

    let late = NOW.plus(60_000 + SKEW_MS);
    assert_eq!(code(auth.verify(&bearer, &directory, late)), Code::Unauthorized);

    directory.revoked.insert_mut("j1".into(), late);
    assert_eq!(code(auth.verify(&bearer, &directory, NOW)), Code::Unauthorized);

    let gone = token(&auth, "nobody", "j2", 60_000);
    assert_eq!(code(auth.verify(&gone, &directory, NOW)), Code::NotFound);
}

// covers: ATT-8
#[test]
fn what_is_not_signed_here_is_refused() {
    let (folder, other_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let here = auth(folder.path(), HERE);
    let directory = directory();
    let check = |bearer: &str, expected: Code| {
        assert_eq!(code(here.verify(bearer, &directory, NOW)), expected, "{bearer}");
    };
    check(&token(&auth(other_folder.path(), HERE), "ann", "j", 60_000), Code::Unauthorized);
    check(&token(&auth(folder.path(), Uid(8)), "ann", "j", 60_000), Code::OutOfScopeWorkspace);

    let good = token(&here, "ann", "j", 60_000);
    let parts: Vec<_> = good.split('.').collect();
    // {"alg":"none"} and {"alg":"HS256"}
    for header in ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiJ9"] {
        check(&format!("{header}.{}.", parts[1]), Code::Unauthorized);
        check(&format!("{header}.{}.{}", parts[1], parts[2]), Code::Unauthorized);
    }
    for bad in ["", "x", "a.b.c", &"x".repeat(5000)] {
        check(bad, Code::Unauthorized);
    }
}

// covers: ATT-92
#[test]
fn a_turn_speaks_for_its_member_and_nobody_elses() {
    let folder = tempfile::tempdir().unwrap();
    let auth = auth(folder.path(), HERE);
    let directory = directory();
    let turn = Turn {
        conversation: Uid(40),
        event: Uid(41),
        member: MemberKey(2),
        session: SessionKey(3),
        key: ConversationKey(4),
        seq: Seq(5),
        fence: 6,
        expires: NOW.plus(1000),
        stem: Stem::of_token("0f", NOW),
    };
    let bearer = auth.grant(&turn);
    let caller = auth.verify(&bearer, &directory, NOW).unwrap();
    assert_eq!(caller.turn, Some(turn));
    assert_eq!(&*caller.member.id, "bot");
    assert_eq!(caller.by.turn.unwrap().fence, 6);
    assert!(caller.must_govern().is_err());

    assert_eq!(code(auth.verify(&bearer, &directory, NOW.plus(1000))), Code::Unauthorized);
    let mut forged = bearer.clone().into_bytes();
    forged[30] = if forged[30] == b'B' { b'C' } else { b'B' };
    let forged = String::from_utf8(forged).unwrap();
    assert_eq!(code(auth.verify(&forged, &directory, NOW)), Code::Unauthorized);

    let ann = auth.verify(&token(&auth, "ann", "j", 60_000), &directory, NOW).unwrap();
    assert_eq!(code(auth.in_turn(&ann, &bearer, &directory, NOW)), Code::ClaimMismatch);
    assert_eq!(code(auth.in_turn(&ann, &forged, &directory, NOW)), Code::Unauthorized);
    let bot = auth.verify(&token(&auth, "bot", "k", 60_000), &directory, NOW).unwrap();
    assert!(auth.in_turn(&bot, &bearer, &directory, NOW).unwrap().by.turn.is_some());
    assert_eq!(code(auth.in_turn(&bot, &bearer, &directory, NOW.plus(1000))), Code::StaleTurn);
}

#[test]
fn keys_stay_and_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let bearer = token(&auth(folder.path(), HERE), "ann", "j", 60_000);
    let again = auth(folder.path(), HERE);
    assert!(again.verify(&bearer, &directory(), NOW).is_ok());
    for name in ["signing.pem", "turn.key"] {
        let mode = std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

// covers: OPS-431
#[test]
fn keys_that_were_exchanged_are_the_same_when_they_are_read_again() {
    use std::os::unix::fs::PermissionsExt;
    for epoch in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::open(folder.path()).unwrap().in_epoch(epoch);
        let (turn, id, sealing) = (keys.turn, keys.turn_id, keys.data);
        let first = keys.rotated(NOW, NOW).unwrap().keep().unwrap();
        let second = first.rotated(NOW, NOW).unwrap().keep().unwrap();
        assert_eq!((first.data, second.data), (sealing, sealing));
        assert!(first.turn != turn && first.turn_id != id && second.turn != first.turn);
        let read = Keys::open(folder.path()).unwrap().in_epoch(epoch);
        assert_eq!((read.turn, read.turn_id, read.data), (second.turn, second.turn_id, sealing));
        assert!(read.kid == second.kid && read.kid != first.kid);
        let mode = std::fs::metadata(folder.path().join("sealing.key")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}
