use super::*;

fn task(n: u128, on: &[u128], state: TaskState) -> (Uid, Arc<Task>) {
    let task = Task {
        uid: Uid(n),
        title: "t".into(),
        text: "".into(),
        state,
        assignee: None,
        depends_on: on.iter().map(|n| Uid(*n)).collect(),
        thread: None,
        created_by: MemberKey(1),
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
    };
    (Uid(n), Arc::new(task))
}

fn project(tasks: impl IntoIterator<Item = (Uid, Arc<Task>)>) -> Project {
    Project {
        uid: Uid(1),
        title: "p".into(),
        description: "".into(),
        created_by: MemberKey(1),
        created_at: Timestamp(0),
        kickoff: None,
        members: Vec::new(),
        links: Vec::new(),
        tasks: tasks.into_iter().collect(),
    }
}

#[test]
fn a_circle_is_found_and_a_diamond_is_none() {
    use TaskState::Open;
    let check = |edges: &[(u128, &[u128])], expect: bool| {
        let found = project(edges.iter().map(|(n, on)| task(*n, on, Open))).circle();
        assert_eq!(found.is_some(), expect, "{edges:?}: {found:?}");
    };
    check(&[(1, &[2, 3]), (2, &[4]), (3, &[4]), (4, &[])], false);
    check(&[(1, &[1])], true);
    check(&[(1, &[2]), (2, &[3]), (3, &[1])], true);
    check(&[(1, &[2]), (2, &[3, 4]), (3, &[]), (4, &[2])], true);
    // A long chain costs one visit per task and no stack.
    let chain = (0..100_000).map(|n| task(n, &[n + 1], Open));
    assert_eq!(project(chain).circle(), None);
    // Every task depends on all later ones: there are as many paths as subsets.
    let all: Vec<Vec<u128>> = (0..200u128).map(|n| (n + 1..200).collect()).collect();
    assert_eq!(project((0..200).map(|n| task(n, &all[n as usize], Open))).circle(), None);
}

#[test]
fn what_a_finished_task_unblocks() {
    use TaskState::{Cancelled, Done, Open};
    let of = |tasks: Vec<(Uid, Arc<Task>)>| {
        project(tasks).unblocked_by(Uid(1)).map(|t| t.uid.0).collect::<Vec<_>>()
    };
    assert_eq!(of(vec![task(1, &[], Open), task(2, &[1], Open), task(3, &[], Open)]), [2]);
    let others = vec![task(1, &[], Open), task(2, &[1, 3], Open), task(3, &[], Open)];
    assert!(of(others).is_empty());
    let over = vec![task(1, &[], Open), task(2, &[1, 3], Open), task(3, &[], Cancelled)];
    assert_eq!(of(over), [2]);
    assert!(of(vec![task(1, &[], Open), task(2, &[1], Done)]).is_empty());
}

#[test]
fn which_state_leads_to_which() {
    use TaskState::{Blocked, Cancelled, Done, InProgress, Open};
    let to = |from: TaskState| -> Vec<_> {
        TaskState::ALL.into_iter().filter(|next| from.leads_to(*next) && from != *next).collect()
    };
    assert_eq!(to(Open), [InProgress, Blocked, Done, Cancelled]);
    assert_eq!(to(InProgress), [Open, Blocked, Done, Cancelled]);
    assert_eq!(to(Blocked), [Open, InProgress, Cancelled]);
    assert_eq!(to(Done), []);
    assert_eq!(to(Cancelled), [Open]);
}
