//! MCP over streamable HTTP, on the stateless wire: each call of a tool is one POST and one JSON answer.

use super::http::head_and_body;
use crate::bench::load::{Answer, Talk};

/// What each request of the stateless wire says of itself.
const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
/// How the answer of a tool ends that refused nothing.
const DONE: &[u8] = br#""isError":false}}"#;

/// Where calls go.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint {
    pub(crate) path: &'static str,
    /// Whether it knows the stateless wire; another takes such calls all the same, without its headers.
    pub(crate) stateless: bool,
}

/// Ours.
pub(crate) const CHORUS: Endpoint = Endpoint { path: "/v1/mcp", stateless: true };

/// Appends one call of a tool.
pub(crate) fn call(
    out: &mut Vec<u8>,
    to: Endpoint,
    tool: &str,
    token: &str,
    id: u64,
    arguments: &str,
) {
    let (headers, meta) = match to.stateless {
        true => (
            format!(
                "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n"
            ),
            format!(r#","_meta":{META}"#),
        ),
        false => Default::default(),
    };
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}{meta}}}}}"#
    );
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        to.path,
        body.len()
    );
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(body.as_bytes());
}

/// Calls of one tool, with arguments that a function makes from the number of the call.
pub(crate) struct Tool {
    pub(crate) to: Endpoint,
    pub(crate) name: &'static str,
    pub(crate) token: String,
    pub(crate) arguments: Box<dyn FnMut(u64) -> String + Send>,
    pub(crate) asked: u64,
}

impl Talk for Tool {
    fn ask(&mut self, out: &mut Vec<u8>) {
        let arguments = (self.arguments)(self.asked);
        call(out, self.to, self.name, &self.token, self.asked, &arguments);
        self.asked += 1;
    }

    fn answer(&mut self, got: &[u8]) -> Result<Answer, String> {
        match head_and_body(got) {
            None => Ok(Answer::More),
            Some((200, head, end)) if got[head..end].ends_with(DONE) => Ok(Answer::Done(end)),
            Some((status, head, end)) => {
                Err(format!("HTTP {status}: {}", String::from_utf8_lossy(&got[head..end])))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_a_tool_is_no_answer() {
        let mut tool = Tool {
            to: CHORUS,
            name: "post_message",
            token: String::new(),
            arguments: Box::new(|_| String::new()),
            asked: 0,
        };
        let mut answer = |body: &str| {
            let got = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            tool.answer(got.as_bytes())
        };
        assert!(matches!(answer(r#"{"result":{"isError":false}}"#), Ok(Answer::Done(_))));
        assert!(answer(r#"{"result":{"isError":true}}"#).is_err());
        assert!(answer(r#"{"error":{"code":-32602}}"#).is_err());
    }
}
