//! `spec/webhook.md`, "An agent behind a string of ours": inboxes, what they take in, and what is noted to go back.

use std::sync::Arc;

use chorus_core::commands::{conversations, directory, inboxes};
use chorus_core::model::attention::{Directedness, Policy, Rule};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::endpoint::Secret;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::{Idempotency, Message};
use chorus_core::model::ids::{MemberKey, Seq, Uid};
use chorus_core::model::inbox::{Channel, Checks, Inbox, Patch, Received};
use chorus_core::model::limits;
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::state::effect::RemoteNews;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, at, code};

fn add(house: &mut House, agent: MemberKey, secret: u8) -> Arc<Inbox> {
    let by = house.by(ALICE);
    let (secret, checks) = ([secret; 32], Checks::default());
    house.run(by, inboxes::AddInbox { agent, name: None, secret, checks }).expect("an operator may")
}

/// A person's message `id` of channel `c1`, with a callback that is named like it.
fn from(secret: u8, id: &str, text: &str) -> Received {
    let mut key = [0; 16];
    key[..id.len()].copy_from_slice(id.as_bytes());
    Received {
        secret: [secret; 32],
        channel: Channel { hash: [1; 32], title: "general · Slack".into(), context: "".into() },
        message: Message { text: text.into(), ..Message::default() },
        idempotency: Idempotency { key, payload: key },
        kind: MemberKind::Human,
        hop: 0,
        directedness: None,
        callback: Secret(id.into()),
    }
}

fn receive(house: &mut House, received: Received) -> Result<(Uid, bool), Refusal> {
    let logged = house.run(By::host(), inboxes::Receive(received))?;
    Ok((logged.entry.event.uid, logged.duplicate))
}

/// What is news to the service since last asked.
fn news(house: &mut House) -> Vec<RemoteNews> {
    std::mem::take(&mut house.log.news)
}

// covers: WHK-60, WHK-69, WHK-70
#[test]
fn what_a_service_delivers_is_for_the_agent_and_its_answer_for_the_service() {
    let mut house = House::new();
    let inbox = add(&mut house, SCOUT, 1);
    let (asked, _) = receive(&mut house, from(1, "m1", "what broke the build?")).unwrap();
    let event = house.event(asked).clone();
    assert_eq!((event.actor, event.hop), (inbox.people, 0));
    let decision = house.decision(asked, SCOUT).expect("told");
    assert_eq!((decision.rule, decision.directedness), (Rule::Delivered, Directedness::ToMe));
    assert_eq!(decision.policy, Policy::MustRespond);
    let room = house.ws.room(event.conversation).unwrap();
    assert_eq!(room.conversation().kind, ConversationKind::Thread);
    assert_eq!(room.roster().len(), 3, "the agent, and who stands in for others");
    assert_eq!(&*room.conversation().settings.title, "general · Slack");

    let offer = house.take(SCOUT);
    assert_eq!(offer.came_with, Some(Secret("m1".into())));
    assert_eq!(news(&mut house), [RemoteNews::Began(event.seq)]);
    let answer = house.reply(&offer, "a missing semicolon. Was that you?").unwrap();
    let said = house.event(answer).clone();
    assert!(
        house.attention(answer).told.is_empty(),
        "a stand-in is told nothing, and owes nothing"
    );
    let ended = RemoteNews::Ended { event: event.seq, answered: true, failed: false };
    let all = news(&mut house);
    assert!(all.contains(&RemoteNews::Said) && all.contains(&ended), "{all:?}");
    let remote = house.ws.room(event.conversation).unwrap().remote().cloned().unwrap();
    assert_eq!((remote.said, remote.sent, remote.owes()), (said.seq, Seq(0), true));
    let through = said.seq;
    let sent = inboxes::SentBack { conversation: event.conversation, through };
    assert_eq!(code(house.run(house.by(ALICE), sent.clone())), Code::Forbidden);
    house.run(By::host(), sent).unwrap();
    let back = inboxes::SentBack { conversation: event.conversation, through: Seq(1) };
    house.run(By::host(), back).unwrap();
    let remote = house.ws.room(event.conversation).unwrap().remote().cloned().unwrap();
    assert_eq!((remote.sent, remote.owes()), (said.seq, false), "it never goes back");

    // The next message of the channel comes to the same conversation, of another channel to another.
    let (next, _) = receive(&mut house, from(1, "m2", "thanks")).unwrap();
    assert_eq!(house.event(next).conversation, event.conversation);
    let other = Channel { hash: [2; 32], title: "random".into(), context: "".into() };
    let elsewhere = Received { channel: other, ..from(1, "m3", "and here?") };
    let (elsewhere, _) = receive(&mut house, elsewhere).unwrap();
    assert_ne!(house.event(elsewhere).conversation, event.conversation);
    assert_eq!(house.ws.directory().inboxes[&inbox.uid].channels, 2);
}

// covers: WHK-68
#[test]
fn the_same_message_is_taken_once_and_its_newer_callback_counts() {
    let mut house = House::new();
    let inbox = add(&mut house, SCOUT, 1);
    let (first, duplicate) = receive(&mut house, from(1, "m1", "hello?")).unwrap();
    assert!(!duplicate);
    let before = house.ws.directory().inboxes[&inbox.uid].channels;
    let again = Received { callback: Secret("new".into()), ..from(1, "m1", "hello, edited?") };
    assert_eq!(receive(&mut house, again).unwrap(), (first, true));
    assert_eq!(house.ws.directory().inboxes[&inbox.uid].channels, before);
    let at = at(house.event(first));
    let remote = house.ws.room(at.conversation).unwrap().remote().cloned().unwrap();
    assert_eq!(remote.callbacks.len(), 1);
    assert_eq!(remote.callbacks[&at.seq].sealed, Secret("new".into()));
    assert_eq!(house.offers(SCOUT)[0].came_with, Some(Secret("m1".into())));
    // Offered once more, it comes with what is newest.
    house.disconnect(SCOUT);
    house.connect(SCOUT);
    assert_eq!(house.take(SCOUT).came_with, Some(Secret("new".into())));
}

// covers: WHK-64
#[test]
fn a_string_that_was_replaced_is_nobodys_at_once() {
    let mut house = House::new();
    let inbox = add(&mut house, SCOUT, 1);
    receive(&mut house, from(1, "m1", "hello?")).unwrap();
    let by = house.by(ALICE);
    house.run(by, inboxes::RotateInbox { inbox: inbox.uid, secret: [2; 32] }).unwrap();
    let before = house.fingerprint();
    assert_eq!(code(receive(&mut house, from(1, "m2", "hello?"))), Code::Unauthorized);
    assert_eq!(code(receive(&mut house, from(9, "m2", "hello?"))), Code::Unauthorized);
    assert_eq!(house.fingerprint(), before);
    receive(&mut house, from(2, "m2", "hello?")).unwrap();

    house.run(by, inboxes::RemoveInbox { inbox: inbox.uid }).unwrap();
    assert_eq!(code(receive(&mut house, from(2, "m3", "hello?"))), Code::Unauthorized);
    let directory = house.ws.directory();
    assert!(directory.member(inbox.people).unwrap().removed);
    assert!(!directory.is_stand_in(inbox.people));
}

// covers: WHK-73
#[test]
fn chains_across_hosts_end_as_on_one() {
    let mut house = House::new();
    let inbox = add(&mut house, SCOUT, 1);
    let hop = |hop, id: &str| Received {
        kind: MemberKind::Agent,
        hop,
        ..from(1, id, "could you look at this?")
    };
    let (early, _) = receive(&mut house, hop(3, "m1")).unwrap();
    assert_eq!((house.event(early).hop, house.event(early).actor), (3, inbox.agents));
    assert_eq!(house.decision(early, SCOUT).unwrap().policy, Policy::MustRespond);
    let offer = house.take(SCOUT);
    let answer = house.reply(&offer, "I did").unwrap();
    assert_eq!(house.event(answer).hop, 4);
    let (late, _) = receive(&mut house, hop(limits::HOP_NO_OBLIGATION, "m2")).unwrap();
    assert_ne!(house.decision(late, SCOUT).unwrap().policy, Policy::MustRespond);
    let (end, _) = receive(&mut house, hop(limits::HOP_END, "m3")).unwrap();
    assert_eq!(house.decision(end, SCOUT), None, "told to no agent");
    assert_eq!(house.decision(end, ALICE).unwrap().rule, Rule::HopLimit, "and a person is told");
    // An agent that states nothing is one message away from a person at least.
    let (bare, _) = receive(&mut house, hop(0, "m4")).unwrap();
    assert_eq!(house.event(bare).hop, 1);
}

// covers: WHK-72
#[test]
fn a_sender_may_lower_an_obligation() {
    let mut house = House::new();
    add(&mut house, SCOUT, 1);
    let stated = Some(Directedness::Ambient);
    let lowered = Received { directedness: stated, ..from(1, "m1", "could you look?") };
    let (event, _) = receive(&mut house, lowered).unwrap();
    assert_eq!(house.decision(event, SCOUT).unwrap().policy, Policy::MayRespond);
    let raised = Some(Directedness::ToMe);
    let raised = Received { directedness: raised, ..from(1, "m2", "ok, thanks") };
    let (event, _) = receive(&mut house, raised).unwrap();
    let plain = from(1, "m3", "ok, thanks");
    let (same, _) = receive(&mut house, plain).unwrap();
    assert_eq!(house.decision(event, SCOUT), house.decision(same, SCOUT));
}

// covers: WHK-61, WHK-62
#[test]
fn inboxes_are_kept_by_who_runs_the_room_and_who_owns_the_agent() {
    let mut house = House::new();
    let fields = MemberFields { owner: Some("bob".into()), ..MemberFields::default() };
    house.run(By::host(), directory::ChangeMember { member: SCOUT, fields }).unwrap();
    let bob = By { authority: Authority::Worker, ..house.by(BOB) };
    let new = |agent, secret: u8| {
        let checks = Checks::default();
        inboxes::AddInbox { agent, name: Some("bridge".into()), secret: [secret; 32], checks }
    };
    let own = house.run(bob, new(SCOUT, 1)).unwrap();
    assert_eq!((own.created_by, &*own.name), (BOB, "bridge"));
    assert_eq!(code(house.run(bob, new(REVIEWER, 2))), Code::InsufficientAuthority);
    let scout = house.by(SCOUT);
    assert_eq!(code(house.run(scout, new(SCOUT, 2))), Code::InsufficientAuthority);
    let alice = house.by(ALICE);
    let others = house.run(alice, new(REVIEWER, 3)).unwrap();
    // What one may not keep is as unknown as what is not there.
    let rotate = |inbox| inboxes::RotateInbox { inbox, secret: [4; 32] };
    assert_eq!(code(house.run(bob, rotate(others.uid))), Code::NotFound);
    assert_eq!(code(house.run(bob, rotate(Uid(77)))), Code::NotFound);
    assert_eq!(code(house.run(alice, new(ALICE, 5))), Code::ValidationError);
    assert_eq!(code(house.run(alice, new(others.agents, 5))), Code::ValidationError);
    let taken = inboxes::RotateInbox { inbox: own.uid, secret: [3; 32] };
    assert_eq!(code(house.run(bob, taken)), Code::Conflict);
    let patch = Patch { name: Some("a\nb".into()), ..Patch::default() };
    let change = inboxes::ChangeInbox { inbox: own.uid, patch };
    assert_eq!(code(house.run(bob, change)), Code::ValidationError);
    let trouble = inboxes::NoteTrouble { inbox: own.uid, what: "x".into() };
    assert_eq!(code(house.run(alice, trouble)), Code::Forbidden);
    // Nobody is reached when the agent goes, and who stands in goes with its inbox alone.
    let remove = |member| directory::RemoveMember { member };
    assert_eq!(code(house.run(alice, remove(own.people))), Code::Conflict);
    house.run(alice, remove(SCOUT)).unwrap();
    assert_eq!(code(receive(&mut house, from(1, "m1", "hello?"))), Code::Unauthorized);
    assert!(!house.ws.directory().inboxes.contains_key(&own.uid));
}

// covers: WHK-70
#[test]
fn people_elsewhere_are_nobody_to_fall_back_to_and_do_not_steer_the_host() {
    let mut house = House::new();
    let inbox = add(&mut house, SCOUT, 1);
    let (asked, _) = receive(&mut house, from(1, "m1", "is it down?")).unwrap();
    // Nobody answers: the obligation moves to a person of this workspace, and never to a stand-in.
    house.pass(i64::from(limits::DEADLINE_MS) * 3);
    let open = house.open(asked).unwrap();
    assert!(open.deliveries.iter().all(|d| !inbox.stand_ins().contains(&d.member)), "{open:?}");
    let (word, _) = receive(&mut house, from(1, "m2", "@chorus continue")).unwrap();
    assert!(house.decision(word, SCOUT).is_some(), "it is a message like others");
    for member in inbox.stand_ins() {
        let conversation = house.ops;
        let (participation, terms) = Default::default();
        let seat = conversations::SetSeat { conversation, member, participation, terms };
        house.run(house.by(ALICE), seat).unwrap();
    }
    let named =
        house.says(ALICE, &format!("@{} hello?", Inbox::stand_in_id(inbox.uid, MemberKind::Human)));
    assert_eq!(house.decision(named, inbox.people), None);
}

// covers: WHK-74
#[test]
fn a_run_that_ends_without_words_is_news_too() {
    let mut house = House::new();
    add(&mut house, SCOUT, 1);
    let (asked, _) = receive(&mut house, from(1, "m1", "fyi: could you note it?")).unwrap();
    let seq = house.event(asked).seq;
    house.take(SCOUT);
    house.dispose(SCOUT, asked, Disposition::Ignored).unwrap();
    assert_eq!(
        news(&mut house),
        [RemoteNews::Began(seq), RemoteNews::Ended { event: seq, answered: false, failed: false }]
    );
    // What the agent says elsewhere is no business of the service's. The session that was told it would have to wait for
    // a person with that.
    house.disconnect(SCOUT);
    house.now = house.now.plus(limits::SESSION_GONE_MS);
    house.connect(SCOUT);
    house.post(SCOUT, Say::to(house.ops, "elsewhere")).unwrap();
    assert!(news(&mut house).is_empty());
}

// covers: WHK-413
#[test]
fn that_a_run_failed_is_news_where_nothing_was_owed_and_else_stands_in_the_log() {
    let mut house = House::new();
    add(&mut house, SCOUT, 1);
    let fails = |house: &mut House, received: Received| {
        let (asked, _) = receive(house, received).unwrap();
        house.take(SCOUT);
        house.dispose(SCOUT, asked, Disposition::Failed).unwrap();
        let (event, all) = (house.event(asked).seq, news(house));
        let ended = |failed| RemoteNews::Ended { event, answered: false, failed };
        (all.contains(&RemoteNews::Said), [true, false].map(|failed| all.contains(&ended(failed))))
    };
    let owed = from(1, "m1", "could you look?");
    assert_eq!(fails(&mut house, owed), (true, [false, true]));
    let stated = Some(Directedness::Ambient);
    let not_owed = Received { directedness: stated, ..from(1, "m2", "could you look?") };
    assert_eq!(fails(&mut house, not_owed), (false, [true, false]));
}

#[test]
fn what_is_refused_has_made_nothing() {
    let mut house = House::new();
    let inbox = add(&mut house, SCOUT, 1);
    let before = house.fingerprint();
    assert_eq!(code(receive(&mut house, from(1, "m1", "  "))), Code::ValidationError);
    let long = "x".repeat(limits::TEXT_BYTES + 1);
    assert_eq!(code(receive(&mut house, from(1, "m1", &long))), Code::PayloadTooLarge);
    let foreign = inboxes::Receive(from(1, "m1", "hello?"));
    assert_eq!(code(house.run(house.by(ALICE), foreign)), Code::Forbidden);
    assert_eq!(house.fingerprint(), before);
    assert_eq!(house.ws.directory().inboxes[&inbox.uid].channels, 0);
}

// covers: WHK-71
#[test]
fn a_channel_may_change_its_name() {
    let mut house = House::new();
    add(&mut house, SCOUT, 1);
    let (first, _) = receive(&mut house, from(1, "m1", "hello?")).unwrap();
    let title = |house: &House| {
        let room = house.ws.room(house.event(first).conversation).unwrap();
        room.conversation().settings.title.to_string()
    };
    let channel = |title: &str| Channel { title: title.into(), ..from(1, "", "").channel };
    let renamed = Received { channel: channel("ops · Slack"), ..from(1, "m2", "hello?") };
    receive(&mut house, renamed).unwrap();
    assert_eq!(title(&house), "ops · Slack");
    let bad = Received { channel: channel("a\nb"), ..from(1, "m3", "hello?") };
    receive(&mut house, bad).unwrap();
    assert_eq!(title(&house), "ops · Slack", "the message stands, the name does not");
}
