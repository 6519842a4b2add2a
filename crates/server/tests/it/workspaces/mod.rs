//! Workspaces beside the host's own: each is a world of its own below `/w/NAME`, is not in memory when nobody uses it, and
//! fails alone.

mod apart;
mod life;
mod moving;
mod quotas;
mod shared;

use std::fs;
use std::path::PathBuf;

use chorus_server::Config;
use chorus_server::config::kind::Span;
use chorus_testing::eventually;
use serde_json::{Value, json};
use tempfile::tempdir;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::harness::Harness;
use crate::test_host::{Answer, START, TestHost};

const DAY: i64 = 24 * 3_600_000;

/// A workspace of a host, as whoever is in it sees it.
struct Below<'a> {
    host: &'a TestHost,
    name: &'static str,
}

impl Below<'_> {
    fn folder(&self) -> PathBuf {
        folder(self.host, self.name).unwrap()
    }

    fn operator(&self) -> String {
        fs::read_to_string(self.folder().join("operator.token")).unwrap().trim().to_owned()
    }

    async fn get(&self, token: &str, path: &str) -> Answer {
        self.host.get(token, &format!("/w/{}{path}", self.name)).await
    }

    async fn post(&self, token: &str, path: &str, body: Value) -> Answer {
        self.host.post(token, &format!("/w/{}{path}", self.name), body).await
    }

    /// A channel with the person `ann` and the agents `bot` and `herald`, and the tokens of the first two.
    async fn room(&self) -> (String, String, String) {
        let op = self.operator();
        self.post(&op, "/v1/members", json!({"id": "ann", "kind": "human"})).await.ok();
        for agent in ["bot", "herald"] {
            self.post(&op, "/v1/members", json!({"id": agent, "kind": "agent"})).await.ok();
        }
        let new = json!({"title": "room", "members": ["ann", "bot", "herald"]});
        let room = self.post(&op, "/v1/channels", new).await.ok();
        let mut tokens = Vec::new();
        for member in ["ann", "bot"] {
            let new = json!({"agent": member, "role": "worker"});
            let made = self.post(&op, "/v1/tokens", new).await.ok();
            tokens.push(made["token"].as_str().unwrap().to_owned());
        }
        let [ann, bot] = tokens.try_into().unwrap();
        (room["id"].as_str().unwrap().to_owned(), ann, bot)
    }

    async fn say(&self, token: &str, room: &str, text: &str) -> Value {
        let new = json!({"conversation": room, "text": text, "idempotency_key": text});
        self.post(token, "/v1/messages", new).await.ok()
    }

    async fn texts(&self, token: &str, room: &str) -> Vec<String> {
        let page = self.get(token, &format!("/v1/messages?conversation={room}")).await.ok();
        let texts = page["messages"].as_array().unwrap().iter();
        texts.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
    }

    async fn connect(&self, token: &str) -> Harness {
        let url = self.host.url(&format!("/w/{}/v1/c2a", self.name)).replace("http://", "ws://");
        let mut request = url.into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let mut harness = Harness::over(socket);
        let client = json!({"name": "test", "version": "0"});
        let hello = json!({"protocolVersion": "2026-06-02", "clientInfo": client, "session": {}});
        harness.hello = harness.call("initialize", hello).await.unwrap();
        harness
    }

    async fn listed(&self) -> Value {
        let all = self.host.get(&self.host.operator(), "/v1/workspaces").await.ok();
        let all = all["workspaces"].as_array().unwrap();
        all.iter().find(|one| one["name"] == self.name).cloned().unwrap_or_default()
    }

    async fn until_closed(&self) {
        let what = format!("{} is closed", self.name);
        eventually(&what, async || self.listed().await["open"] == false).await;
    }
}

/// The folder that a host has for a workspace; beside a database its name is followed by a key.
fn folder(host: &TestHost, name: &str) -> Option<PathBuf> {
    let folders = fs::read_dir(host.folder.path().join("workspaces")).ok()?;
    let mut paths = folders.map(|folder| folder.unwrap().path());
    paths.find(|path| path.file_stem().is_some_and(|stem| stem == name))
}

async fn host_with(set: impl FnOnce(&mut Config)) -> TestHost {
    TestHost::open_with(tempdir().unwrap(), START, set).await
}

/// One whose workspaces are files.
async fn host_of_files(set: impl FnOnce(&mut Config)) -> TestHost {
    host_with(|config| {
        config.database = None;
        set(config);
    })
    .await
}

/// Closes what nobody uses, as soon as that can be set.
fn soon(config: &mut Config) {
    config.settings.workspaces.idle = Span::seconds(1);
}

async fn host() -> TestHost {
    host_with(|_| {}).await
}

async fn create(host: &TestHost, name: &str) -> Answer {
    host.post(&host.operator(), "/v1/workspaces", json!({"name": name})).await
}

/// Makes a workspace, and uses its link up, which would keep it open.
async fn made<'a>(host: &'a TestHost, name: &'static str) -> Below<'a> {
    let made = create(host, name).await.ok();
    sign_in(made["sign_in_url"].as_str().unwrap()).await;
    Below { host, name }
}

/// Signs in by a link, as a browser does: the cookie and where it is sent.
async fn sign_in(link: &str) -> (String, String) {
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
    let answer = browser
        .unwrap()
        .post(link)
        .header("content-type", "application/x-www-form-urlencoded")
        .send()
        .await
        .unwrap();
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(answer.status(), 303, "{answer:?}");
    (header("set-cookie"), header("location"))
}
