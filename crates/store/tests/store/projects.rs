//! Projects in their rows: there after a crash with what they made in rooms, and examined by the doctor.

use std::path::Path;
use std::sync::Arc;

use chorus_core::codec;
use chorus_core::commands::projects;
use chorus_core::model::ids::Uid;
use chorus_core::model::project::{Asked, Linking, Project, Task, TaskFields, TaskState};

use crate::ground::{ADA, BOB, Ground, as_crashed, damage, doctor, person};

fn ask(ground: &Ground, asked: Asked) -> (Arc<Project>, Option<Uid>) {
    let now = ground.ask(person(), projects::Project(asked)).unwrap();
    (now.project, now.task)
}

fn task(ground: &Ground, project: Uid, on: &[Uid]) -> Uid {
    let fields = TaskFields {
        title: Some("t".into()),
        assignee: Some(Some("ada".into())),
        depends_on: Some(on.to_vec()),
        ..TaskFields::default()
    };
    ask(ground, Asked::AddTask { project, fields }).1.unwrap()
}

/// A project of all three in a channel that mirrors them, and two tasks of which one waits for the other.
fn prepared(ground: &Ground) -> (Arc<Project>, [Uid; 2]) {
    let room = ground.settle();
    let link = Linking { conversation: room.uid, default: None, mirror: Some(true) };
    let asked = Asked::Create {
        title: "p".into(),
        description: "".into(),
        members: vec![ADA, BOB],
        links: vec![link],
        kickoff: None,
    };
    let project = ask(ground, asked).0.uid;
    let first = task(ground, project, &[]);
    let second = task(ground, project, &[first]);
    let now = ask(ground, Asked::Change { project, title: None, description: None }).0;
    (now, [first, second])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn put(folder: &Path, project: &Project) {
    let (uid, bytes) = (hex(&project.uid.0.to_be_bytes()), hex(&codec::project(project)));
    damage(folder, &format!("UPDATE project SET packed = x'{bytes}' WHERE uid = x'{uid}'"));
}

fn put_task(folder: &Path, task: &Task) {
    let (uid, bytes) = (hex(&task.uid.0.to_be_bytes()), hex(&codec::task(task)));
    damage(folder, &format!("UPDATE project_task SET packed = x'{bytes}' WHERE uid = x'{uid}'"));
}

fn found(folder: &Path) -> Vec<String> {
    doctor(folder).problems.iter().map(ToString::to_string).collect()
}

// covers: CHN-183, CHN-185
#[test]
fn a_crash_after_a_task_was_done_leaves_one_stimulus() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let (project, [first, _]) = prepared(&ground);
    let fields = TaskFields { state: Some(TaskState::Done), ..TaskFields::default() };
    let done = Asked::ChangeTask { project: project.uid, task: first, fields };
    let after = ask(&ground, done.clone()).0;
    let crashed = as_crashed(folder.path());
    assert_eq!(found(crashed.path()), [""; 0]);
    let ground = Ground::open(crashed.path());
    // Who had no answer asks again.
    assert_eq!(*ask(&ground, done).0, *after);
    let waiting = ground.readers.stimuli(project.links[0].key).unwrap();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
}

// covers: CHN-185
#[test]
fn the_doctor_finds_what_no_project_should_be() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let (project, [first, second]) = prepared(&ground);
    drop(ground);
    assert_eq!(found(folder.path()), [""; 0]);
    let check = |spoil: &dyn Fn(&Path), expect: &str| {
        let copy = as_crashed(folder.path());
        spoil(copy.path());
        let found = found(copy.path());
        assert!(found.iter().any(|f| f.contains(expect)), "{expect}: {found:?}");
    };
    let changed = |change: &dyn Fn(&mut Project)| {
        let mut project = Project::clone(&project);
        change(&mut project);
        project
    };
    let none = changed(&|p| p.links[0].default = false);
    check(&|folder| put(folder, &none), "0 of its channels are the default");
    let elsewhere = changed(&|p| p.links[0].conversation = Uid(7));
    check(&|folder| put(folder, &elsewhere), "linked to a channel that does not exist");
    let twice = changed(&|p| p.members.push(p.members[1].clone()));
    check(&|folder| put(folder, &twice), "twice");
    let seated = changed(&|p| {
        p.links[0].seated.push(BOB);
        p.links[0].mirror = false;
    });
    check(&|folder| put(folder, &seated), "that is not mirrored there");
    check(
        &|folder| damage(folder, "DELETE FROM roster WHERE member = 3"),
        "bob is mirrored there but is not on the roster",
    );
    check(&|folder| damage(folder, "DELETE FROM project"), "belongs to no project");
    check(&|folder| damage(folder, "UPDATE project SET packed = x'00'"), "cannot be read");
    let circle = Task { depends_on: vec![second], ..Task::clone(&project.tasks[&first]) };
    check(&|folder| put_task(folder, &circle), "in a cycle");
    let early = Task { state: TaskState::Done, ..Task::clone(&project.tasks[&second]) };
    check(&|folder| put_task(folder, &early), "is done before its dependencies");
    let nobodys = Task { assignee: Some("eve".into()), ..Task::clone(&project.tasks[&second]) };
    check(&|folder| put_task(folder, &nobodys), "assigned to somebody outside");
}
