//! One call of a tool, as an MCP client of the stateless wire makes it.

use chorus_wire::tool::Arguments;
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::http::body;
use crate::sse::Parser;
use crate::{Client, Error, Result};

const VERSION: &str = "2026-07-28";

impl Client {
    /// Calls the tool that takes these arguments.
    pub async fn call_tool<A>(&self, arguments: &A) -> Result<A::Result>
    where
        A: Arguments + Serialize,
        A::Result: DeserializeOwned,
    {
        let name = A::TOOL.name;
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": name,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": VERSION,
                "io.modelcontextprotocol/clientInfo": {
                    "name": "chorus", "version": env!("CARGO_PKG_VERSION"),
                },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }});
        let request = self
            .request(Method::POST, self.path("v1/mcp"))
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .header("mcp-method", "tools/call")
            .header("mcp-name", name)
            .json(&request);
        let answer = body(self.exchange(request).await?).await?;
        result(&answer)
    }
}

/// The result in an answer, which is JSON or the one event of a stream.
fn result<T: DeserializeOwned>(answer: &[u8]) -> Result<T> {
    let unreadable = |why: &str| Error::Protocol(format!("the answer of a tool: {why}"));
    let mut message = serde_json::from_slice::<Value>(answer).ok();
    if message.is_none() {
        let mut events = Parser::default();
        events.push(answer).map_err(|_| unreadable("too long a line"))?;
        let read = |data: String| serde_json::from_str::<Value>(&data).ok();
        message = events.filter_map(|frame| read(frame.data)).find(|m| m.get("id").is_some());
    }
    let Some(mut message) = message else { return Err(unreadable("no message")) };
    let result = message["result"].take();
    if result["isError"] == true || result["structuredContent"].is_null() {
        let text = result["content"][0]["text"].as_str().or(message["error"]["message"].as_str());
        return Err(unreadable(text.unwrap_or("no result")));
    }
    serde_json::from_value(result["structuredContent"].clone())
        .map_err(|e| unreadable(&e.to_string()))
}
