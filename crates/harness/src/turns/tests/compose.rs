//! The compose window, batches, places, zero-turn answers, edits and deletions before a turn.

use chorus_core::model::attention::{Intent, Mode, Policy};
use chorus_wire::part::Part;

use super::sim::{Sim, by, edit, may, message};
use crate::options::Knocks;
use crate::runtime::End;
use crate::turns::Input;

// covers: ATT-49, ATT-50
#[test]
fn fragments_become_one_turn_after_a_quiet_window_and_the_last_is_answered() {
    Sim::new()
        .deliver(message("1"))
        .at(2_000)
        .deliver(message("2"))
        .at(6_999)
        .expect(&[])
        .at(7_000)
        .expect(&["7000 start 1.1 1 2 for 2"])
        .says(1, "both")
        .expect(&["7000 reply 2: both", "7000 settle 1 superseded"]);
}

/// What people see of it: the waits that an agent has by default.
// covers: ATT-49, ATT-50, ATT-300
#[test]
fn pieces_are_one_answer_and_nobody_waits_longer_than_five_seconds() {
    // The example of the C2A spec, by somebody unknown.
    let mut sim = Sim::by_default();
    for (n, text) in ["when someone types", "in", "pieces", "like this", "the agent should wait"]
        .into_iter()
        .enumerate()
    {
        sim.at(1_500 * n as i64).post(&n.to_string(), text);
    }
    sim.at(60_000).expect(&["8000 start 1.1 0 1 2 3 4 for 4"]);
    // A brisk conversation: a question 3 s after each answer.
    let mut sim = Sim::by_default();
    let mut now = 0;
    for turn in 1..9 {
        sim.at(now).post(&turn.to_string(), "And is that so in staging?").at(now + 2_500);
        sim.says(turn, "Yes.");
        sim.expect(&[
            &format!("{} start {turn}.1 {turn} for {turn}", now + 2_000),
            &format!("{} reply {turn}: Yes.", now + 2_500),
        ]);
        now += 5_500;
    }
    // After edits, as often as somebody makes them; the host withdraws what each one replaces.
    let mut sim = Sim::by_default();
    sim.post("0", "run it").says(0, "-");
    for n in 1..9 {
        sim.at(n * 500)
            .cancel(&(n - 1).to_string())
            .deliver(edit(&n.to_string(), &(n - 1).to_string()));
    }
    sim.at(60_000);
    let lines = sim.lines();
    assert_eq!(lines.last().unwrap(), "6000 start 1.1 8 for 8", "{lines:?}");
}

// covers: ATT-302
#[test]
fn an_answer_ends_what_was_learned_of_its_askers() {
    let mut sim = Sim::by_default();
    for n in 0..6 {
        sim.at(n * 1_000).post(&n.to_string(), "run it");
    }
    let waited = |sim: &mut Sim| sim.turns.due().unwrap().0 - sim.now();
    let hasty = waited(&mut sim);
    assert!((4_000..=5_000).contains(&hasty), "{hasty}");
    sim.at(20_000).says(1, "done").at(21_000).post("again", "run it");
    assert_eq!(waited(&mut sim), 3_500, "as of somebody unknown");
}

// covers: ATT-50, ATT-51
#[test]
fn the_window_is_capped_and_held_while_the_author_types() {
    let mut sim = Sim::new();
    for n in 0..12 {
        sim.at(n * 4_000).deliver(message(&n.to_string()));
        if n == 7 {
            sim.expect(&[]);
        }
    }
    sim.expect(&["30000 start 1.1 0 1 2 3 4 5 6 7 for 7", "32000 stop 1"]);
    Sim::new()
        .deliver(message("1"))
        .at(4_000)
        .typing(true)
        .at(9_000)
        .expect(&[])
        .typing(false)
        .at(20_000)
        .expect(&["10000 start 1.1 1 for 1"]);
    Sim::new().deliver(message("1")).typing(true).at(40_000).expect(&["30000 start 1.1 1 for 1"]);
}

// covers: ATT-52
#[test]
fn a_text_that_names_another_closes_what_was_before() {
    let mut unfinished = message("1");
    unfinished.content = Some(vec![Part::text("I looked at the")]);
    let mut other = message("2");
    other.target.mentions = vec!["bot".into(), "carol".into()];
    Sim::new()
        .deliver(unfinished)
        .at(4_000)
        .expect(&[])
        .deliver(other)
        .expect(&["4000 start 1.1 1 for 1"]);
    let mut mine = message("3");
    mine.target.mentions = vec!["bot".into()];
    Sim::new().deliver(message("2")).deliver(mine).at(9_000).expect(&["5000 start 1.1 2 3 for 3"]);
}

#[test]
fn every_author_has_a_window_of_their_own() {
    let mut sim = Sim::new();
    sim.deliver(message("1")).at(4_000).deliver(by("bob", "2")).at(8_000);
    sim.expect(&["5000 start 1.1 1 for 1"]).says(1, "x").expect(&["8000 reply 1: x"]);
    sim.at(60_000).expect(&["9000 start 2.1 2 for 2"]);
    // A turn that is begun again waits for its authors, and takes along who else has finished.
    let mut sim = Sim::new();
    sim.deliver(message("1")).deliver(by("bob", "2")).at(6_000).deliver(message("3"));
    sim.ends(1, End::Cancelled).at(7_000).deliver(by("carol", "4")).at(10_000);
    sim.deliver(by("dave", "5")).at(20_000);
    sim.expect(&["5000 start 1.1 1 2 for 2", "6000 stop 1", "11000 start 2.1 1 2 3 for 3 look"]);
}

// covers: ATT-47
#[test]
fn immediate_goes_at_once_and_takes_along_what_waits() {
    let mut urgent = message("2");
    urgent.injection.mode = Mode::Immediate.into();
    Sim::new()
        .deliver(message("1"))
        .at(1_000)
        .deliver(urgent)
        .expect(&["1000 start 1.1 1 2 for 2"]);
}

// covers: ATT-54, FAIL-1
#[test]
fn what_comes_during_a_turn_is_one_next_turn_however_much_it_is() {
    let mut sim = Sim::new();
    sim.deliver(message("first")).at(5_000).expect(&["5000 start 1.1 first for first"]);
    for n in 0..767 {
        sim.at(5_000 + n).deliver(by("bob", &format!("{n}")));
    }
    sim.expect(&[]).at(60_000).says(1, "done");
    let turns = sim.turns.running().count();
    assert_eq!((turns, sim.turns.open()), (1, 767));
}

// covers: ATT-54
#[test]
fn places_run_beside_each_other_up_to_the_limit() {
    let mut sim = Sim::with(Knocks::Hold, 2);
    for place in ["ch_1", "ch_2", "ch_3"] {
        let mut delivery = message(place);
        delivery.conversation.id = place.into();
        sim.deliver(delivery);
    }
    let mut thread = message("th");
    thread.conversation.thread_id = Some("th_1".into());
    sim.at(1_000).deliver(thread).at(10_000);
    sim.expect(&["5000 start 1.1 ch_1 for ch_1", "5000 start 2.1 ch_2 for ch_2"]);
    sim.says(1, "a").expect(&["10000 reply ch_1: a", "10000 start 3.1 ch_3 for ch_3"]);
    sim.says(2, "b").expect(&["10000 reply ch_2: b", "10000 start 4.1 th for th"]);
}

// covers: ATT-67, FAIL-3
#[test]
fn acknowledgements_and_forbidden_replies_cost_no_turn() {
    let mut thanks = message("1");
    thanks.attention.policy = Policy::AckOnly.into();
    thanks.attention.intent = Some(Intent::Thanks.into());
    let mut other = message("2");
    other.attention.policy = Policy::AckOnly.into();
    let mut ambient = message("3");
    ambient.attention.policy = Policy::MustNotRespond.into();
    Sim::new().deliver(thanks).deliver(other).deliver(ambient).at(100_000).expect(&[
        "0 settle 1 acknowledged agree",
        "0 settle 2 acknowledged seen",
        "0 settle 3 ignored",
    ]);
}

// covers: ATT-63, ATT-383
#[test]
fn silence_is_no_answer_only_where_an_answer_is_owed() {
    Sim::new()
        .deliver(may("1"))
        .deliver(message("2"))
        .at(5_000)
        .ends(1, End::Silent)
        .at(6_000)
        .ends(2, End::Silent)
        .expect(&[
            "5000 start 1.1 1 2 for 2",
            "5000 settle 1 ignored",
            "6000 start 2.2 2 for 2 look",
            "6000 settle 2 failed: the runtime ended without an answer",
        ]);
    // What its runtime has put off or ended by itself is not run again.
    Sim::new().deliver(message("1")).at(5_000).ends(1, End::Disposed).at(100_000).expect(&[
        "5000 start 1.1 1 for 1",
        "5000 settle 1 failed: the runtime ended without an answer",
    ]);
    Sim::new()
        .deliver(message("1"))
        .at(5_000)
        .ends(1, End::Silent)
        .at(6_000)
        .says(2, "x")
        .expect(&["5000 start 1.1 1 for 1", "6000 start 2.2 1 for 1 look", "6000 reply 1: x"]);
    // What presses most is answered, also when something lighter came after it.
    Sim::new().deliver(message("1")).deliver(may("2")).at(5_000).says(1, "x").expect(&[
        "5000 start 1.1 1 2 for 1",
        "5000 reply 1: x",
        "5000 settle 2 superseded",
    ]);
}

// covers: ATT-53, ATT-121
#[test]
fn an_edit_takes_the_place_of_what_it_edits_and_a_deletion_leaves_none() {
    Sim::new()
        .deliver(message("1"))
        .deliver(message("2"))
        .at(4_000)
        .deliver(edit("3", "1"))
        .expect(&["4000 settle 1 superseded"])
        .cancel("2")
        .expect(&["4000 settle 2 superseded quietly"])
        .at(9_000)
        .expect(&["9000 start 1.1 3 for 3"]);
    // The cancellation of the old wording may come first; then there is nothing to replace.
    Sim::new()
        .deliver(message("1"))
        .cancel("1")
        .deliver(edit("2", "1"))
        .at(5_000)
        .cancel("unknown")
        .expect(&["0 settle 1 superseded quietly", "5000 start 1.1 2 for 2"]);
}

// covers: ATT-105, FAIL-9
#[test]
fn the_same_event_offered_again_is_one_turn_with_the_fresher_content() {
    let mut again = message("1");
    again.content = Some(vec![Part::text("Is it blocked?")]);
    let mut sim = Sim::new();
    sim.deliver(message("1")).at(1_000).give(Input::Refreshed(again)).at(60_000);
    sim.expect(&["6000 start 1.1 1 for 1"]).give(Input::Refreshed(message("0"))).expect(&[]);
}
