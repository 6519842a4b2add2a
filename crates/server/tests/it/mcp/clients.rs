//! A client of the official SDK, and what tests say through it.

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::Value;

use crate::test_host::{TestHost, said};

pub(crate) struct Client(pub(crate) RunningService<RoleClient, ()>);

/// Sessions up to 2025-11-25, or the stateless wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Sessions,
    Stateless,
}

pub(crate) const WIRES: [Wire; 2] = [Wire::Sessions, Wire::Stateless];

impl TestHost {
    pub(crate) async fn mcp(&self, token: &str, wire: Wire) -> Client {
        self.mcp_at(token, wire, "/v1/mcp").await
    }

    pub(crate) async fn mcp_at(&self, token: &str, wire: Wire, path: &str) -> Client {
        let config =
            StreamableHttpClientTransportConfig::with_uri(self.url(path)).auth_header(token);
        let transport = StreamableHttpClientTransport::from_config(config);
        let lifecycle = match wire {
            Wire::Sessions => ClientLifecycleMode::Initialize,
            Wire::Stateless => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        };
        Client(().serve_with_lifecycle(transport, lifecycle).await.unwrap())
    }
}

impl Client {
    /// What a tool gave, or the code of its refusal; the envelope is whole.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        said(&arguments);
        let arguments = arguments.as_object().unwrap().clone();
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let result = self.0.call_tool(call).await.unwrap();
        let structured = result.structured_content.unwrap();
        let text = result.content[0].as_text().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text.text).unwrap(), structured);
        if result.is_error != Some(true) {
            return Ok(structured);
        }
        let error = &structured["error"];
        assert!(error["request_id"].as_str().unwrap().starts_with("req_"), "{error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
        Err(error["code"].as_str().unwrap().to_owned())
    }
}
