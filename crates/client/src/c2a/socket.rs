//! Opening the WebSocket: address, bearer, limits, and refusals of the handshake.

use std::time::Duration;

use reqwest::StatusCode;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error as WsError;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_tls_with_config};

use crate::http::{C2A_PATH, base, refusal};
use crate::{Error, Result, trust};

pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

const CONNECT: Duration = Duration::from_secs(10);
/// Largest frame in bytes: a `chat/deliver` of the greatest content, escaped, or a page of 200 messages.
pub(super) const FRAME_BYTES: usize = 32 * 1024 * 1024;

/// Opens the transport of the host at `url`, which may be the host's own address or its transport's.
pub(super) async fn open(url: &str, token: &str) -> Result<Socket> {
    let mut address = base(url)?;
    let scheme = if address.scheme() == "https" { "wss" } else { "ws" };
    let path = format!("{}{C2A_PATH}", address.path());
    address.set_path(&path);
    let address = address.as_str().replacen("https", "http", 1).replacen("http", scheme, 1);

    let unreachable = |cause: &dyn std::fmt::Display| Error::unreachable(&address, cause);
    let mut request = address.as_str().into_client_request().map_err(|e| unreachable(&e))?;
    let bearer = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| Error::Protocol("the token has characters that no token has".to_owned()))?;
    request.headers_mut().insert(AUTHORIZATION, bearer);

    let config = WebSocketConfig::default()
        .max_message_size(Some(FRAME_BYTES))
        .max_frame_size(Some(FRAME_BYTES));
    let connector = match address.starts_with("wss") {
        true => Some(trust::connector()?),
        false => None,
    };
    let opening = connect_async_tls_with_config(request, Some(config), true, connector);
    match tokio::time::timeout(CONNECT, opening).await {
        Ok(Ok((socket, _))) => Ok(socket),
        Ok(Err(WsError::Http(answer))) => {
            let status = StatusCode::from_u16(answer.status().as_u16()).unwrap_or_default();
            Err(refusal(status, answer.body().as_deref().unwrap_or_default()))
        }
        Ok(Err(error)) => Err(unreachable(&error)),
        Err(_) => Err(unreachable(&"no answer in time")),
    }
}
