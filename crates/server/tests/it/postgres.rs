//! A host on PostgreSQL over its transports: it says when the database is away, histories move between the engines
//! with their ids, and backups are the business of whoever runs the database.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use chorus_cluster::{Cluster, Durability};
use chorus_core::model::ids::Timestamp;
use chorus_server::history::{Signing, export, import};
use chorus_server::{Address, Config, Host, Place};
use chorus_testing::eventually;
use serde_json::json;
use tempfile::{TempDir, tempdir};

use crate::test_host::{START, TestHost};

fn at(url: &str) -> Place {
    Place::Postgres(Arc::new(Address::read(url).unwrap()))
}

async fn open(folder: TempDir, url: &str, now: Timestamp) -> TestHost {
    TestHost::open_with(folder, now, |config| config.database = Some(url.to_owned())).await
}

/// The lines between the header, which says when, and the end, which is signed.
fn lines(place: &Place, keys: &Path) -> Vec<String> {
    let mut out = Vec::new();
    export(place, &Signing::open(keys).unwrap(), START, None, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines[1..lines.len() - 1].to_vec()
}

/// Fills a place with what another holds.
fn move_to(place: &Place, from: &Place, keys: &Path) {
    let mut out = Vec::new();
    export(from, &Signing::open(keys).unwrap(), START, None, &mut out).unwrap();
    import(&mut Cursor::new(&out), place, None, START).unwrap();
    // A place that holds something takes no other.
    assert!(import(&mut Cursor::new(&out), place, None, START).is_err());
}

#[tokio::test]
async fn a_history_moves_between_the_engines_with_its_ids() {
    let url = chorus_cluster::schema().unwrap();
    let folder = tempdir().unwrap();
    let keys = folder.path().join("keys");
    let host = TestHost::open_with(folder, START, |config| config.database = None).await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let said = host.say(&ann, &room, "@bot what is the time?").await;
    let id = said["event_id"].as_str().unwrap();
    let edit = json!({"text": "@bot what is the hour?"});
    let path = format!("/v1/messages/{id}");
    host.send(&ann, reqwest::Method::PATCH, &path, Some(edit)).await.ok();
    host.pass(2_000).await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let (file, database) = (Place::folder(folder.path()), at(&url));
    let before = lines(&file, &keys);
    move_to(&database, &file, &keys);
    assert_eq!(chorus_store::doctor(&database).unwrap().problems, []);
    assert_eq!(lines(&database, &keys), before);

    // A host goes on there, with the old ids.
    let host = open(tempdir().unwrap(), &url, START.plus(10_000)).await;
    let op = host.operator();
    let shown = host.get(&op, &path).await.ok();
    assert_eq!(shown["text"], "@bot what is the hour?");
    let TestHost { running, .. } = host;
    running.stop().await;
    let back = tempdir().unwrap();
    let back = Place::folder(&back.path().join("data"));
    let now = lines(&database, &keys);
    move_to(&back, &database, &keys);
    assert_eq!(lines(&back, &keys), now);
}

#[tokio::test]
async fn an_import_that_breaks_off_leaves_an_empty_database() {
    let url = chorus_cluster::schema().unwrap();
    let host =
        TestHost::open_with(tempdir().unwrap(), START, |config| config.database = None).await;
    let room = host.room(&[]).await;
    host.say(&host.token("ann").await, &room, "hello").await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let keys = Signing::open(&folder.path().join("keys")).unwrap();
    let mut out = Vec::new();
    export(&Place::folder(folder.path()), &keys, START, None, &mut out).unwrap();
    let cut = &out[..out.len() - 300];
    assert!(import(&mut Cursor::new(cut), &at(&url), None, START).is_err());
    import(&mut Cursor::new(&out), &at(&url), None, START).unwrap();
}

#[tokio::test]
async fn a_host_stays_up_while_its_database_is_away() {
    let mut cluster = Cluster::start(Durability::Durable, &[]).unwrap();
    let url = cluster.url("postgres");
    let host = open(tempdir().unwrap(), &url, START).await;
    let room = host.room(&["bot"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let mut harness = host.connect(&bot).await;
    host.say(&ann, &room, "@bot one").await;
    harness.take().await;
    let ready = async || host.request(reqwest::Method::GET, "/readyz").send().await.unwrap();
    assert_eq!(ready().await.status(), 200);

    cluster.kill();
    let new = json!({"conversation": room, "text": "@bot two", "idempotency_key": "two"});
    let refused = host.post(&ann, "/v1/messages", new.clone()).await;
    assert_eq!(refused.refused(503), "UNAVAILABLE");
    let answer = ready().await;
    assert_eq!(answer.status(), 503);
    // Whoever writes notices it, or whoever keeps the lease.
    let why = answer.text().await.unwrap();
    assert!(why.contains("database"), "{why}");

    cluster.run().unwrap();
    host.clock.advance(5_000);
    host.running.tick();
    host.post(&ann, "/v1/messages", new).await.ok();
    harness.take().await;
    eventually("its lease is renewed too", async || ready().await.status() == 200).await;
    let TestHost { running, .. } = host;
    running.stop().await;
    assert_eq!(chorus_store::doctor(&at(&url)).unwrap().problems, []);
}

#[tokio::test]
async fn a_database_is_backed_up_by_its_own_means_and_put_back_with_new_turns() {
    let url = chorus_cluster::schema().unwrap();
    let host = open(tempdir().unwrap(), &url, START).await;
    let op = host.operator();
    let refused = host.post(&op, "/v1/backups", json!({})).await;
    assert_eq!(refused.refused(409), "CONFLICT");
    let address = Arc::new(Address::read(&url).unwrap());
    let epoch = || chorus_cluster::sql_at(&url, "SELECT epoch FROM workspace").unwrap();
    assert!(chorus_server::backup::put_back(&address).is_err(), "a host has it");
    assert_eq!(epoch(), "1");
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    chorus_server::backup::put_back(&address).unwrap();
    assert_eq!(epoch(), "2");

    // The folder was this database's: on an empty one its host does not start.
    let empty = chorus_cluster::schema().unwrap();
    let config = Config { database: Some(empty), ..Config::on(folder.path()) };
    let config = Config { listen: "127.0.0.1:0".parse().unwrap(), ..config };
    let Err(why) = Host::start(config).await else { panic!("it started") };
    assert!(why.to_string().contains("is it the right database?"), "{why}");
}
