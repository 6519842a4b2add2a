//! Projects: whom they put on rosters and whom not, what their tasks wait for, and who is told that one is done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chorus_core::codec;
use chorus_core::commands::projects::{self, ProjectState};
use chorus_core::commands::{conversations, directory};
use chorus_core::model::conversation::{ConversationKind, Participation};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Prefix, Uid};
use chorus_core::model::project::{Asked, Linking, Project, Task, TaskFields, TaskState};
use chorus_core::model::requests::{OpenThread, SettingsPatch};
use chorus_core::model::stimulus::{Stimulus, StimulusKind};
use chorus_core::model::thread::ThreadKind;
use proptest::prelude::*;

use crate::boxed::boxed;
use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, WRITER, code};

fn ask(
    house: &mut House,
    by: MemberKey,
    asked: Asked,
) -> Result<(Arc<Project>, Option<Uid>), Refusal> {
    let ProjectState { project, task } = house.run(house.by(by), projects::Project(asked))?;
    Ok((project, task))
}

pub(crate) fn linking(conversation: Uid, mirror: bool) -> Linking {
    Linking { conversation, default: None, mirror: Some(mirror) }
}

pub(crate) fn create(
    house: &mut House,
    members: &[MemberKey],
    links: Vec<Linking>,
) -> Arc<Project> {
    let asked = Asked::Create {
        title: "move".into(),
        description: "".into(),
        members: members.to_vec(),
        links,
        kickoff: None,
    };
    ask(house, ALICE, asked).unwrap().0
}

pub(crate) fn task(house: &mut House, project: Uid, assignee: Option<&str>, on: &[Uid]) -> Uid {
    let fields = TaskFields {
        title: Some("a task".into()),
        assignee: assignee.map(|id| Some(id.into())),
        depends_on: Some(on.to_vec()),
        ..TaskFields::default()
    };
    ask(house, ALICE, Asked::AddTask { project, fields }).unwrap().1.unwrap()
}

pub(crate) fn set(
    house: &mut House,
    by: MemberKey,
    project: Uid,
    task: Uid,
    state: TaskState,
) -> Result<Arc<Task>, Refusal> {
    let fields = TaskFields { state: Some(state), ..TaskFields::default() };
    change(house, by, project, task, fields)
}

fn change(
    house: &mut House,
    by: MemberKey,
    project: Uid,
    task: Uid,
    fields: TaskFields,
) -> Result<Arc<Task>, Refusal> {
    let (project, _) = ask(house, by, Asked::ChangeTask { project, task, fields })?;
    Ok(project.tasks[&task].clone())
}

fn roster(house: &House, conversation: Uid) -> BTreeSet<MemberKey> {
    let room = house.ws.rooms().find(|r| r.conversation().uid == conversation).unwrap();
    room.roster().keys().copied().collect()
}

fn completed(house: &House, conversation: Uid) -> Vec<Arc<Stimulus>> {
    let room = house.ws.rooms().find(|r| r.conversation().uid == conversation).unwrap();
    let all = room.stimuli().values().filter(|s| s.kind == StimulusKind::TaskCompleted);
    all.cloned().collect()
}

pub(crate) fn open_thread(house: &mut House, conversation: Uid, owner: MemberKey) -> Uid {
    let opening = OpenThread {
        home: conversation.into(),
        root: None,
        title: "the move".into(),
        kind: ThreadKind::Workflow,
        owner: Some(owner),
        participants: vec![],
        idempotency: None,
    };
    house.run(house.by(ALICE), opening).unwrap().thread.uid
}

// covers: CHN-183
#[test]
fn whoever_can_begin_now_is_told_else_the_owner_of_the_thread_else_the_lead() {
    let mut house = House::new();
    let ops = house.ops;
    let project = create(&mut house, &[SCOUT, REVIEWER, WRITER], vec![linking(ops, false)]).uid;
    let done = TaskState::Done;
    let first = task(&mut house, project, Some("scout"), &[]);
    let other = task(&mut house, project, Some("scout"), &[]);
    task(&mut house, project, Some("reviewer"), &[first]);
    task(&mut house, project, Some("writer"), &[first, other]);
    set(&mut house, SCOUT, project, first, done).unwrap();
    let made = completed(&house, ops);
    assert_eq!((made.len(), made[0].source), (1, SCOUT));
    assert_eq!(made[0].targets, [REVIEWER], "the writer waits for another too");
    set(&mut house, SCOUT, project, first, done).unwrap();
    set(&mut house, SCOUT, project, other, done).unwrap();
    let made = completed(&house, ops);
    assert_eq!(made.iter().map(|s| s.targets.clone()).collect::<Vec<_>>(), [[REVIEWER], [WRITER]]);
    // Nobody waits for it: the lead is told.
    let last = task(&mut house, project, Some("scout"), &[]);
    set(&mut house, SCOUT, project, last, done).unwrap();
    assert_eq!(completed(&house, ops).last().unwrap().targets, [ALICE]);
    // Or who owns the thread in which it was worked on, and there.
    let thread = open_thread(&mut house, ops, WRITER);
    let bound = task(&mut house, project, None, &[]);
    let fields = TaskFields { thread: Some(Some(thread)), ..TaskFields::default() };
    change(&mut house, SCOUT, project, bound, fields).unwrap();
    set(&mut house, SCOUT, project, bound, done).unwrap();
    let made = completed(&house, ops);
    let in_thread = made.iter().find(|s| s.thread.is_some()).unwrap();
    assert_eq!((in_thread.thread.unwrap().1, &in_thread.targets[..]), (thread, &[WRITER][..]));
}

// covers: CHN-184
#[test]
fn a_thread_knows_the_task_that_is_worked_on_in_it() {
    let mut house = House::new();
    let ops = house.ops;
    let elsewhere = house.conversation("else", ConversationKind::Channel, vec![ALICE, SCOUT]);
    let project = create(&mut house, &[SCOUT], vec![linking(ops, false)]).uid;
    let (here, there) =
        (open_thread(&mut house, ops, SCOUT), open_thread(&mut house, elsewhere, SCOUT));
    let task = task(&mut house, project, None, &[]);
    let bindings = |house: &House| -> Vec<_> {
        let threads = house.ws.rooms().flat_map(|room| room.threads().values());
        let of = threads.flat_map(|t| t.work.bindings.iter().map(|b| (t.uid, b.id.to_string())));
        of.collect()
    };
    let to = |thread: Option<Uid>| TaskFields { thread: Some(thread), ..TaskFields::default() };
    let refused = change(&mut house, SCOUT, project, task, to(Some(there))).unwrap_err();
    assert_eq!(refused.code, Code::ValidationError);
    assert!(bindings(&house).is_empty());
    change(&mut house, SCOUT, project, task, to(Some(here))).unwrap();
    assert_eq!(bindings(&house), [(here, task.show(Prefix::Task))]);
    let unlink = Asked::Unlink { project, conversation: ops };
    assert_eq!(code(ask(&mut house, ALICE, unlink.clone())), Code::Conflict);
    change(&mut house, SCOUT, project, task, to(None)).unwrap();
    assert!(bindings(&house).is_empty());
    ask(&mut house, ALICE, unlink).unwrap();
}

// covers: CHN-176
#[test]
fn a_project_is_begun_with_one_message() {
    let mut house = House::new();
    let (ops, pair) = (house.ops, house.pair);
    let more = house.conversation("more", ConversationKind::Channel, vec![BOB]);
    let project = create(&mut house, &[BOB], vec![]).uid;
    let begin = |conversation, text: &str| Asked::Link {
        project,
        link: linking(conversation, true),
        kickoff: Some(text.into()),
    };
    assert_eq!(code(ask(&mut house, ALICE, begin(pair, "go"))), Code::ValidationError);
    let first = ask(&mut house, ALICE, begin(ops, "@bob we begin")).unwrap().0;
    let said = house.event(first.kickoff.unwrap());
    assert_eq!(said.actor, ALICE);
    assert!(said.attention.as_ref().unwrap().told.iter().any(|t| t.member == BOB));
    let length = house.log.events.len();
    let again = ask(&mut house, ALICE, begin(ops, "@bob we begin")).unwrap().0;
    assert_eq!((again.kickoff, house.log.events.len()), (first.kickoff, length));
    assert_eq!(code(ask(&mut house, ALICE, begin(more, "and here"))), Code::Conflict);
    assert_eq!(house.log.events.len(), length);
}

// covers: CHN-175
#[test]
fn a_mirrored_seat_in_a_private_channel_is_not_made_its_own_by_asking() {
    let mut house = House::new();
    let hidden = house.conversation("hidden", ConversationKind::Channel, vec![ALICE]);
    let project = create(&mut house, &[SCOUT], vec![linking(hidden, true)]).uid;
    let participation = Participation::AlwaysListen;
    let seat = conversations::SetSeat {
        conversation: hidden,
        member: SCOUT,
        participation,
        terms: Default::default(),
    };
    house.run(house.by(SCOUT), seat.clone()).unwrap();
    let leave = |id: &str| Asked::RemoveMember { project, id: id.into() };
    ask(&mut house, ALICE, leave("scout")).unwrap();
    assert_eq!(roster(&house, hidden), [ALICE].into());
    // Who runs the room may give it one to stay.
    let back = Asked::SetMember {
        project,
        id: "scout".into(),
        member: Some(SCOUT),
        title: None,
        lead: None,
    };
    ask(&mut house, ALICE, back).unwrap();
    house.run(house.by(ALICE), seat).unwrap();
    ask(&mut house, ALICE, leave("scout")).unwrap();
    assert_eq!(roster(&house, hidden), [ALICE, SCOUT].into());
}

/// What stays the same when a command is refused.
fn all(house: &House) -> (Vec<Arc<Project>>, usize) {
    (house.ws.directory().projects.values().cloned().collect(), house.log.events.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // covers: CHN-174, CHN-175, CHN-177, CHN-178, CHN-179, CHN-180, CHN-181, CHN-186
    #[test]
    fn rosters_and_tasks_are_what_projects_say_whatever_happens(
        steps in prop::collection::vec((0_u8..14, 0_usize..3, 0_usize..7, 0_usize..6, any::<bool>()), 1..120),
    ) {
        let mut house = House::new();
        let late: Vec<_> = ["late", "later"].into_iter().map(|id| {
            house.add_member(id, chorus_core::model::member::MemberKind::Agent)
        }).collect();
        let members = [ALICE, BOB, SCOUT, REVIEWER, WRITER, late[0], late[1]];
        let ids = ["alice", "bob", "scout", "reviewer", "writer", "late", "later"];
        let rooms = [
            house.ops,
            house.conversation("second", ConversationKind::Channel, vec![ALICE]),
            house.conversation("third", ConversationKind::Channel, vec![ALICE, SCOUT]),
        ];
        // Who has a seat without any project.
        let mut own: BTreeMap<Uid, BTreeSet<MemberKey>> =
            rooms.iter().map(|room| (*room, roster(&house, *room))).collect();
        for (what, a, m, n, on) in steps {
            let before = all(&house);
            let projects: Vec<_> = before.0.iter().map(|p| p.uid).collect();
            let (room, member) = (rooms[a], members[m]);
            let Some(project) = projects.get(n % 3).copied().filter(|_| what > 0) else {
                if projects.len() < 3 && !house.ws.directory().member(member).unwrap().removed {
                    create(&mut house, &[member], vec![]);
                }
                continue;
            };
            let of = |n: usize| {
                let found = before.0.iter().find(|p| p.uid == project).unwrap();
                found.tasks.keys().nth(n).copied().unwrap_or_default()
            };
            let participation = Participation::default();
            let by = house.by(ALICE);
            let command = match what {
                0..=2 => boxed(projects::Project(Asked::SetMember {
                    project, id: ids[m].into(), member: Some(member), title: None, lead: Some(on),
                })),
                3 => boxed(projects::Project(Asked::RemoveMember { project, id: ids[m].into() })),
                4 | 5 => boxed(projects::Project(Asked::Link {
                    project,
                    link: Linking { conversation: room, default: on.then_some(true), mirror: Some(n % 4 != 0) },
                    kickoff: None,
                })),
                6 => boxed(projects::Project(Asked::Unlink { project, conversation: room })),
                7 => boxed(conversations::SetSeat { conversation: room, member, participation, terms: Default::default() }),
                8 => boxed(conversations::RemoveSeat { conversation: room, member }),
                9 if member != ALICE && on => boxed(directory::RemoveMember { member }),
                9 => boxed(projects::Project(Asked::Delete { project })),
                10 => boxed(projects::Project(Asked::AddTask { project, fields: TaskFields {
                    title: Some("t".into()),
                    assignee: Some(on.then(|| ids[m].into())),
                    depends_on: Some(before.0.iter().find(|p| p.uid == project).unwrap()
                        .tasks.keys().take(n % 3).copied().collect()),
                    ..TaskFields::default()
                } })),
                11 => boxed(projects::Project(Asked::ChangeTask { project, task: of(n), fields: TaskFields {
                    depends_on: Some(vec![of(m)]), ..TaskFields::default()
                } })),
                12 => boxed(projects::Project(Asked::ChangeTask { project, task: of(n), fields: TaskFields {
                    state: Some(TaskState::ALL[m % 5]), ..TaskFields::default()
                } })),
                _ => {
                    let settings = SettingsPatch { archived: Some(on), ..SettingsPatch::default() };
                    boxed(conversations::ChangeConversation { conversation: room, settings })
                }
            };
            let shown = format!("{}, {:?}", command.name, (what, a, m, n, on));
            match command.run(&mut house, by) {
                Err(_) => prop_assert_eq!(all(&house), before, "{}", shown),
                Ok(()) => match what {
                    7 => { own.get_mut(&room).unwrap().insert(member); }
                    8 => { own.get_mut(&room).unwrap().remove(&member); }
                    _ => {}
                },
            }
            let (projects, _) = all(&house);
            for project in &projects {
                prop_assert_eq!(project.flaws(house.ws.directory()), Vec::<String>::new());
                let mut read = codec::read_project(&codec::project(project)).unwrap();
                for task in project.tasks.values() {
                    let task = codec::read_task(&codec::task(task)).unwrap();
                    read.tasks.insert(task.uid, Arc::new(task));
                }
                prop_assert_eq!(&read, &**project);
            }
            for room in rooms {
                let mut expect = own[&room].clone();
                for project in &projects {
                    if project.links.iter().any(|l| l.conversation == room && l.mirror) {
                        expect.extend(project.members.iter().map(|m| m.member));
                    }
                }
                prop_assert_eq!(roster(&house, room), expect, "{}", shown);
            }
        }
    }
}
