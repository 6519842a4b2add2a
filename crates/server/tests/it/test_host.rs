//! A running host with a room in it, and what tests do to it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chorus_core::model::ids::Timestamp;
use chorus_server::config::webhook::Network;
use chorus_server::{Address, Config, Host, Place, Report, Running};
use chorus_store::{Clock, ManualClock};
use chorus_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::harness::{Harness, outcome};

pub(crate) const START: Timestamp = Timestamp(1_790_000_000_000);
/// Nothing here takes long; a test that waits longer for something waits for ever.
pub(crate) const PATIENCE: Duration = chorus_testing::DEADLINE;

pub(crate) struct TestHost {
    pub(crate) running: Running,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) folder: TempDir,
    http: reqwest::Client,
}

/// Where the workspace of a host's folder is.
pub(crate) fn place(folder: &Path) -> Place {
    match chorus_cluster::under_test(folder).unwrap() {
        None => Place::folder(folder),
        Some(url) => Place::Postgres(Arc::new(Address::read(&url).unwrap())),
    }
}

/// What the doctor and the signed heads say of a host's folder.
pub(crate) fn verify(folder: &Path) -> Report {
    chorus_server::verify(&place(folder), folder, None).unwrap()
}

pub(crate) fn doctor(folder: &Path) -> Report {
    chorus_store::doctor(&place(folder)).unwrap()
}

/// An answer: status and body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn ok(self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        self.body
    }

    /// The code in the envelope; the envelope is whole.
    pub(crate) fn refused(self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let error = &self.body["error"];
        assert!(error["request_id"].as_str().is_some_and(|id| id.starts_with("req_")), "{self:?}");
        assert!(error["message"].as_str().is_some_and(|m| !m.is_empty()), "{self:?}");
        error["code"].as_str().unwrap().to_owned()
    }
}

impl TestHost {
    pub(crate) async fn open() -> Self {
        Self::open_in(tempfile::tempdir().unwrap(), START).await
    }

    pub(crate) async fn open_in(folder: TempDir, now: Timestamp) -> Self {
        Self::open_with(folder, now, |_| {}).await
    }

    /// With other settings.
    pub(crate) async fn open_with(
        folder: TempDir,
        now: Timestamp,
        set: impl FnOnce(&mut Config),
    ) -> Self {
        let clock = Arc::new(ManualClock::new(now));
        let mut config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            clock: clock.clone(),
            database: chorus_cluster::under_test(folder.path()).unwrap(),
            ..Config::on(folder.path())
        };
        // Services elsewhere are on this machine too, which is not for what they name.
        config.settings.webhook.allow = vec![Network("127.0.0.0/8".parse().unwrap())];
        set(&mut config);
        chorus_statements::watch();
        let running = Host::start(config).await.unwrap();
        Self { running, clock, folder, http: reqwest::Client::new() }
    }

    /// A channel `room` with the operator, the person `ann` and these agents; its id.
    pub(crate) async fn room(&self, agents: &[&str]) -> String {
        let op = self.operator();
        self.post(&op, "/v1/members", json!({"id": "ann", "kind": "human"})).await.ok();
        for agent in agents {
            self.post(&op, "/v1/members", json!({"id": agent, "kind": "agent"})).await.ok();
        }
        let mut members = agents.to_vec();
        members.push("ann");
        let new = json!({"title": "room", "members": members});
        let made = self.post(&op, "/v1/channels", new).await.ok();
        made["id"].as_str().unwrap().to_owned()
    }

    /// The newest of its tokens: the host renews it in its folder.
    pub(crate) fn operator(&self) -> String {
        let kept = std::fs::read_to_string(self.folder.path().join("operator.token")).unwrap();
        kept.trim().to_owned()
    }

    /// A worker's token.
    pub(crate) async fn token(&self, member: &str) -> String {
        self.token_of(member, "worker").await
    }

    pub(crate) async fn token_of(&self, member: &str, role: &str) -> String {
        let new = json!({"agent": member, "role": role});
        let made = self.post(&self.operator(), "/v1/tokens", new).await.ok();
        made["token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn send(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Answer {
        let mut request = self.http.request(method, self.url(path)).bearer_auth(token);
        if let Some(body) = body {
            said(&body);
            request = request.json(&body);
        }
        Self::answer(request).await
    }

    pub(crate) async fn answer(request: reqwest::RequestBuilder) -> Answer {
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.bytes().await.unwrap();
        let body = match bytes.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned())),
        };
        Answer { status, body }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, self.url(path))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.running.url)
    }

    /// What `/metrics` says under a name, labels and all.
    pub(crate) async fn metric(&self, name: &str) -> u64 {
        let metrics = self.get(&self.operator(), "/metrics").await.ok();
        let mut lines = metrics.as_str().unwrap().lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("{name}: {metrics}")).parse().unwrap()
    }

    /// Waits until that metric is so much.
    pub(crate) async fn until_metric(&self, name: &str, count: u64) {
        let what = format!("{name} is {count}");
        eventually(&what, async || {
            let value = self.metric(name).await;
            if value == count { Ok(()) } else { Err(value) }
        })
        .await;
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Answer {
        self.send(token, Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: Value) -> Answer {
        self.send(token, Method::POST, path, Some(body)).await
    }

    /// Posts a text under a key of its own.
    pub(crate) async fn say(&self, token: &str, room: &str, text: &str) -> Value {
        let key = format!("key:{text}");
        let new = json!({"conversation": room, "text": text, "idempotency_key": key});
        self.post(token, "/v1/messages", new).await.ok()
    }

    /// How many entries a conversation's log has.
    pub(crate) async fn length(&self, room: &str) -> u64 {
        let shown = self.get(&self.operator(), &format!("/v1/channels/{room}")).await.ok();
        shown["last_seq"].as_u64().unwrap()
    }

    /// Moves time, and lets it do what it does: the answer to a command comes after the timers of its batch.
    pub(crate) async fn pass(&self, ms: i64) {
        self.clock.advance(ms);
        self.running.tick();
        // After many days the host writes a new token meanwhile.
        eventually("the operator's token is renewed", async || {
            self.get(&self.operator(), "/v1/deliveries?state=open").await.status != 401
        })
        .await;
    }

    pub(crate) fn clock_now(&self) -> Timestamp {
        self.clock.now()
    }

    /// One JSON-RPC call by POST.
    pub(crate) async fn rpc(&self, token: &str, method: &str, params: Value) -> Answer {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.post(token, "/v1/c2a", call).await
    }

    /// A chat tool by POST: what it gave, or the code of its refusal.
    pub(crate) async fn tool(&self, token: &str, name: &str, args: Value) -> Result<Value, String> {
        let params = json!({"name": name, "arguments": args});
        outcome(self.rpc(token, "tools/call", params).await.ok()["result"].clone())
    }

    pub(crate) async fn connect(&self, token: &str) -> Harness {
        self.connect_as(token, json!({})).await
    }

    pub(crate) async fn connect_as(&self, token: &str, session: Value) -> Harness {
        let mut harness = self.socket(token).await;
        let params = json!({
            "protocolVersion": "2026-06-02",
            "clientInfo": {"name": "test", "version": "0"},
            "session": session,
        });
        let hello = harness.call("initialize", params).await.unwrap();
        harness.hello = hello;
        harness
    }

    /// A connection that has not introduced itself.
    pub(crate) async fn socket(&self, token: &str) -> Harness {
        let url = self.url("/v1/c2a").replace("http://", "ws://");
        let mut request = url.into_client_request().unwrap();
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        Harness::over(socket)
    }
}

/// What a test sends in somebody's words must not stand in a line of the log.
pub(crate) fn said(body: &Value) {
    const WORDS: [&str; 14] = [
        "text",
        "body",
        "title",
        "description",
        "purpose",
        "note",
        "reason",
        "detail",
        "summary",
        "content",
        "kickoff",
        "message",
        "display_name",
        "q",
    ];
    match body {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| match value {
            Value::String(text) if WORDS.contains(&key.as_str()) => chorus_statements::said(text),
            value => said(value),
        }),
        Value::Array(all) => all.iter().for_each(said),
        _ => {}
    }
}

/// Changes rows behind the store's back, in a folder that no host has.
pub(crate) fn damage(folder: &Path, sql: &str) {
    match chorus_cluster::under_test(folder).unwrap() {
        None => {
            let db = chorus_store::sqlite::Sqlite::alone(&folder.join("chorus.db")).unwrap();
            let changed = chorus_store::db::Db::execute(&db, sql, &[]).unwrap();
            assert!(changed > 0 || sql.starts_with("ALTER"), "it changed nothing: {sql}");
        }
        Some(url) => drop(chorus_cluster::sql_at(&url, sql).unwrap()),
    }
}
