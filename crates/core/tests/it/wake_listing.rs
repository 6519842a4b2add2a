//! Who sees which wakes.

use chorus_core::commands::wakes::ReportWake;
use chorus_core::model::error::Code;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::wake::ReportResult;
use chorus_core::queries::Wakes;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, code};
use crate::wakes::report;

const ALL: Wakes = Wakes { session: None, event: None };

// covers: THR-526
#[test]
fn what_a_wake_shows_depends_on_who_asks() {
    let mut house = House::asleep();
    let runner = house.run_program(SCOUT, None);
    let event = house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    let lines = Some("secret plans".into());
    house
        .run(house.by(SCOUT), ReportWake { lines, ..report(&sent, ReportResult::Confirmed) })
        .unwrap();
    let uid = house.ws.directory().sessions[&runner].uid;
    let of_session = Wakes { session: Some(uid), event: None };
    let of_event = Wakes { session: None, event: Some(event) };
    for (who, sees_words) in [(ALICE, true), (SCOUT, true), (REVIEWER, false)] {
        let by = house.by(who);
        assert_eq!(house.run(by, ALL).unwrap().len(), usize::from(sees_words), "{who}");
        assert_eq!(house.run(by, of_session.clone()).unwrap().len(), usize::from(sees_words));
        let found = house.run(by, of_event.clone()).unwrap();
        assert_eq!(found.len(), 1, "{who} sees the event");
        assert_eq!(found[0].lines.is_some(), sees_words, "{who}");
        assert_eq!(found[0].attempts[0].evidence.is_some(), sees_words, "{who}");
        assert_eq!(
            found[0].attempts[0].lane,
            sent.wake.lane().unwrap_or(found[0].attempts[0].lane)
        );
    }
    let other = house.says(BOB, "nothing");
    let by = house.by(ALICE);
    assert!(house.run(by, Wakes { session: None, event: Some(other) }).unwrap().is_empty());
    assert_eq!(code(house.run(by, Wakes { session: Some(Uid(9)), event: None })), Code::NotFound);
    assert!(sent.wake.uid.show(Prefix::Wake).starts_with("wake_"));
}
