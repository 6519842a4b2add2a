//! `spec/channels.md`, "Turns always pass": whatever ends a run lets the next speak in the same command, people never
//! hold a turn, and what is known of turns outlives the host.

use chorus_core::commands::{conversations, deliveries, directory};
use chorus_core::model::attention::Policy;
use chorus_core::model::conversation::{Participation, Replies, TermsPatch};
use chorus_core::model::delivery::State;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::event::MessageKind;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::offer::Offer;
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::SettingsPatch;

use crate::house::{AGENTS, ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, code};

const ALL: &str = "@scout @reviewer @writer can you look at the deploy?";

/// A house whose channel has subjects.
fn house() -> House {
    let mut house = House::new();
    let replies = Some(Replies::Thread);
    change(&mut house, SettingsPatch { replies, ..SettingsPatch::default() });
    house
}

fn change(house: &mut House, settings: SettingsPatch) {
    let conversation = house.ops;
    let change = conversations::ChangeConversation { conversation, settings };
    house.run(house.by(ALICE), change).expect("an operator");
}

fn holders(house: &House, root: Uid) -> Vec<MemberKey> {
    let event = house.event(root);
    let room = house.ws.room(event.conversation).expect("a room");
    let turn = room.turns().get(event.seq);
    turn.map(|t| t.leases.iter().map(|l| l.member).collect()).unwrap_or_default()
}

fn thread_of(house: &House, event: Uid) -> Uid {
    let event = house.event(event);
    let room = house.ws.room(event.conversation).expect("a room");
    room.threads()[&event.thread.expect("in a thread")].uid
}

fn end(house: &mut House, offer: &Offer, how: Disposition) {
    let event = offer.entry.event.uid;
    let dispose = deliveries::Dispose { event, disposition: how, note: None };
    house.run(house.in_turn(offer), dispose).expect("it is its own");
}

// covers: CHN-320
#[test]
fn whatever_ends_a_run_lets_the_next_speak_in_the_same_command() {
    type Ending = fn(&mut House, &Offer);
    let endings: [(&str, Ending); 13] = [
        ("acknowledged", |h, o| end(h, o, Disposition::Acknowledged)),
        ("ignored", |h, o| end(h, o, Disposition::Ignored)),
        ("failed", |h, o| end(h, o, Disposition::Failed)),
        ("superseded", |h, o| end(h, o, Disposition::Superseded)),
        ("responded", |h, o| end(h, o, Disposition::Responded)),
        ("deferred", |h, o| end(h, o, Disposition::Deferred)),
        ("a nod, then silence", |h, o| {
            let about = o.entry.event.uid;
            assert_eq!(h.react(o.member, about, Signal::Unclear), Ok(None));
            end(h, o, Disposition::Failed);
        }),
        ("a reaction that settles", |h, o| {
            h.react(o.member, o.entry.event.uid, Signal::Declined).expect("its own");
        }),
        ("put off", |h, o| {
            let (event, until) = (o.entry.event.uid, h.now.plus(3_600_000));
            h.run(h.in_turn(o), deliveries::Defer { event, until: Some(until), reason: None })
                .expect("its own");
        }),
        ("an answer", |h, o| {
            h.reply(o, "it is fine").expect("its turn");
        }),
        ("it has no seat any more", |h, o| {
            let (conversation, member) = (h.ops, o.member);
            h.run(h.by(ALICE), conversations::RemoveSeat { conversation, member })
                .expect("an operator");
        }),
        ("it is asked to leave", |h, o| {
            let (conversation, member) = (h.ops, o.member);
            let leave = conversations::Leave { conversation, thread: None, member };
            h.run(h.by(ALICE), leave).expect("an operator");
        }),
        ("it is removed", |h, o| {
            let member = o.member;
            h.run(h.by(ALICE), directory::RemoveMember { member }).expect("an operator");
        }),
    ];
    for (why, ending) in endings {
        let mut house = house();
        let root = house.says(ALICE, ALL);
        let first = house.take(SCOUT);
        ending(&mut house, &first);
        assert_eq!(holders(&house, root), [REVIEWER], "{why}");
        assert_eq!(house.offers(REVIEWER).len(), 1, "{why}: it is offered in the same command");
    }
}

// covers: CHN-320, CHN-26
#[test]
fn one_nods_one_says_nothing_and_the_third_answers_over_two_crashes() {
    let mut house = house();
    let root = house.says(ALICE, ALL);
    let crash = |house: &mut House| {
        house.restart();
        for agent in AGENTS {
            house.connect(agent);
        }
    };
    let first = house.take(SCOUT);
    house.react(SCOUT, root, Signal::Agree).expect("its turn");
    end(&mut house, &first, Disposition::Failed);
    assert_eq!(house.disposition(root, SCOUT), Some(Disposition::Acknowledged));
    crash(&mut house);
    assert_eq!(holders(&house, root), [REVIEWER]);
    let second = house.take(REVIEWER);
    end(&mut house, &second, Disposition::Failed);
    crash(&mut house);
    assert_eq!(holders(&house, root), [WRITER]);
    let third = house.take(WRITER);
    house.reply(&third, "the deploy is green").expect("its turn");
    assert!(holders(&house, root).is_empty());
}

// covers: CHN-321
#[test]
fn a_person_neither_holds_a_turn_nor_waits_for_one() {
    let mut house = house();
    let root = house.says(ALICE, ALL);
    let first = house.take(SCOUT);
    end(&mut house, &first, Disposition::Failed);
    let open = house.open(root).expect("an event").clone();
    let people: Vec<_> = open.deliveries.iter().filter(|d| !AGENTS.contains(&d.member)).collect();
    assert_eq!(people.len(), 1, "the answer is owed by a person now");
    assert!(!people[0].stands_still(), "who does not wait");
    for agent in [REVIEWER, WRITER] {
        let offer = house.take(agent);
        house.reply(&offer, "it is fine").expect("its turn");
    }
    assert!(holders(&house, root).is_empty(), "nobody is left to speak");

    // Nor does who takes the right to decide.
    let root = house.says(ALICE, "@helpers who can look at the flaky test?");
    house.claim(BOB, root).expect("a person may");
    assert!(holders(&house, root).is_empty());
}

// covers: CHN-322
#[test]
fn the_run_of_who_has_no_seat_any_more_is_cancelled() {
    let mut house = house();
    let root = house.says(ALICE, ALL);
    let first = house.take(SCOUT);
    let (conversation, member) = (house.ops, SCOUT);
    house
        .run(house.by(ALICE), conversations::RemoveSeat { conversation, member })
        .expect("an operator");
    let told = house.cancelled.iter().any(|c| c.event == root && c.member == SCOUT);
    assert!(told, "{:?}", house.cancelled);
    let (participation, terms) = (Participation::default(), TermsPatch::default());
    let seat = conversations::SetSeat { conversation, member, participation, terms };
    house.run(house.by(ALICE), seat).expect("an operator");
    assert_eq!(code(house.reply(&first, "still here")), Code::StaleTurn);
}

// covers: CHN-322
#[test]
fn runs_in_a_channel_that_is_archived_are_cancelled_and_begin_anew_when_it_is_not() {
    let mut house = house();
    let root = house.says(ALICE, ALL);
    let first = house.take(SCOUT);
    change(&mut house, SettingsPatch { archived: Some(true), ..SettingsPatch::default() });
    assert_eq!(house.cancelled.len(), 1, "{:?}", house.cancelled);
    assert!(holders(&house, root).is_empty(), "nobody speaks there");
    house.pass(6 * i64::from(limits::DEADLINE_MS));
    assert!(AGENTS.iter().all(|agent| house.offers(*agent).is_empty()));

    change(&mut house, SettingsPatch { archived: Some(false), ..SettingsPatch::default() });
    assert_eq!(holders(&house, root).len(), 1);
    assert_eq!(code(house.reply(&first, "still here")), Code::StaleTurn);
    let again = house.take(holders(&house, root)[0]);
    house.reply(&again, "it is fine").expect("its turn");
}

// covers: CHN-323
#[test]
fn who_has_just_spoken_rests_over_a_restart_too() {
    let mut house = house();
    house.says(ALICE, "@scout can you look at the deploy?");
    let offer = house.take(SCOUT);
    let answer = house.reply(&offer, "it is fine").expect("its turn");
    let thread = thread_of(&house, answer);
    let more = Say::to(house.ops, "one more thing").in_thread(thread);
    house.restart();
    house.connect(SCOUT);
    assert_eq!(code(house.post(SCOUT, more.clone())), Code::RateLimited);
    assert_eq!(house.log.turns.len(), 1, "what is known of the turns is kept");
    house.pass(limits::TURN_COOLDOWN_MS);
    assert!(house.log.turns.is_empty(), "and let go once nobody rests");
    house.post(SCOUT, more).expect("it has rested");
}

/// A message of kind `event`.
fn event(say: Say) -> Say {
    let mut say = say;
    say.0.message.kind = MessageKind::Event;
    say.0.message.metadata = Some(r#"{"event_type":"handoff"}"#.into());
    say
}

// covers: CHN-324
#[test]
fn an_event_that_obliges_somebody_counts_like_chat() {
    let mut house = house();
    let root = house.says(ALICE, "@scout @writer can you look at the deploy?");
    let offer = house.take(SCOUT);
    let asks = |house: &House| Say::to(house.ops, "@reviewer can you check it?").answering(root);
    let early = house.post(WRITER, event(asks(&house)));
    assert_eq!(code(early), Code::TurnHeldByOther);
    let turn = house.in_turn(&offer);
    house.post_as(turn, event(asks(&house))).expect("its turn");
    let spent = |house: &House| {
        let at = house.event(root);
        let room = house.ws.room(at.conversation).expect("a room");
        let thread = room.thread_of_root(at.seq).expect("the canonical thread");
        (room.turn(at.seq).spent, room.threads()[&thread].unattended)
    };
    assert_eq!(spent(&house), (1, 1));

    // Status is free, whoever has the turn.
    let thread = {
        let at = house.event(root);
        let room = house.ws.room(at.conversation).expect("a room");
        room.threads()[&room.thread_of_root(at.seq).expect("a thread")].uid
    };
    for n in 0..20 {
        let status = Say::to(house.ops, &format!("deployed {n}/20")).in_thread(thread);
        house.post(WRITER, event(status)).expect("status needs no turn");
    }
    assert_eq!(spent(&house), (1, 1));
}

// covers: CHN-324
#[test]
fn agents_do_not_talk_for_ever_in_events() {
    let mut house = House::new();
    let opening = chorus_core::model::requests::OpenThread {
        home: house.ops.into(),
        root: None,
        title: "incident".into(),
        kind: chorus_core::model::thread::ThreadKind::Incident,
        owner: None,
        participants: vec![SCOUT, REVIEWER],
        idempotency: None,
    };
    let thread = house.run(house.by(ALICE), opening).expect("an operator").thread;
    let mut obliged = 0;
    for n in 0..120 {
        let (author, other) = if n % 2 == 0 { (SCOUT, "@reviewer") } else { (REVIEWER, "@scout") };
        let text = format!("{other} can you check number {n}?");
        let say = event(Say::to(house.ops, &text).in_thread(thread.uid));
        if let Ok(said) = house.post(author, say) {
            let told = &house.attention(said).told;
            obliged += usize::from(told.iter().any(|t| t.decision.policy == Policy::MustRespond));
        }
        AGENTS.into_iter().for_each(|agent| drop(house.offers(agent)));
    }
    assert!(obliged <= usize::from(limits::HOP_NO_OBLIGATION), "{obliged} of 120 obliged somebody");
}

// covers: CHN-320
#[test]
fn who_waits_is_offered_when_the_holder_is_gone_for_good() {
    let mut house = house();
    let root = house.says(ALICE, ALL);
    house.take(SCOUT);
    house.disconnect(SCOUT);
    house.pass(limits::SESSION_GONE_MS + limits::TURN_ACCEPTANCE_MS + 2_000);
    assert_eq!(holders(&house, root), [REVIEWER]);
    house.take(REVIEWER);
    let scout = house.delivery(root, SCOUT).expect("its own");
    assert!(scout.stands_still() && scout.state == State::Waiting, "{scout:?}");
}

// covers: CHN-22, CHN-320
#[test]
fn who_comes_back_does_not_wait_for_a_holder_that_is_not_there() {
    let mut house = house();
    [SCOUT, REVIEWER].into_iter().for_each(|agent| house.disconnect(agent));
    let root = house.says(ALICE, "@scout @reviewer can you look at the deploy?");
    assert_eq!(holders(&house, root), [SCOUT]);
    // Nobody is there: each was asked in vain, and one of them has it again.
    house.pass(3 * limits::TURN_ACCEPTANCE_MS);
    let holder = holders(&house, root)[0];
    let other = if holder == SCOUT { REVIEWER } else { SCOUT };
    house.connect(other);
    assert_eq!(holders(&house, root), [other]);
    let offer = house.offers(other).pop().expect("its turn came");
    house.accept(&offer).expect("it is offered");
    house.reply(&offer, "it is fine").expect("its turn");
}

// covers: CHN-321
#[test]
fn a_turn_that_an_older_host_gave_a_person_is_free() {
    let mut house = house();
    let root = house.says(ALICE, "@scout can you look at the deploy?");
    for turn in house.log.turns.values_mut() {
        turn.leases.iter_mut().for_each(|lease| lease.member = BOB);
    }
    house.restart();
    assert_eq!(holders(&house, root), [BOB]);
    house.pass(1_000);
    assert_eq!(holders(&house, root), [SCOUT]);
}
