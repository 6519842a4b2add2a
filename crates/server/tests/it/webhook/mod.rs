//! Agents behind connection strings: what is posted to them, and what they answer (webhook spec).

mod answers;
mod attempts;
mod gate;
mod literal;
mod neighbours;
mod places;
mod posts;
mod reminders;
mod retries;
mod tls;
mod tools;
mod windows;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::serve::Listener;
use chorus_server::Config;
use chorus_server::config::kind::Span;
use chorus_testing::eventually;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::test_host::{Answer, PATIENCE, START, TestHost};

/// An agent somewhere: an HTTP server of its own.
pub(crate) struct Remote {
    /// Its scheme and host.
    base: String,
    posts: mpsc::UnboundedReceiver<Post>,
    /// What it answers next; 200 when nothing is said.
    answers: Arc<Mutex<Answers>>,
    /// Whether its answers wait.
    held: watch::Sender<bool>,
}

/// Statuses, and after how many seconds it wants to be asked again.
type Answers = VecDeque<(u16, Option<u32>)>;

/// What was posted to it.
pub(crate) struct Post {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Post {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Remote {
    pub(crate) async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        Self::on(listener, base)
    }

    fn on<L: Listener<Addr = SocketAddr>>(listener: L, base: String) -> Self {
        let (sent, posts) = mpsc::unbounded_channel();
        let answers = Arc::new(Mutex::new(Answers::new()));
        let next = answers.clone();
        let (held, waits) = watch::channel(false);
        let take = move |uri: Uri, headers: HeaderMap, body: Bytes| {
            let post = Post { path: uri.path().to_owned(), headers, body };
            sent.send(post).unwrap();
            let (status, after) = next.lock().unwrap().pop_front().unwrap_or((200, None));
            let after = after.map(|seconds| (RETRY_AFTER, HeaderValue::from(seconds)));
            let headers: HeaderMap = after.into_iter().collect();
            let mut waits = waits.clone();
            async move {
                waits.wait_for(|held| !*held).await.unwrap();
                (StatusCode::from_u16(status).unwrap(), headers)
            }
        };
        let router = axum::Router::new().fallback(take);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { base, posts, answers, held }
    }

    pub(crate) fn url(&self) -> String {
        self.at("/inbox/sk_a1b2c3d4e5f6")
    }

    /// Another address of it.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(crate) fn answers(&self, statuses: &[u16]) {
        self.answers.lock().unwrap().extend(statuses.iter().map(|status| (*status, None)));
    }

    /// It leaves POSTs unanswered, or answers them now.
    pub(crate) fn hold(&self, on: bool) {
        self.held.send_replace(on);
    }

    /// It is busy, and wants to be asked again after so many seconds.
    pub(crate) fn is_busy(&self, seconds: u32) {
        self.answers.lock().unwrap().push_back((503, Some(seconds)));
    }

    /// The next POST.
    pub(crate) async fn post(&mut self) -> Post {
        tokio::time::timeout(PATIENCE, self.posts.recv()).await.unwrap().unwrap()
    }

    /// The next delivery.
    pub(crate) async fn take(&mut self) -> Value {
        self.post().await.json()
    }

    /// The next delivery, as time goes on.
    pub(crate) async fn take_later(&mut self, host: &TestHost) -> Value {
        self.post_later(host).await.json()
    }

    /// The next POST, as time goes on.
    pub(crate) async fn post_later(&mut self, host: &TestHost) -> Post {
        let began = std::time::Instant::now();
        loop {
            let next = tokio::time::timeout(Duration::from_millis(20), self.posts.recv()).await;
            if let Ok(Some(post)) = next {
                return post;
            }
            assert!(began.elapsed() < PATIENCE, "nothing came");
            host.pass(1_000).await;
        }
    }

    /// Forgets what it was to answer.
    pub(crate) fn clear(&self) {
        self.answers.lock().unwrap().clear();
    }

    /// Nothing has come, and nothing comes for a while.
    pub(crate) async fn nothing(&mut self) {
        let next = tokio::time::timeout(Duration::from_millis(150), self.posts.recv()).await;
        assert!(next.is_err(), "{:?}", next.unwrap().map(|post| post.json()));
    }
}

/// Each message is posted at once.
pub(crate) fn at_once(config: &mut Config) {
    config.settings.webhook.quiet = Span::seconds(0);
}

pub(crate) async fn open() -> TestHost {
    TestHost::open_with(tempfile::tempdir().unwrap(), START, at_once).await
}

/// A room with ann, and the agent `weather` behind a string.
pub(crate) async fn reached(host: &TestHost, remote: &Remote) -> String {
    let room = host.room(&[]).await;
    let new = json!({"member": "weather", "url": remote.url(), "channels": [room]});
    host.post(&host.operator(), "/v1/endpoints", new).await.ok();
    room
}

/// A host where ann has asked the agent behind a string something: the host, the agent, the room, and the delivery.
pub(crate) async fn asked(text: &str) -> (TestHost, Remote, String, Value) {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    host.say(&host.token("ann").await, &room, text).await;
    let delivery = remote.take().await;
    (host, remote, room, delivery)
}

/// A POST to the callback of a delivery.
pub(crate) fn to_callback(host: &TestHost, delivery: &Value) -> RequestBuilder {
    let url = delivery["callback"].as_str().unwrap();
    host.request(Method::POST, url.strip_prefix(&host.running.url).unwrap())
}

/// What an agent posts to a callback, as it is.
pub(crate) async fn call(host: &TestHost, delivery: &Value, event: Value) -> Answer {
    TestHost::answer(to_callback(host, delivery).json(&event)).await
}

/// A body as it is, in whatever form.
pub(crate) async fn post(host: &TestHost, delivery: &Value, body: &str) -> Answer {
    let request = to_callback(host, delivery).header("content-type", "application/json");
    TestHost::answer(request.body(body.to_owned())).await
}

/// The bearer of the tools that come with a delivery.
pub(crate) fn bearer(delivery: &Value) -> String {
    let bearer = text(&delivery["mcp"]["headers"]["Authorization"]);
    bearer.strip_prefix("Bearer ").unwrap().to_owned()
}

/// Waits until it is noted that the agent has the only delivery that is open: the POST is read before it is answered, and
/// a message that was not taken is no run to remind of.
pub(crate) async fn accepted(host: &TestHost) {
    eventually("the delivery is accepted", async || {
        let open = host.get(&host.operator(), "/v1/deliveries?member=weather").await.ok();
        if open["deliveries"][0]["state"] == "accepted" { Ok(()) } else { Err(open) }
    })
    .await;
}

/// Waits until the agent owes nothing: that it has taken something is noted a moment later.
pub(crate) async fn nothing_owed(host: &TestHost) {
    eventually("the agent owes nothing", async || {
        let open = host.get(&host.operator(), "/v1/deliveries?member=weather").await.ok();
        if open["deliveries"] == json!([]) { Ok(()) } else { Err(open) }
    })
    .await;
}

pub(crate) async fn messages(host: &TestHost, room: &str) -> Vec<(String, String)> {
    let path = format!("/v1/messages?conversation={room}");
    let page = host.get(&host.operator(), &path).await.ok();
    let of = |m: &Value| (text(&m["author"]["id"]), text(&m["text"]));
    page["messages"].as_array().unwrap().iter().map(of).collect()
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
