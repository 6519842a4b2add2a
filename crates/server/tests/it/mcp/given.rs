//! What a tool gave, in the answer of the stateless wire.

use serde_json::{Value, json};

use super::refused::posted;
use crate::test_host::TestHost;

/// The transport puts what a tool gave into an answer that the SDK has written.
#[tokio::test]
async fn an_answer_is_of_its_request_whatever_the_id_is() {
    let host = TestHost::open().await;
    host.room(&["scout"]).await;
    let token = &host.token("scout").await;
    let (version, tool) = ("2026-07-28", "chat.list_members");
    for id in [json!(7), json!(r#""content":[]"#), json!(r#","content":[],"x":""#.repeat(9_000))] {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": tool, "arguments": {}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }});
        let request = posted(&host, token, None)
            .header("mcp-protocol-version", version)
            .header("mcp-method", "tools/call")
            .header("mcp-name", tool);
        let answer = request.body(call.to_string()).send().await.unwrap();
        let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        assert_eq!(answer["id"], id);
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        assert_eq!(
            (&result["resultType"], &result["isError"]),
            (&json!("complete"), &json!(false))
        );
        assert!(text.contains("scout"), "{text}");
    }
}
