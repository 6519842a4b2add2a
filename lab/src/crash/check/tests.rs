//! A checker that cannot fail is worth nothing: a small room in which all is well, and each way in which a
//! crash could have harmed it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::check;
use crate::crash::evidence::{Asked, Directed, Evidence, Fate, Line, Log, Owed, Said};

fn post(seq: u64, author: &str, text: &str, in_reply_to: Option<&str>) -> Line {
    Line {
        event: format!("evt_{seq}"),
        seq,
        kind: "message_posted".to_owned(),
        author: author.to_owned(),
        text: Some(text.to_owned()),
        in_reply_to: in_reply_to.map(str::to_owned),
        ..Line::default()
    }
}

fn said(author: &str, text: &str, asked: Asked, seq: Option<u64>) -> Said {
    let fate = seq.map(|seq| {
        let event = format!("evt_{seq}");
        Fate::Acknowledged { event, seq, thread_seq: None }
    });
    Said {
        author: author.to_owned(),
        conversation: "ch_1".to_owned(),
        in_thread: false,
        text: text.to_owned(),
        asked,
        fate: fate.unwrap_or(Fate::Unknown),
    }
}

fn owed(member: &str, reason: &str, disposition: &str) -> Owed {
    Owed {
        member: member.to_owned(),
        reason: reason.to_owned(),
        policy: "must_respond".to_owned(),
        state: "settled".to_owned(),
        disposition: Some(disposition.to_owned()),
    }
}

/// Two people, two agents; a question to one, one to a role, and one whose answer was lost.
fn room() -> Evidence {
    let scout = || Asked::Agents(vec!["scout".to_owned()]);
    let lines = vec![
        Line { event: "evt_1".to_owned(), seq: 1, kind: "made".to_owned(), ..Line::default() },
        post(2, "ada", "hello", None),
        post(3, "ada", "@scout one?", None),
        post(4, "ada", "@scout two?", None),
        post(5, "scout", "yes", Some("evt_4")),
        post(6, "bo", "@helpers who?", None),
        post(7, "critic", "me", Some("evt_6")),
    ];
    Evidence {
        said: vec![
            said("ada", "hello", Asked::Nobody, Some(2)),
            said("ada", "@scout one?", scout(), Some(3)),
            said("ada", "@scout two?", scout(), None),
            said("ada", "never there", Asked::Nobody, None),
            said("bo", "@helpers who?", Asked::Role, Some(6)),
        ],
        logs: vec![Log { conversation: "ch_1".to_owned(), last_seq: 7, lines }],
        directed: vec![
            // Merged into the next one's turn.
            Directed {
                event: "evt_3".to_owned(),
                owed: vec![owed("scout", "mention", "superseded")],
            },
            Directed {
                event: "evt_4".to_owned(),
                owed: vec![owed("scout", "mention", "responded")],
            },
            Directed {
                event: "evt_6".to_owned(),
                owed: vec![owed("critic", "role_mention", "responded")],
            },
        ],
        agents: vec!["scout".to_owned(), "critic".to_owned()],
        ..Evidence::default()
    }
}

#[test]
fn a_room_without_harm_passes() {
    assert_eq!(check(&room()), Vec::<String>::new());
}

/// Harms the room, and wants to hear of it.
fn harmed(expected: &str, harm: impl FnOnce(&mut Evidence)) {
    let mut room = room();
    harm(&mut room);
    let wrong = check(&room);
    assert!(wrong.iter().any(|line| line.contains(expected)), "{expected}: {wrong:#?}");
}

fn lines(room: &mut Evidence) -> &mut Vec<Line> {
    &mut room.logs[0].lines
}

#[test]
fn each_harm_is_noticed() {
    harmed("is lost", |room| drop(lines(room).remove(1)));
    harmed("has a hole", |room| drop(lines(room).remove(1)));
    harmed("has a hole", |room| room.logs[0].last_seq = 8);
    harmed("was acknowledged as", |room| lines(room)[1].event = "evt_other".to_owned());
    harmed("was acknowledged as", |room| lines(room)[1].author = "bo".to_owned());
    harmed("never said", |room| lines(room)[1].author = "bo".to_owned());
    harmed("never said", |room| lines(room).push(post(8, "bo", "of nowhere", None)));
    harmed("2 times", |room| lines(room).push(post(8, "ada", "hello", None)));
    harmed("2 times", |room| lines(room).push(post(8, "ada", "@scout two?", None)));
    harmed("stands before", |room| {
        (lines(room)[2].text, lines(room)[3].text) =
            (lines(room)[3].text.clone(), lines(room)[2].text.clone());
    });
    harmed("ids between them", |room| lines(room)[1].event = "evt_1".to_owned());
    harmed("scout answered evt_4 2 times", |room| {
        lines(room).push(post(8, "scout", "yes, yes", Some("evt_4")));
    });
    harmed("has 2 answers", |room| lines(room).push(post(8, "scout", "I", Some("evt_6"))));
    harmed("answers what is not there", |room| {
        lines(room).push(post(8, "scout", "what?", Some("evt_99")));
    });
    harmed("without an answer", |room| drop(lines(room).remove(4)));
    harmed("nobody was told", |room| drop(room.directed.remove(0)));
    harmed("was not asked", |room| room.directed[1].owed.clear());
    harmed("is \"accepted\" for", |room| {
        let owed = &mut room.directed[1].owed[0];
        (owed.state, owed.disposition) = ("accepted".to_owned(), None);
    });
    harmed("\"failed\"", |room| {
        lines(room).remove(4);
        room.directed[1].owed[0].disposition = Some("failed".to_owned());
    });
    harmed("asked one of a role", |room| room.directed[2].owed.clear());
    harmed("asked one of a role", |room| {
        lines(room).remove(6);
        room.directed[2].owed[0].disposition = Some("superseded".to_owned());
    });
    harmed("said something to nobody", |room| lines(room).push(post(8, "scout", "so", None)));
}

#[test]
fn a_thread_counts_without_a_hole() {
    let in_thread = |seq: u64, thread_seq: u64| Line {
        thread: Some("th_1".to_owned()),
        thread_seq: Some(thread_seq),
        ..post(seq, "scout", "in it", Some("evt_2"))
    };
    harmed("th_1: 3 follows", |room| {
        lines(room).extend([in_thread(8, 1), in_thread(9, 3)]);
    });
}

#[test]
fn a_turn_given_up_after_three_kills_is_an_end() {
    let mut room = room();
    room.logs[0].lines.remove(4);
    room.logs[0].lines.iter_mut().skip(4).for_each(|line| {
        line.seq -= 1;
    });
    room.logs[0].last_seq = 6;
    for directed in &mut room.directed[..2] {
        directed.owed[0].disposition = Some("failed".to_owned());
        room.given_up.push(("scout".to_owned(), directed.event.clone()));
    }
    let Fate::Acknowledged { seq, .. } = &mut room.said[4].fate else { panic!() };
    *seq -= 1;
    assert_eq!(check(&room), Vec::<String>::new());
}
