//! Section 10: reaction signals.

use chorus_core::model::attention::{Mode, Policy, Rule};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::reaction::Signal;

use crate::house::{AGENTS, ALICE, BOB, House, SCOUT};

// covers: ATT-70
#[test]
fn the_nine_signals_have_their_glyphs_and_dispositions() {
    use Disposition::{Acknowledged, Claimed, Deferred, Ignored, Responded};
    let table = [
        ("seen", "👀", Some(Acknowledged)),
        ("agree", "👍", Some(Acknowledged)),
        ("working", "🔧", Some(Claimed)),
        ("queued", "🕐", Some(Deferred)),
        ("claimed", "✋", Some(Claimed)),
        ("done", "✅", Some(Responded)),
        ("declined", "🙅", Some(Ignored)),
        ("blocked", "🚧", Some(Deferred)),
        ("unclear", "❓", None),
    ];
    assert_eq!(table.len(), Signal::ALL.len());
    for (name, glyph, disposition) in table {
        let signal = Signal::from_name(name).expect("a signal");
        assert_eq!((signal.default_glyph(), signal.disposition()), (glyph, disposition), "{name}");
    }
}

// covers: ATT-71, ATT-72
#[test]
fn a_reaction_ends_the_delivery_without_a_turn() {
    for signal in Signal::ALL {
        let mut house = House::new();
        let event = house.says(ALICE, "@scout can you look?");
        house.take(SCOUT);
        let logged = house.log.events.len();
        let ended = house.react(SCOUT, event, signal).expect("its own");
        assert_eq!(ended, signal.disposition(), "{signal:?}");
        let settled = signal.disposition().filter(|d| *d != Disposition::Claimed);
        assert_eq!(house.disposition(event, SCOUT), settled, "{signal:?}");
        assert_eq!(house.log.events.len(), logged + 1, "one event, and no message");
        let claim = house.open(event).and_then(|o| o.claim).map(|c| c.holder);
        let takes = matches!(signal, Signal::Working | Signal::Claimed);
        assert_eq!(claim, takes.then_some(SCOUT), "{signal:?}");
    }
}

// covers: ATT-73
#[test]
fn a_persons_word_on_an_agents_message_is_a_knock() {
    let knocks = [Signal::Agree, Signal::Declined, Signal::Done, Signal::Unclear, Signal::Blocked];
    for signal in Signal::ALL {
        let mut house = House::new();
        let event = house.says(SCOUT, "shall I roll it back?");
        for agent in AGENTS {
            house.offers(agent);
        }
        house.react(BOB, event, signal).expect("a reaction is free");
        let offers = house.offers(SCOUT);
        assert_eq!(offers.len(), usize::from(knocks.contains(&signal)), "{signal:?}");
        for offer in offers {
            let decision = offer.decision;
            assert_eq!(
                (decision.rule, decision.policy, decision.mode),
                (Rule::Reaction, Policy::MayRespond, Mode::Notify)
            );
        }
    }
}

// covers: ATT-74
#[test]
fn a_persons_done_ends_what_is_owed() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look?");
    house.take(SCOUT);
    house.react(BOB, event, Signal::Done).expect("a reaction is free");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Superseded));
    house.pass(3_600_000);
    assert!(house.offers(SCOUT).is_empty());
}

// covers: ATT-75
#[test]
fn setting_a_signal_twice_is_setting_it_once() {
    let mut house = House::new();
    let event = house.says(ALICE, "lunch was nice");
    house.react(SCOUT, event, Signal::Agree).expect("free");
    let logged = house.log.events.len();
    house.react(SCOUT, event, Signal::Agree).expect("free");
    assert_eq!(house.log.events.len(), logged);
    let state = &house.log.messages[&house.log.by_uid[&event]];
    assert_eq!(state.reactions, [(SCOUT, Signal::Agree)]);
}
