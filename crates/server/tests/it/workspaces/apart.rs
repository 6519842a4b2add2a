//! Nothing of one is in another, what fails fails alone, and who may not make one makes nothing.

use std::fs;

use chorus_testing::eventually;
use reqwest::Method;
use serde_json::json;

use super::{create, host, host_of_files, host_with, made, sign_in, soon};
use crate::live::Tail;
use crate::test_host::TestHost;

/// How a token of another workspace is refused: by its signature, or where hosts share the keys by what it says.
fn stranger() -> u16 {
    if chorus_cluster::on_postgres() { 403 } else { 401 }
}

// covers: OPS-160, OPS-162
#[tokio::test]
async fn two_workspaces_of_the_same_names_know_nothing_of_each_other() {
    let host = host().await;
    let (acme, globex) = (made(&host, "acme").await, made(&host, "globex").await);
    let (room, ann, bot) = acme.room().await;
    let (other_room, other_ann, other_bot) = globex.room().await;
    let mut harness = acme.connect(&bot).await;
    let mut other_harness = globex.connect(&other_bot).await;
    let mut tail = Tail::at(&host, &ann, &format!("/w/acme/v1/events?conversation={room}")).await;
    let said = acme.say(&ann, &room, "@bot what is our secret?").await;
    let other = globex.say(&other_ann, &other_room, "@bot what is our plan?").await;
    let event = harness.take().await;
    assert_eq!(event["eventId"], said["event_id"]);
    harness.reply(&event, "It is acme's.").await.unwrap();
    let event = other_harness.take().await;
    assert_eq!(event["eventId"], other["event_id"]);
    other_harness.reply(&event, "It is globex's.").await.unwrap();
    let mut followed = Vec::new();
    while followed.len() < 2 {
        let (_, shown) = tail.next().await.unwrap();
        followed.extend(shown["message"]["text"].as_str().map(str::to_owned));
    }
    assert_eq!(followed, ["@bot what is our secret?", "It is acme's."]);
    assert_eq!(acme.texts(&ann, &room).await, ["@bot what is our secret?", "It is acme's."]);
    assert_eq!(
        globex.texts(&other_ann, &other_room).await,
        ["@bot what is our plan?", "It is globex's."]
    );
    // A token of one is nobody's in the other, nor in the host's own, and the other way about.
    for path in ["/v1/whoami", "/w/globex/v1/whoami"] {
        for token in [&ann, &acme.operator()] {
            host.get(token, path).await.refused(stranger());
        }
    }
    acme.get(&host.operator(), "/v1/whoami").await.refused(stranger());
    acme.get(&host.operator(), "/v1/audit").await.refused(stranger());
    // What is there in one is not there in the other.
    let event = said["event_id"].as_str().unwrap();
    for path in [
        format!("/v1/messages/{event}"),
        format!("/v1/events/{event}/attention"),
        format!("/v1/channels/{room}"),
    ] {
        globex.get(&globex.operator(), &path).await.refused(404);
        acme.get(&acme.operator(), &path).await.ok();
    }
    let found = globex.get(&globex.operator(), "/v1/search?q=secret").await.ok();
    assert_eq!(found, json!({"hits": []}));
    // Nobody in one learns which others there are, or what the host has counted.
    assert_eq!(acme.get(&acme.operator(), "/v1/workspaces").await.refused(409), "CONFLICT");
    assert_eq!(acme.get(&acme.operator(), "/metrics").await.refused(404), "NOT_FOUND");
    drop((harness, other_harness, tail));
    host.running.stop().await;
}

// covers: OPS-160
#[tokio::test]
async fn a_link_signs_its_operator_in_where_it_belongs() {
    let host = host().await;
    let made = create(&host, "acme").await.ok();
    let url = host.url("/w/acme");
    assert_eq!(made["workspace"]["url"], url);
    let (cookie, to) = sign_in(made["sign_in_url"].as_str().unwrap()).await;
    assert!(cookie.starts_with("chorus_session_acme="), "{cookie}");
    assert_eq!(to, "/w/acme/app/");
    let session = cookie.split(';').next().unwrap().to_owned();
    let ask = |path: &str| {
        let request = host.request(Method::GET, path).header("cookie", &session);
        TestHost::answer(request.header("x-chorus-page", "1"))
    };
    let who = ask("/w/acme/v1/whoami").await.ok();
    assert_eq!(who["member"]["id"], "operator");
    ask("/v1/whoami").await.refused(401);
    // One that was lost is replaced.
    let another =
        host.post(&host.operator(), "/v1/workspaces/acme/sign-in-link", json!({})).await.ok();
    sign_in(another["sign_in_url"].as_str().unwrap()).await;
    let page = host.request(Method::GET, "/w/acme/app/").send().await.unwrap();
    assert_eq!(page.status(), 200);
    host.running.stop().await;
}

// covers: OPS-165
#[tokio::test]
async fn what_fails_in_one_is_that_ones_alone() {
    let host = host_of_files(soon).await;
    let (acme, globex) = (made(&host, "acme").await, made(&host, "globex").await);
    let (room, ann, _) = globex.room().await;
    acme.until_closed().await;
    fs::write(acme.folder().join("chorus.db"), b"not a database, and long enough to be read")
        .unwrap();
    let refused = acme.get(&ann, "/v1/whoami").await;
    assert_eq!(refused.refused(503), "UNAVAILABLE");
    let ready = |name: &'static str| host.get("", name);
    assert_eq!(ready("/readyz?workspace=acme").await.status, 503);
    assert_eq!(ready("/readyz?workspace=globex").await.status, 200);
    assert_eq!(ready("/readyz?workspace=initech").await.status, 404);
    assert_eq!(ready("/readyz").await.status, 200);
    assert!(acme.listed().await["trouble"].is_string());
    host.until_metric("chorus_failing_workspaces", 1).await;
    globex.say(&ann, &room, "we go on").await;
    // A folder that is gone is not made anew.
    let folder = globex.folder();
    fs::remove_dir_all(&folder).unwrap();
    globex.until_closed().await;
    assert_eq!(globex.get(&ann, "/v1/whoami").await.refused(503), "UNAVAILABLE");
    let why = globex.listed().await["trouble"].as_str().unwrap().to_owned();
    assert!(why.contains("is gone; put it back"), "{why}");
    assert!(!folder.exists());
    host.running.stop().await;
}

// covers: OPS-161
#[tokio::test]
async fn a_bad_name_or_caller_makes_nothing() {
    let host = host().await;
    host.room(&["bot"]).await;
    let op = host.operator();
    for name in ["", "a", "Acme", "acme.example", "../etc", "-a", "default", "www"] {
        assert_eq!(create(&host, name).await.refused(400), "VALIDATION_ERROR", "{name}");
    }
    let unknown = json!({"name": "acme", "owner": "x"});
    assert_eq!(host.post(&op, "/v1/workspaces", unknown).await.refused(400), "VALIDATION_ERROR");
    for token in [host.token("ann").await, host.token("bot").await] {
        let refused = host.post(&token, "/v1/workspaces", json!({"name": "acme"})).await;
        assert_eq!(refused.refused(403), "INSUFFICIENT_AUTHORITY");
    }
    let all = host.get(&op, "/v1/workspaces").await.ok();
    assert_eq!(all, json!({"workspaces": [], "has_more": false}));
    assert!(!host.folder.path().join("workspaces").exists());
    create(&host, "acme").await.ok();
    for taken in ["acme", "acrne", "ac-me"] {
        let refused = create(&host, taken).await;
        let why = refused.body["error"]["message"].as_str().unwrap().to_owned();
        assert!(why.contains("acme"), "{why}");
        assert_eq!(refused.refused(409), "CONFLICT");
    }
    create(&host, "globex").await.ok();
    let page = host.get(&op, "/v1/workspaces?limit=1").await.ok();
    assert_eq!((&page["workspaces"][0]["name"], &page["has_more"]), (&json!("acme"), &json!(true)));
    let page = host.get(&op, "/v1/workspaces?limit=1&after=acme").await.ok();
    assert_eq!(
        (&page["workspaces"][0]["name"], &page["has_more"]),
        (&json!("globex"), &json!(false))
    );
    assert_eq!(host.get(&op, "/v1/workspaces?limit=0").await.refused(400), "VALIDATION_ERROR");
    for path in ["/w/", "/w/initech/v1/whoami", "/w/ACME/"] {
        assert_eq!(host.get(&op, path).await.status / 100, 4, "{path}");
    }
    for act in ["suspend", "resume", "sign-in-link"] {
        let path = format!("/v1/workspaces/initech/{act}");
        assert_eq!(host.post(&op, &path, json!({})).await.refused(404), "NOT_FOUND");
    }
    host.running.stop().await;
}

// covers: OPS-161
#[tokio::test]
async fn a_folder_that_is_there_is_neither_given_to_another_nor_removed() {
    let host = host_of_files(|_| {}).await;
    let folders = host.folder.path().join("workspaces");
    let kept = folders.join("acme/kept");
    fs::create_dir_all(folders.join("acme")).unwrap();
    fs::write(&kept, b"somebody's").unwrap();
    fs::write(folders.join("globex"), b"a file").unwrap();
    std::os::unix::fs::symlink("/nowhere", folders.join("initech")).unwrap();
    for name in ["acme", "globex", "initech"] {
        let refused = create(&host, name).await;
        let why = refused.body["error"]["message"].as_str().unwrap().to_owned();
        assert!(why.contains("move it away"), "{why}");
        assert_eq!(refused.refused(409), "CONFLICT");
    }
    assert_eq!(fs::read(&kept).unwrap(), b"somebody's");
    let all = host.get(&host.operator(), "/v1/workspaces").await.ok();
    assert_eq!(all["workspaces"], json!([]));
    host.running.stop().await;
}

// covers: OPS-165
#[tokio::test]
async fn one_that_could_not_be_opened_is_when_the_cause_is_gone() {
    let host = host_with(soon).await;
    let acme = made(&host, "acme").await;
    let (_, ann, _) = acme.room().await;
    acme.until_closed().await;
    // Its store opens, and what comes after that fails.
    let token = acme.folder().join("operator.token");
    fs::remove_file(&token).unwrap();
    fs::create_dir(&token).unwrap();
    assert_eq!(acme.get(&ann, "/v1/whoami").await.refused(503), "UNAVAILABLE");
    fs::remove_dir(&token).unwrap();
    eventually("it is opened", async || acme.get(&ann, "/v1/whoami").await.status == 200).await;
    host.running.stop().await;
}
