//! Digests of followed channels.

use chorus_core::commands::digests;
use chorus_core::model::attention::Policy;
use chorus_core::model::caller::By;
use chorus_core::model::conversation::Participation;
use chorus_core::model::digest::Written;
use chorus_core::model::error::Code;
use chorus_core::model::ids::MemberKey;
use chorus_core::model::limits;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, WRITER, code};

fn follow(house: &mut House, member: MemberKey) {
    house.seat(house.ops, member, Participation::AlwaysListen);
}

// covers: ATT-149, ATT-150
#[test]
fn who_follows_is_told_a_quarter_of_an_hour_after_the_first_message() {
    let mut house = House::new();
    house.says(BOB, "this was before");
    follow(&mut house, WRITER);
    house.pass(limits::DIGEST_MS * 2);
    assert!(house.digests.is_empty(), "nothing was said");
    let first = house.says(BOB, "who has the rollback plan?");
    house.pass(60_000);
    house.says(ALICE, "the deploy is at 40 percent");
    house.says(BOB, "thanks");
    house.pass(limits::DIGEST_MS - 62_000);
    assert!(house.digests.is_empty(), "not yet");
    house.pass(3_000);
    assert_eq!(house.digests.len(), 1);
    let digest = house.digests.remove(0);
    assert_eq!((digest.messages, &digest.authors[..]), (3, &[(BOB, 2), (ALICE, 1)][..]));
    assert_eq!(digest.asks, [house.event(first).seq]);
    let members: Vec<_> = digest.members.iter().map(|p| (p.member, p.policy)).collect();
    assert_eq!(
        members,
        [(WRITER, Policy::MustNotRespond)],
        "for those who follow, and nobody else"
    );
    house.pass(limits::DIGEST_MS * 4);
    assert!(house.digests.is_empty(), "nothing more was said");
    let next = house.says(BOB, "back again");
    house.pass(limits::DIGEST_MS + 1_000);
    let second = house.digests.remove(0);
    assert_eq!((second.after, second.through), (digest.through, house.event(next).seq));
}

// covers: ATT-150
#[test]
fn nobody_is_told_of_its_own_words_alone_and_where_nobody_follows_nothing_is_counted() {
    let mut house = House::new();
    house.says(BOB, "nobody follows here");
    assert!(!house.ws.rooms().any(|room| room.tally().waits()));
    house.pass(limits::DIGEST_MS * 2);
    follow(&mut house, BOB);
    house.says(BOB, "talking to myself");
    house.pass(limits::DIGEST_MS * 2);
    assert!(house.digests.is_empty());
    follow(&mut house, SCOUT);
    house.says(BOB, "still here");
    house.pass(limits::DIGEST_MS * 2);
    let members: Vec<_> = house.digests[0].members.iter().map(|p| p.member).collect();
    assert_eq!(members, [SCOUT]);
}

// covers: ATT-137, ATT-151
#[test]
fn a_mention_or_an_assignment_makes_it_more_than_must_not_respond() {
    let mut house = House::new();
    for member in [SCOUT, REVIEWER] {
        follow(&mut house, member);
    }
    house.says(ALICE, "the deploy is at 40 percent");
    let call = house.says(BOB, "@scout can you look at the build?");
    house.pass(limits::DIGEST_MS + 1_000);
    let digest = house.digests.remove(0);
    let part = |member| digest.part(member).expect("it follows").clone();
    let told = house.decision(call, SCOUT).expect("it was named").policy;
    assert_eq!((part(SCOUT).policy, told), (Policy::MustRespond, Policy::MustRespond));
    assert_eq!(part(SCOUT).calls, [house.event(call).seq]);
    assert_eq!((part(REVIEWER).policy, part(REVIEWER).calls), (Policy::MustNotRespond, vec![]));
}

// covers: ATT-150
#[test]
fn what_was_counted_is_counted_again_after_a_restart() {
    let mut house = House::new();
    follow(&mut house, WRITER);
    house.says(BOB, "one");
    house.pass(60_000);
    house.says(BOB, "two");
    house.restart();
    house.pass(limits::DIGEST_MS - 62_000);
    assert!(house.digests.is_empty(), "not yet");
    house.pass(3_000);
    assert_eq!(house.digests.remove(0).messages, 2);
    house.restart();
    house.pass(limits::DIGEST_MS * 2);
    assert!(house.digests.is_empty(), "told once");
}

// covers: ATT-152
#[test]
fn only_the_host_keeps_what_was_written_of_a_digest() {
    let mut house = House::new();
    let written = |text: &str| Written {
        after: Default::default(),
        through: Default::default(),
        member: SCOUT,
        text: text.into(),
    };
    let keep = |text: &str| digests::KeepDigest { conversation: house.ops, written: written(text) };
    let (small, large) = (keep("quiet"), keep(&"x".repeat(limits::DIGEST_TEXT_BYTES + 1)));
    assert_eq!(code(house.run(house.by(ALICE), small.clone())), Code::Forbidden);
    assert_eq!(code(house.run(By::host(), large)), Code::PayloadTooLarge);
    house.run(By::host(), small).expect("the host");
}
