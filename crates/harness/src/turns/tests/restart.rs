//! A turn that has said nothing is begun again for what belongs to it, within its limits.

use chorus_core::model::attention::{Mode, Priority};

use super::sim::{Sim, by, edit, message};
use crate::runtime::End;
use crate::turns::Input;

// covers: ATT-55
#[test]
fn a_fragment_of_the_same_author_stops_the_turn_and_is_merged() {
    Sim::new()
        .deliver(message("1"))
        .at(6_000)
        .deliver(message("2"))
        .expect(&["5000 start 1.1 1 for 1", "6000 stop 1"])
        .ends(1, End::Cancelled)
        .at(20_000)
        .expect(&["11000 start 2.1 1 2 for 2 look"]);
}

#[test]
fn what_a_stopped_turn_said_too_late_is_not_sent() {
    Sim::new()
        .deliver(message("1"))
        .at(6_000)
        .deliver(message("2"))
        .says(1, "to the first alone")
        .at(20_000)
        .expect(&["5000 start 1.1 1 for 1", "6000 stop 1", "11000 start 2.1 1 2 for 2 look"]);
}

// covers: ATT-55
#[test]
fn a_turn_is_begun_again_at_most_twice() {
    let mut sim = Sim::new();
    sim.deliver(message("1")).at(5_000).expect(&["5000 start 1.1 1 for 1"]);
    sim.at(5_100).deliver(message("2")).ends(1, End::Cancelled);
    sim.expect(&["5100 stop 1"]).at(11_000).expect(&["10100 start 2.1 1 2 for 2 look"]);
    sim.deliver(message("3")).ends(2, End::Cancelled);
    sim.expect(&["11000 stop 2"]).at(30_000).expect(&["16000 start 3.1 1 2 3 for 3 look"]);
    sim.deliver(message("4")).expect(&[]).at(45_000).says(3, "x");
    sim.expect(&[
        "45000 reply 3: x",
        "45000 settle 1 superseded",
        "45000 settle 2 superseded",
        "45000 start 4.1 4 for 4",
    ]);
    // The next turn has its own two restarts.
    sim.deliver(message("5")).expect(&["45000 stop 4"]);
}

// covers: ATT-55
#[test]
fn a_fragment_joins_a_silent_turn_however_long_that_has_run_and_has_a_window_of_its_own() {
    Sim::new()
        .deliver(message("1"))
        .at(100_000)
        .deliver(message("2"))
        .ends(1, End::Cancelled)
        .at(102_000)
        .deliver(message("3"))
        .at(110_000)
        .expect(&["5000 start 1.1 1 for 1", "100000 stop 1", "107000 start 2.1 1 2 3 for 3 look"]);
}

// covers: ATT-303
#[test]
fn nothing_joins_a_turn_of_which_something_was_seen() {
    let next = ["9000 reply 1: x", "11000 start 2.1 2 for 2"];
    let mut sim = Sim::new();
    sim.deliver(message("1")).at(5_000).expect(&["5000 start 1.1 1 for 1"]);
    sim.give(Input::Seen { turn: 1 }).at(6_000).deliver(message("2")).expect(&[]);
    sim.at(9_000).says(1, "x").at(20_000).expect(&next);
    // What was to join it finds that it has spoken.
    let mut sim = Sim::new();
    sim.deliver(message("1")).at(6_000).deliver(message("2"));
    sim.expect(&["5000 start 1.1 1 for 1", "6000 stop 1"]);
    sim.give(Input::Seen { turn: 1 }).at(9_000).says(1, "x").at(20_000).expect(&next);
}

// covers: ATT-55
#[test]
fn what_the_host_has_joined_counts() {
    let replaced = |sim: &mut Sim, event: &str| {
        let reason = chorus_core::model::turn::REPLACED.to_owned();
        sim.give(Input::Cancelled { event: event.into(), reason });
    };
    let mut sim = Sim::new();
    sim.deliver(message("1")).at(5_000);
    replaced(&mut sim, "1");
    sim.ends(1, End::Cancelled).deliver(message("2")).at(10_000);
    replaced(&mut sim, "2");
    sim.deliver(message("3")).ends(2, End::Cancelled).at(15_000);
    sim.deliver(message("4")).at(20_000).says(3, "x").expect(&[
        "5000 start 1.1 1 for 1",
        "5000 stop 1",
        "5000 settle 1 superseded quietly",
        "10000 start 2.1 2 for 2",
        "10000 stop 2",
        "10000 settle 2 superseded quietly",
        "15000 start 3.1 3 for 3",
        "20000 reply 3: x",
        "20000 start 4.1 4 for 4",
    ]);
    // The next turn has its own two.
    sim.deliver(message("5")).expect(&["20000 stop 4"]);
}

// covers: ATT-55
#[test]
fn a_fragment_that_names_somebody_else_does_not_join() {
    let mut other = message("2");
    other.target.mentions = vec!["bot".into(), "carol".into()];
    Sim::new().deliver(message("1")).at(6_000).deliver(other).expect(&["5000 start 1.1 1 for 1"]);
}

// covers: ATT-48, FAIL-12
#[test]
fn others_wait_for_the_next_turn_unless_they_are_urgent_and_immediate() {
    let mut immediate = by("bob", "3");
    immediate.injection.mode = Mode::Immediate.into();
    let mut urgent = immediate.clone();
    urgent.event_id = "4".into();
    urgent.attention.priority = Priority::Urgent.into();
    Sim::new()
        .deliver(message("1"))
        .at(5_000)
        .deliver(by("bob", "2"))
        .deliver(immediate)
        .expect(&["5000 start 1.1 1 for 1"])
        .deliver(urgent)
        .expect(&["5000 stop 1"])
        .ends(1, End::Cancelled)
        .expect(&["5000 start 2.1 1 2 3 4 for 4 look"]);
}

// covers: ATT-53
#[test]
fn an_edit_during_the_turn_begins_it_again_with_the_new_wording() {
    Sim::new()
        .deliver(message("1"))
        .at(5_000)
        .deliver(edit("2", "1"))
        .expect(&["5000 start 1.1 1 for 1", "5000 settle 1 superseded", "5000 stop 1"])
        .ends(1, End::Cancelled)
        .at(20_000)
        .expect(&["10000 start 2.1 2 for 2 look"]);
    // Too late for a restart: the old wording is answered, and the new one is the next turn.
    Sim::new()
        .deliver(message("1"))
        .at(36_000)
        .give(Input::Seen { turn: 1 })
        .deliver(edit("2", "1"))
        .says(1, "x")
        .at(50_000)
        .expect(&["5000 start 1.1 1 for 1", "36000 reply 1: x", "41000 start 2.1 2 for 2"]);
    // The same event in another wording.
    let mut reworded = message("1");
    reworded.content = Some(vec![]);
    Sim::new()
        .deliver(message("1"))
        .at(5_000)
        .give(Input::Refreshed(reworded.clone()))
        .give(Input::Refreshed(reworded))
        .expect(&["5000 start 1.1 1 for 1", "5000 stop 1"]);
}

// covers: ATT-121
#[test]
fn a_deletion_during_the_turn_ends_it_or_begins_it_again_without() {
    Sim::new()
        .deliver(message("1"))
        .at(5_000)
        .cancel("1")
        .says(1, "too late")
        .at(50_000)
        .expect(&["5000 start 1.1 1 for 1", "5000 stop 1", "5000 settle 1 superseded quietly"]);
    Sim::new()
        .deliver(message("1"))
        .deliver(message("2"))
        .at(5_000)
        .cancel("2")
        .ends(1, End::Cancelled)
        .says(2, "x")
        .expect(&[
            "5000 start 1.1 1 2 for 2",
            "5000 stop 1",
            "5000 settle 2 superseded quietly",
            "5000 start 2.1 1 for 1 look",
            "5000 reply 1: x",
        ]);
}
