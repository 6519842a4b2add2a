//! Wakes of runners that are connected to one of several hosts.

use chorus_core::model::error::Code;
use chorus_core::model::limits;
use chorus_core::model::wake::{ReportResult, WakeState};
use chorus_core::queries;

use super::hosts::{two, wait};
use crate::ground::{ADA, by, person};
use crate::wakes;

// covers: THR-544
#[test]
fn a_wake_is_sent_by_the_host_that_has_the_runner() {
    let two = two();
    let runner = two.other.ask(by(ADA), wakes::runner()).unwrap();
    let asked = two.one.say(two.room, "@ada can you look?");
    wait("it is sent there", || !wakes::sent(&two.other).is_empty());
    let first = wakes::sent(&two.other).remove(0);
    assert_eq!((first.session, first.again, first.wake.fence), (runner.key, false, 1));
    assert!(first.prompt.contains("can you look?"), "{}", first.prompt);
    let by_runner = wakes::with(runner.key);
    two.other.ask(by_runner, wakes::report(&first, ReportResult::Confirmed)).unwrap();
    // The other host knows that it runs, and who has it.
    let known =
        two.one.ask(person(), queries::Wakes { session: None, event: Some(asked.event.uid) });
    assert_eq!(known.unwrap()[0].state, WakeState::Running);
    let standing = two.one.ask(person(), queries::Standing { event: asked.event.uid }).unwrap();
    assert_eq!(standing.unwrap().delivery(ADA).unwrap().session(), Some(runner.key));
    // More mail is told by the host that has the runner, too.
    two.one.clock.advance(limits::WAKE_MAIL_MS);
    two.one.say(two.room, "@ada and here?");
    wait("she is told of more", || wakes::sent(&two.other).len() == 2);
    assert!(wakes::sent(&two.other)[1].again);
    // A lease that ends is taken back by one of them.
    two.one.clock.advance(limits::WAKE_LEASE_MS);
    two.one.writer.tick();
    wait("it is sent again", || wakes::sent(&two.other).last().unwrap().wake.fence == 2);
    let old = two.one.ask(by_runner, wakes::report(&first, ReportResult::Working)).unwrap_err();
    assert_eq!(old.code, Code::Conflict);
    two.end();
}
