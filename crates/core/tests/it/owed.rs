//! Section 15, the rest of it: the channel's lead, what is put off and comes back, whom it concerns, and clocks
//! that stand still.

use std::sync::Arc;

use chorus_core::commands::conversations;
use chorus_core::commands::deliveries::{self, Disposed};
use chorus_core::model::attention::{Policy, Rule};
use chorus_core::model::conversation::{Conversation, ConversationKind, Participation};
use chorus_core::model::delivery::State;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::member::MemberKind;
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::SettingsPatch;
use chorus_core::queries;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, code};

const DEADLINE: i64 = limits::DEADLINE_MS as i64;
const HOUR: i64 = 3_600_000;

fn set_lead(house: &mut House, lead: Option<MemberKey>) -> Result<Arc<Conversation>, Refusal> {
    let settings = SettingsPatch { lead: Some(lead), ..SettingsPatch::default() };
    let change = conversations::ChangeConversation { conversation: house.ops, settings };
    house.run(house.by(ALICE), change)
}

fn archive(house: &mut House, archived: bool) {
    let settings = SettingsPatch { archived: Some(archived), ..SettingsPatch::default() };
    let change = conversations::ChangeConversation { conversation: house.ops, settings };
    house.run(house.by(ALICE), change).expect("an operator");
}

fn defer(house: &mut House, member: MemberKey, event: Uid, ms: i64) -> Result<Disposed, Refusal> {
    let until = house.now.plus(ms);
    house.run(house.by(member), deliveries::Defer { event, until: Some(until), reason: None })
}

fn overdue(
    house: &mut House,
    by: MemberKey,
    member: Option<MemberKey>,
) -> Result<Vec<Uid>, Refusal> {
    let found = house.run(house.by(by), queries::Overdue { member, limit: 100 })?;
    Ok(found.into_iter().map(|(_, open)| open.uid).collect())
}

fn holder(house: &House, event: Uid) -> Vec<MemberKey> {
    let open = house.open(event).expect("listed");
    open.deliveries.iter().filter(|d| d.is_obligation() && d.is_open()).map(|d| d.member).collect()
}

// covers: ATT-140
#[test]
fn it_moves_to_the_channels_lead_before_the_workspaces() {
    let mut house = House::new();
    set_lead(&mut house, Some(WRITER)).expect("a member of the channel");
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    house.pass(DEADLINE + 1_000);
    assert_eq!(holder(&house, event), [WRITER]);
    let offer = house.take(WRITER);
    assert_eq!((offer.decision.rule, offer.fence), (Rule::Escalated, 2));
    // An agent that is the lead has a deadline too; after it the workspace's lead has it, and keeps it.
    house.pass(DEADLINE * 3);
    assert_eq!(holder(&house, event), [ALICE]);
    house.restart();
    house.pass(HOUR);
    assert_eq!(holder(&house, event), [ALICE]);
}

// covers: ATT-140
#[test]
fn a_lead_sits_in_the_channel_and_can_be_taken_away() {
    let mut house = House::new();
    let guest = house.add_member("guest", MemberKind::Human);
    assert_eq!(code(set_lead(&mut house, Some(guest))), Code::ValidationError);
    assert_eq!(code(set_lead(&mut house, Some(MemberKey(99)))), Code::NotFound);
    set_lead(&mut house, Some(BOB)).expect("a member of the channel");
    set_lead(&mut house, None).expect("none is fine");
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    house.pass(DEADLINE + 1_000);
    assert_eq!(holder(&house, event), [ALICE]);
}

// covers: ATT-141
#[test]
fn it_moves_only_to_somebody_with_a_seat() {
    let mut house = House::new();
    let two = house.conversation("two", ConversationKind::Dm, vec![BOB, SCOUT]);
    house
        .run(house.by(ALICE), conversations::RemoveSeat { conversation: two, member: ALICE })
        .expect("her own seat");
    let event = house.post(BOB, Say::to(two, "can you look at the build?")).expect("may speak");
    house.take(SCOUT);
    house.pass(DEADLINE + 1_000);
    assert!(house.delivery(event, ALICE).is_none(), "the lead has no seat there");
    let dead = house.delivery(event, SCOUT).expect("listed").state;
    assert!(matches!(dead, State::Dead { .. }), "{dead:?}");
}

// covers: ATT-141
#[test]
fn when_the_lead_asks_another_person_has_it_in_the_end() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    house.take(SCOUT);
    house.pass(DEADLINE + 1_000);
    assert_eq!(holder(&house, event), [BOB]);
}

// covers: ATT-142
#[test]
fn a_late_answer_ends_what_had_moved_on() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    house.pass(DEADLINE + 1_000);
    assert_eq!(holder(&house, event), [ALICE]);
    house.reply(&offer, "it is fixed").expect("it still may answer");
    assert_eq!(house.disposition(event, ALICE), Some(Disposition::Superseded));
    assert_eq!(overdue(&mut house, ALICE, None), Ok(vec![]));
}

// covers: ATT-143
#[test]
fn what_is_overdue_is_listed_for_everybody_concerned_and_for_nobody_else() {
    let mut house = House::new();
    set_lead(&mut house, Some(REVIEWER)).expect("a member of the channel");
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    house.pass(DEADLINE - 2_000);
    assert_eq!(overdue(&mut house, ALICE, None), Ok(vec![]), "not yet");
    house.pass(3_000);
    for concerned in [ALICE, BOB, SCOUT, REVIEWER] {
        let mine = overdue(&mut house, concerned, Some(concerned));
        assert_eq!(mine, Ok(vec![event]), "{concerned}");
    }
    assert_eq!(overdue(&mut house, WRITER, Some(WRITER)), Ok(vec![]));
    assert_eq!(overdue(&mut house, ALICE, None), Ok(vec![event]));
    let foreign = overdue(&mut house, SCOUT, None);
    assert_eq!(code(foreign), Code::InsufficientAuthority);
    house.restart();
    assert_eq!(overdue(&mut house, ALICE, None), Ok(vec![event]), "after a restart too");
    house.post(REVIEWER, Say::to(house.ops, "done").answering(event)).expect("it has it");
    assert_eq!(overdue(&mut house, ALICE, None), Ok(vec![]), "answered");
}

// covers: ATT-144, ATT-145
#[test]
fn what_is_put_off_comes_back_with_its_obligation() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    let by = house.in_turn(&offer);
    let until = house.now.plus(HOUR);
    let deferred = house.run(by, deliveries::Defer { event, until: Some(until), reason: None });
    assert!(matches!(deferred, Ok(Disposed { disposition: Disposition::Deferred, .. })));
    // A harness asks how it stands when the run ends without a word; that it was put off stands.
    let ended = house.dispose(SCOUT, event, Disposition::Claimed);
    assert_eq!(ended, Ok(Disposition::Deferred));
    house.pass(HOUR - 1_000);
    assert!(house.offers(SCOUT).is_empty(), "it sleeps");
    assert_eq!(holder(&house, event), [SCOUT], "and is nobody else's");
    house.pass(1_000);
    let back = house.take(SCOUT);
    assert_eq!((back.attempt, back.fence), (offer.attempt + 1, offer.fence + 1));
    assert_eq!(back.decision.policy, Policy::MustRespond);
    // What the run that put it off says now is of an older turn.
    assert_eq!(code(house.reply(&offer, "here I am")), Code::StaleTurn);
    // Its deadline counts from when it came back.
    house.pass(DEADLINE - 2_000);
    assert_eq!(holder(&house, event), [SCOUT]);
    house.pass(3_000);
    assert_eq!(holder(&house, event), [ALICE]);
}

// covers: ATT-144
#[test]
fn what_is_put_off_survives_a_restart_and_a_host_that_was_down_at_the_time() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    defer(&mut house, SCOUT, event, HOUR).expect("its own");
    house.restart();
    house.connect(SCOUT);
    assert!(house.offers(SCOUT).is_empty(), "connecting does not wake it");
    house.now = house.now.plus(2 * HOUR);
    house.restart();
    house.connect(SCOUT);
    house.pass(1_000);
    let back = house.take(SCOUT);
    assert_eq!(back.entry.event.uid, event);
    house.reply(&back, "done").expect("it owes it");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
}

// covers: ATT-146
#[test]
fn putting_off_is_bounded() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    assert_eq!(code(defer(&mut house, REVIEWER, event, HOUR)), Code::Conflict, "not its own");
    house.take(SCOUT);
    let before = house.fingerprint();
    for wrong in [-1, 0, limits::DEFER_MS + 1] {
        assert_eq!(code(defer(&mut house, SCOUT, event, wrong)), Code::ValidationError, "{wrong}");
    }
    assert_eq!(house.fingerprint(), before, "a refusal changes nothing");
    for n in 0..limits::DEFERRALS {
        defer(&mut house, SCOUT, event, HOUR).unwrap_or_else(|e| panic!("{n}: {e}"));
        // The same again, after a lost answer, is not another.
        defer(&mut house, SCOUT, event, HOUR).unwrap_or_else(|e| panic!("{n}: {e}"));
        house.pass(HOUR);
        house.take(SCOUT);
    }
    assert_eq!(code(defer(&mut house, SCOUT, event, HOUR)), Code::Conflict);
}

// covers: ATT-147
#[test]
fn what_is_put_off_ends_with_its_matter() {
    type End = fn(&mut House, Uid);
    let ends: [(&str, End); 6] = [
        ("edited", |house, event| {
            house.edit(BOB, event, "@scout can you look at the docs?").expect("its author");
        }),
        ("deleted", |house, event| {
            house.delete(BOB, event).expect("its author");
        }),
        ("done", |house, event| {
            house.react(ALICE, event, Signal::Done).expect("a person");
        }),
        ("answered by another", |house, event| {
            house.post(ALICE, Say::to(house.ops, "I did it").answering(event)).expect("a person");
        }),
        ("called off", |house, _| {
            house.says(BOB, "@scout stop, cancel that");
        }),
        ("answered by itself", |house, event| {
            house.post(SCOUT, Say::to(house.ops, "done").answering(event)).expect("it owes it");
        }),
    ];
    for (what, end) in ends {
        let mut house = House::new();
        let event = house.says(BOB, "@scout can you look at the build?");
        house.take(SCOUT);
        defer(&mut house, SCOUT, event, HOUR).expect("its own");
        end(&mut house, event);
        let ended = house.delivery(event, SCOUT).expect("its own");
        assert!(!ended.is_open(), "{what}: {:?}", ended.state);
        house.offers(SCOUT);
        house.pass(HOUR + 1_000);
        let again = house.offers(SCOUT).iter().any(|o| o.entry.event.uid == event);
        assert!(!again, "{what}: it came back");
    }
}

// covers: ATT-147
#[test]
fn who_was_asked_beside_it_answers_for_itself_only() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout @reviewer can you both look at the build?");
    house.take(SCOUT);
    let other = house.take(REVIEWER);
    defer(&mut house, SCOUT, event, HOUR).expect("its own");
    house.reply(&other, "looks good to me").expect("its own");
    assert!(house.delivery(event, SCOUT).expect("its own").is_deferred());
}

// covers: ATT-144
#[test]
fn a_claim_is_kept_while_its_holder_has_put_it_off() {
    let mut house = House::new();
    let event = house.says(BOB, "@helpers can somebody look at the build?");
    let selected = *[SCOUT, REVIEWER, WRITER]
        .iter()
        .find(|m| house.delivery(event, **m).is_some())
        .expect("one is selected");
    house.take(selected);
    house.claim(selected, event).expect("it was selected");
    defer(&mut house, selected, event, HOUR).expect("its own");
    house.pass(HOUR - 1_000);
    let open = house.open(event).expect("open");
    assert_eq!(open.claim.map(|c| c.holder), Some(selected), "nobody else is asked meanwhile");
    assert_eq!(open.deliveries.len(), 1);
    house.pass(2_000);
    assert_eq!(house.offers(selected).len(), 1);
}

// covers: ATT-148
#[test]
fn the_clock_stands_still_where_the_host_lets_nobody_speak() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    house.pass(100_000);
    archive(&mut house, true);
    house.pass(HOUR);
    house.restart();
    house.pass(HOUR);
    assert_eq!(holder(&house, event), [SCOUT], "nobody could answer");
    archive(&mut house, false);
    house.pass(DEADLINE - 100_000 - 2_000);
    assert_eq!(holder(&house, event), [SCOUT], "the rest of its time is still its own");
    house.pass(4_000);
    assert_eq!(holder(&house, event), [ALICE]);
}

#[test]
fn a_seat_does_not_make_a_follower_a_lead() {
    let mut house = House::new();
    house.seat(house.ops, WRITER, Participation::AlwaysListen);
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    house.pass(DEADLINE + 1_000);
    assert_eq!(holder(&house, event), [ALICE]);
    assert!(house.delivery(event, WRITER).is_none(), "never to all");
}
