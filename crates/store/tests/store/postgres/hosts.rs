//! Several hosts on one database: each is right about everything, whichever of them did it.

use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use chorus_core::commands::{conversations, deliveries, directory, messages};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::Participation;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::event::{Message, Reason};
use chorus_core::model::ids::{EventRef, MemberKey, Seq, SessionKey, Timestamp, Uid};
use chorus_core::model::limits;
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::offer::Offer;
use chorus_core::model::reaction::Signal;
use chorus_core::state::effect::Effect;
use chorus_store::{Line, Page, Start};

use super::{options, problems};
use crate::ground::{ADA, BOB, Ground, by, drawn, logged, person, post};

const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn wait(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < until, "{what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

pub(super) struct Two {
    pub(super) url: String,
    pub(super) one: Ground,
    pub(super) other: Ground,
    pub(super) room: Uid,
    _folders: [tempfile::TempDir; 2],
}

fn host(folder: &Path, url: &str) -> Ground {
    Ground::with(options(folder, url), Timestamp(1_000_000))
}

/// A host with people, agents and a channel, and another one that came later.
pub(super) fn two() -> Two {
    let url = chorus_cluster::schema().unwrap();
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let one = host(folders[0].path(), &url);
    let room = one.settle().uid;
    let other = host(folders[1].path(), &url);
    Two { url, one, other, room, _folders: folders }
}

impl Two {
    pub(super) fn end(self) {
        self.other.writer.stop();
        self.one.writer.stop();
        assert_eq!(problems(&self.url), []);
    }
}

fn with_session(agent: MemberKey, session: SessionKey) -> By {
    By { session: Some(session), ..by(agent) }
}

fn offers(ground: &Ground) -> Vec<Offer> {
    let effects = ground.effects.lock().unwrap();
    let offers = effects.iter().filter_map(|e| match e {
        Effect::Offer(offer) => Some(offer.clone()),
        _ => None,
    });
    offers.collect()
}

pub(super) fn texts(ground: &Ground, room: Uid) -> Vec<String> {
    let conversation = ground.readers.conversation(room).unwrap().unwrap().key;
    let (mut texts, mut after) = (Vec::new(), Seq(0));
    loop {
        let page =
            Page { conversation, line: Line::Messages, start: Start::After(after), limit: 999 };
        let (entries, more) = ground.readers.entries(&page).unwrap().unwrap();
        texts.extend(entries.iter().map(|e| e.content.as_ref().unwrap().text.to_string()));
        let Some(last) = entries.last().filter(|_| more) else { return texts };
        after = last.entry.event.seq;
    }
}

// covers: OPS-150
#[test]
fn two_hosts_write_into_the_same_rooms_and_every_seq_is_given_once() {
    let two = two();
    let quiet = two.one.channel("quiet").uid;
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for (n, ground) in [&two.one, &two.other, &two.one, &two.other].into_iter().enumerate() {
            let (barrier, room) = (&barrier, two.room);
            scope.spawn(move || {
                barrier.wait();
                for m in 0..50 {
                    let to = if m % 5 == 0 { quiet } else { room };
                    ground.say(to, &format!("{n} says {m}"));
                }
            });
        }
    });
    for ground in [&two.one, &two.other] {
        let (said, quietly) = (texts(ground, two.room), texts(ground, quiet));
        assert_eq!((said.len(), quietly.len()), (160, 40));
        // Each one's words stand in the order in which they were said.
        for n in 0..4 {
            let own = said.iter().filter(|text| text.starts_with(&format!("{n} says")));
            let own: Vec<u32> =
                own.map(|t| t.rsplit(' ').next().unwrap().parse().unwrap()).collect();
            assert!(own.is_sorted() && own.len() == 40, "{own:?}");
        }
    }
    two.end();
}

// covers: OPS-150
#[test]
fn a_key_that_was_sent_to_both_hosts_is_one_message() {
    let two = two();
    for n in 0..10u8 {
        let (first, then) =
            if n % 2 == 0 { (&two.one, &two.other) } else { (&two.other, &two.one) };
        let text = format!("once {n}");
        let sent = logged(first.ask(person(), post(two.room, &text, Some(n))).unwrap());
        let again = then.ask(person(), post(two.room, &text, Some(n))).unwrap();
        assert!(again.duplicate);
        assert_eq!(again.entry.event.uid, sent.event.uid);
        let other = then.ask(person(), post(two.room, "another", Some(n))).unwrap_err();
        assert_eq!(other.code, Code::IdempotencyConflict);
    }
    assert_eq!(texts(&two.one, two.room).len(), 10);
    two.end();
}

// covers: OPS-150
#[test]
fn a_claim_that_both_hosts_are_asked_for_has_one_holder() {
    let two = two();
    for n in 0..10 {
        let event = two.one.say(two.room, &format!("who takes {n}?")).event.uid;
        let barrier = Barrier::new(2);
        let won = std::thread::scope(|scope| {
            let claims = [(&two.one, ADA), (&two.other, BOB)].map(|(ground, agent)| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    ground.ask(by(agent), deliveries::Claim { event })
                })
            });
            claims.map(|claim| claim.join().unwrap())
        });
        assert_eq!(won.iter().filter(|answer| answer.is_ok()).count(), 1, "{won:?}");
    }
    two.end();
}

// covers: OPS-151
#[test]
fn who_there_is_is_known_to_both() {
    let two = two();
    let add = |ground: &Ground, id: &str| {
        let (id, fields) = (id.into(), MemberFields::default());
        ground.ask(By::host(), directory::AddMember { id, kind: MemberKind::Agent, fields })
    };
    for n in 0..6 {
        let (first, then) =
            if n % 2 == 0 { (&two.one, &two.other) } else { (&two.other, &two.one) };
        let new = add(first, &format!("new{n}")).unwrap();
        assert_eq!(new.key, MemberKey(4 + n), "keys are given once");
        assert!(add(then, &format!("new{n}")).is_err(), "the id is taken");
        let known = |effects: &[Effect]| {
            let everybody = effects.iter().rev().find_map(|e| match e {
                Effect::Directory(directory) => Some(directory.clone()),
                _ => None,
            });
            everybody.is_some_and(|d| d.member(new.key).is_some())
        };
        wait("the directory comes by itself", || known(&then.effects.lock().unwrap()));
        let made = then.channel(&format!("of {n}"));
        first.say(made.uid, "conversations too");
    }
    two.end();
}

// covers: OPS-152
#[test]
fn an_agent_at_one_host_is_offered_what_is_posted_at_the_other() {
    let two = two();
    let session = two.other.connect(ADA);
    let asked = two.one.say(two.room, "@ada can you look?");
    wait("it is offered where she is", || !offers(&two.other).is_empty());
    let offer = offers(&two.other).remove(0);
    assert_eq!(
        (offer.entry.event.uid, offer.session, offer.attempt),
        (asked.event.uid, session, 1)
    );
    let at = EventRef { conversation: asked.event.conversation, seq: asked.event.seq };
    let ada = with_session(ADA, session);
    two.other.ask(ada, deliveries::Accept { event: at, attempt: 1, epoch: None }).unwrap();
    // Nothing of this is asked again while she works, whichever host's clock goes on.
    two.one.pass(20_000);
    two.other.pass(20_000);
    two.one.say(two.room, "by the way");
    assert_eq!(offers(&two.other).len(), 1);
    let done = deliveries::Dispose {
        event: asked.event.uid,
        disposition: Disposition::Acknowledged,
        note: None,
    };
    two.other.ask(ada, done).unwrap();
    let settled = |ground: &Ground| {
        let open = ground.readers.standing(at.conversation, at.seq).unwrap().unwrap();
        open.delivery(ADA).unwrap().disposition()
    };
    assert_eq!(settled(&two.one), Some(Disposition::Acknowledged));
    let receipt = |effect: &Effect| matches!(effect, Effect::Receipt { entry_uid, .. } if *entry_uid == asked.event.uid);
    wait("its author's host hears of it", || two.one.effects.lock().unwrap().iter().any(receipt));
    // What is deleted at one host is withdrawn at the other.
    let gone = two.one.say(two.room, "@ada and this?");
    wait("the second one", || offers(&two.other).len() == 2);
    two.one.ask(person(), messages::Delete { message: gone.event.uid }).unwrap();
    let cancelled = |effect: &Effect| matches!(effect, Effect::Cancel { event, .. } if *event == gone.event.uid);
    wait("it is taken back", || two.other.effects.lock().unwrap().iter().any(cancelled));
    two.end();
}

// covers: OPS-152
#[test]
fn the_newest_connection_of_a_session_wins_whichever_host_it_is_to() {
    let two = two();
    let uid = Some(drawn().uid);
    let open = directory::OpenSession {
        uid,
        runtime: "test".into(),
        resumable: true,
        ..Default::default()
    };
    let first = two.one.ask(by(ADA), open.clone()).unwrap();
    let again = two.other.ask(by(ADA), open).unwrap();
    assert_eq!(first.key, again.key);
    let ended = |effect: &Effect| matches!(effect, Effect::Ended { session, taken_over: true } if *session == first.key);
    wait("the older one ends", || two.one.effects.lock().unwrap().iter().any(ended));
    // Its end says nothing of the newer one.
    two.one.ask(by(ADA), directory::CloseSession { session: first.key }).unwrap();
    two.one.say(two.room, "@ada are you there?");
    wait("she is", || !offers(&two.other).is_empty());
    two.end();
}

// covers: OPS-153
#[test]
fn what_a_host_had_in_hand_when_it_ended_goes_on_at_the_other() {
    let two = two();
    let session = two.other.connect(ADA);
    let asked = two.one.say(two.room, "@ada can you look?");
    wait("it is offered", || !offers(&two.other).is_empty());
    let at = EventRef { conversation: asked.event.conversation, seq: asked.event.seq };
    let accept = deliveries::Accept { event: at, attempt: 1, epoch: None };
    two.other.ask(with_session(ADA, session), accept).unwrap();
    let Two { url, one, other, room, _folders } = two;
    // It stands still in the middle of a batch, and its connection goes.
    let stands_still = other.effects.lock().unwrap();
    one.say(room, "anything");
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory'
        AND objid = 2 AND classid::bigint = (hashtext(current_schema()) & 2147483647)";
    assert_eq!(chorus_cluster::sql_at(&url, cut).unwrap().trim(), "1");
    wait("her session is nobody's", || {
        let effects = one.effects.lock().unwrap();
        let everybody = effects.iter().rev().find_map(|e| match e {
            Effect::Directory(directory) => Some(directory.clone()),
            _ => None,
        });
        everybody.is_some_and(|d| d.connected(ADA).is_empty())
    });
    // She comes to the host that is left, and after a minute it is hers anew.
    let again = one.connect(ADA);
    one.pass(limits::SESSION_GONE_MS);
    wait("it is offered there", || offers(&one).iter().any(|o| o.session == again));
    let offer = offers(&one).into_iter().find(|o| o.session == again).unwrap();
    assert!(offer.fence > 1 && offer.entry.event.uid == asked.event.uid);
    one.say(room, "go on");
    // It wakes up, and finds that its session is another's.
    drop(stands_still);
    let ended = |effect: &Effect| matches!(effect, Effect::Ended { session: ended, taken_over: false } if *ended == session);
    wait("her old connection ends", || {
        other.clock.advance(100);
        other.writer.tick();
        other.effects.lock().unwrap().iter().any(ended)
    });
    other.say(room, "and on");
    other.writer.stop();
    one.writer.stop();
    assert_eq!(problems(&url), []);
}

// covers: OPS-154
#[test]
fn a_host_whose_company_left_goes_on_and_lets_the_next_one_in() {
    let two = two();
    let Two { url, one, other, room, _folders } = two;
    one.say(room, "@ada one?");
    other.say(room, "@ada two?");
    other.writer.stop();
    one.say(room, "@ada three?");
    wait("it is alone again", || !one.writer.has_company());
    one.say(room, "@ada four?");
    let third = tempfile::tempdir().unwrap();
    let third = (host(third.path(), &url), third);
    assert_eq!(texts(&third.0, room).len(), 4);
    third.0.say(room, "@ada five?");
    one.say(room, "@ada six?");
    let open = Arc::new(one.readers.pending().unwrap());
    assert_eq!(open.len(), 6, "each is owed once");
    third.0.writer.stop();
    one.writer.stop();
    assert_eq!(problems(&url), []);
}

/// In this build each room that goes on from where it was is held against the same room, loaded.
// covers: OPS-150, OPS-151
#[test]
fn whatever_is_done_at_one_host_the_other_goes_on_from_it() {
    let two = two();
    let quiet = two.other.channel("quiet").uid;
    let grounds = [&two.one, &two.other];
    let sessions = [(0, two.one.connect(ADA), ADA), (1, two.other.connect(BOB), BOB)];
    for n in 0..12 {
        let (here, there) = (grounds[n % 2], grounds[(n + 1) % 2]);
        for (room, text) in [(two.room, "@ada and @bob?"), (quiet, "hello"), (two.room, "so?")] {
            let said = here.say(room, text).event.clone();
            let message = said.uid;
            let (detail, on) = (None, true);
            let react = messages::React { message, signal: Signal::Agree, detail, on };
            there.ask(person(), react).unwrap();
            let at = EventRef { conversation: said.conversation, seq: said.seq };
            for (host, session, agent) in sessions {
                let accept = deliveries::Accept { event: at, attempt: 1, epoch: None };
                let _ = grounds[host].ask(with_session(agent, session), accept);
            }
            let read = conversations::SetCursor { conversation: room, read: said.seq };
            there.ask(by(ADA), read).unwrap();
            match n % 4 {
                0 => drop(there.ask(by(ADA), deliveries::Claim { event: message })),
                1 => drop(there.ask(person(), messages::Delete { message }).unwrap()),
                2 => {
                    let content = Message { text: "@ada only".into(), ..Message::default() };
                    drop(here.ask(person(), messages::Edit { message, content }).unwrap());
                }
                _ => {
                    let disposition = Disposition::Acknowledged;
                    let done = deliveries::Dispose { event: message, disposition, note: None };
                    let _ = grounds[0].ask(with_session(ADA, sessions[0].1), done);
                }
            }
        }
        let participation = [Participation::AlwaysListen, Participation::SelectedOnly][n / 2 % 2];
        let seat = conversations::SetSeat {
            conversation: quiet,
            member: BOB,
            participation,
            terms: Default::default(),
        };
        there.ask(person(), seat).unwrap();
        let leave = conversations::Leave { conversation: two.room, thread: None, member: BOB };
        if n % 5 == 0 {
            here.ask(person(), leave).unwrap();
        }
        here.pass(7_000);
        there.pass(7_000);
    }
    two.end();
}

// covers: OPS-151
#[test]
fn what_is_erased_at_one_host_is_shown_by_the_other_to_nobody_who_waits_for_it() {
    let two = two();
    let said = two.one.say(two.room, "@ada it is hunter2").event.clone();
    two.other.say(two.room, "so it is there too");
    let erase = messages::Erase { message: said.uid, reason: Reason::Secret };
    two.one.ask(person(), erase).unwrap();
    let at = EventRef { conversation: said.conversation, seq: said.seq };
    let heard = |effect: &Effect| matches!(effect, Effect::Erased(events) if events.contains(&at));
    wait("it hears of it", || two.other.effects.lock().unwrap().iter().any(heard));
    two.end();
}

// covers: OPS-155
#[test]
fn a_host_that_needs_a_newer_schema_says_so_and_disturbs_nobody() {
    let two = two();
    // As if the hosts that are there were of a program that knows one step less.
    let applied = "DELETE FROM migration RETURNING number";
    chorus_cluster::sql_at(&two.url, "CREATE TABLE later AS SELECT * FROM migration").unwrap();
    let version = chorus_cluster::sql_at(&two.url, applied).unwrap().lines().count();
    let folder = tempfile::tempdir().unwrap();
    let Err(why) = chorus_store::open(options(folder.path(), &two.url)) else { panic!("it began") };
    let words = format!(
        "running hosts keep the database at version 0 and this program needs {version}: stop them all"
    );
    assert!(why.to_string().contains(&words), "{why}");
    for ground in [&two.one, &two.other] {
        ground.say(two.room, "we go on");
    }
    // It made no table, and counted itself among nobody.
    let seen = "SELECT count(*) FROM migration UNION ALL SELECT number FROM host";
    assert_eq!(
        chorus_cluster::sql_at(&two.url, seen).unwrap().split_whitespace().collect::<Vec<_>>(),
        ["0", "2"]
    );
    chorus_cluster::sql_at(&two.url, "INSERT INTO migration SELECT * FROM later").unwrap();
    drop(chorus_store::open(options(folder.path(), &two.url)).unwrap());
    two.end();
}
