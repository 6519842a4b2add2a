//! The tools that come with a delivery, called by a real MCP client: the URL and the headers are passed to it as they are.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use chorus_clients::kit::{Door, Kit};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::house::House;
use crate::libraries::made;

/// The host composes for two seconds before it posts.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent behind a connection string, and what is posted to it.
async fn agent() -> (String, mpsc::UnboundedReceiver<Bytes>) {
    let (sent, posted) = mpsc::unbounded_channel();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/inbox/sk_a1b2c3d4e5f6", listener.local_addr().unwrap());
    let take = move |body: Bytes| {
        sent.send(body).unwrap();
        std::future::ready(())
    };
    let app = Router::new().fallback(post(take));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, posted)
}

// covers: WHK-414
#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_a_delivery_are_called_by_real_clients() {
    let kit = Kit::installed().expect("cargo xtask test installs the clients");
    let house = House::open();
    let (url, mut posted) = agent().await;
    house.chorus(&["channel", "create", "ops"]);
    house.chorus(&["webhook", "add", "weather", &url, "--channel", "ops"]);
    house.chorus(&["post", "ops", "@weather where is the swordfish?"]);
    let body = tokio::time::timeout(PATIENCE, posted.recv()).await.unwrap().unwrap();
    let delivery: Value = serde_json::from_slice(&body).unwrap();
    let mcp = &delivery["mcp"];
    let bearer = mcp["headers"]["Authorization"].as_str().unwrap();
    let door = Door {
        url: mcp["url"].as_str().unwrap().to_owned(),
        token: bearer.strip_prefix("Bearer ").unwrap().to_owned(),
    };
    let calls = json!([
        ["get_roster", {}],
        ["search_messages", {"q": "swordfish"}],
        ["chat.read_asset", {}],
        ["chat.read_thread", {"eventId": delivery["message"]["id"]}],
    ]);
    let mut python = kit.python("official.py");
    python.env("MODE", "auto");
    for client in [python, kit.script("session.mjs"), kit.script("stateless.mjs")] {
        let said = made(client, &door, &calls).await;
        let results = said["results"].as_array().unwrap();
        assert!(results.iter().all(|result| result["failed"] == false), "{said:#}");
        assert!(results[0]["gave"]["members"].to_string().contains("weather"), "{said:#}");
        assert!(results[3]["gave"].to_string().contains("swordfish"), "{said:#}");
        let tools: Vec<&str> =
            said["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(tools.contains(&"get_roster") && !tools.contains(&"create_thread"), "{tools:?}");
    }
}
