//! What an agent does that shows as much as a message: seats in private conversations, and what stands in a channel
//! under its name.

use chorus_core::commands::{NotDone, approvals, conversations, projects, threads};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::event::Message;
use chorus_core::model::ids::MemberKey;
use chorus_core::model::limits;
use chorus_core::model::project::{Asked as OfProject, Linking};
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::OpenThread;
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Workspace;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER};
use crate::shown::{held, off};

fn orchestrates(house: &House, member: MemberKey) -> By {
    By { authority: chorus_core::model::caller::Authority::Orchestrator, ..house.by(member) }
}

// covers: ATT-430
#[test]
fn an_agent_seats_nobody_where_messages_are_that_they_could_not_read() {
    let mut house = House::new();
    let narrow = house.conversation("narrow", ConversationKind::Channel, vec![ALICE, SCOUT]);
    let seat = |conversation, member| conversations::SetSeat {
        conversation,
        member,
        participation: Default::default(),
        terms: Default::default(),
    };
    let by = orchestrates(&house, SCOUT);
    assert!(!held(house.try_run(by, seat(narrow, REVIEWER))), "nothing was said yet");
    house.post(ALICE, Say::to(narrow, "the merger is off")).expect("her room");
    let Err(NotDone::AwaitsApproval(approval)) = house.try_run(by, seat(narrow, BOB)) else {
        panic!("it waits")
    };
    assert!(!held(house.try_run(by, seat(narrow, REVIEWER))), "who reads there anyway");
    assert!(!held(house.try_run(by, seat(house.ops, WRITER))));
    let sits = |room: &chorus_core::state::room::Room| {
        room.conversation().uid == narrow && room.roster().contains_key(&BOB)
    };
    assert!(!house.ws.rooms().any(sits));
    let decide = approvals::DecideApproval { approval: approval.uid, approved: true, reason: None };
    house.run(house.by(ALICE), decide).expect("who reads there");
    assert!(!held(house.try_run(by, seat(narrow, BOB))));
    // A person is not asked.
    assert!(!held(house.try_run(house.by(ALICE), seat(narrow, WRITER))));
}

// covers: ATT-430
#[test]
fn a_project_mirrors_nobody_into_a_private_channel_for_an_agent_alone() {
    let mut house = House::new();
    let narrow = house.conversation("narrow", ConversationKind::Channel, vec![ALICE, SCOUT]);
    house.post(ALICE, Say::to(narrow, "the merger is off")).expect("her room");
    let by = orchestrates(&house, SCOUT);
    let link = Linking { conversation: narrow, default: None, mirror: Some(true) };
    let create = |links| OfProject::Create {
        title: "work".into(),
        description: "".into(),
        members: vec![BOB],
        links,
        kickoff: None,
    };
    assert!(held(house.try_run(by, projects::Project(create(vec![link])))));
    let people = house.run(house.by(ALICE), projects::Project(create(Vec::new())));
    let project = people.expect("a project").project;
    let join = |id: &str, member| OfProject::SetMember {
        project: project.uid,
        id: id.into(),
        member: Some(member),
        title: None,
        lead: None,
    };
    house.run(house.by(ALICE), projects::Project(join("scout", SCOUT))).expect("a person");
    let mirror = || OfProject::Link { project: project.uid, link, kickoff: None };
    assert!(held(house.try_run(by, projects::Project(mirror()))));
    house.run(house.by(ALICE), projects::Project(mirror())).expect("a person");
    assert!(held(house.try_run(by, projects::Project(join("reviewer", REVIEWER)))));
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
        assert!(held(house.try_run(house.by(SCOUT), off(&house))), "{way}");
        house.now = house.now.plus(limits::TOLD_APART_MS);
        assert!(!held(house.try_run(house.by(SCOUT), off(&house))), "{way}: that is over");
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
    assert!(!held(house.try_run(house.by(SCOUT), off(&house))));
    house.post(ALICE, Say::to(narrow, "@scout which one?")).expect("a seat");
    house.post(SCOUT, Say::to(narrow, "the last")).expect("a seat");
    assert!(held(house.try_run(house.by(SCOUT), off(&house))), "it was asked there");
}

// covers: ATT-432
#[test]
fn where_every_message_waits_so_does_what_says_the_same() {
    let mut house = House::new();
    let link = Linking { conversation: house.ops, default: None, mirror: None };
    let create = |kickoff: Option<&str>| {
        projects::Project(OfProject::Create {
            title: "work".into(),
            description: "".into(),
            members: vec![SCOUT],
            links: vec![link],
            kickoff: kickoff.map(Into::into),
        })
    };
    let project = house.run(house.by(ALICE), create(None)).expect("a project").project.uid;
    let fields = |title: Option<&str>, state| chorus_core::model::project::TaskFields {
        title: title.map(Into::into),
        state,
        ..Default::default()
    };
    let add = OfProject::AddTask { project, fields: fields(Some("wash up"), None) };
    let added = house.run(house.by(ALICE), projects::Project(add)).expect("a person");
    let task = added.task.expect("a task");
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
    let rules = chorus_core::model::approval::Rules { all_sends: true, ..Default::default() };
    house.ws = std::mem::replace(&mut house.ws, Workspace::new(Directory::default(), 0))
        .with_approvals(rules);
    let by = orchestrates(&house, SCOUT);
    assert!(held(house.try_run(by, create(Some("off we go")))));
    let done = fields(None, Some(chorus_core::model::project::TaskState::Done));
    let done = OfProject::ChangeTask { project, task, fields: done };
    assert!(held(house.try_run(by, projects::Project(done))));
    let change = threads::ChangeThread {
        thread: thread.uid,
        status: Some(chorus_core::model::thread::ThreadStatus::Resolved),
        owner: None,
        reason: "it is washed".into(),
        summary: None,
        note: Some(Message { text: "it is washed".into(), ..Message::default() }),
    };
    assert!(held(house.try_run(by, change)));
}
