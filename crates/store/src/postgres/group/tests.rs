//! Commits of several workspaces at once, against a real server.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use chorus_cluster::{Cluster, Durability};
use chorus_testing::eventually_blocking;

use super::super::{Address, Epoch, Postgres, SharedLinks};
use crate::db::{Db, Error, Fate, Sync, Table};

static ROW: Table = Table::new("grouped", 2, &["workspace", "id", "text"]);
const WORKSPACES: i64 = 16;

/// A schema with owners of epoch 1, and how its writers connect.
fn ground() -> (String, Arc<SharedLinks>) {
    on(chorus_cluster::schema().unwrap())
}

fn on(url: String) -> (String, Arc<SharedLinks>) {
    let tables = format!(
        "CREATE TABLE workspace_owner (workspace BIGINT PRIMARY KEY, epoch BIGINT, batch BIGINT);
        CREATE TABLE grouped (workspace BIGINT, id BIGINT, text TEXT, PRIMARY KEY (workspace, id));
        INSERT INTO workspace_owner SELECT n, 1, 0 FROM generate_series(1, {WORKSPACES}) AS n"
    );
    chorus_cluster::sql_at(&url, &tables).unwrap();
    let address = Arc::new(Address::of(&url, &|_| None).unwrap());
    (url, SharedLinks::new(&address, Sync::Full))
}

fn writer(links: &Arc<SharedLinks>, workspace: i64) -> Postgres {
    Postgres::sharing(links, Epoch { workspace, number: 1, batch: 0 })
}

/// One row in a transaction of its own, as the writer of a workspace makes it.
fn add(db: &Postgres, workspace: i64, id: i64) -> Result<(), Error> {
    db.begin()?;
    (db as &dyn Db).insert(&ROW, &[workspace.into(), id.into(), "x".into()])?;
    db.flush()?;
    db.commit()
}

/// Does the same for each workspace at the same time.
fn at_once<T: Send>(
    links: &Arc<SharedLinks>,
    work: impl Fn(&Postgres, i64) -> T + std::marker::Sync,
) -> Vec<T> {
    let together = Barrier::new(usize::try_from(WORKSPACES).unwrap());
    thread::scope(|scope| {
        let started: Vec<_> = (1..=WORKSPACES)
            .map(|workspace| {
                let (work, together) = (&work, &together);
                scope.spawn(move || {
                    let db = writer(links, workspace);
                    together.wait();
                    work(&db, workspace)
                })
            })
            .collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn number(url: &str, sql: &str) -> i64 {
    chorus_cluster::sql_at(url, sql).unwrap().parse().unwrap()
}

// covers: OPS-166
#[test]
fn what_several_workspaces_commit_at_once_takes_fewer_transactions_and_is_all_there() {
    let (url, links) = ground();
    let done = at_once(&links, |db, workspace| (0..50).try_for_each(|id| add(db, workspace, id)));
    assert!(done.iter().all(Result::is_ok), "{done:?}");
    assert_eq!(number(&url, "SELECT count(*) FROM grouped"), WORKSPACES * 50);
    assert_eq!(number(&url, "SELECT min(batch) FROM workspace_owner"), 50);
    assert_eq!(number(&url, "SELECT max(batch) FROM workspace_owner"), 50);
    let transactions = number(&url, "SELECT count(DISTINCT xmin::text) FROM grouped");
    assert!(transactions < WORKSPACES * 50 / 2, "{transactions}");
}

// covers: OPS-166
#[test]
fn what_is_refused_in_one_workspace_is_refused_there_alone() {
    let (url, links) = ground();
    // Its epoch has passed.
    chorus_cluster::sql_at(&url, "UPDATE workspace_owner SET epoch = 2 WHERE workspace = 5")
        .unwrap();
    chorus_cluster::sql_at(&url, "INSERT INTO grouped VALUES (3, 7, 'x')").unwrap();
    let done = at_once(&links, |db, workspace| {
        let first = add(db, workspace, 7);
        let again = add(db, workspace, 7);
        let undone = db.rollback();
        (first, again, undone, add(db, workspace, 8))
    });
    for (workspace, (first, again, undone, other)) in (1..).zip(done) {
        match workspace {
            3 => assert!(matches!(first, Err(Error::Refused(_))), "{first:?}"),
            5 => assert!(matches!(first, Err(Error::Fenced(_))), "{first:?}"),
            _ => assert_eq!(first, Ok(())),
        }
        match workspace {
            // After a refusal it is told before the commit.
            3 => assert!(matches!(again, Err(Error::Engine(_))), "{again:?}"),
            5 => assert!(matches!(again, Err(Error::Fenced(_))), "{again:?}"),
            _ => assert!(matches!(again, Err(Error::Refused(_))), "{again:?}"),
        }
        assert_eq!(undone, Ok(()));
        assert_eq!(other.is_ok(), workspace != 5, "{workspace}: {other:?}");
    }
    assert_eq!(number(&url, "SELECT count(*) FROM grouped WHERE workspace = 5"), 0);
    assert_eq!(number(&url, "SELECT count(*) FROM grouped"), (WORKSPACES - 1) * 2);
}

// covers: OPS-166
#[test]
fn whoever_waits_for_a_commit_that_is_cut_off_learns_what_became_of_it() {
    // One of its own: nobody else's connections are cut.
    let cluster = Cluster::start(Durability::Quick, &[]).unwrap();
    let (url, links) = on(cluster.url("postgres"));
    let cut = || {
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE application_name = 'chorus writer'";
        for _ in 0..10 {
            chorus_cluster::sql_at(&url, sql).unwrap();
            thread::sleep(Duration::from_millis(20));
        }
    };
    thread::scope(|scope| {
        scope.spawn(cut);
        at_once(&links, |db, workspace| {
            for id in 0..100 {
                // One that was committed would be refused if it were repeated.
                while let Err(why) = add(db, workspace, id) {
                    assert!(matches!(why, Error::Lost(_)), "{why:?}");
                    let fate = eventually_blocking("it is back", || db.recover());
                    if fate == Fate::Committed {
                        break;
                    }
                }
            }
        });
    });
    assert_eq!(number(&url, "SELECT count(*) FROM grouped"), WORKSPACES * 100);
    assert_eq!(number(&url, "SELECT min(batch) FROM workspace_owner"), 100);
}
