//! What an agent was told in private, and writes elsewhere.

use chorus_core::commands::{
    NotDone, approvals, conversations, deliveries, directory, messages, schedules, stimuli, threads,
};
use chorus_core::model::approval::{Arguments, Asked};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::{ConversationKind, Settings, Visibility};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::event::Message;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::requests::{Audience, NewStimulus, OpenThread, Post, SettingsPatch};
use chorus_core::model::schedule::{NewSchedule, When};
use chorus_core::model::thread::work::{Binding, BindingKind, WorkChange};

use crate::boxed::{Boxed, boxed};
use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, code};
use crate::stimuli::idea;

/// Alice has told scout something in private, and scout has answered. Before that it has spoken in `ops`.
fn told() -> (House, Uid) {
    let mut house = House::new();
    let before = house.says(SCOUT, "good morning");
    house.post(ALICE, Say::to(house.pair, "the merger is off, is that clear?")).expect("her room");
    let offer = house.take(SCOUT);
    house.reply(&offer, "it is").expect("in its place");
    (house, before)
}

pub fn held<T>(ran: Result<T, NotDone>) -> bool {
    matches!(ran, Err(NotDone::AwaitsApproval(_)))
}

fn edit(before: Uid, text: &str) -> messages::Edit {
    let content = Message { text: text.into(), ..Message::default() };
    messages::Edit { message: before, content }
}

fn acts(house: &House, before: Uid) -> Vec<Boxed> {
    let secret = || "the merger is off".to_owned();
    let new = NewSchedule {
        when: When::Every(3_600_000),
        source: None,
        thread: None,
        text: secret().into(),
        title: None,
        targets: Vec::new(),
        progress_key: None,
        initiative_key: None,
    };
    vec![
        boxed(edit(before, &secret())),
        boxed(OpenThread {
            home: house.ops.into(),
            root: None,
            title: secret(),
            kind: Default::default(),
            owner: None,
            participants: Vec::new(),
            idempotency: None,
        }),
        boxed(conversations::CreateConversation {
            kind: ConversationKind::Dm,
            settings: Settings {
                title: secret().into(),
                visibility: Visibility::Private,
                ..Settings::default()
            },
            members: vec![BOB],
        }),
        boxed(stimuli::Stimulate(idea(house, "the merger is off"))),
        boxed(schedules::AddSchedule { conversation: house.ops, new }),
    ]
}

// covers: ATT-420, ATT-421
#[test]
fn what_was_told_in_private_waits_whatever_it_is_written_into() {
    let (mut house, before) = told();
    let by = house.by(SCOUT);
    for act in acts(&house, before) {
        let logged = house.log.events.len();
        assert!(held(act.run(&mut house, by)), "{}", act.name);
        assert_eq!(house.log.events.len(), logged, "nothing is written yet: {}", act.name);
        // A plain token is the member's, whose connected session was told it.
        assert!(held(act.run(&mut house, By { session: None, ..by })));
    }
    let approvals = house.ws.directory().approvals.size();
    assert_eq!(approvals, 5, "the same call is the same request");
    assert!(held(house.try_run(by, Say::to(house.ops, "off").0)));
    // What everybody there could read anyway does not wait.
    house.post(SCOUT, Say::to(house.pair, "and the press?")).expect("where it was told");
}

// covers: ATT-420
#[test]
fn what_a_person_has_agreed_to_is_done_when_it_is_asked_for_again() {
    let (mut house, before) = told();
    let by = house.by(SCOUT);
    let act = edit(before, "the merger is off");
    let Err(NotDone::AwaitsApproval(approval)) = house.try_run(by, act.clone()) else {
        panic!("it waits")
    };
    assert!(matches!(&approval.asked, Asked::Call { tool, arguments }
        if &**tool == "edit_message"
            && arguments.whole().is_some_and(|a| a.contains("\"text\":\"the merger is off\""))));
    let decide = approvals::DecideApproval { approval: approval.uid, approved: true, reason: None };
    house.run(house.by(ALICE), decide).expect("who told it");
    let kept = house.ws.directory().approvals[&approval.uid].clone();
    let hashed = matches!(&kept.asked, Asked::Call { arguments: Arguments::Hashed(_), .. });
    assert!(hashed, "its words are kept no longer than it waits: {kept:?}");
    house.run(by, act).expect("a person has agreed");
    assert!(held(house.try_run(by, edit(before, "the merger is on"))), "just that");
}

// covers: ATT-420
#[test]
fn the_same_words_for_others_are_another_request() {
    let (mut house, _) = told();
    let by = house.by(SCOUT);
    let words = idea(&house, "the merger is off");
    let narrow = NewStimulus { private: true, targets: vec![REVIEWER], ..words };
    let wide = NewStimulus { private: false, ..narrow.clone() };
    let act = |new: &NewStimulus| stimuli::Stimulate(new.clone());
    let Err(NotDone::AwaitsApproval(approval)) = house.try_run(by, act(&narrow)) else {
        panic!("it waits")
    };
    let decide = approvals::DecideApproval { approval: approval.uid, approved: true, reason: None };
    house.run(house.by(ALICE), decide).expect("who told it");
    assert!(held(house.try_run(by, act(&wide))), "they were agreed to for the reviewer");
    assert!(!held(house.try_run(by, act(&narrow))), "and that was agreed to");
}

// covers: ATT-421
#[test]
fn an_act_in_a_turn_is_judged_by_that_turn() {
    let (mut house, before) = told();
    house.says(ALICE, "@scout is the build green?");
    let offer = house.take(SCOUT);
    let in_turn = house.in_turn(&offer);
    for act in acts(&house, before) {
        if act.name != "CreateConversation" {
            assert!(!held(act.run(&mut house, in_turn)), "{}", act.name);
        }
    }
    // Which turn that is may be said by what is answered.
    let event = offer.entry.event.uid;
    house.post(SCOUT, Say::to(house.ops, "it is").answering(event)).expect("its own run");
    let note = Some("nothing to add".into());
    let done = deliveries::Dispose { event, disposition: Disposition::Responded, note };
    assert!(!held(house.try_run(house.by(SCOUT), done.clone())));
    house.pass(600_000);
    assert!(!held(house.try_run(house.by(SCOUT), done)), "how a run ended, said again");
}

// covers: ATT-421
#[test]
fn it_is_forgotten_with_the_session_and_not_before() {
    let (mut house, _) = told();
    house.pass(3_600_000);
    let say = |house: &House| Say::to(house.ops, "off").0;
    assert!(held(house.try_run(house.by(SCOUT), say(&house))), "an hour later too");
    house.disconnect(SCOUT);
    house.connect(SCOUT);
    assert!(held(house.try_run(house.by(SCOUT), say(&house))), "its process may run still");
    house.now = house.now.plus(limits::SESSION_GONE_MS);
    assert!(!held(house.try_run(house.by(SCOUT), say(&house))), "another session was told nothing");
}

// covers: ATT-420
#[test]
fn a_private_conversation_is_opened_to_all_by_a_person_only() {
    let mut house = House::new();
    let narrow = house.conversation("narrow", ConversationKind::Channel, vec![ALICE, SCOUT]);
    let settings =
        || SettingsPatch { visibility: Some(Visibility::Public), ..SettingsPatch::default() };
    let change = |settings| conversations::ChangeConversation { conversation: narrow, settings };
    let boss = chorus_core::model::caller::Authority::Orchestrator;
    let by = By { authority: boss, ..house.by(SCOUT) };
    assert!(held(house.try_run(by, change(settings()))));
    house.run(house.by(ALICE), change(settings())).expect("a person");
    let pair = conversations::ChangeConversation { conversation: house.pair, settings: settings() };
    assert_eq!(code(house.run(house.by(ALICE), pair)), Code::ValidationError);
}

fn only(member: MemberKey, mut say: Say) -> Say {
    say.0.audience = Audience::Only(vec![member]);
    say
}

pub fn off(house: &House) -> Post {
    Say::to(house.ops, "off").0
}

// covers: ATT-421
#[test]
fn an_agent_without_a_session_is_held_for_half_an_hour() {
    for claims in [true, false] {
        let mut house = House::asleep();
        let told = house.post(ALICE, Say::to(house.pair, "the merger is off")).expect("her room");
        assert!(!held(house.try_run(house.by(SCOUT), off(&house))), "nothing was taken up");
        if claims {
            house.claim(SCOUT, told).expect("told to it");
        } else {
            house.post(SCOUT, Say::to(house.pair, "noted").answering(told)).expect("in its place");
        }
        assert!(held(house.try_run(house.by(SCOUT), off(&house))), "claims: {claims}");
        // Of what it was asked in public it says what it likes.
        let asked = house.says(ALICE, "@scout is the build green?");
        house.post(SCOUT, Say::to(house.ops, "it is").answering(asked)).expect("its own to answer");
        house.pass(limits::TURN_QUIET_MS);
        assert!(held(house.try_run(house.by(SCOUT), off(&house))));
        house.restart();
        assert!(held(house.try_run(house.by(SCOUT), off(&house))), "over a restart");
        house.now = house.now.plus(limits::TOLD_APART_MS);
        assert!(!held(house.try_run(house.by(SCOUT), off(&house))), "that is over");
    }
}

// covers: ATT-421
#[test]
fn a_token_of_another_session_is_judged_by_those_that_run() {
    let (mut house, _) = told();
    let by = house.by(SCOUT);
    let known = directory::KnowSession { uid: Uid(99) };
    let other = house.run(by, known).expect("a session");
    assert!(held(house.try_run(By { session: Some(other.key), ..by }, off(&house))));
    // A newer connection beside the one that was told is of the same agent.
    house.connect(SCOUT);
    assert!(held(house.try_run(house.by(SCOUT), off(&house))));
}

/// A channel of alice, scout and `others`, where alice tells scout something; without others it is told to scout alone
/// in `ops`.
fn tell(house: &mut House, others: Option<&[MemberKey]>) {
    match others {
        Some(others) => {
            let members = [&[ALICE, SCOUT], others].concat();
            let narrow = house.conversation("narrow", ConversationKind::Channel, members);
            house.post(ALICE, Say::to(narrow, "@scout the merger is off")).expect("her room");
            let offer = house.take(SCOUT);
            house.reply(&offer, "noted").expect("in its place");
            house
                .run(
                    house.by(ALICE),
                    conversations::RemoveSeat { conversation: narrow, member: SCOUT },
                )
                .expect("an operator");
        }
        None => {
            let say = only(SCOUT, Say::to(house.ops, "@scout the merger is off"));
            house.post(ALICE, say).expect("her room");
            let offer = house.take(SCOUT);
            house.reply(&offer, "noted").expect("in its place");
        }
    }
}

// covers: ATT-421
#[test]
fn over_a_restart_it_is_known_what_was_told_wherever_that_was() {
    for others in [Some(&[][..]), Some(&[REVIEWER][..]), None] {
        let mut house = House::new();
        let session = house.by(SCOUT).session.expect("connected");
        tell(&mut house, others);
        for n in 0..80 {
            house.says(BOB, &format!("line {n}"));
        }
        house.restart();
        // It has not come back yet, and may.
        assert!(held(house.try_run(house.by(SCOUT), off(&house))), "{others:?}");
        house.reconnect(SCOUT, session);
        house.pass(600_000);
        assert!(held(house.try_run(house.by(SCOUT), off(&house))), "{others:?}");
        // Nobody else was told.
        assert!(!held(house.try_run(house.by(REVIEWER), off(&house))), "{others:?}");
    }
}

// covers: ATT-421
#[test]
fn a_session_that_does_not_come_back_is_over() {
    let (mut house, _) = told();
    house.restart();
    assert!(held(house.try_run(house.by(SCOUT), off(&house))));
    house.now = house.now.plus(limits::SESSION_GONE_MS);
    assert!(!held(house.try_run(house.by(SCOUT), off(&house))));
}

// covers: ATT-420
#[test]
fn what_was_told_to_some_is_for_those_whom_all_of_it_was_for() {
    let mut house = House::new();
    for of in [ALICE, BOB] {
        let say = only(SCOUT, Say::to(house.ops, "@scout between us"));
        house.post(of, say).expect("a person");
        let offer = house.take(SCOUT);
        house.reply(&offer, "noted").expect("in its place");
    }
    house.pass(600_000);
    let say = |of| only(of, Say::to(house.ops, "between us")).0;
    let (to_alice, to_bob) = (say(ALICE), say(BOB));
    for act in [to_alice, to_bob] {
        let Err(NotDone::AwaitsApproval(approval)) = house.try_run(house.by(SCOUT), act) else {
            panic!("held")
        };
        assert!(!approval.is_for(ALICE) && !approval.is_for(BOB), "{approval:?}");
    }
}

// covers: ATT-421
#[test]
fn what_was_offered_counts_before_it_is_taken_up() {
    let mut house = House::new();
    house.post(ALICE, Say::to(house.pair, "the merger is off, is that clear?")).expect("her room");
    assert!(!held(house.try_run(house.by(REVIEWER), off(&house))), "it was told nothing");
    house.offer(SCOUT);
    assert!(held(house.try_run(house.by(SCOUT), off(&house))), "it can read it");
}

// covers: ATT-420
#[test]
fn the_id_of_a_thing_that_a_thread_is_bound_to_is_words_too() {
    let (mut house, _) = told();
    let opening = OpenThread {
        home: house.ops.into(),
        root: None,
        title: "talk".into(),
        kind: Default::default(),
        owner: None,
        participants: Vec::new(),
        idempotency: None,
    };
    let thread = house.run(house.by(ALICE), opening).expect("a person opens it").thread;
    let bound = Binding { kind: BindingKind::Task, id: "the-merger-is-off".into() };
    let change = Box::new(WorkChange { bind: vec![bound], ..WorkChange::default() });
    let bind = threads::ChangeWork { thread: thread.uid, change };
    assert!(held(house.try_run(house.by(SCOUT), bind)));
}
