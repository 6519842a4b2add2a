//! One JSON-RPC call by POST. This is how a runtime speaks within its turn: its bearer is the turn's token,
//! and its address the `turnUrl` of the host.

use chorus_wire::attention::method;
use chorus_wire::attention::tools::CallResult;
use chorus_wire::jsonrpc::{Id, Incoming, Request};
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::http::{C2A_PATH, excerpt, read, refusal};
use crate::{Client, Error, Result};

/// Makes one call and reads its result.
pub async fn post<P: Serialize, R: DeserializeOwned>(
    client: &Client,
    method: &str,
    params: &P,
) -> Result<R> {
    let id = Id::Number(1);
    let request = client.request(Method::POST, client.path(C2A_PATH));
    let answer = client.exchange(request.json(&Request::new(&id, method, params))).await?;
    let status = answer.status();
    let bytes = read(answer).await?;
    // An error of JSON-RPC says more than the status it comes with.
    match Incoming::parse_bytes(&bytes) {
        Ok(Incoming::Response { answer: Ok(result), .. }) => serde_json::from_str(result.get())
            .map_err(|e| Error::Protocol(format!("{e}, in: {}", excerpt(&bytes)))),
        Ok(Incoming::Response { answer: Err(error), .. }) => Err(Error::from_body(error.body())),
        _ if !status.is_success() => Err(refusal(status, &bytes)),
        _ => Err(Error::Protocol(format!("no JSON-RPC response: {}", excerpt(&bytes)))),
    }
}

/// Calls a chat tool; a tool's refusal is [`Error::Refused`].
pub async fn call_tool<A: Serialize>(client: &Client, name: &str, arguments: &A) -> Result<Value> {
    let params = json!({"name": name, "arguments": arguments});
    let result: CallResult = post(client, method::TOOLS_CALL, &params).await?;
    result.into_result().map_err(Error::from_body)
}
