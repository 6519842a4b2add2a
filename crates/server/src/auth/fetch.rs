//! What issuers publish and answer: fetched in bounded time and size, from the address that the
//! settings name and no other.

use std::time::Duration;

use serde::de::DeserializeOwned;

const FETCH: Duration = Duration::from_secs(5);
/// Largest answer in bytes; a set with ten RSA keys has some ten KiB.
const ANSWER_BYTES: usize = 256 * 1024;

pub(super) fn client() -> Result<reqwest::Client, String> {
    reqwest::Client::builder()
        .timeout(FETCH)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()
        .map_err(|e| e.to_string())
}

/// Sends a request and reads its answer, whatever its status.
pub(super) async fn answer<T: DeserializeOwned>(
    request: reqwest::RequestBuilder,
) -> Result<(reqwest::StatusCode, T), String> {
    let mut answer = request.send().await.map_err(|e| e.to_string())?;
    let status = answer.status();
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|e| e.to_string())? {
        if bytes.len() + chunk.len() > ANSWER_BYTES {
            return Err(format!("more than {ANSWER_BYTES} bytes"));
        }
        bytes.extend_from_slice(&chunk);
    }
    match serde_json::from_slice(&bytes) {
        Ok(json) => Ok((status, json)),
        Err(_) if !status.is_success() => Err(format!("HTTP {status}")),
        Err(why) => Err(why.to_string()),
    }
}

/// The JSON that is published at an address.
pub(super) async fn get<T: DeserializeOwned>(url: &str) -> Result<T, String> {
    match answer(client()?.get(url)).await? {
        (status, json) if status.is_success() => Ok(json),
        (status, _) => Err(format!("HTTP {status}")),
    }
}
