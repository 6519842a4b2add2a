//! The `mcp` of a delivery, as an MCP client uses it: the official SDK's, on both wires.

use serde_json::json;

use super::{Remote, bearer, open, reached, text};
use crate::mcp::clients::{Client, WIRES};
use crate::test_host::{PATIENCE, TestHost};

// covers: WHK-414
#[tokio::test]
async fn the_tools_that_come_with_a_delivery_are_those_it_may_call() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "the swordfish is in the log").await;
    host.say(&ann, &room, "@weather where is the swordfish?").await;
    let delivery = remote.take().await;
    let url = text(&delivery["mcp"]["url"]);
    let path = url.strip_prefix(&host.running.url).unwrap().to_owned();
    let bearer = bearer(&delivery);
    for wire in WIRES {
        let client = host.mcp_at(&bearer, wire, &path).await;
        let tools: Vec<String> =
            client.0.list_all_tools().await.unwrap().iter().map(|t| t.name.to_string()).collect();
        for tool in ["get_roster", "search_messages", "chat.read_asset", "chat.send_message"] {
            assert!(tools.iter().any(|name| name == tool), "{tool}: {tools:?}");
        }
        let gives = async |client: &Client, tool: &str| client.call(tool, json!({})).await;
        let roster = gives(&client, "get_roster").await.unwrap();
        assert!(roster["members"].to_string().contains("ann"), "{roster}");
        assert!(host.running.searchable(PATIENCE).await);
        let found = client.call("search_messages", json!({"q": "swordfish"})).await.unwrap();
        assert_eq!(found["hits"].as_array().unwrap().len(), 2, "{found}");
        let files = gives(&client, "chat.read_asset").await.unwrap();
        assert_eq!(files["assets"], json!([]));
        let elsewhere = json!({"q": "swordfish", "conversation": room});
        let refused = client.call("search_messages", elsewhere).await.unwrap_err();
        assert_eq!(refused, "VALIDATION_ERROR");
        // No tool of the list is none of the caller's.
        for tool in &tools {
            let refused = client.call(tool, json!({"nothing": 1})).await.err();
            assert_ne!(refused.as_deref(), Some("FORBIDDEN"), "{tool}");
        }
        for tool in ["create_thread", "ack_read", "update_thread_status"] {
            assert!(!tools.iter().any(|name| name == tool), "{tool}");
        }
    }
    // A member's own token has those of every endpoint, and the channel's where there is one.
    let all = |client: Client| async move {
        let tools = client.0.list_all_tools().await.unwrap();
        tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>()
    };
    let here = all(host.mcp_at(&ann, WIRES[0], &path).await).await;
    assert!(here.contains(&"create_thread".to_owned()) && here.contains(&"get_roster".to_owned()));
    let everywhere = all(host.mcp(&ann, WIRES[0]).await).await;
    assert!(!everywhere.contains(&"get_roster".to_owned()));
    assert!(unknown(&host, &ann).await);
}

/// Whether a tool of one channel is unknown at the endpoint of all.
async fn unknown(host: &TestHost, token: &str) -> bool {
    let client = host.mcp(token, WIRES[0]).await;
    let call = rmcp::model::CallToolRequestParams::new("get_roster".to_owned());
    client.0.call_tool(call).await.is_err()
}
