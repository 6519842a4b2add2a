//! What an agent does that shows as much as a message: seats in private conversations, and what stands in a channel
//! under its name.

use chorus_core::command::{By, Command, OpenThread, Outcome};
use chorus_core::conversation::ConversationKind;
use chorus_core::delivery::Disposition;
use chorus_core::event::Message;
use chorus_core::ids::MemberKey;
use chorus_core::limits;
use chorus_core::member::Directory;
use chorus_core::project::{Asked as OfProject, Linking};
use chorus_core::reaction::Signal;
use chorus_core::workspace::Workspace;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER};
use crate::shown::{held, off};

fn orchestrates(house: &House, member: MemberKey) -> By {
    By { authority: chorus_core::command::Authority::Orchestrator, ..house.by(member) }
}

// covers: ATT-430
#[test]
fn an_agent_seats_nobody_where_messages_are_that_they_could_not_read() {
    let mut house = House::new();
    let narrow = house.conversation("narrow", ConversationKind::Channel, vec![ALICE, SCOUT]);
    let seat = |conversation, member| Command::SetSeat {
        conversation,
        member,
        participation: Default::default(),
        terms: Default::default(),
    };
    let by = orchestrates(&house, SCOUT);
    assert!(!held(house.run(by, seat(narrow, REVIEWER))), "nothing was said yet");
    house.post(ALICE, Say::to(narrow, "the merger is off")).expect("her room");
    let Ok(Outcome::Held(approval)) = house.run(by, seat(narrow, BOB)) else { panic!("it waits") };
    assert!(!held(house.run(by, seat(narrow, REVIEWER))), "who reads there anyway");
    assert!(!held(house.run(by, seat(house.ops, WRITER))));
    let sits = |room: &chorus_core::room::Room| {
        room.conversation.uid == narrow && room.roster.contains_key(&BOB)
    };
    assert!(!house.ws.rooms().any(sits));
    let decide = Command::DecideApproval { approval: approval.uid, approved: true, reason: None };
    house.run(house.by(ALICE), decide).expect("who reads there");
    assert!(!held(house.run(by, seat(narrow, BOB))));
    // A person is not asked.
    assert!(!held(house.run(house.by(ALICE), seat(narrow, WRITER))));
}

// covers: ATT-430
#[test]
fn a_project_mirrors_nobody_into_a_private_channel_for_an_agent_alone() {
    let mut house = House::new();
    let narrow = house.conversation("narrow", ConversationKind::Channel, vec![ALICE, SCOUT]);
    house.post(ALICE, Say::to(narrow, "the merger is off")).expect("her room");
    let by = orchestrates(&house, SCOUT);
    let ask = |asked| Command::Project(Box::new(asked));
    let link = Linking { conversation: narrow, default: None, mirror: Some(true) };
    let create = |links| OfProject::Create {
        title: "work".into(),
        description: "".into(),
        members: vec![BOB],
        links,
        kickoff: None,
    };
    assert!(held(house.run(by, ask(create(vec![link])))));
    let people = house.run(house.by(ALICE), ask(create(Vec::new())));
    let Ok(Outcome::Project { project, .. }) = people else { panic!("a project") };
    let join = |id: &str, member| OfProject::SetMember {
        project: project.uid,
        id: id.into(),
        member: Some(member),
        title: None,
        lead: None,
    };
    house.run(house.by(ALICE), ask(join("scout", SCOUT))).expect("a person");
    let mirror = || OfProject::Link { project: project.uid, link, kickoff: None };
    assert!(held(house.run(by, ask(mirror()))));
    house.run(house.by(ALICE), ask(mirror())).expect("a person");
    assert!(held(house.run(by, ask(join("reviewer", REVIEWER)))));
}

// covers: ATT-431
#[test]
fn who_signals_or_speaks_in_private_without_a_session_has_read_there() {
    for way in ["done", "agree", "dispose", "post"] {
        let mut house = House::asleep();
        let told = house.post(ALICE, Say::to(house.pair, "the merger is off")).expect("her room");
        match way {
            "done" => drop(house.react(SCOUT, told, Signal::Done).expect("told to it")),
            "agree" => drop(house.react(SCOUT, told, Signal::Agree).expect("told to it")),
            "dispose" => {
                house.claim(SCOUT, told).expect("told to it");
                house.now = house.now.plus(limits::TOLD_APART_MS);
                house.dispose(SCOUT, told, Disposition::Responded).expect("its own");
            }
            _ => drop(house.post(SCOUT, Say::to(house.pair, "noted")).expect("in its place")),
        }
        assert!(held(house.run(house.by(SCOUT), off(&house))), "{way}");
        house.now = house.now.plus(limits::TOLD_APART_MS);
        assert!(!held(house.run(house.by(SCOUT), off(&house))), "{way}: that is over");
    }
}

// covers: ATT-431
#[test]
fn who_takes_part_in_private_threads_and_owes_nothing_there_speaks_in_each() {
    let mut house = House::asleep();
    let members = vec![ALICE, SCOUT, REVIEWER];
    let narrow = house.conversation("narrow", ConversationKind::Channel, members);
    house.post(ALICE, Say::to(narrow, "the build is red")).expect("a seat");
    house.post(SCOUT, Say::to(narrow, "I pushed a fix")).expect("a seat");
    assert!(!held(house.run(house.by(SCOUT), off(&house))));
    house.post(ALICE, Say::to(narrow, "@scout which one?")).expect("a seat");
    house.post(SCOUT, Say::to(narrow, "the last")).expect("a seat");
    assert!(held(house.run(house.by(SCOUT), off(&house))), "it was asked there");
}

// covers: ATT-432
#[test]
fn where_every_message_waits_so_does_what_says_the_same() {
    let mut house = House::new();
    let link = Linking { conversation: house.ops, default: None, mirror: None };
    let create = |kickoff: Option<&str>| {
        Command::Project(Box::new(OfProject::Create {
            title: "work".into(),
            description: "".into(),
            members: vec![SCOUT],
            links: vec![link],
            kickoff: kickoff.map(Into::into),
        }))
    };
    let made = house.run(house.by(ALICE), create(None));
    let Ok(Outcome::Project { project, .. }) = made else { panic!("a project") };
    let project = project.uid;
    let fields = |title: Option<&str>, state| chorus_core::project::TaskFields {
        title: title.map(Into::into),
        state,
        ..Default::default()
    };
    let add = OfProject::AddTask { project, fields: fields(Some("wash up"), None) };
    let Ok(Outcome::Project { task: Some(task), .. }) =
        house.run(house.by(ALICE), Command::Project(Box::new(add)))
    else {
        panic!("a task")
    };
    let opening = OpenThread {
        home: house.ops.into(),
        root: None,
        title: "talk".into(),
        kind: Default::default(),
        owner: None,
        participants: Vec::new(),
        idempotency: None,
    };
    let opened = house.run(house.by(ALICE), Command::OpenThread(Box::new(opening)));
    let Ok(Outcome::Thread { thread, .. }) = opened else { panic!("a person opens it") };
    let rules = chorus_core::approval::Rules { all_sends: true, ..Default::default() };
    house.ws = std::mem::replace(&mut house.ws, Workspace::new(Directory::default(), 0))
        .with_approvals(rules);
    let by = orchestrates(&house, SCOUT);
    assert!(held(house.run(by, create(Some("off we go")))));
    let done = fields(None, Some(chorus_core::project::TaskState::Done));
    let done = OfProject::ChangeTask { project, task, fields: done };
    assert!(held(house.run(by, Command::Project(Box::new(done)))));
    let change = Command::ChangeThread {
        thread: thread.uid,
        status: Some(chorus_core::thread::ThreadStatus::Resolved),
        owner: None,
        reason: "it is washed".into(),
        summary: None,
        note: Some(Message { text: "it is washed".into(), ..Message::default() }),
    };
    assert!(held(house.run(by, change)));
}
