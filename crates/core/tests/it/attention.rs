//! Sections 1, 5 and 6: who is meant, and what each owes.

use chorus_core::commands::deliveries;
use chorus_core::model::attention::{Directedness, Mode, Policy, Priority, Rule};
use chorus_core::model::conversation::Participation;
use chorus_core::model::error::Code;
use chorus_core::model::flow;
use chorus_core::model::ids::MemberKey;
use chorus_core::model::member::MemberKind;
use chorus_core::queries;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, code};

// covers: ATT-1, ATT-2, ATT-3, FAIL-13
#[test]
fn what_addresses_nobody_obliges_nobody() {
    let mut house = House::new();
    let event = house.says(ALICE, "lunch was nice today");
    assert_eq!(house.attention(event).rest, Directedness::Ambient);
    assert!(house.attention(event).told.is_empty());
    for agent in [SCOUT, REVIEWER, WRITER] {
        assert!(house.offers(agent).is_empty());
        let say = Say::to(house.ops, "it was!").answering(event);
        assert_eq!(code(house.post(agent, say)), Code::PolicyForbidsReply);
    }
}

// covers: ATT-4, ATT-5
#[test]
fn only_those_are_offered_it_who_are_told_of_it() {
    let mut house = House::new();
    for text in
        ["@scout thanks a lot!", "@scout could you look?", "deployed 3/5", "@helpers who can?"]
    {
        let event = house.says(ALICE, text);
        for agent in [SCOUT, REVIEWER, WRITER] {
            let decision = house.decision(event, agent);
            let told = decision.is_some_and(|d| d.mode.tells());
            assert_eq!(house.offers(agent).len(), usize::from(told), "{text}: {decision:?}");
            let Some(decision) = decision else { continue };
            match decision.policy {
                Policy::MustNotRespond => assert!(!decision.mode.tells(), "{text}"),
                Policy::MustRespond => assert!(decision.mode.shows_content(), "{text}"),
                _ => {}
            }
        }
    }
}

// covers: ATT-29
#[test]
fn the_first_rule_that_fits_decides() {
    let mut house = House::new();
    let asked = house.says(ALICE, "@scout could you look at the logs?");
    let offer = house.take(SCOUT);
    let answer = house.reply(&offer, "the logs are clean").expect("scout was asked");
    let pair = house.pair;
    let ops = house.ops;
    // A text, where, what it replies to, and the rule and directedness for scout.
    let cases = [
        (Say::to(pair, "@scout is it done?"), Rule::DirectMessage, Directedness::ToMe),
        (Say::to(ops, "@scout and @helpers, is it done?"), Rule::Mention, Directedness::ToMe),
        (
            Say::to(ops, "@reviewer what do you say to that?").answering(answer),
            Rule::RepliedToOther,
            Directedness::ToOther,
        ),
        (
            Say::to(ops, "@scout what do you say?").answering(answer),
            Rule::Mention,
            Directedness::ToMe,
        ),
        (
            Say::to(ops, "which of them did you read?").answering(answer),
            Rule::Reply,
            Directedness::ToMe,
        ),
        (
            Say::to(ops, "@helpers can one of you look again?"),
            Rule::RoleMention,
            Directedness::ToMyRole,
        ),
    ];
    for (say, rule, directedness) in cases {
        let text = say.0.message.text.clone();
        let event = house.post(ALICE, say).expect("people may speak");
        let decision = house.decision(event, SCOUT).unwrap_or_else(|| panic!("{text}: told"));
        assert_eq!((decision.rule, decision.directedness), (rule, directedness), "{text}");
        for offer in house.offers(SCOUT) {
            let _ = house.accept(&offer).and_then(|_| house.reply(&offer, "yes"));
        }
    }
    assert!(house.event(asked).seq < house.event(answer).seq);
}

// covers: ATT-30
#[test]
fn once_somebody_is_named_it_is_addressed_to_others_for_the_rest() {
    let mut house = House::new();
    house.says(ALICE, "@scout how is the build?");
    let offer = house.take(SCOUT);
    let answer = house.reply(&offer, "the build is red").expect("scout was asked");
    let say = Say::to(house.ops, "@reviewer can you look at this?").answering(answer);
    let event = house.post(ALICE, say).expect("people may speak");
    assert_eq!(house.attention(event).rest, Directedness::ToOther);
    let replied_to =
        house.decision(event, SCOUT).expect("the author replied to has its own answer");
    assert_eq!((replied_to.directedness, replied_to.mode), (Directedness::ToOther, Mode::Notify));
    assert_eq!(house.decision(event, WRITER), None);
    let butting_in = Say::to(house.ops, "I can look").answering(event);
    assert_eq!(code(house.post(WRITER, butting_in)), Code::PolicyForbidsReply);
}

// covers: ATT-31, ATT-32, ATT-33
#[test]
fn names_address_whom_they_name_and_nobody_else() {
    let mut house = House::new();
    // What is no name leaves it to the flow of talk, which is not asked here.
    house.ws = std::mem::take(&mut house.ws)
        .with_flow(flow::Settings { on: false, ..flow::Settings::default() });
    house.add_member("scout_two", MemberKind::Agent);
    let told = |house: &mut House, author: MemberKey, text: &str| -> Vec<MemberKey> {
        let event = house.says(author, text);
        house.pass(60_000);
        house.attention(event).told.iter().map(|t| t.member).collect()
    };
    assert_eq!(told(&mut house, ALICE, "@SCOUT can you look?"), [SCOUT]);
    assert_eq!(told(&mut house, ALICE, "`@scout` can you look?"), []);
    assert_eq!(told(&mut house, BOB, "> @scout can you look?"), []);
    assert_eq!(told(&mut house, ALICE, "see https://example.org/@scout"), []);
    // The longest name; it has no seat, so nobody is addressed, scout least of all.
    assert_eq!(told(&mut house, BOB, "@scout_two can you look?"), []);
    assert_eq!(told(&mut house, ALICE, "I am @alice, what do you want?"), []);
}

// covers: ATT-34, ATT-35
#[test]
fn a_role_selects_one_online_rested_and_longest_not_chosen() {
    let mut house = House::asleep();
    let chosen = |house: &mut House| {
        let event = house.says(BOB, "@helpers can one of you look at the flaky test?");
        let told = house.attention(event).told.iter();
        let told: Vec<_> = told.filter(|t| t.decision.rule == Rule::RoleMention).collect();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].decision.mode, Mode::Notify);
        told[0].member
    };
    // All are offline: a preference is no filter.
    assert_eq!(chosen(&mut house), SCOUT);
    house.connect(WRITER);
    assert_eq!(chosen(&mut house), WRITER);
    house.connect(SCOUT);
    house.connect(REVIEWER);
    house.pass(1_000);
    assert_eq!(chosen(&mut house), REVIEWER);
    house.pass(1_000);
    assert_eq!(chosen(&mut house), SCOUT);
    // Writer is next, but runs a turn.
    house.says(ALICE, "@writer can you write it down?");
    let offers = house.offers(WRITER);
    house.accept(offers.last().expect("writer is asked")).expect("an offer");
    house.pass(1_000);
    assert_ne!(chosen(&mut house), WRITER);
}

// covers: ATT-36
#[test]
fn a_sender_lowers_an_obligation_and_raises_none() {
    let mut house = House::new();
    let say = |text: &str, house: &House| Say::to(house.ops, text);
    let lowered = say("@scout can you look?", &house).meant(Directedness::Ambient);
    let lowered = house.post(ALICE, lowered).expect("people may speak");
    let decision = house.decision(lowered, SCOUT).expect("told");
    assert_eq!((decision.policy, decision.mode), (Policy::MayRespond, Mode::Notify));
    assert_eq!(decision.deadline_ms, None);
    let raised = say("lunch was nice today", &house).meant(Directedness::ToMe);
    let raised = house.post(BOB, raised).expect("people may speak");
    assert!(house.attention(raised).told.is_empty());
}

// covers: ATT-37
#[test]
fn a_line_that_names_somebody_who_is_not_here_is_no_fragment_of_the_first() {
    let mut house = House::new();
    house.says(ALICE, "@scout what is the status?");
    house.pass(3_000);
    let other = house.says(ALICE, "@nobodyatall what do you think?");
    assert_eq!(house.decision(other, SCOUT), None);
}

// covers: ATT-37
#[test]
fn a_fragment_points_where_the_first_pointed() {
    let mut house = House::new();
    house.says(ALICE, "@scout can you check something?");
    house.pass(3_000);
    let fragment = house.says(ALICE, "the deploy of this morning I mean");
    let decision = house.decision(fragment, SCOUT).expect("it goes on");
    assert_eq!((decision.rule, decision.policy), (Rule::Continuation, Policy::MustRespond));
    // Somebody else speaks: the line is broken.
    house.says(BOB, "hm");
    let after = house.says(ALICE, "it looks odd to me");
    assert_eq!(house.decision(after, SCOUT), None);
    // Too late.
    house.says(ALICE, "@scout can you check something else?");
    house.pass(31_000);
    let late = house.says(ALICE, "it looks odd to me, still");
    assert_eq!(house.decision(late, SCOUT), None);
}

// covers: ATT-38
#[test]
fn a_decision_holds_its_audience_and_not_the_roster() {
    let mut house = House::new();
    for n in 0..300 {
        let member = house.add_member(&format!("member{n}"), MemberKind::Agent);
        house.seat(house.ops, member, Participation::SelectedOnly);
    }
    let event = house.says(ALICE, "@scout and @reviewer, can you look?");
    assert_eq!(house.attention(event).told.len(), 2);
    assert_eq!(house.open(event).expect("open").deliveries.len(), 2);
}

// covers: ATT-41, ATT-100
#[test]
fn agents_have_deadlines_and_people_have_none() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout and @bob, can you look?");
    assert_eq!(house.decision(event, SCOUT).expect("told").deadline_ms, Some(300_000));
    let person = house.decision(event, BOB).expect("told");
    assert_eq!((person.policy, person.deadline_ms), (Policy::MustRespond, None));
    assert!(house.delivery(event, BOB).is_none());
}

// covers: ATT-40, ATT-42
#[test]
fn thanks_and_an_agents_statement_oblige_nobody() {
    let mut house = House::new();
    let thanks = house.says(ALICE, "@scout thanks a lot!");
    assert_eq!(house.decision(thanks, SCOUT).expect("told").policy, Policy::AckOnly);
    house.says(ALICE, "@scout can you look at the build?");
    let offer = house.offers(SCOUT).pop().expect("asked");
    house.accept(&offer).expect("an offer");
    let said = house.reply(&offer, "@reviewer the build is green again").expect("asked");
    let decision = house.decision(said, REVIEWER).expect("named");
    assert_eq!((decision.policy, decision.mode), (Policy::MayRespond, Mode::Notify));
}

// covers: ATT-43
#[test]
fn a_short_answer_is_read_with_what_it_answers() {
    let mut house = House::new();
    house.says(ALICE, "@bob shall we ship it?");
    let yes = house.says(BOB, "yes");
    let intent = house.attention(yes).intent;
    assert!(
        !intent.asks() || intent == chorus_core::model::attention::Intent::Approval,
        "{intent:?}"
    );
    house.says(ALICE, "@bob the build is green again");
    let thanks = house.says(BOB, "thanks!");
    assert_eq!(house.attention(thanks).intent, chorus_core::model::attention::Intent::Thanks);
}

// covers: ATT-44
#[test]
fn the_decision_is_kept_with_the_event() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout this is urgent: can you roll it back now!");
    let decision = house.decision(event, SCOUT).expect("told");
    assert_eq!(decision.rule, Rule::Mention);
    assert_eq!(decision.mode, Mode::Immediate);
    assert_eq!(decision.priority, Priority::Urgent);
    house.restart();
    assert_eq!(house.decision(event, SCOUT), Some(decision));
}

// covers: ATT-45
#[test]
fn a_preview_is_what_posting_gives_and_records_nothing() {
    let mut house = House::new();
    for text in ["@scout can you look?", "@helpers who can?", "lunch was nice", "@scout thanks!"] {
        let before = house.fingerprint();
        let say = Say::to(house.ops, text);
        let preview = queries::Preview(say.0.clone());
        let preview = house.run(house.by(BOB), preview).expect("a preview");
        assert_eq!(house.fingerprint(), before, "{text}");
        let event = house.post(BOB, say).expect("people may speak");
        assert_eq!(house.attention(event), &*preview, "{text}");
        house.pass(60_000);
    }
}

// covers: ATT-132, ATT-131
#[test]
fn what_one_may_not_see_does_not_exist() {
    let mut house = House::new();
    let secret = house.post(ALICE, Say::to(house.pair, "hello there")).expect("people may speak");
    let unknown = chorus_core::model::ids::Uid(0xdead);
    let pair = house.pair;
    let by = house.by(REVIEWER);
    let seen = house.run(by, deliveries::Claim { event: secret }).expect_err("hidden");
    let never = house.run(by, deliveries::Claim { event: unknown }).expect_err("unknown");
    // As whoever asked is told.
    assert_eq!((seen.code, &seen.message), (never.code, &never.message));
    assert_eq!(seen.code, Code::NotFound);
    let seen = house.post(REVIEWER, Say::to(pair, "hi")).expect_err("hidden");
    let never = house.post(REVIEWER, Say::to(unknown, "hi")).expect_err("unknown");
    assert_eq!(seen, never);
    let auditor = chorus_core::model::caller::By {
        authority: chorus_core::model::caller::Authority::Auditor,
        ..house.by(ALICE)
    };
    let say = Say::to(house.ops, "hi");
    assert_eq!(code(house.post_as(auditor, say)), Code::Forbidden);
}
