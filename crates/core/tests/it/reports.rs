//! Runs that fail, and who reads it (attention spec, "Dispositions").

use chorus_core::commands::deliveries;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::event::MessageKind;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::reaction::Signal;

use crate::house::{AGENTS, ALICE, House, SCOUT, Say};

fn fail(house: &mut House, member: MemberKey, event: Uid, note: Option<&str>) -> Disposition {
    house.take(member);
    let note = note.map(Into::into);
    let command = deliveries::Dispose { event, disposition: Disposition::Failed, note };
    house.run(house.by(member), command).expect("it was offered");
    house.disposition(event, member).unwrap_or(Disposition::Claimed)
}

/// What is reported of an event: who says it, and what.
fn reports(house: &House, event: Uid) -> Vec<(MemberKey, String)> {
    let seq = house.event(event).seq;
    let all = house.log.events.values();
    let about = all
        .filter(|e| e.reply_to == Some(seq) && e.conversation == house.event(event).conversation);
    let said = about.filter_map(|e| Some((e, e.change.message()?)));
    let system = said.filter(|(_, message)| message.kind == MessageKind::System);
    system
        .map(|(e, message)| {
            let told = e.attention.as_ref().map(|a| a.told.len());
            assert_eq!(told, Some(0), "a report wakes nobody");
            (e.actor, message.text.to_string())
        })
        .collect()
}

// covers: ATT-380, ATT-382, ATT-450
#[test]
fn a_failure_is_reported_where_nobody_is_left() {
    let begins = "The run failed, and nobody else can answer";
    let long = "é".repeat(700);
    for (note, text) in [
        (None, format!("{begins}.")),
        (Some(" \n"), format!("{begins}.")),
        (Some("boom"), format!("{begins}: boom")),
        (Some("a\u{1b}[2J\nb\u{202e}c"), format!("{begins}: a\\u{{1b}}[2J b\\u{{202e}}c")),
        (Some(&*long), format!("{begins}: {}…", "é".repeat(600))),
        // Its answer was denied, and its run has not failed.
        (
            Some("a person has denied it: not yet"),
            "The answer is not posted: a person has denied it: not yet".to_owned(),
        ),
    ] {
        let mut house = House::new();
        let pair = house.pair;
        let event = house.post(ALICE, Say::to(pair, "can you look at the deploy?")).expect("said");
        fail(&mut house, SCOUT, event, note);
        assert_eq!(reports(&house, event), [(SCOUT, text)]);
    }
}

// covers: ATT-380
#[test]
fn while_somebody_is_left_nothing_is_reported() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the deploy?");
    fail(&mut house, SCOUT, event, Some("boom"));
    assert_eq!(reports(&house, event), [], "bob owes it now");

    let role = house.says(ALICE, "@helpers can one of you look at the parser?");
    for left in (0..AGENTS.len()).rev() {
        let open = house.open(role).expect("open").clone();
        let selected = open.claim.expect("selected").holder;
        fail(&mut house, selected, role, Some("boom"));
        assert_eq!(reports(&house, role).len(), usize::from(left == 0), "{left} are left");
    }
}

// covers: ATT-380
#[test]
fn who_asked_a_role_learns_that_all_of_it_declined() {
    let mut house = House::new();
    let role = house.says(ALICE, "@helpers can one of you look at the parser?");
    for left in (0..AGENTS.len()).rev() {
        let selected = house.open(role).expect("open").claim.expect("selected").holder;
        house.take(selected);
        house.react(selected, role, Signal::Declined).expect("it was asked");
        assert_eq!(reports(&house, role).len(), usize::from(left == 0), "{left} are left");
    }
}

// covers: ATT-386
#[test]
fn what_is_overdue_is_reported_where_nobody_is_left() {
    let mut house = House::new();
    let pair = house.pair;
    let event = house.post(ALICE, Say::to(pair, "can you look at the deploy?")).expect("said");
    house.take(SCOUT);
    house.pass(i64::from(limits::DEADLINE_MS) - 1_000);
    assert_eq!(reports(&house, event), []);
    house.pass(600_000);
    let late = "No answer came in time, and nobody else can answer.".to_owned();
    assert_eq!(reports(&house, event), [(SCOUT, late)]);
    house.pass(86_400_000);
    assert_eq!(reports(&house, event).len(), 1);

    let event = house.says(ALICE, "@scout can you look at the deploy?");
    house.pass(600_000);
    assert_eq!(reports(&house, event), [], "bob owes it now");
}

// covers: ATT-386
#[test]
fn what_is_set_aside_is_reported_where_nobody_is_left() {
    let mut house = House::new();
    let pair = house.pair;
    let event = house.post(ALICE, Say::to(pair, "can you look at the deploy?")).expect("said");
    house.take(SCOUT);
    let note = Some("busy elsewhere".into());
    let command = deliveries::Dispose { event, disposition: Disposition::Ignored, note };
    house.run(house.by(SCOUT), command).expect("it was offered");
    let said = "This was set aside, and nobody else can answer: busy elsewhere".to_owned();
    assert_eq!(reports(&house, event), [(SCOUT, said)]);
}
