//! Being told of news instead of asking for it, on either wire.

use std::sync::Arc;

use chorus_testing::eventually;
use rmcp::model::{
    ResourceUpdatedNotificationParam, ServerNotification, SubscribeRequestParams,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RoleClient};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ServiceExt};
use serde_json::json;
use tokio::sync::mpsc;

use super::clients::Wire;
use crate::test_host::{PATIENCE, TestHost};

/// What stands for the list.
const LIST: &str = "list";

/// Keeps which resources it is told of.
struct Listening(mpsc::UnboundedSender<String>);

impl ClientHandler for Listening {
    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(params.uri);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send(LIST.to_owned());
    }
}

// covers: THR-27
#[tokio::test]
async fn a_session_that_subscribed_is_told_and_another_resource_is_not_its_news() {
    let host = Arc::new(TestHost::open().await);
    let room = host.room(&["scout", "crew"]).await;
    let token = host.token("crew").await;
    let scout = host.mcp(&host.token("scout").await, Wire::Stateless).await;
    let mut threads = Vec::new();
    for title in ["one", "two"] {
        // Where agents work without a person: in a conversation they would take turns.
        let new = json!({"title": title, "type": "workflow", "participants": ["crew"], "channel_id": room});
        let made = scout.call("create_thread", new).await.unwrap();
        threads.push(made["thread_id"].as_str().unwrap().to_owned());
    }
    let (told, mut heard) = mpsc::unbounded_channel();
    let config = StreamableHttpClientTransportConfig::with_uri(host.url("/v1/mcp"));
    let transport = StreamableHttpClientTransport::from_config(config.auth_header(token));
    let crew = Listening(told).serve(transport).await.unwrap();
    let uri = format!("chorus://threads/{}", threads[1]);
    #[expect(deprecated, reason = "the session wire has no other way")]
    crew.subscribe(SubscribeRequestParams::new(uri.clone())).await.unwrap();
    #[expect(deprecated, reason = "the session wire has no other way")]
    let unknown = crew.subscribe(SubscribeRequestParams::new("chorus://threads/th_1")).await;
    assert!(unknown.is_err());
    let channel = format!("chorus://channels/{room}");
    #[expect(deprecated, reason = "the session wire has no other way")]
    crew.subscribe(SubscribeRequestParams::new(channel.clone())).await.unwrap();
    let post = async |thread: &str| {
        let post = json!({"thread_id": thread, "schema_version": 1, "kind": "chat", "body": "x"});
        scout.call("post_message", post).await.unwrap();
    };
    let mut next = async || tokio::time::timeout(PATIENCE, heard.recv()).await.unwrap().unwrap();
    // The channel has news of every thread; the thread has not those of another.
    for _ in 0..3 {
        post(&threads[0]).await;
        assert_eq!(next().await, channel);
    }
    post(&threads[1]).await;
    let both = [next().await, next().await];
    assert!(both.contains(&uri) && both.contains(&channel), "{both:?}");
}

// covers: THR-27
#[tokio::test]
async fn the_stateless_wire_listens() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let scout = host.mcp(&host.token("scout").await, Wire::Sessions).await;
    let new = json!({"title": "one", "participants": ["crew"]});
    let made = scout.call("create_thread", new).await.unwrap();
    let thread = made["thread_id"].as_str().unwrap();
    let uri = format!("chorus://threads/{thread}");
    let listen = json!({"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": {
        "notifications": {"resourceSubscriptions": [uri]},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let request = host
        .request(reqwest::Method::POST, "/v1/mcp")
        .bearer_auth(host.token("crew").await)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "subscriptions/listen")
        .json(&listen);
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200, "{:?}", answer.text().await);
    let mut heard = String::new();
    let mut until = async |what: &str| {
        while !heard.contains(what) {
            let chunk = tokio::time::timeout(PATIENCE, answer.chunk()).await.unwrap();
            heard.push_str(&String::from_utf8_lossy(&chunk.unwrap().unwrap()));
        }
    };
    until("subscriptions/acknowledged").await;
    // It follows from a moment after that; what is said then is news.
    eventually("it follows", async || host.metric("chorus_followers").await > 0).await;
    let post = json!({"thread_id": thread, "schema_version": 1, "kind": "chat", "body": "x"});
    scout.call("post_message", post).await.unwrap();
    until("resources/updated").await;
}

/// A member that is told of changes of its list; the task holds its client.
async fn told_of_lists(
    host: &TestHost,
    room: &str,
    member: &str,
    wire: Wire,
) -> mpsc::UnboundedReceiver<String> {
    let (told, heard) = mpsc::unbounded_channel();
    let token = host.token(member).await;
    match wire {
        Wire::Sessions => {
            let config = StreamableHttpClientTransportConfig::with_uri(host.url("/v1/mcp"));
            let transport = StreamableHttpClientTransport::from_config(config.auth_header(token));
            let client = Listening(told).serve(transport).await.unwrap();
            let resources = client.peer_info().unwrap().capabilities.resources.clone().unwrap();
            assert_eq!(resources.list_changed, Some(true));
            client.list_all_resources().await.unwrap();
            tokio::spawn(client.waiting());
        }
        Wire::Stateless => {
            let client = host.mcp(&token, wire).await;
            let uri = vec![format!("chorus://channels/{room}")];
            let filter = SubscriptionFilter::builder().resource_subscriptions(uri);
            let filter = filter.resources_list_changed().build();
            let before = host.metric("chorus_followers").await;
            let mut listening = client.0.listen(filter.clone()).await.unwrap();
            assert_eq!(*listening.acknowledged(), filter);
            // It follows the list first, a moment after that.
            host.until_metric("chorus_followers", before + 1).await;
            tokio::spawn(async move {
                while let Ok(Some(news)) = listening.next().await {
                    if matches!(news, ServerNotification::ResourceListChangedNotification(_)) {
                        let _ = told.send(LIST.to_owned());
                    }
                }
                drop(client);
            });
        }
    }
    heard
}

async fn changes_of_lists_are_told(wire: Wire) {
    let host = TestHost::open().await;
    let room = host.room(&["scout", "crew", "stranger"]).await;
    let scout = host.mcp(&host.token("scout").await, Wire::Stateless).await;
    let mut crew = told_of_lists(&host, &room, "crew", wire).await;
    let mut stranger = told_of_lists(&host, &room, "stranger", wire).await;
    let next = async |heard: &mut mpsc::UnboundedReceiver<String>| {
        assert_eq!(tokio::time::timeout(PATIENCE, heard.recv()).await.unwrap().unwrap(), LIST);
    };
    // What the stranger may not see is never told to it, which shows at the end.
    for title in ["one", "two", "three"] {
        let new = json!({"title": title, "participants": ["crew"]});
        let made = scout.call("create_thread", new).await.unwrap();
        next(&mut crew).await;
        let said = json!({"thread_id": made["thread_id"], "schema_version": 1, "kind": "chat", "body": "x"});
        scout.call("post_message", said).await.unwrap();
    }
    let new = json!({"title": "all", "participants": [], "channel_id": room});
    scout.call("create_thread", new).await.unwrap();
    next(&mut crew).await;
    next(&mut stranger).await;
    let operator = host.operator();
    let path = format!("/v1/channels/{room}");
    let title = json!({"title": "another"});
    host.send(&operator, reqwest::Method::PATCH, &path, Some(title)).await.ok();
    next(&mut crew).await;
    next(&mut stranger).await;
    let new = json!({"title": "secret", "visibility": "private", "members": ["scout"]});
    let secret = host.post(&operator, "/v1/channels", new).await.ok();
    let seat = format!("/v1/channels/{}/members/stranger", secret["id"].as_str().unwrap());
    host.send(&operator, reqwest::Method::PUT, &seat, Some(json!({}))).await.ok();
    next(&mut stranger).await;
    host.send(&operator, reqwest::Method::DELETE, &seat, None).await.ok();
    next(&mut stranger).await;
    assert!(stranger.try_recv().is_err(), "it was told of what it may not see");
    assert!(crew.try_recv().is_err(), "it was told for nothing");
}

// covers: THR-32
#[tokio::test]
async fn a_session_is_told_when_its_list_has_changed() {
    changes_of_lists_are_told(Wire::Sessions).await;
}

// covers: THR-32
#[tokio::test]
async fn the_stateless_wire_is_told_when_its_list_has_changed() {
    changes_of_lists_are_told(Wire::Stateless).await;
}
