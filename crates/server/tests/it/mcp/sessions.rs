//! What sessions cost while nothing happens in them, and when they end.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, header};
use chorus_testing::eventually;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use reqwest::Method;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{InitializeRequestParams, InitializeResult};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

use super::clients::Wire;
use super::refused::{begun, initialize, posted, raw};
use crate::test_host::{PATIENCE, TestHost};

const MINUTE: i64 = 60_000;

/// Resident memory of this process, in bytes.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn list() -> serde_json::Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
}

// covers: THR-440
#[tokio::test]
async fn two_thousand_idle_sessions_cost_less_than_8_kib_each() {
    let host = TestHost::open().await;
    host.room(&["scout"]).await;
    let mut sessions = Vec::new();
    // What the first ones cost is the host's: buffers, lists that are made once.
    for _ in 0..4 {
        let token = host.token("scout").await;
        for _ in 0..32 {
            begun(&host, &token).await;
        }
        let last = begun(&host, &token).await;
        assert_eq!(raw(&host, &token, Some(&last), list()).await.status(), 200);
    }
    host.pass(MINUTE).await;
    let before = resident();
    for _ in 0..40 {
        let token = host.token("scout").await;
        for _ in 0..50 {
            sessions.push((token.clone(), begun(&host, &token).await));
        }
    }
    host.pass(MINUTE).await;
    eventually("an idle session costs less than 8 KiB", async || {
        let each = resident().saturating_sub(before) / sessions.len();
        if each < 8 * 1024 { Ok(()) } else { Err(each) }
    })
    .await;
    for (token, session) in sessions.iter().step_by(97) {
        let answer = raw(&host, token, Some(session), list()).await;
        assert_eq!(answer.status(), 200, "it wakes");
        let text = answer.text().await.unwrap();
        assert!(text.contains("create_thread"), "{text}");
    }
}

// covers: THR-441
#[tokio::test]
async fn a_session_in_which_nothing_is_asked_for_half_an_hour_has_ended() {
    let host = TestHost::open().await;
    host.room(&["scout"]).await;
    let token = &host.token("scout").await;
    let (used, unused) = (begun(&host, token).await, begun(&host, token).await);
    host.pass(29 * MINUTE).await;
    assert_eq!(raw(&host, token, Some(&used), list()).await.status(), 200);
    host.pass(MINUTE).await;
    assert_eq!(raw(&host, token, Some(&unused), list()).await.status(), 404);
    assert_eq!(raw(&host, token, Some(&used), list()).await.status(), 200);
    host.pass(30 * MINUTE).await;
    assert_eq!(raw(&host, token, Some(&used), list()).await.status(), 404);
    let anew = begun(&host, token).await;
    assert_eq!(raw(&host, token, Some(&anew), list()).await.status(), 200);
}

// covers: THR-440, THR-441
#[tokio::test]
async fn session_with_a_listener_stays_and_a_sleeping_one_can_be_ended() {
    let host = TestHost::open().await;
    host.room(&["scout"]).await;
    let token = &host.token("scout").await;
    let (heard, left) = (begun(&host, token).await, begun(&host, token).await);
    let stream = host.request(Method::GET, "/v1/mcp").bearer_auth(token);
    let stream = stream.header("accept", "text/event-stream").header("mcp-session-id", &heard);
    let stream = stream.send().await.unwrap();
    assert_eq!(stream.status(), 200);
    host.pass(20 * MINUTE).await;
    let end = host.request(Method::DELETE, "/v1/mcp").bearer_auth(token);
    let end = end.header("mcp-session-id", &left).send().await.unwrap();
    assert_eq!(end.status(), 202);
    assert_eq!(raw(&host, token, Some(&left), list()).await.status(), 404);
    host.pass(20 * MINUTE).await;
    assert_eq!(raw(&host, token, Some(&heard), list()).await.status(), 200);
    drop(stream);
}

// covers: THR-442
#[tokio::test]
async fn news_for_a_sleeping_session_is_told_when_it_wakes() {
    let host = TestHost::open().await;
    let room = host.room(&["scout", "crew"]).await;
    let (ann, token) = (host.token("ann").await, host.token("crew").await);
    let scout = host.mcp(&host.token("scout").await, Wire::Stateless).await;
    let new = json!({"title": "one", "type": "workflow", "participants": ["crew"]});
    let made = scout.call("create_thread", new).await.unwrap();
    let session = begun(&host, &token).await;
    let uri = format!("chorus://threads/{}", made["thread_id"].as_str().unwrap());
    let asks =
        json!({"jsonrpc": "2.0", "id": 3, "method": "resources/subscribe", "params": {"uri": uri}});
    let answer = raw(&host, &token, Some(&session), asks).await;
    assert!(answer.text().await.unwrap().contains("result"));
    host.pass(MINUTE).await;
    let said =
        json!({"thread_id": made["thread_id"], "schema_version": 1, "kind": "chat", "body": "x"});
    scout.call("post_message", said).await.unwrap();
    host.say(&ann, &room, "elsewhere").await;
    let mut heard = posted(&host, &token, Some(&session)).build().unwrap();
    *heard.method_mut() = Method::GET;
    let mut stream = reqwest::Client::new().execute(heard).await.unwrap();
    assert_eq!(stream.status(), 200);
    let mut text = String::new();
    while !text.contains(&uri) {
        let chunk = tokio::time::timeout(PATIENCE, stream.chunk()).await.expect("it is told");
        text.push_str(&String::from_utf8_lossy(&chunk.unwrap().unwrap()));
    }
    assert!(text.contains("notifications/resources/updated"), "{text}");
}

/// What the server of one session does.
#[derive(Debug, PartialEq, Eq)]
enum Did {
    Begin,
    End,
}

/// A server whose sessions begin when they are let.
struct Slow {
    may_begin: Arc<Semaphore>,
    does: mpsc::UnboundedSender<Did>,
}

impl Drop for Slow {
    fn drop(&mut self) {
        let _ = self.does.send(Did::End);
    }
}

impl ServerHandler for Slow {
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let _ = self.does.send(Did::Begin);
        self.may_begin.acquire().await.unwrap().forget();
        context.peer.set_peer_info(request);
        Ok(self.get_info())
    }
}

/// The transport with such a server behind it.
struct Fixture {
    host: TestHost,
    router: Router,
    may_begin: Arc<Semaphore>,
    did: mpsc::UnboundedReceiver<Did>,
}

impl Fixture {
    async fn open() -> Self {
        let host = TestHost::open().await;
        host.room(&["scout"]).await;
        let token = host.token("scout").await;
        let (may_begin, (does, did)) = (Arc::new(Semaphore::new(0)), mpsc::unbounded_channel());
        let begins = may_begin.clone();
        let server = move || Slow { may_begin: begins.clone(), does: does.clone() };
        let router = host.running.mcp_fixture(token, server).unwrap();
        Self { host, router, may_begin, did }
    }

    fn ask(
        &self,
        session: Option<&str>,
        body: &serde_json::Value,
    ) -> impl Future<Output = Response<Body>> + Send + use<> {
        let mut request = Request::post("/mcp")
            .header(header::HOST, "localhost")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(id) = session {
            request = request.header("mcp-session-id", id);
        }
        let request = request.body(Body::from(body.to_string())).unwrap();
        let answer = TowerToHyperService::new(self.router.clone()).call(request);
        async move { answer.await.unwrap() }
    }

    /// Asks, and goes away as soon as the server has begun.
    async fn ask_and_go(&mut self, session: Option<&str>, body: &serde_json::Value) {
        let asked = tokio::spawn(self.ask(session, body));
        self.does(Did::Begin).await;
        asked.abort();
        assert!(asked.await.is_err_and(|why| why.is_cancelled()));
    }

    async fn does(&mut self, what: Did) {
        let did = tokio::time::timeout(PATIENCE, self.did.recv()).await.expect("it does something");
        assert_eq!(did, Some(what));
    }
}

// covers: THR-441
#[tokio::test]
async fn a_session_whose_client_goes_away_while_it_is_made_ends_like_any_other() {
    let mut fixture = Fixture::open().await;
    fixture.ask_and_go(None, &initialize()).await;
    fixture.may_begin.add_permits(1);
    // It is made while time passes.
    eventually("the session ends", async || {
        let did = fixture.did.try_recv();
        fixture.host.pass(31 * MINUTE).await;
        did == Ok(Did::End)
    })
    .await;
}

// covers: THR-440
#[tokio::test]
async fn a_session_that_is_being_woken_is_nothing_between_to_whoever_comes_meanwhile() {
    let mut fixture = Fixture::open().await;
    fixture.may_begin.add_permits(1);
    let begun = fixture.ask(None, &initialize()).await;
    fixture.does(Did::Begin).await;
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(fixture.ask(Some(&session), &ready).await.status(), 202);
    fixture.host.pass(MINUTE).await;
    fixture.does(Did::End).await;
    fixture.ask_and_go(Some(&session), &list()).await;
    let mut another = list();
    another["id"] = json!(4);
    let meanwhile = tokio::spawn(fixture.ask(Some(&session), &another));
    // By then it has come as far as it can.
    let other = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
    assert_eq!(fixture.ask(Some("no"), &other).await.status(), 404);
    fixture.may_begin.add_permits(1);
    assert_eq!(meanwhile.await.unwrap().status(), 200);
    assert_eq!(fixture.ask(Some(&session), &list()).await.status(), 200);
    assert!(fixture.did.try_recv().is_err(), "it was woken once");
}
