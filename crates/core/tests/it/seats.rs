//! Seats of agents: what they are called in a channel, and which of their sessions is asked there.

use std::sync::Arc;

use chorus_core::commands::{conversations, directory};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::{Conversation, Participation, Terms, TermsPatch};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, SessionKey, Uid};

use crate::house::{ALICE, House, REVIEWER, SCOUT, code};

fn set(
    house: &mut House,
    by: MemberKey,
    member: MemberKey,
    terms: TermsPatch,
) -> Result<Arc<Conversation>, Refusal> {
    let (conversation, participation) = (house.ops, Participation::default());
    let seat = conversations::SetSeat { conversation, member, participation, terms };
    house.run(house.by(by), seat)
}

fn terms(house: &House, member: MemberKey) -> Option<Terms> {
    let room = house.ws.rooms().find(|r| r.conversation().uid == house.ops).unwrap();
    room.conversation().settings.seats.get(&member).cloned()
}

fn uid(house: &House, session: SessionKey) -> Uid {
    house.ws.directory().sessions[&session].uid
}

fn called(name: &str) -> TermsPatch {
    TermsPatch { name: Some(Some(name.into())), session: None }
}

fn only(session: Option<Uid>) -> TermsPatch {
    TermsPatch { name: None, session: Some(session) }
}

// covers: CHN-222
#[test]
fn a_pinned_seat_is_asked_by_its_session_and_no_other() {
    let mut house = House::asleep();
    let first = house.connect(SCOUT);
    let second = house.connect(SCOUT);
    house.says(ALICE, "@scout what is the time?");
    assert_eq!(house.take(SCOUT).session, second, "the newest, where nothing is set");
    let pin = only(Some(uid(&house, first)));
    set(&mut house, ALICE, SCOUT, pin).unwrap();
    house.says(ALICE, "@scout and the date?");
    assert_eq!(house.take(SCOUT).session, first);

    // It is away: what comes waits for it, though the other is there.
    house.run(By::host(), directory::CloseSession { session: first }).unwrap();
    let waits = house.says(ALICE, "@scout and the weather?");
    house.pass(30_000);
    assert!(house.offers(SCOUT).is_empty(), "the other is not asked");
    house.reconnect(SCOUT, second);
    assert!(
        house.offers(SCOUT).iter().all(|o| o.entry.event.uid != waits),
        "nor when it comes anew"
    );
    house.reconnect(SCOUT, first);
    let offers = house.offers(SCOUT);
    let offer = offers.iter().find(|o| o.entry.event.uid == waits).expect("what waited");
    assert_eq!(offer.session, first);
}

// covers: CHN-222
#[test]
fn what_is_offered_goes_over_to_the_session_that_is_asked_from_now_on() {
    let mut house = House::asleep();
    let first = house.connect(SCOUT);
    let second = house.connect(SCOUT);
    let asked = house.says(ALICE, "@scout what is the time?");
    let offer = house.offer(SCOUT);
    assert_eq!(offer.session, second);
    let pin = only(Some(uid(&house, first)));
    set(&mut house, SCOUT, SCOUT, pin).unwrap();
    assert_eq!(house.cancelled.len(), 1, "it is withdrawn");
    let again = house.take(SCOUT);
    assert_eq!((again.session, again.entry.event.uid), (first, asked));
    // A run goes on where it began.
    let pin = only(Some(uid(&house, second)));
    set(&mut house, SCOUT, SCOUT, pin).unwrap();
    assert!(house.offers(SCOUT).is_empty());
    house.reply(&again, "noon").unwrap();
    assert_eq!(house.disposition(asked, SCOUT), Some(Disposition::Responded));
    // Any session again.
    set(&mut house, SCOUT, SCOUT, only(None)).unwrap();
    assert_eq!(terms(&house, SCOUT), None);
}

// covers: CHN-221, CHN-223
#[test]
fn what_is_set_about_a_seat_is_checked_stays_and_goes_with_it() {
    let mut house = House::new();
    let mine = house.ws.directory().connected(SCOUT)[0];
    let others = house.ws.directory().connected(REVIEWER)[0];
    let before = house.fingerprint();
    let long = "x".repeat(10_000);
    for bad in [called(""), called("two\nlines"), called(&long), only(Some(Uid(77)))] {
        assert_eq!(
            code(set(&mut house, ALICE, SCOUT, bad.clone())),
            Code::ValidationError,
            "{bad:?}"
        );
    }
    let pin = only(Some(uid(&house, others)));
    assert_eq!(
        code(set(&mut house, ALICE, SCOUT, pin)),
        Code::ValidationError,
        "another's session"
    );
    assert_eq!(
        code(set(&mut house, ALICE, ALICE, called("boss"))),
        Code::ValidationError,
        "a person"
    );
    let refused = set(&mut house, REVIEWER, SCOUT, called("fool"));
    assert_eq!(code(refused), Code::InsufficientAuthority);
    assert_eq!(house.fingerprint(), before);

    set(&mut house, SCOUT, SCOUT, called("Night watch")).unwrap();
    let pin = only(Some(uid(&house, mine)));
    set(&mut house, SCOUT, SCOUT, pin).unwrap();
    let kept = Terms { name: Some("Night watch".into()), session: Some(uid(&house, mine)) };
    assert_eq!(terms(&house, SCOUT), Some(kept.clone()), "one leaves the other as it is");
    let logged = house.log.events.len();
    set(&mut house, ALICE, SCOUT, TermsPatch::default()).unwrap();
    assert_eq!(house.log.events.len(), logged, "what changes nothing is no event");
    house.restart();
    assert_eq!(terms(&house, SCOUT), Some(kept));
    let follows = TermsPatch { name: Some(None), session: None };
    set(&mut house, ALICE, SCOUT, follows).unwrap();
    assert_eq!(terms(&house, SCOUT).and_then(|t| t.name), None);
    let (conversation, member) = (house.ops, SCOUT);
    house.run(house.by(ALICE), conversations::RemoveSeat { conversation, member }).unwrap();
    assert_eq!(terms(&house, SCOUT), None);
}

// covers: CHN-223
#[test]
fn only_so_many_seats_of_a_channel_are_special() {
    let mut house = House::new();
    let agents: Vec<_> = (0..65)
        .map(|n| {
            house.add_member(&format!("agent{n}"), chorus_core::model::member::MemberKind::Agent)
        })
        .collect();
    for (n, agent) in agents[..64].iter().enumerate() {
        set(&mut house, ALICE, *agent, called(&format!("one of many, {n}"))).unwrap();
    }
    let full = set(&mut house, ALICE, agents[64], called("one too many"));
    assert_eq!(code(full), Code::RateLimited);
    set(&mut house, ALICE, agents[0], called("renamed")).unwrap();
}
