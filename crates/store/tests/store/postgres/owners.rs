//! Who owns the workspace of a database that several hosts use: one of them at a time, and whoever was replaced writes
//! nothing.

use std::sync::atomic::Ordering;
use std::time::Duration;

use chorus_core::model::error::Code;
use chorus_core::model::ids::Timestamp;
use chorus_store::membership::{Epoch, Joining, Membership, Owned, View};
use chorus_store::{Options, Tenant, open};
use chorus_testing::eventually_blocking;

use super::away::{CUT_AFTER, asked, insist, texts, when_back, wired};
use crate::ground::{Ground, person, post};

fn joining(keys: &[u8]) -> Joining {
    Joining {
        peer: "127.0.0.1:1".to_owned(),
        url: "http://127.0.0.1:1".to_owned(),
        keys: keys.to_vec(),
        lease: Duration::from_secs(5),
    }
}

fn join(url: &str) -> Membership {
    Membership::join(&super::address(url), joining(b"keys")).unwrap()
}

fn taken(host: &Membership) -> Option<Owned> {
    host.take(Tenant::OWN).blocking_recv().unwrap().unwrap()
}

fn take(host: &Membership) -> Option<Epoch> {
    taken(host).map(|owned| owned.epoch)
}

fn until(host: &Membership, what: &str, holds: impl Fn(&View) -> bool) {
    eventually_blocking(what, || {
        host.look();
        holds(&host.view().borrow())
    });
}

// covers: OPS-150
#[test]
fn a_workspace_has_one_owner_until_it_is_handed_over() {
    let url = chorus_cluster::schema().unwrap();
    let (one, other) = (join(&url), join(&url));
    let Owned { epoch: first, lease } = taken(&one).unwrap();
    assert!(one.view().borrow().is_mine(first) && lease.holds());
    assert_eq!(take(&other), None);
    until(&other, "the owner is known", |view| view.other_owner(Tenant::OWN).is_some());
    one.release(first).blocking_recv().unwrap();
    let Owned { epoch: second, lease } = taken(&other).unwrap();
    assert_eq!(second.number, first.number + 1);
    assert_eq!(take(&one), None);
    // Who leaves gives back what it owns.
    other.leave();
    assert!(!lease.holds());
    assert_eq!(take(&one).unwrap().number, second.number + 1);
}

// covers: OPS-150, OPS-153
#[test]
fn a_host_that_was_given_up_owns_nothing_and_writes_nothing() {
    let url = chorus_cluster::schema().unwrap();
    let [folder, another] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (one, other) = (join(&url), join(&url));
    let owned = |host: &Membership| Some(take(host).unwrap());
    let options = |folder: &tempfile::TempDir, owned| Options {
        owned,
        ..super::options(folder.path(), &url)
    };
    let epoch = owned(&one);
    let ground = Ground::with(options(&folder, epoch), Timestamp(1_000_000));
    let room = ground.settle().uid;
    insist(&ground, room, "before", 1);
    // As if its lease had ended.
    chorus_cluster::sql_at(
        &url,
        "DELETE FROM live_host WHERE joined_at = (SELECT min(joined_at) FROM live_host)",
    )
    .unwrap();
    let next = Ground::with(options(&another, owned(&other)), Timestamp(1_000_000));
    assert_eq!(texts(&next, room), ["before"]);
    let refused = ground.ask(person(), post(room, "after", None)).unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert!(refused.message.contains("another host has taken the workspace"), "{refused:?}");
    insist(&next, room, "between", 2);
    assert_eq!(texts(&next, room), ["before", "between"]);
    assert!(ground.writer.ended().is_some());
    let before = epoch.unwrap();
    until(&one, "it joins as another", |view| !view.is_mine(before) && view.hosts.len() == 2);
    next.writer.stop();
}

// covers: OPS-150
#[test]
fn nobody_is_told_that_nothing_was_done_of_what_may_have_been() {
    let between = tempfile::tempdir().unwrap();
    let (cluster, far, how) = wired(between.path());
    let near = cluster.url("postgres");
    let [folder, another] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let one = join(&near);
    let owned = Some(take(&one).unwrap());
    let options = |folder: &tempfile::TempDir, url: &str, owned| Options {
        owned,
        ..super::options(folder.path(), url)
    };
    let ground = Ground::with(options(&folder, &far, owned), Timestamp(1_000_000));
    let room = ground.settle().uid;
    how.store(CUT_AFTER, Ordering::SeqCst);
    let answered = asked(&ground, post(room, "committed", None));
    eventually_blocking("the wire is cut", || !ground.writer.health().ok);
    // As if its lease had ended before it could look what became of it.
    chorus_cluster::sql_at(&near, "DELETE FROM live_host").unwrap();
    let other = join(&near);
    let owned = Some(take(&other).unwrap());
    let next = Ground::with(options(&another, &near, owned), Timestamp(1_000_000));
    assert_eq!(texts(&next, room), ["committed"]);
    let refused = when_back(&ground, &answered).unwrap_err();
    assert_eq!(refused.code, Code::OutcomeUnknown);
    assert!(refused.message.contains("the same idempotency key"), "{refused:?}");
    next.writer.stop();
}

// covers: OPS-153
#[test]
fn a_host_of_this_machine_that_has_ended_is_not_waited_for() {
    let url = chorus_cluster::schema().unwrap();
    let one = join(&url);
    take(&one).unwrap();
    // Another process had it, and its number is a process's that began at another time.
    let dead = "UPDATE live_host SET process = regexp_replace(process, '[0-9]+$', '1'), host = 'hst_dead', \
        lease_until = lease_until + 600000; UPDATE workspace_owner SET host = 'hst_dead'";
    let other = join(&url);
    chorus_cluster::sql_at(
        &url,
        &format!("DELETE FROM live_host WHERE host = '{}'", other.view().borrow().me),
    )
    .unwrap();
    chorus_cluster::sql_at(&url, dead).unwrap();
    until(&other, "the dead host is gone", |view| {
        view.hosts.iter().all(|host| host.id != "hst_dead")
    });
    assert!(take(&other).is_some());
}

// covers: OPS-155
#[test]
fn a_host_with_other_keys_does_not_join_and_leaves_no_trace() {
    let url = chorus_cluster::schema().unwrap();
    let one = join(&url);
    assert!(Membership::join(&super::address(&url), joining(b"other")).is_err());
    until(&one, "it is alone", |view| view.hosts.len() == 1);
    drop(open(super::options(tempfile::tempdir().unwrap().path(), &url)).unwrap());
}
