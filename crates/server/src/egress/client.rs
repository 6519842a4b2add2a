//! One POST, and what came of it.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fmt, io};

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use bytes::Bytes;
use reqwest::dns::Resolve;
use reqwest::{Certificate, Client, Method, Request, Response, redirect};
use rustls::pki_types::CertificateDer;
use url::Url;

use super::Allowed;
use super::backoff::retry_after;
use super::resolver::{Checked, Refused, System};

/// From the look-up of the name to the end of the TLS handshake.
const CONNECT: Duration = Duration::from_secs(5);
/// How much of an answer is read, and for how long: it is read only so that the connection can be used again.
const BODY_BYTES: usize = 64 * 1024;
const BODY: Duration = Duration::from_secs(1);
/// Common servers close after five seconds without a request; who posts in that moment does not know whether it came.
const IDLE: Duration = Duration::from_secs(4);
/// Idle connections to one host, where many agents may be.
const IDLE_PER_HOST: usize = 64;

/// The way out. Clones share their connections.
#[derive(Clone)]
pub(crate) struct Egress {
    http: Client,
    allowed: Arc<Allowed>,
}

/// What came of a POST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Any 2xx, whatever became of the body after it.
    Taken,
    /// 410: nobody is there any more, and nobody will be.
    Gone,
    /// It will not be taken, now or later: redirects, which are not followed, and the other 4xx.
    Refused { status: u16 },
    /// It may be taken another time, at the earliest after what the other side asked for.
    Again { why: Why, after: Option<Duration> },
    /// The address is none that may be posted to, or its name is of none.
    Address,
}

/// Why a POST has to be tried again. Whether it was received is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// 408, 429 or 5xx.
    Status(u16),
    /// The name has no address, or nobody could say which.
    Name,
    /// Nobody could be connected to.
    Connect,
    /// No certificate that fits the name, or no TLS at all.
    Tls,
    /// No answer in time, or no connection.
    Timeout,
    /// The connection ended before the answer.
    Lost,
    /// What came was no HTTP.
    Protocol,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Status(status) => return write!(f, "HTTP {status}"),
            Self::Name => "the name cannot be resolved",
            Self::Connect => "no connection",
            Self::Tls => "no TLS that can be trusted",
            Self::Timeout => "no answer in time",
            Self::Lost => "the connection ended before the answer",
            Self::Protocol => "the answer is no HTTP",
        })
    }
}

impl Egress {
    /// Trusts these authorities beside those of the machine. Fails where there are none at all.
    pub(crate) fn new(
        allowed: Allowed,
        roots: &[CertificateDer<'_>],
    ) -> Result<Self, reqwest::Error> {
        Self::with(allowed, roots, Arc::new(System::default()))
    }

    pub(super) fn with(
        allowed: Allowed,
        roots: &[CertificateDer<'_>],
        inner: Arc<dyn Resolve>,
    ) -> Result<Self, reqwest::Error> {
        let allowed = Arc::new(allowed);
        let roots: Result<Vec<_>, _> =
            roots.iter().map(|root| Certificate::from_der(root)).collect();
        let http = Client::builder()
            .user_agent(concat!("chorus/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Checked { inner, allowed: allowed.clone() })
            .redirect(redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .tls_certs_merge(roots?)
            // Each POST has a connection of its own, so that none can hold up another.
            .http1_only()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .build()?;
        Ok(Self { http, allowed })
    }

    /// One POST of JSON, to a URL that [`super::check_url`] gave. Whatever is at the other end, it ends in time.
    pub(crate) async fn post(
        &self,
        url: &Url,
        body: Bytes,
        mut headers: HeaderMap,
        timeout: Duration,
    ) -> Answer {
        // An address in the URL is connected to without any look-up, and what is allowed may be less than it was.
        if !self.allowed.permits_host(url) {
            return Answer::Address;
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut request = Request::new(Method::POST, url.clone());
        *request.headers_mut() = headers;
        *request.body_mut() = Some(body.into());
        *request.timeout_mut() = Some(timeout);
        match self.http.execute(request).await {
            Ok(response) => {
                let answer = answer(&response);
                drain(response).await;
                answer
            }
            Err(error) => failure(&error),
        }
    }
}

fn answer(response: &Response) -> Answer {
    let status = response.status();
    let number = status.as_u16();
    match status {
        StatusCode::GONE => Answer::Gone,
        _ if status.is_success() => Answer::Taken,
        _ if is_passing(status) => {
            let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            let after = after.and_then(|value| retry_after(value, SystemTime::now()));
            Answer::Again { why: Why::Status(number), after }
        }
        _ => Answer::Refused { status: number },
    }
}

/// A status that may be another one later.
fn is_passing(status: StatusCode) -> bool {
    matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
        || status.is_server_error()
}

/// Reads what is left of the answer, so that the connection can be used again; what is too much or too slow costs the
/// other side its connection.
async fn drain(mut response: Response) {
    let all = async {
        let mut left = BODY_BYTES;
        while let Ok(Some(chunk)) = response.chunk().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(BODY, all).await;
}

/// What an error means. It says the URL, so that it is never shown.
fn failure(error: &reqwest::Error) -> Answer {
    let again = |why| Answer::Again { why, after: None };
    if has::<Refused>(error) {
        Answer::Address
    } else if error.is_timeout() {
        again(Why::Timeout)
    } else if error.is_dns() {
        again(Why::Name)
    } else if has::<rustls::Error>(error) {
        again(Why::Tls)
    } else if error.is_connect() {
        again(Why::Connect)
    } else if find::<hyper::Error>(error).is_some_and(hyper::Error::is_parse) {
        again(Why::Protocol)
    } else {
        again(Why::Lost)
    }
}

fn has<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    find::<E>(error).is_some()
}

/// The cause of this kind.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // An I/O error does not name what it was made of as its source, but that one's source.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
