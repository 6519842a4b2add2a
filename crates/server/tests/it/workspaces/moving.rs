//! A workspace goes from one host to another, and is in use at one of them alone.

use std::fs;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Below, create, host_of_files, made};
use crate::test_host::{Answer, TestHost};

struct Mover<'a> {
    host: &'a TestHost,
}

impl Mover<'_> {
    async fn act(&self, what: &str) -> Answer {
        let operator = self.host.operator();
        self.host.send(&operator, Method::POST, &format!("/v1/workspaces/acme/{what}"), None).await
    }

    async fn copy(&self) -> Vec<u8> {
        let request = self.host.request(Method::POST, "/v1/workspaces/acme/copy");
        let answer = request.bearer_auth(self.host.operator()).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        answer.bytes().await.unwrap().to_vec()
    }

    async fn send(&self, offset: usize, piece: Vec<u8>) -> Answer {
        let path = format!("/v1/workspaces/acme/copy?offset={offset}");
        let request = self.host.request(Method::PUT, &path).bearer_auth(self.host.operator());
        TestHost::answer(request.body(piece)).await
    }

    async fn let_go(&self, to: &str) -> Answer {
        let path = "/v1/workspaces/acme/moved";
        self.host.post(&self.host.operator(), path, json!({"to": to})).await
    }
}

/// Nothing but the folders of workspaces is left beside them.
fn leftovers(host: &TestHost) -> Vec<String> {
    let folders = fs::read_dir(host.folder.path().join("workspaces"));
    let names = folders.into_iter().flatten().map(|file| file.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.contains('.')).collect()
}

// covers: OPS-173
#[tokio::test]
async fn a_workspace_moves_with_all_that_is_in_it_and_its_tokens() {
    let (from, to) = (host_of_files(|_| {}).await, host_of_files(|_| {}).await);
    let (here, there) = (Mover { host: &from }, Mover { host: &to });
    let acme = made(&from, "acme").await;
    let (room, ann, bot) = acme.room().await;
    let said = acme.say(&ann, &room, "before").await;
    let file = vec![b'f'; 3 * 1024 * 1024];
    let request = from.request(Method::POST, "/w/acme/v1/assets?name=f.bin").bearer_auth(&ann);
    let asset = TestHost::answer(request.body(file.clone())).await.ok();
    let harness = acme.connect(&bot).await;
    // It is in use.
    here.act("copy").await.refused(409);
    here.act("suspend").await.ok();
    drop(harness);
    let copy = here.copy().await;
    let half = copy.len() / 2;
    assert_eq!(there.send(0, copy[..half].to_vec()).await.ok()["bytes"], half);
    // Twice, or from elsewhere, is told where to go on.
    let wrong = there.send(0, copy[..half].to_vec()).await.ok();
    assert_eq!(wrong["bytes"], half, "0 begins anew");
    let wrong = there.send(half + 1, copy[half + 1..].to_vec()).await;
    assert!(wrong.body["error"]["message"].as_str().unwrap().contains(&half.to_string()));
    wrong.refused(409);
    assert_eq!(there.send(half, copy[half..].to_vec()).await.ok()["bytes"], copy.len());
    assert_eq!(there.act("take-in").await.ok()["state"], "suspended");
    // Nobody is let in anywhere, until it is let go.
    let moved = Below { host: &to, name: "acme" };
    moved.get(&ann, "/v1/whoami").await.refused(503);
    acme.get(&ann, "/v1/whoami").await.refused(503);
    let address = to.url("/w/acme");
    let gone = here.let_go(&address).await.ok();
    assert_eq!((&gone["state"], &gone["moved_to"]), (&json!("deleted"), &json!(address)));
    there.act("resume").await.ok();
    assert_eq!(moved.texts(&ann, &room).await, ["before"]);
    let again = json!({"conversation": room, "text": "before", "idempotency_key": "before"});
    let again = moved.post(&ann, "/v1/messages", again).await.ok();
    assert_eq!(again["event_id"], said["event_id"], "what was answered there is known here");
    moved.say(&ann, &room, "after").await;
    let path = format!("/w/acme/v1/assets/{}", asset["asset_id"].as_str().unwrap());
    let kept = to.request(Method::GET, &path).bearer_auth(&ann).send().await.unwrap();
    assert_eq!(kept.bytes().await.unwrap().to_vec(), file);
    let mut harness = moved.connect(&bot).await;
    let asked = moved.say(&ann, &room, "@bot are you there?").await;
    assert_eq!(harness.take().await["eventId"], asked["event_id"]);
    drop(harness);
    // Where it was, whoever comes is told where it is.
    let told = acme.get(&ann, "/v1/whoami").await;
    assert!(told.body["error"]["message"].as_str().unwrap().contains(&address), "{:?}", told.body);
    told.refused(404);
    // It may come back, and what was said meanwhile with it.
    there.act("suspend").await.ok();
    here.send(0, there.copy().await).await.ok();
    here.act("take-in").await.ok();
    there.let_go(&from.url("/w/acme")).await.ok();
    here.act("resume").await.ok();
    assert_eq!(acme.texts(&ann, &room).await, ["before", "after", "@bot are you there?"]);
    assert_eq!((leftovers(&from), leftovers(&to)), (vec![], vec![]));
    from.running.stop().await;
    to.running.stop().await;
}

// covers: OPS-173
#[tokio::test]
async fn what_is_no_copy_makes_no_workspace_and_replaces_none() {
    let (from, to) = (host_of_files(|_| {}).await, host_of_files(|_| {}).await);
    let (here, there) = (Mover { host: &from }, Mover { host: &to });
    let acme = made(&from, "acme").await;
    let (room, ann, _) = acme.room().await;
    acme.say(&ann, &room, "first").await;
    there.act("take-in").await.refused(409);
    there.send(0, b"no copy at all".to_vec()).await.ok();
    there.act("take-in").await.refused(400);
    here.act("suspend").await.ok();
    let copy = here.copy().await;
    there.send(0, copy[..copy.len() - 4096].to_vec()).await.ok();
    there.act("take-in").await.refused(400);
    there.send(0, vec![0; 9 * 1024 * 1024]).await.refused(400);
    // Without keys, all tokens would end: a backup is not enough.
    here.act("resume").await.ok();
    let request = from.request(Method::POST, "/w/acme/v1/backups").bearer_auth(acme.operator());
    let backup = request.send().await.unwrap().bytes().await.unwrap().to_vec();
    there.send(0, backup).await.ok();
    there.act("take-in").await.refused(400);
    let none: Value = to.get(&to.operator(), "/v1/workspaces").await.ok();
    assert_eq!(none["workspaces"], json!([]));
    // What was said since a copy was taken would be lost.
    here.act("suspend").await.ok();
    let address = to.url("/w/acme");
    here.let_go(&address).await.refused(409);
    here.copy().await;
    here.act("resume").await.ok();
    here.act("suspend").await.ok();
    here.let_go(&address).await.refused(409);
    // One that came and that nobody has used is replaced; one that was used is not.
    for copy in [copy, here.copy().await] {
        there.send(0, copy).await.ok();
        there.act("take-in").await.ok();
    }
    there.act("resume").await.ok();
    let moved = Below { host: &to, name: "acme" };
    assert_eq!(moved.texts(&ann, &room).await, ["first"]);
    there.act("suspend").await.ok();
    there.send(0, Vec::new()).await.refused(409);
    there.act("take-in").await.refused(409);
    // What could be taken for another is not taken in either.
    create(&to, "acrne").await.refused(409);
    create(&to, "globex").await.ok();
    let path = "/v1/workspaces/g1obex/copy?offset=0";
    let request = to.request(Method::PUT, path).bearer_auth(to.operator());
    TestHost::answer(request.body(vec![1])).await.refused(409);
    assert_eq!(leftovers(&to), Vec::<String>::new());
    for wrong in ["", "ftp://x/w/acme", "x"] {
        here.let_go(wrong).await.refused(400);
    }
    here.act("resume").await.ok();
    here.let_go("https://new.example/w/acme").await.refused(409);
    from.running.stop().await;
    to.running.stop().await;
}

// covers: OPS-173
#[tokio::test]
async fn one_that_did_not_come_whole_is_not_begun_as_an_empty_one() {
    let (from, to) = (host_of_files(|_| {}).await, host_of_files(|_| {}).await);
    let (here, there) = (Mover { host: &from }, Mover { host: &to });
    let acme = made(&from, "acme").await;
    let (room, ann, _) = acme.room().await;
    acme.say(&ann, &room, "first").await;
    here.act("suspend").await.ok();
    let copy = here.copy().await;
    there.send(0, copy.clone()).await.ok();
    there.act("take-in").await.ok();
    fs::remove_dir_all(to.folder.path().join("workspaces/acme")).unwrap();
    there.act("resume").await.refused(409);
    there.send(0, copy).await.ok();
    there.act("take-in").await.ok();
    there.act("resume").await.ok();
    assert_eq!(Below { host: &to, name: "acme" }.texts(&ann, &room).await, ["first"]);
    from.running.stop().await;
    to.running.stop().await;
}
