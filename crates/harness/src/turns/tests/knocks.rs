//! Knocks: held, as turns of their own, and as offers to a role that are claimed first.

use super::sim::{Sim, knock, may, message};
use crate::options::Knocks;
use crate::runtime::End;
use crate::turns::{ClaimAnswer, Input};

// covers: ATT-56
#[test]
fn a_held_knock_costs_no_turn_and_is_shown_in_the_next() {
    Sim::new()
        .deliver(knock("1", "thread_participant"))
        .at(50_000)
        .expect(&["0 settle 1 ignored"])
        .deliver(message("2"))
        .deliver(knock("3", "thread_participant"))
        .at(60_000)
        .expect(&["55000 settle 3 acknowledged", "55000 start 1.1 2 for 2 with 1 3"])
        .says(1, "x")
        .deliver(message("4"))
        .at(70_000)
        .expect(&["60000 reply 2: x", "65000 start 2.1 4 for 4"]);
    // The turn it waited for does not come.
    Sim::new()
        .deliver(message("1"))
        .deliver(knock("2", "reaction"))
        .cancel("1")
        .expect(&["0 settle 1 superseded quietly", "0 settle 2 ignored"]);
}

#[test]
fn held_knocks_are_bounded() {
    let mut sim = Sim::new();
    sim.deliver(message("0"));
    for n in 1..=20 {
        sim.deliver(knock(&n.to_string(), "thread_participant"));
    }
    sim.expect(&[
        "0 settle 1 ignored",
        "0 settle 2 ignored",
        "0 settle 3 ignored",
        "0 settle 4 ignored",
    ]);
}

#[test]
fn a_knock_can_be_a_turn_and_always_is_where_an_answer_is_owed() {
    Sim::with(Knocks::Turn, 4)
        .deliver(knock("1", "thread_participant"))
        .ends(1, End::Silent)
        .expect(&["0 start 1.1 1 for 1", "0 settle 1 ignored"]);
    let mut owed = message("1");
    owed.content = None;
    Sim::new().deliver(owed).expect(&["0 start 1.1 1 for 1"]);
}

// covers: ATT-56, ATT-63
#[test]
fn a_role_knock_is_claimed_and_silence_gives_it_back() {
    let mut sim = Sim::new();
    sim.deliver(knock("1", "role_mention")).expect(&["0 claim 1"]);
    sim.at(100).held(may("1")).at(10_000).expect(&["5100 start 1.1 1 for 1"]);
    sim.ends(1, End::Silent).expect(&["10000 settle 1 ignored declined"]);
    // One that is answered along with something else was answered.
    Sim::new()
        .deliver(knock("1", "role_mention"))
        .held(may("1"))
        .deliver(message("2"))
        .at(5_000)
        .says(1, "x")
        .expect(&[
            "0 claim 1",
            "5000 start 1.1 1 2 for 2",
            "5000 reply 2: x",
            "5000 settle 1 responded",
        ]);
}

// covers: ATT-56
#[test]
fn a_claim_of_another_is_respected_and_a_lost_call_made_again() {
    let lost = ClaimAnswer::Lost { note: "claimed by another".into() };
    Sim::new()
        .deliver(knock("1", "role_mention"))
        .give(Input::Claimed { event: "1".into(), answer: ClaimAnswer::Unreachable })
        .at(5_000)
        .expect(&["0 claim 1", "2000 claim 1"])
        .give(Input::Claimed { event: "1".into(), answer: lost })
        .at(50_000)
        .expect(&["5000 settle 1 ignored"]);
}

#[test]
fn an_offer_that_brings_its_content_needs_no_claim_any_more() {
    let mut sim = Sim::new();
    sim.deliver(knock("1", "role_mention")).give(Input::Refreshed(may("1"))).at(5_000);
    sim.expect(&["0 claim 1", "5000 start 1.1 1 for 1"]);
    sim.held(may("1")).expect(&[]).ends(1, End::Silent);
    sim.expect(&["5000 settle 1 ignored declined"]);
    // Withdrawn while the claim was asked for.
    Sim::new()
        .deliver(knock("1", "role_mention"))
        .cancel("1")
        .held(may("1"))
        .at(50_000)
        .expect(&["0 claim 1", "0 settle 1 superseded quietly"]);
}

#[test]
fn a_claim_taken_before_a_restart_is_still_given_back_by_silence() {
    let mut held = may("1");
    held.attention.reason = "role_mention".into();
    Sim::new()
        .give(Input::Recovered { delivery: held, attempts: 0 })
        .at(5_000)
        .ends(1, End::Silent)
        .expect(&["5000 start 1.1 1 for 1", "5000 settle 1 ignored declined"]);
}
