//! The doctor looks at what is not in the log and is neither owed: digests, and what waits for a person.

use chorus_core::commands::{NotDone, approvals, conversations, digests, messages};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::{ConversationKind, Participation, Settings, Visibility};
use chorus_core::model::digest::Written;
use chorus_core::model::ids::{Seq, Uid};
use chorus_core::model::limits;
use chorus_core::model::requests::Post;

use crate::ground::{ADA, BOB, Ground, damage, doctor, drawn, logged, person, post};

/// A folder with two digests, a text written of the second, and two approvals, one of them denied.
fn followed_and_asked() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let seat = conversations::SetSeat {
        conversation: room.uid,
        member: ADA,
        participation: Participation::AlwaysListen,
        terms: Default::default(),
    };
    ground.ask(person(), seat).unwrap();
    let first = ground.say(room.uid, "the build is green");
    ground.pass(limits::DIGEST_MS);
    let gone = ground.say(room.uid, "this is to be forgotten");
    ground.ask(person(), messages::Delete { message: gone.event.uid }).unwrap();
    let last = ground.say(room.uid, "who looks at the deploy?");
    ground.pass(limits::DIGEST_MS);
    let written = Written {
        after: Seq(first.event.seq.0),
        through: last.event.seq,
        member: ADA,
        text: "a build".into(),
    };
    // Of the second there is nothing: a message of it was deleted.
    let kept = digests::KeepDigest { conversation: room.uid, written: written.clone() };
    ground.ask(By::host(), kept).unwrap();
    let before = Written { after: Seq(first.event.seq.0 - 1), through: first.event.seq, ..written };
    let kept = digests::KeepDigest { conversation: room.uid, written: before };
    ground.ask(By::host(), kept).unwrap();
    let pair = pair(&ground);
    let asked = logged(ground.ask(person(), post(pair, "tell the others", None)).unwrap());
    for key in [1, 2] {
        let said = post(room.uid, "the merger is off", Some(key));
        let said = Post { in_reply_to: Some(asked.event.uid), ..said };
        let held = ground.writer.execute(crate::ground::by(BOB), said, drawn());
        let Err(NotDone::AwaitsApproval(approval)) = held else { panic!("{held:?}") };
        if key == 2 {
            let (approval, approved, reason) = (approval.uid, false, None);
            ground.ask(person(), approvals::DecideApproval { approval, approved, reason }).unwrap();
        }
    }
    ground.writer.stop();
    folder
}

/// The person's and bob's own.
fn pair(ground: &Ground) -> Uid {
    let settings = Settings {
        title: "pair".into(),
        description: "".into(),
        purpose: "".into(),
        visibility: Visibility::Private,
        ..Settings::default()
    };
    let (kind, members) = (ConversationKind::Dm, vec![BOB]);
    let made = ground.ask(person(), conversations::CreateConversation { kind, settings, members });
    made.unwrap().uid
}

#[test]
fn what_stands_beside_the_log_is_looked_at_too() {
    let folder = followed_and_asked();
    assert_eq!(doctor(folder.path()).problems, []);
    for (sql, words) in [
        ("UPDATE digest SET packed = x'ff'", "the digest up to here cannot be read"),
        ("UPDATE digest SET at = at + 1", "stored under another key"),
        ("UPDATE digest SET through = through + 100", "stored under another key"),
        (
            "UPDATE digest SET packed = (SELECT packed FROM digest ORDER BY through LIMIT 1)",
            "has an invalid range",
        ),
        ("UPDATE digested SET seq = seq + 100", "cover the log up to another"),
        ("UPDATE digested SET seq = 1", "cover the log up to another"),
        ("UPDATE digest_text SET member = 3", "belongs to none of their digests"),
        ("UPDATE digest_text SET after = after - 1", "belongs to none of their digests"),
        (
            "INSERT INTO digest_text SELECT workspace, conversation,
                (SELECT max(through) FROM digest), member, through, text FROM digest_text",
            "contains words that were removed",
        ),
        ("UPDATE approval SET packed = x'ff'", "cannot be read"),
        ("UPDATE approval SET member = 9", "its member does not exist"),
        (
            "UPDATE approval SET decided_by = 9 WHERE approved = 0",
            "the member who decided it does not exist",
        ),
        ("UPDATE approval SET expires = at - 1", "ended before it was requested"),
        (
            "UPDATE approval SET approved = 1, decided_by = 1, decided_at = at WHERE approved IS NULL",
            "still has its content",
        ),
        ("UPDATE approval SET source_seq = 1", "source is not the event"),
        (
            "UPDATE approval SET source_room = x'00000000000000000000000000000000'",
            "source is not the event",
        ),
    ] {
        let folder = followed_and_asked();
        damage(folder.path(), sql);
        let problems = doctor(folder.path()).problems;
        let found = problems.iter().any(|problem| problem.to_string().contains(words));
        assert!(found, "{sql}: {problems:#?}");
    }
}
