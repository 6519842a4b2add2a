//! `spec/channels.md`, "Turns": one speaks at a time about a subject, what a person's message pays for is not
//! overspent, and nothing of it is lost.

use chorus_core::commands::{conversations, turns};
use chorus_core::model::attention::{Directedness, Rule};
use chorus_core::model::conversation::Replies;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::event::Change;
use chorus_core::model::ids::{MemberKey, Seq, Timestamp, Uid};
use chorus_core::model::limits;
use chorus_core::model::requests::SettingsPatch;
use chorus_core::model::turn::{Candidate, Lease, Rules, RulesPatch, Turn};

use crate::house::{ALICE, House, REVIEWER, SCOUT, Say, WRITER, code};

/// A house whose channel has subjects.
fn house() -> House {
    let mut house = House::new();
    set(&mut house, RulesPatch::default());
    house
}

fn set(house: &mut House, turns: RulesPatch) {
    let settings =
        SettingsPatch { replies: Some(Replies::Thread), turns, ..SettingsPatch::default() };
    let conversation = house.ops;
    let change = conversations::ChangeConversation { conversation, settings };
    house.run(house.by(ALICE), change).expect("an operator");
}

/// Who holds the turn of the subject with this root.
fn holders(house: &House, root: Uid) -> Vec<MemberKey> {
    leases(house, root).iter().map(|l| l.member).collect()
}

fn leases(house: &House, root: Uid) -> Vec<Lease> {
    let event = house.event(root);
    let room = house.ws.room(event.conversation).expect("a room");
    room.turns().get(event.seq).map(|t| t.leases.clone()).unwrap_or_default()
}

fn subject(house: &House, event: Uid) -> Seq {
    let event = house.event(event);
    let room = house.ws.room(event.conversation).expect("a room");
    room.subject_of(event.seq, event.thread).expect("of a subject")
}

// covers: CHN-1, CHN-20, CHN-24
#[test]
fn two_that_are_asked_speak_one_after_the_other_in_the_thread_of_the_question() {
    let mut house = house();
    let root = house.says(ALICE, "@scout @reviewer can you look at the deploy?");
    let first = house.take(SCOUT);
    assert!(house.offers(REVIEWER).is_empty(), "another has the turn");
    assert_eq!(holders(&house, root), [SCOUT]);
    // Who waits is refused, and may say it when its turn comes.
    let early = house.post(REVIEWER, Say::to(house.ops, "me first").answering(root));
    assert_eq!(code(early), Code::TurnHeldByOther);

    let answer = house.reply(&first, "it is fine").expect("it has the turn");
    assert_eq!(subject(&house, answer), house.event(root).seq, "said in the canonical thread");
    let thread = house.event(answer).thread.expect("a thread");
    let room = house.ws.room(house.event(root).conversation).expect("a room");
    assert_eq!(room.threads()[&thread].root, Some(house.event(root).seq));

    let second = house.take(REVIEWER);
    assert_eq!(second.entry.event.uid, root);
    let other = house.reply(&second, "looks right to me").expect("its turn");
    assert_eq!(house.event(other).thread, Some(thread), "there is one thread of a subject");
    assert!(holders(&house, root).is_empty(), "nobody speaks any more");
}

// covers: CHN-24
#[test]
fn who_speaks_next_is_decided_by_the_first_of_these_that_tells_them_apart() {
    const NOW: i64 = 10 * limits::TURN_PATIENCE_MS;
    // By their ids the other is first; each row has what counts for one, and what counts less and is for the other.
    let candidate = |id| Candidate {
        member: MemberKey(id),
        cause: Seq(1),
        since: Timestamp(NOW),
        obligation: false,
        asked: false,
        accepted: false,
        present: true,
        addressed: false,
        replied_to: false,
        reacted: false,
        bias: 1,
        running: 0,
    };
    let (one, other) = (candidate(9), candidate(1));
    let owes = |c| Candidate { obligation: true, ..c };
    let long = |c| Candidate { since: Timestamp(0), ..owes(c) };
    let named = |c| Candidate { addressed: true, ..c };
    let replied = |c| Candidate { replied_to: true, ..c };
    let reacted = |c| Candidate { reacted: true, ..c };
    let eager = |c| Candidate { bias: 3, ..c };
    let busy = |c| Candidate { running: 1, ..c };
    let (nobody, first, last) = (vec![], vec![9, 1], vec![1, 9]);
    for (why, spoke, one, other) in [
        ("runs already", &nobody, Candidate { accepted: true, ..one }, named(owes(other))),
        ("owes an answer", &nobody, owes(one), named(replied(other))),
        ("has waited long", &nobody, long(one), named(owes(other))),
        ("is addressed", &nobody, named(one), replied(other)),
        ("is replied to", &vec![1], replied(one), eager(other)),
        ("spoke last", &vec![9], one, eager(other)),
        ("has not spoken", &vec![1, 7], reacted(one), eager(other)),
        ("has not reacted", &nobody, one, eager(reacted(other))),
        ("takes part more", &vec![1, 9, 7], eager(one), other),
        ("is silent for longer", &vec![9, 1, 7], busy(one), other),
        ("is less busy", &nobody, one, busy(other)),
    ] {
        let rules = Rules { cooldown_ms: 0, ..Rules::default() };
        let spoke = spoke.iter().map(|id| (MemberKey(*id), Timestamp(0))).collect();
        let mut turn = Turn { spoke, ..Turn::default() };
        let step = turn.arbitrate(&rules, &[other, one], Timestamp(NOW));
        assert_eq!(step.granted, [(one.member, one.cause)], "{why}");
    }
    for (spoke, expect) in [(&nobody, 1), (&first, 1), (&last, 9)] {
        let spoke = spoke.iter().map(|id| (MemberKey(*id), Timestamp(0))).collect();
        let mut turn = Turn { spoke, ..Turn::default() };
        let rules = Rules { cooldown_ms: 0, ..Rules::default() };
        let step = turn.arbitrate(&rules, &[one, other], Timestamp(NOW));
        assert_eq!(step.granted[0].0, MemberKey(expect), "by id, else whoever spoke last");
    }
}

// covers: CHN-21, CHN-25
#[test]
fn what_a_persons_message_pays_for_is_not_overspent_and_a_person_learns_who_waits() {
    let mut house = house();
    set(&mut house, RulesPatch { replies: Some(2), ..RulesPatch::default() });
    let root = house.says(ALICE, "@scout can you look at the deploy?");
    let first = house.take(SCOUT);
    house.reply(&first, "@reviewer can you look too?").expect("it has the turn");
    let second = house.take(REVIEWER);
    let asks = house.reply(&second, "@writer can you write it down?").expect("the second turn");
    // The third was not paid for: it waits, and a person is told so.
    assert!(house.offers(WRITER).is_empty());
    let held = house.delivery(asks, WRITER).expect("its own");
    assert!(held.is_obligation() && held.stands_still(), "{held:?}");
    assert_eq!(house.decision(asks, ALICE).expect("told").rule, Rule::BudgetSpent);
    let own = Say::to(house.ops, "one more thing").answering(root);
    assert_eq!(code(house.post(SCOUT, own)), Code::ReplyBudgetSpent);
    house.pass(6 * i64::from(limits::DEADLINE_MS));
    assert!(house.delivery(asks, WRITER).expect("its own").stands_still(), "its clock stands");

    let thread = thread_of(&house, asks);
    house.post(ALICE, Say::to(house.ops, "ok").in_thread(thread)).expect("a person");
    assert_eq!(house.take(WRITER).entry.event.uid, asks, "a person's word pays for more");
}

fn thread_of(house: &House, event: Uid) -> Uid {
    let event = house.event(event);
    let room = house.ws.room(event.conversation).expect("a room");
    room.threads()[&event.thread.expect("in a thread")].uid
}

// covers: CHN-22
#[test]
fn a_turn_that_nobody_takes_up_goes_to_the_next_and_comes_back() {
    let mut house = house();
    let root = house.says(ALICE, "@scout @reviewer can you look at the deploy?");
    let offer = house.offer(SCOUT);
    house.pass(limits::TURN_ACCEPTANCE_MS - 1);
    assert_eq!(holders(&house, root), [SCOUT]);
    house.pass(1);
    assert_eq!(holders(&house, root), [REVIEWER]);
    assert!(house.cancelled.iter().any(|c| c.event == root), "it is taken back");
    let second = house.take(REVIEWER);
    assert_eq!(
        code(house.post_as(house.in_turn(&offer), Say::to(house.ops, "late"))),
        Code::StaleTurn
    );
    house.reply(&second, "it is fine").expect("its turn");
    house.offers(SCOUT);
    assert_eq!(holders(&house, root), [SCOUT], "asked again, in the end");
    // Alone, it keeps the turn, and its clock runs: the question is not lost.
    house.pass(2 * i64::from(limits::DEADLINE_MS));
    assert!(!house.delivery(root, SCOUT).is_some_and(|d| d.is_obligation() && d.is_open()));
}

// covers: CHN-26
#[test]
fn a_restart_keeps_who_speaks_and_who_waits() {
    let mut house = house();
    let root = house.says(ALICE, "@scout @reviewer can you look at the deploy?");
    let first = house.take(SCOUT);
    house.restart();
    assert_eq!(holders(&house, root), [SCOUT]);
    house.connect(REVIEWER);
    house.connect(WRITER);
    assert!(house.offers(REVIEWER).is_empty(), "it still waits");
    house.connect(SCOUT);
    house.offers(SCOUT);
    house.reply(&first, "it is fine").expect("the turn is its own as before");
    assert_eq!(house.take(REVIEWER).entry.event.uid, root);
}

// covers: CHN-27
#[test]
fn a_persons_newer_message_begins_the_run_anew_but_not_for_ever() {
    let mut house = house();
    let root = house.says(ALICE, "@scout can you look at the deploy?");
    house.take(SCOUT);
    let mut asked = vec![root];
    for n in 0..=u32::from(limits::TURN_SUPERSEDED) {
        let say = Say::to(house.ops, &format!("@scout and at number {n}?")).answering(root);
        let newer = house.post(ALICE, say).expect("a person");
        let offers = house.offers(SCOUT);
        let mut offered: Vec<Uid> = offers.iter().map(|o| o.entry.event.uid).collect();
        offered.sort_by_key(|uid| house.event(*uid).seq);
        offers.iter().for_each(|offer| house.accept(offer).expect("it is offered"));
        let replaced = n < u32::from(limits::TURN_SUPERSEDED);
        let cause = leases(&house, root)[0].cause;
        if replaced {
            assert_eq!(cause, house.event(newer).seq, "{n}");
            // What the run was about is still owed, and comes along with what is new.
            let last = *asked.last().expect("the first");
            assert_eq!(offered, [last, newer], "{n}");
            assert!(offers.iter().any(|o| o.entry.event.uid == last && o.attempt > 1), "{n}");
        } else {
            assert_ne!(cause, house.event(newer).seq, "the run goes on");
            assert_eq!(offered, [newer]);
        }
        assert_eq!(house.disposition(*asked.last().expect("the first"), SCOUT), None);
        asked.push(newer);
    }
}

// covers: CHN-45
#[test]
fn who_alone_is_asked_is_offered_all_of_it_and_each_question_is_paid_for() {
    let mut house = house();
    let root = house.says(ALICE, "@scout can you look at the deploy?");
    house.take(SCOUT);
    house.pass(limits::TURN_SUPERSEDED_MS);
    let budget = house_budget(&house, root);
    for n in 0..2 * budget {
        let say = Say::to(house.ops, &format!("@scout and at number {n}?")).answering(root);
        house.post(ALICE, say).expect("a person");
    }
    let offers = house.offers(SCOUT);
    assert_eq!(offers.len(), usize::from(2 * budget), "all at once");
    offers.iter().for_each(|offer| house.accept(offer).expect("it is offered"));
    // Another is asked: from then on there is one run at a time again.
    let say = Say::to(house.ops, "@writer what do you think?").answering(root);
    house.post(ALICE, say).expect("a person");
    let say = Say::to(house.ops, "@scout is it the disk?").answering(root);
    house.post(ALICE, say).expect("a person");
    assert!(house.offers(WRITER).is_empty() && house.offers(SCOUT).is_empty());
    house.dispose(SCOUT, root, Disposition::Acknowledged).expect("it is its own");
    for (n, offer) in offers.iter().enumerate() {
        house.reply(offer, "it is up").unwrap_or_else(|why| panic!("{n}: {why:?}"));
    }
    // Who spoke last goes on, with what was asked of it meanwhile.
    let last = house.take(SCOUT);
    assert!(house.offers(WRITER).is_empty());
    house.reply(&last, "it is not").expect("a question is paid for");
    let offer = house.take(WRITER);
    house.reply(&offer, "nothing").expect("a question is paid for");
}

fn house_budget(house: &House, root: Uid) -> u16 {
    let event = house.event(root);
    let room = house.ws.room(event.conversation).expect("a room");
    room.turn(event.seq).budget(&room.turn_rules())
}

// covers: CHN-28
#[test]
fn an_operator_takes_a_turn_away_and_nobody_else_does() {
    let mut house = house();
    let root = house.says(ALICE, "@scout @reviewer can you look at the deploy?");
    let offer = house.take(SCOUT);
    let conversation = house.ops;
    let command = |member| turns::BreakTurn { conversation, subject: root, member };
    let refused = house.run(house.by(SCOUT), command(SCOUT));
    assert_eq!(code(refused), Code::InsufficientAuthority);
    assert_eq!(code(house.run(house.by(ALICE), command(WRITER))), Code::Conflict);
    house.run(house.by(ALICE), command(SCOUT)).expect("an operator");
    assert_eq!(holders(&house, root), [REVIEWER]);
    assert_eq!(code(house.reply(&offer, "still here")), Code::StaleTurn);
    house.take(REVIEWER);
}

// covers: CHN-1, CHN-2
#[test]
fn answers_of_people_go_into_the_thread_too_and_a_line_without_subjects_stays_one() {
    let mut house = house();
    let root = house.says(ALICE, "the deploy is red");
    let answer =
        house.post(ALICE, Say::to(house.ops, "green again").answering(root)).expect("a person");
    assert!(house.event(answer).thread.is_some());
    let opened = house.log.events.values().filter(|e| matches!(e.change, Change::ThreadOpened(_)));
    assert_eq!(opened.count(), 1);

    let mut plain = House::new();
    let root = plain.says(ALICE, "the deploy is red");
    let answer =
        plain.post(ALICE, Say::to(plain.ops, "green again").answering(root)).expect("a person");
    assert_eq!(plain.event(answer).thread, None);
    let root = plain.says(ALICE, "@scout @reviewer can you look?");
    assert_eq!((plain.offers(SCOUT).len(), plain.offers(REVIEWER).len()), (1, 1), "{root:?}");
}

// covers: CHN-23
#[test]
fn who_has_just_spoken_rests_unless_it_is_named() {
    let mut house = house();
    set(&mut house, RulesPatch { cooldown_ms: Some(300_000), ..RulesPatch::default() });
    house.says(ALICE, "@scout can you look at the deploy?");
    let offer = house.take(SCOUT);
    let answer = house.reply(&offer, "it is fine").expect("its turn");
    let thread = thread_of(&house, answer);
    house.pass(limits::TURN_QUIET_MS + 1);
    let unasked =
        Say::to(house.ops, "one more thing").in_thread(thread).meant(Directedness::Ambient);
    assert_eq!(code(house.post(SCOUT, unasked)), Code::RateLimited);
    house.post(ALICE, Say::to(house.ops, "@scout which one?").in_thread(thread)).expect("a person");
    house.take(SCOUT);
}

// covers: CHN-26
#[test]
fn a_restart_gives_nobody_another_turn() {
    let mut house = house();
    set(&mut house, RulesPatch { replies: Some(1), ..RulesPatch::default() });
    house.says(ALICE, "@scout can you look at the deploy?");
    let offer = house.take(SCOUT);
    let answer = house.reply(&offer, "it is fine").expect("its turn");
    let thread = thread_of(&house, answer);
    house.restart();
    house.pass(limits::TURN_QUIET_MS + 1);
    let more = Say::to(house.ops, "and another thing").in_thread(thread);
    assert_eq!(
        code(house.post(REVIEWER, more.meant(Directedness::Ambient))),
        Code::ReplyBudgetSpent
    );
}
