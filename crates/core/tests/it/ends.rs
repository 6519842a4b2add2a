//! Sections 9, 12 and 15: what ends an obligation, and what does not.

use chorus_core::commands::{conversations, deliveries};
use chorus_core::model::attention::Directedness;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::{ConversationKind, Settings, Visibility};
use chorus_core::model::delivery::State;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::MessageKind;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::member::MemberKind;
use chorus_core::model::reaction::Signal;
use chorus_core::queries;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, at, code};

const DEADLINE: i64 = limits::DEADLINE_MS as i64;
const RESPONDED: Option<Disposition> = Some(Disposition::Responded);

fn holder(house: &House, event: Uid) -> Vec<MemberKey> {
    let open = house.open(event).expect("listed");
    open.deliveries.iter().filter(|d| d.is_obligation() && d.is_open()).map(|d| d.member).collect()
}

fn is_dead(house: &House, event: Uid, member: MemberKey) -> bool {
    matches!(house.delivery(event, member).expect("listed").state, State::Dead { .. })
}

fn resolve(house: &mut House, event: Uid) -> Result<Disposition, Refusal> {
    let resolve = deliveries::Resolve { event, note: None };
    house.run(house.by(SCOUT), resolve).map(|disposed| disposed.disposition)
}

fn defer(house: &mut House, event: Uid, ms: i64) -> Result<Disposition, Refusal> {
    let until = Some(house.now.plus(ms));
    let reason = Some("after the deploy".into());
    let defer = deliveries::Defer { event, until, reason };
    house.run(house.by(SCOUT), defer).map(|disposed| disposed.disposition)
}

/// A question of alice's in her direct conversation with scout, which nobody is left to answer.
fn dead(house: &mut House) -> (Uid, chorus_core::model::offer::Offer) {
    let pair = house.pair;
    let event = house.post(ALICE, Say::to(pair, "can you look at the build?")).expect("may speak");
    let offer = house.take(SCOUT);
    house.pass(DEADLINE + 1_000);
    house.offers(SCOUT);
    assert!(is_dead(house, event, SCOUT));
    (event, offer)
}

fn overdue(house: &mut House) -> Vec<Uid> {
    let command = queries::Overdue { member: None, limit: 100 };
    let open = house.run(house.by(ALICE), command).expect("an operator");
    open.iter().map(|(_, open)| open.uid).collect()
}

// covers: ATT-390
#[test]
fn an_unasked_note_is_no_answer() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    house.take(SCOUT);
    let ops = house.ops;
    let notes = [
        Say::to(ops, "the disk is at 80 percent").meant(Directedness::Ambient),
        Say::to(ops, "the disk is at 80 percent").meant(Directedness::ToOther),
        Say::to(ops, "@bob the disk is at 80 percent"),
        Say::to(ops, "@reviewer can you look at the disk?"),
    ];
    for note in notes {
        let said = house.post(SCOUT, note).expect("it may speak");
        assert_eq!(house.disposition(event, SCOUT), None, "{:?}", house.event(said).change);
        assert_eq!(house.event(said).cause, Some(at(house.event(event))), "its chain all the same");
    }
    assert_eq!(holder(&house, event), [SCOUT]);
    // What names nobody, or whoever asked too, is taken as the answer.
    for answer in ["it is green", "@alice it is green", "@bob @alice it is green"] {
        let event = house.says(ALICE, "@scout can you look at the build again?");
        house.take(SCOUT);
        house.post(SCOUT, Say::to(ops, answer)).expect("it may speak");
        assert_eq!(house.disposition(event, SCOUT), RESPONDED, "{answer}");
    }
    // A name without a seat addresses nobody.
    house.add_member("guest", MemberKind::Human);
    let event = house.says(ALICE, "@scout who broke it?");
    house.take(SCOUT);
    house.post(SCOUT, Say::to(ops, "@guest did")).expect("it may speak");
    assert_eq!(house.disposition(event, SCOUT), RESPONDED);
}

// covers: ATT-390
#[test]
fn what_a_turn_says_to_others_leaves_its_question_open() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    let turn = house.in_turn(&offer);
    let ops = house.ops;
    let word = house.says(BOB, "the disk is full");
    house.post_as(turn, Say::to(ops, "I see it").answering(word)).expect("its turn");
    house.post_as(turn, Say::to(ops, "@bob can you clean it?")).expect("its turn");
    assert_eq!(house.disposition(event, SCOUT), None);
    house.post_as(turn, Say::to(ops, "it is green")).expect("its turn");
    assert_eq!(house.disposition(event, SCOUT), RESPONDED);

    house.offers(SCOUT);

    // The reply to another question that it was asked is the answer to that one, whoever asked.
    for asker in [BOB, ALICE] {
        let first = house.says(ALICE, "@scout can you look at the build?");
        let offer = house.take(SCOUT);
        let other = house.says(asker, "@scout can you look at the disk?");
        house.take(SCOUT);
        let turn = house.in_turn(&offer);
        house.post_as(turn, Say::to(ops, "it is full").answering(other)).expect("its turn");
        assert_eq!(house.disposition(first, SCOUT), None, "{asker:?}");
        assert_eq!(house.disposition(other, SCOUT), RESPONDED, "{asker:?}");
        house.post_as(turn, Say::to(ops, "it is green")).expect("its turn");
        assert_eq!(house.disposition(first, SCOUT), RESPONDED, "{asker:?}");
        house.offers(SCOUT);
    }
}

// covers: ATT-391
#[test]
fn a_reply_in_another_conversation_is_posted_and_is_no_answer() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    let pair = house.pair;
    house.post(SCOUT, Say::to(pair, "it is green").answering(event)).ok();
    assert_eq!(house.disposition(event, SCOUT), None, "bob does not see it");
    house.pass(DEADLINE + 1_000);
    assert_eq!(holder(&house, event), [ALICE]);
    house.post(ALICE, Say::to(pair, "I look at it").answering(event)).expect("people may speak");
    assert_eq!(holder(&house, event), [ALICE]);
    house.reply(&offer, "it is green").expect("it may still answer");
    assert_eq!(house.disposition(event, SCOUT), RESPONDED);
    assert_eq!(holder(&house, event), []);
}

// covers: ATT-392
#[test]
fn what_was_put_off_can_be_given_up() {
    use Disposition::{Acknowledged, Failed, Ignored, Superseded};
    for how in [Ignored, Failed, Superseded, Acknowledged] {
        let mut house = House::new();
        let event = house.says(BOB, "@scout can you look at the build?");
        house.take(SCOUT);
        assert_eq!(defer(&mut house, event, 3_600_000), Ok(Disposition::Deferred));
        let note = Some("no access".into());
        let command = deliveries::Dispose { event, disposition: how, note };
        house.run(house.by(SCOUT), command).expect("its own");
        assert_eq!(house.disposition(event, SCOUT), Some(how));
        let mine = house.delivery(event, SCOUT).expect("its own");
        assert_eq!(mine.note.as_deref(), Some("no access"));
        let next: &[MemberKey] = if how == Acknowledged { &[] } else { &[ALICE] };
        assert_eq!(holder(&house, event), next, "{how:?}");
    }
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    defer(&mut house, event, 3_600_000).expect("its own");
    let cancel = deliveries::CancelDelivery { event, attempt: Some(1) };
    house.run(house.by(SCOUT), cancel).expect("its own");
    assert_eq!(holder(&house, event), [ALICE]);
}

// covers: ATT-392
#[test]
fn a_second_time_takes_the_place_of_the_first() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    defer(&mut house, event, 3_600_000).expect("its own");
    defer(&mut house, event, 60_000).expect("its own");
    house.pass(61_000);
    house.take(SCOUT);
    assert_eq!(holder(&house, event), [SCOUT]);
    defer(&mut house, event, 60_000).expect("the third");
    assert_eq!(code(defer(&mut house, event, 120_000)), Code::Conflict, "the fourth");
    let until = house.delivery(event, SCOUT).expect("its own").clock.until;
    assert_eq!(until, Some(house.now.plus(60_000)));
}

// covers: ATT-393
#[test]
fn a_cancellation_of_an_older_attempt_is_ignored() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let first = house.take(SCOUT);
    defer(&mut house, event, 60_000).expect("its own");
    house.pass(61_000);
    let second = house.take(SCOUT);
    assert!(second.fence > first.fence && second.attempt > first.attempt);
    let cancel = |attempt| deliveries::CancelDelivery { event, attempt: Some(attempt) };
    house.run(house.by(SCOUT), cancel(first.attempt)).expect("ignored");
    house.run(house.by(SCOUT), cancel(second.attempt + 1)).expect("never made");
    assert_eq!(house.disposition(event, SCOUT), None);
    house.run(house.by(SCOUT), cancel(second.attempt)).expect("its own");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Failed));
}

// covers: ATT-394
#[test]
fn a_late_answer_ends_a_dead_letter() {
    type How<'a> = &'a dyn Fn(&mut House, Uid, &chorus_core::model::offer::Offer);
    let reply: How<'_> = &|house, _, offer| {
        house.reply(offer, "it is green").expect("late");
    };
    let word: How<'_> = &|house, event, _| {
        let ended = house.dispose(SCOUT, event, Disposition::Responded);
        assert_eq!(ended, Ok(Disposition::Responded));
    };
    let tool: How<'_> = &|house, event, _| {
        assert_eq!(resolve(house, event), Ok(Disposition::Responded));
    };
    let signal: How<'_> = &|house, event, _| {
        assert_eq!(house.react(SCOUT, event, Signal::Done), Ok(RESPONDED));
    };
    for (n, answer) in [reply, word, tool, signal].into_iter().enumerate() {
        for again in [false, true] {
            let mut house = House::new();
            let (event, offer) = dead(&mut house);
            if again {
                house.restart();
                house.connect(SCOUT);
            }
            answer(&mut house, event, &offer);
            assert_eq!(house.disposition(event, SCOUT), RESPONDED, "{n}");
            assert_eq!(overdue(&mut house), []);
        }
    }
    // Anything else that its holder says leaves it listed.
    let mut house = House::new();
    let (event, _) = dead(&mut house);
    assert_eq!(house.dispose(SCOUT, event, Disposition::Ignored), Ok(Disposition::Failed));
    assert!(is_dead(&house, event, SCOUT));
    // Whoever asked says that it is done; its further words are no answer.
    house.post(ALICE, Say::to(house.pair, "and?").answering(event)).expect("people may speak");
    assert!(is_dead(&house, event, SCOUT));
    house.react(ALICE, event, Signal::Done).expect("her own");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Superseded));
}

// covers: ATT-394
#[test]
fn somebody_elses_answer_ends_a_dead_letter() {
    let mut house = House::new();
    let room = house.conversation("three", ConversationKind::Channel, vec![SCOUT, REVIEWER]);
    let event = house.post(ALICE, Say::to(room, "@scout can you look at it?")).expect("may speak");
    house.take(SCOUT);
    house.pass(DEADLINE + 1_000);
    assert!(is_dead(&house, event, SCOUT));
    let seat = Default::default();
    house.seat(room, BOB, seat);
    house.post(BOB, Say::to(room, "it is green").answering(event)).expect("people may speak");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Superseded));
    assert_eq!(overdue(&mut house), []);
}

// covers: ATT-395
#[test]
fn whoever_asked_sends_a_dead_letter_again() {
    let mut house = House::new();
    let (event, _) = dead(&mut house);
    let again = deliveries::Redeliver { event, member: SCOUT };
    let worker = |house: &House, member| By { authority: Authority::Worker, ..house.by(member) };
    let stranger = worker(&house, BOB);
    assert!(house.run(stranger, again.clone()).is_err());
    let own = worker(&house, ALICE);
    house.run(own, again).expect("she asked");
    let offer = house.take(SCOUT);
    house.reply(&offer, "it is green").expect("it is offered");
    assert_eq!(house.disposition(event, SCOUT), RESPONDED);
}

// covers: ATT-396
#[test]
fn who_says_that_it_is_done_ends_what_had_moved_on() {
    for how in ["resolve", "disposition", "reaction"] {
        let mut house = House::new();
        let event = house.says(BOB, "@scout can you look at the build?");
        house.take(SCOUT);
        house.pass(DEADLINE + 1_000);
        assert_eq!(holder(&house, event), [ALICE]);
        let ended = match how {
            "resolve" => resolve(&mut house, event),
            "disposition" => house.dispose(SCOUT, event, Disposition::Responded),
            _ => house.react(SCOUT, event, Signal::Done).map(|ended| ended.expect("settled")),
        };
        assert_eq!(ended, Ok(Disposition::Responded), "{how}");
        assert_eq!(house.disposition(event, ALICE), Some(Disposition::Superseded), "{how}");
        assert_eq!(overdue(&mut house), []);
    }
}

// covers: ATT-397
#[test]
fn a_signal_on_any_version_is_about_the_newest() {
    let ends = [
        (Signal::Done, RESPONDED),
        (Signal::Declined, Some(Disposition::Ignored)),
        (Signal::Queued, Some(Disposition::Deferred)),
    ];
    for (signal, ended) in ends {
        let mut house = House::new();
        let first = house.says(BOB, "@scout can you look at the build?");
        house.offers(SCOUT);
        let newest = house.edit(BOB, first, "@scout can you look at the new build?").expect("his");
        house.take(SCOUT);
        assert_eq!(house.react(SCOUT, first, signal), Ok(ended));
        assert_eq!(house.disposition(newest, SCOUT), ended, "{signal:?}");
        let next: &[MemberKey] = match signal {
            Signal::Done => &[],
            Signal::Declined => &[ALICE],
            _ => &[SCOUT],
        };
        assert_eq!(holder(&house, newest), next, "{signal:?}");
    }
    let mut house = House::new();
    let first = house.says(BOB, "@scout can you look at the build?");
    house.offers(SCOUT);
    let newest = house.edit(BOB, first, "@scout can you look at the new build?").expect("his");
    house.take(SCOUT);
    assert_eq!(resolve(&mut house, first), Ok(Disposition::Responded));
    assert_eq!(house.disposition(newest, SCOUT), RESPONDED);
    // A run of the old version that ends says nothing about the new one.
    let first = house.says(BOB, "@scout can you look at the disk?");
    house.offers(SCOUT);
    let newest = house.edit(BOB, first, "@scout can you look at the new disk?").expect("his");
    house.take(SCOUT);
    let ended = house.dispose(SCOUT, first, Disposition::Ignored);
    assert_eq!(ended, Ok(Disposition::Superseded));
    assert_eq!(holder(&house, newest), [SCOUT]);
}

// covers: CHN-322
#[test]
fn what_an_agent_owes_that_is_taken_out_of_a_channel_moves_on() {
    for connected in [true, false] {
        let mut house = if connected { House::new() } else { House::asleep() };
        let event = house.says(BOB, "@scout can you look at the build?");
        if connected {
            house.take(SCOUT);
        }
        let seat = conversations::RemoveSeat { conversation: house.ops, member: SCOUT };
        house.run(house.by(ALICE), seat).expect("an operator");
        assert_eq!(holder(&house, event), [ALICE], "the lead is asked");
        assert_eq!(house.cancelled.len(), usize::from(connected));
    }
}

// covers: ATT-141, ATT-398
#[test]
fn nobody_without_a_seat_has_to_answer() {
    let mut house = House::new();
    let settings = Settings {
        title: "open".into(),
        description: "".into(),
        purpose: "".into(),
        visibility: Visibility::Public,
        ..Settings::default()
    };
    let kind = ConversationKind::Channel;
    let command = conversations::CreateConversation { kind, settings, members: vec![SCOUT] };
    let room = house.run(house.by(BOB), command).expect("made").uid;
    let event = house.post(BOB, Say::to(room, "@scout can you look at it?")).expect("may speak");
    house.take(SCOUT);
    house.pass(DEADLINE + 1_000);
    assert!(house.delivery(event, ALICE).is_none(), "the lead could not answer there");
    assert!(is_dead(&house, event, SCOUT));
    let asked = house.event(event).seq;
    let reported = |e: &&std::sync::Arc<chorus_core::model::event::Event>| {
        let message = e.change.message();
        message.is_some_and(|m| m.kind == MessageKind::System) && e.reply_to == Some(asked)
    };
    assert_eq!(house.log.events.values().filter(reported).count(), 1);
}
