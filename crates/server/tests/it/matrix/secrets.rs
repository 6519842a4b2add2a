//! Secrets that are all the authority there is: the callback and the bearer that a delivery brings to an agent behind a
//! connection string, and the inbox of an agent here.

use reqwest::Method;
use serde_json::{Value, json};

use super::table::Caller;
use super::world::{INITIALIZE, World, answer, text};
use crate::test_host::TestHost;
use crate::webhook::Remote;

/// The agent behind a connection string.
pub(super) const MEMBER: &str = "remote";

/// What one delivery brought.
pub(super) struct Delivered {
    /// The path of its callback, whose last segment is `token`.
    pub(super) callback: String,
    pub(super) token: String,
    /// Where its tools are, and with what.
    pub(super) tools: String,
    pub(super) bearer: String,
}

/// What using both gives: the statuses.
pub(super) struct Used {
    pub(super) callback: u16,
    pub(super) tools: u16,
}

/// Gives the channel an agent behind a connection string.
pub(super) async fn reach(world: &mut World, remote: &Remote) {
    let new = json!({"member": MEMBER, "url": remote.url(), "channels": [world.known("channel")]});
    world.post(Caller::Operator, "/v1/endpoints", new).await;
}

/// Asks it something; what it is sent.
pub(super) async fn delivered(world: &mut World, remote: &mut Remote) -> Delivered {
    let said = format!("@{MEMBER} can you look at {}?", world.id());
    world.say(&said, json!({})).await;
    let delivery = remote.take_later(&world.host).await;
    let path = |url: &Value| {
        let path = text(url).strip_prefix(&world.host.running.url).map(str::to_owned);
        path.unwrap_or_else(|| panic!("not of this host: {url}"))
    };
    let callback = path(&delivery["callback"]);
    let server = if delivery["mcp"].is_array() { &delivery["mcp"][0] } else { &delivery["mcp"] };
    let bearer = text(&server["headers"]["Authorization"]);
    Delivered {
        token: callback.rsplit('/').next().unwrap_or_default().to_owned(),
        callback,
        tools: path(&server["url"]),
        bearer: bearer.strip_prefix("Bearer ").unwrap_or_default().to_owned(),
    }
}

impl Delivered {
    /// Says by the callback what it is doing, and looks at its tools.
    pub(super) async fn used(&self, world: &World) -> Used {
        let status = json!({"type": "status", "status": "looking"});
        let request = world.host.request(Method::POST, &self.callback).json(&status);
        let (callback, _) = answer(request).await;
        let asked = format!("POST {} {INITIALIZE}", self.tools);
        let (tools, _) = answer(world.request(&asked, Some(self.bearer.as_str()))).await;
        Used { callback, tools }
    }
}

// covers: OPS-461
#[tokio::test]
async fn a_callback_and_its_bearer_are_for_one_channel_and_one_day() {
    let mut world = World::open().await;
    let mut remote = Remote::open().await;
    reach(&mut world, &remote).await;
    let delivered = delivered(&mut world, &mut remote).await;
    let Used { callback, tools } = delivered.used(&world).await;
    assert_eq!((callback, tools), (200, 200));
    // In another channel neither is anything.
    let open = world.known("open").to_owned();
    let channel = world.known("channel").to_owned();
    let elsewhere = Delivered {
        callback: delivered.callback.replace(&channel, &open),
        tools: delivered.tools.replace(&channel, &open),
        token: delivered.token.clone(),
        bearer: delivered.bearer.clone(),
    };
    let Used { callback, tools } = elsewhere.used(&world).await;
    assert_eq!((callback, tools), (401, 403), "of another channel");
    // Whoever names another workspace's channel is told no more.
    let request = world.elsewhere.request(Method::POST, &delivered.callback);
    let (status, _) = answer(request.json(&json!({"type": "status", "status": "x"}))).await;
    assert_eq!(status, 401, "in another workspace");
    world.host.pass(25 * 3_600_000).await;
    let Used { callback, tools } = delivered.used(&world).await;
    assert_eq!((callback, tools), (401, 401), "a day later");
}

// covers: OPS-461
#[tokio::test]
async fn the_secret_of_an_inbox_ends_with_its_rotation_and_its_removal() {
    let world = World::open().await;
    let made = world.post(Caller::Operator, "/v1/inboxes", json!({"agent": "bot"})).await;
    let path = |shown: &Value| {
        text(&shown["url"]).strip_prefix(&world.host.running.url).unwrap().to_owned()
    };
    let (first, id) = (path(&made), text(&made["inbox"]["id"]));
    let deliver = async |path: &str, id: &str| {
        let message = json!({"id": id, "sender": "alice", "content": "hello"});
        let body = json!({"channel": {"id": "C1", "name": "general", "service": "Slack"},
            "message": message, "callback": "https://slack.example.com/cb"});
        TestHost::answer(world.host.request(Method::POST, path).json(&body)).await.status
    };
    assert_eq!(deliver(&first, "m1").await, 200);
    let rotated =
        world.post(Caller::Operator, &format!("/v1/inboxes/{id}/rotate"), json!({})).await;
    let second = path(&rotated);
    assert_eq!((deliver(&first, "m2").await, deliver(&second, "m3").await), (401, 200));
    let op = world.host.operator();
    world.host.send(&op, Method::DELETE, &format!("/v1/inboxes/{id}"), None).await.ok();
    assert_eq!(deliver(&second, "m4").await, 401);
}
