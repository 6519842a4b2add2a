//! One HTTP exchange with the host: address, bearer token, JSON both ways, bounded in time and size.

use std::fmt;
use std::time::Duration;

use chorus_wire::error::Envelope;
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url, redirect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Error, Result, trust};

/// Longest wait for a whole answer; a post waits for the disk, a listing for a query.
const ANSWER: Duration = Duration::from_secs(30);
const CONNECT: Duration = Duration::from_secs(5);
/// Largest answer read, in bytes: 200 messages of the greatest length are 25 MiB.
const ANSWER_BYTES: usize = 32 * 1024 * 1024;
/// The path of the C2A transport; an address of it is taken as one of its host.
pub(crate) const C2A_PATH: &str = "v1/c2a";

/// A host and a bearer. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    base: Url,
    token: Option<String>,
    http: reqwest::Client,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Never the token.
        f.debug_struct("Client").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the host at `base_url` (`http://127.0.0.1:7600`, or the address of its C2A transport), with a
    /// JWT or a turn's token; an empty token is none.
    pub fn new(base_url: &str, token: impl Into<String>) -> Result<Self> {
        let base = base(base_url)?;
        let token = Some(token.into()).filter(|token| !token.is_empty());
        let mut http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .redirect(redirect::Policy::none())
            .tcp_nodelay(true);
        for authority in trust::added() {
            http = http.add_root_certificate(authority);
        }
        if is_loopback(&base) {
            // A proxy of the environment cannot reach this machine's own loopback.
            http = http.no_proxy();
        }
        let http = http.build().map_err(|e| Error::Protocol(format!("no HTTP client: {e}")))?;
        Ok(Self { base, token, http })
    }

    /// The same host with another bearer.
    pub fn with_token(&self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self.clone() }
    }

    /// The host's address, ending in `/`.
    pub fn base_url(&self) -> &str {
        self.base.as_str()
    }

    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// `GET /readyz`: whether the host takes work.
    pub async fn ready(&self) -> Result<()> {
        let answer = self.exchange(self.request(Method::GET, self.path("readyz"))).await?;
        body(answer).await.map(|_| ())
    }

    /// The address below the base whose path is made of these segments; each is escaped.
    pub(crate) fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// The address of a path that is known when this is compiled.
    pub(crate) fn path(&self, path: &str) -> Url {
        self.url(&path.split('/').collect::<Vec<_>>())
    }

    pub(crate) fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let request = self.http.request(method, url);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, url: Url) -> Result<T> {
        self.json(self.request(Method::GET, url)).await
    }

    pub(crate) async fn send<B: Serialize, T: DeserializeOwned>(
        &self,
        method: Method,
        url: Url,
        json: &B,
    ) -> Result<T> {
        self.json(self.request(method, url).json(json)).await
    }

    /// A call without a body whose answer has none, or none that matters.
    pub(crate) async fn act(&self, method: Method, url: Url) -> Result<()> {
        let answer = self.exchange(self.request(method, url)).await?;
        body(answer).await.map(|_| ())
    }

    /// Says something that is answered with nothing.
    pub(crate) async fn tell<B: Serialize>(
        &self,
        method: Method,
        url: Url,
        json: &B,
    ) -> Result<()> {
        let answer = self.exchange(self.request(method, url).json(json)).await?;
        body(answer).await.map(|_| ())
    }

    pub(crate) async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T> {
        let bytes = body(self.exchange(request).await?).await?;
        serde_json::from_slice(&bytes)
            .map_err(|e| Error::Protocol(format!("{e}, in: {}", excerpt(&bytes))))
    }

    pub(crate) async fn exchange(&self, request: RequestBuilder) -> Result<Response> {
        let sent = request.timeout(ANSWER).send().await;
        sent.map_err(|e| Error::exchange(self.base.as_str(), &e))
    }

    /// An exchange whose answer goes on without end; only its beginning is timed.
    pub(crate) async fn open(&self, request: RequestBuilder) -> Result<Response> {
        match tokio::time::timeout(ANSWER, request.send()).await {
            Ok(sent) => sent.map_err(|e| Error::exchange(self.base.as_str(), &e)),
            Err(_) => Err(Error::unreachable(self.base.as_str(), "no answer in time")),
        }
    }
}

/// Adds the fields of a flat struct as a query.
pub(crate) fn with_query<Q: Serialize>(mut url: Url, query: &Q) -> Url {
    if let Ok(Value::Object(fields)) = serde_json::to_value(query) {
        let mut pairs = url.query_pairs_mut();
        for (name, value) in &fields {
            match value {
                Value::Null => {}
                Value::String(text) => drop(pairs.append_pair(name, text)),
                other => drop(pairs.append_pair(name, &other.to_string())),
            }
        }
    }
    url
}

/// The body of an answer, or the refusal it is.
pub(crate) async fn body(answer: Response) -> Result<Vec<u8>> {
    let status = answer.status();
    let bytes = read(answer).await?;
    if status.is_success() { Ok(bytes) } else { Err(refusal(status, &bytes)) }
}

/// The refusal in an unsuccessful answer.
pub(crate) fn refusal(status: StatusCode, bytes: &[u8]) -> Error {
    match serde_json::from_slice::<Envelope>(bytes) {
        Ok(envelope) => Error::refused(status.as_u16(), envelope.error),
        Err(_) => Error::Protocol(format!("HTTP {status}: {}", excerpt(bytes))),
    }
}

/// Reads a whole answer of bounded size, whatever its status.
pub(crate) async fn read(mut answer: Response) -> Result<Vec<u8>> {
    let url = answer.url().origin().ascii_serialization();
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|e| Error::exchange(&url, &e))? {
        if bytes.len() + chunk.len() > ANSWER_BYTES {
            return Err(Error::Protocol(format!("an answer of over {ANSWER_BYTES} bytes")));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The beginning of something unexpected, fit for one line of a terminal.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect()
}

/// Reads a host's address: http or https (or the ws forms of a C2A address), without the transport's path.
pub(crate) fn base(text: &str) -> Result<Url> {
    let wrong = |why: &str| Error::Address(format!("{text:?} is no address of a host: {why}"));
    let text_http = match text.split_once("://") {
        Some(("ws", rest)) => format!("http://{rest}"),
        Some(("wss", rest)) => format!("https://{rest}"),
        _ => text.to_owned(),
    };
    let mut url: Url =
        text_http.parse().map_err(|_| wrong("it needs http:// or https:// in front"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("it needs http:// or https:// in front"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("a password does not belong into it"));
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix(C2A_PATH).unwrap_or(path).trim_end_matches('/');
    let path = format!("{path}/");
    url.set_path(&path);
    Ok(url)
}

/// Whether only this machine reaches the address.
pub fn is_local(url: &str) -> bool {
    url.parse().is_ok_and(|url| is_loopback(&url))
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
