//! Attempts, pauses, and what is never tried again.

use chorus_core::attention::compose::Settings;

use super::sim::{Sim, message};
use crate::runtime::End;
use crate::turns::Input;

// covers: ATT-106
#[test]
fn a_failed_turn_is_tried_three_times_with_growing_pauses() {
    Sim::new()
        .deliver(message("1"))
        .at(5_000)
        .fails(1)
        .at(6_000)
        .fails(2)
        .at(10_000)
        .expect(&[
            "5000 start 1.1 1 for 1",
            "6000 start 2.2 1 for 1 look",
            "10000 start 3.3 1 for 1 look",
        ])
        .fails(3)
        .at(100_000)
        .expect(&["10000 settle 1 failed: exit 1"]);
}

#[test]
fn what_joins_a_failing_turn_has_its_own_attempts() {
    Sim::new()
        .deliver(message("1"))
        .at(5_000)
        .fails(1)
        .at(6_000)
        .fails(2)
        .deliver(message("2"))
        .at(11_000)
        .fails(3)
        .expect(&[
            "5000 start 1.1 1 for 1",
            "6000 start 2.2 1 for 1 look",
            "11000 start 3.3 1 2 for 2 look",
            "11000 settle 1 failed: exit 1",
        ])
        .at(12_000)
        .says(4, "x")
        .expect(&["12000 start 4.2 2 for 2 look", "12000 reply 2: x"]);
}

#[test]
fn a_turn_that_took_too_long_is_not_tried_again() {
    Sim::new()
        .deliver(message("1"))
        .at(5_000)
        .ends(1, End::TimedOut { note: "too long".into() })
        .at(100_000)
        .expect(&["5000 start 1.1 1 for 1", "5000 settle 1 failed: too long"]);
}

// covers: ATT-106
#[test]
fn a_turn_that_has_acted_is_never_tried_again() {
    for end in [End::Failed { note: "exit 1".into() }, End::Silent, End::Cancelled] {
        Sim::new()
            .deliver(message("1"))
            .deliver(message("2"))
            .at(5_000)
            .give(Input::Ended { turn: 1, end, acted: true })
            .at(100_000)
            .expect(&[
                "5000 start 1.1 1 2 for 2",
                "5000 settle 1 superseded",
                "5000 settle 2 responded quietly",
            ]);
    }
}

// covers: ATT-106, FAIL-9
#[test]
fn a_restart_that_finds_an_earlier_run_to_have_acted_leaves_only_what_is_new() {
    Sim::new()
        .deliver(message("1"))
        .at(6_000)
        .deliver(message("2"))
        .ends(1, End::Cancelled)
        .at(11_000)
        .give(Input::ActedBefore { turn: 2 })
        .expect(&[
            "5000 start 1.1 1 for 1",
            "6000 stop 1",
            "11000 start 2.1 1 2 for 2 look",
            "11000 settle 1 responded quietly",
            "11000 start 3.1 2 for 2 look",
        ]);
}

#[test]
fn what_was_open_when_the_harness_died_waits_for_the_host_and_then_goes_on() {
    let mut sim = Sim::new();
    sim.turns = crate::turns::Turns::new(crate::turns::Rules {
        compose: Settings { quiet_ms: 0, unfinished_ms: 0, cap_ms: 0 },
        knocks: crate::options::Knocks::Hold,
        parallel: 4,
    });
    sim.give(Input::Linked(true));
    sim.give(Input::Recovered { delivery: message("1"), attempts: 1 })
        .at(100)
        .expect(&[])
        .give(Input::Refreshed(message("1")))
        .expect(&["100 start 1.2 1 for 1 look"]);
    // A host that does not offer it again is not waited for long.
    let mut other = message("2");
    other.conversation.id = "ch_2".into();
    sim.give(Input::Recovered { delivery: other, attempts: 0 })
        .at(5_000)
        .expect(&["2100 start 2.1 2 for 2"]);
    sim.give(Input::Recovered { delivery: message("3"), attempts: 3 });
    sim.expect(&["5000 settle 3 failed: the harness ended in the middle of each attempt"]);
}

#[test]
fn no_turn_begins_and_no_claim_is_asked_for_while_the_host_is_out_of_reach() {
    let mut sim = Sim::new();
    sim.deliver(message("1")).give(Input::Linked(false)).at(60_000).expect(&[]);
    sim.give(Input::Linked(true)).expect(&["60000 start 1.1 1 for 1"]);
    // What runs goes on.
    sim.give(Input::Linked(false)).says(1, "x").expect(&["60000 reply 1: x"]);
}
