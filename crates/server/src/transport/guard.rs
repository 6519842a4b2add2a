//! What holds for every request, before any transport: who it was meant for, where it comes from, and that a
//! mistake of ours is an answer and not a broken connection.
//!
//! `Host` must be an address of this host, so that a name of somebody else's that resolves here reaches
//! nothing (DNS rebinding); `Origin`, when a browser sends it, must be ours too, to the port: another server of the same
//! machine is another site (design section 4).

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::{Code, Refusal};
use futures_util::FutureExt;

use super::app::Keeps;
use super::browser::Browser;
use super::pages;
use super::refused::{Refused, RefusedWith};
use crate::cluster::forward::Forwarded;
use crate::request;
use crate::services::App;
use crate::services::drain::Drain;
use crate::traces;

pub(super) struct Guard {
    pub hosts: Hosts,
    pub app: Arc<App>,
    pub drain: Arc<Drain>,
    browser: Browser,
}

impl Guard {
    pub(super) fn new(hosts: Hosts, app: Arc<App>) -> Self {
        let (drain, browser) = (app.shared.drain.clone(), Browser::of(&app.shared.public_url));
        Self { hosts, app, drain, browser }
    }
}

/// Where a page comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Site {
    is_https: bool,
    /// In lower case; every address of the loopback interface is `localhost`.
    host: String,
    port: u16,
}

impl Site {
    fn of(scheme: &str, authority: &Authority) -> Option<Self> {
        let is_https = scheme == "https";
        let host = bare(authority.host()).to_ascii_lowercase();
        let is_loopback = host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let host = if is_loopback { "localhost".to_owned() } else { host };
        let port = port(authority)?.unwrap_or(if is_https { 443 } else { 80 });
        Some(Self { is_https, host, port })
    }

    fn read(origin: &str) -> Option<Self> {
        let scheme =
            ["http", "https"].into_iter().find(|s| origin.starts_with(&format!("{s}://")))?;
        Self::of(scheme, &origin[scheme.len() + 3..].parse().ok()?)
    }
}

/// The port that an authority names, if it names one; none for what is no port.
fn port(authority: &Authority) -> Option<Option<u16>> {
    let rest = authority.as_str().strip_prefix(authority.host())?;
    match rest.strip_prefix(':') {
        None => rest.is_empty().then_some(None),
        Some(port) => port.parse().ok().map(Some),
    }
}

/// The names under which this host answers.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    names: Vec<String>,
    /// Where its pages are for those who come through a proxy.
    public: Option<Site>,
    /// It listens on every address, so that any literal one may be its own.
    any_address: bool,
}

impl Hosts {
    pub(crate) fn new(listen: SocketAddr, public_url: Option<&str>) -> Self {
        let public = public_url.and_then(|url| url.parse::<Uri>().ok());
        let public = public.and_then(|url| Site::of(url.scheme_str()?, url.authority()?));
        let mut names = vec!["localhost".to_owned(), listen.ip().to_string()];
        names.extend(public.as_ref().map(|site| site.host.clone()));
        Self { names, public, any_address: listen.ip().is_unspecified() }
    }

    /// Whether a `Host` header's value names this host, whatever the port.
    fn allows(&self, authority: &str) -> bool {
        let Ok(authority) = authority.parse::<Authority>() else { return false };
        if authority.as_str().contains('@') || port(&authority).is_none() {
            return false;
        }
        let host = bare(authority.host());
        match host.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || self.any_address || self.names.contains(&ip.to_string()),
            Err(_) => self.names.iter().any(|name| name.eq_ignore_ascii_case(host)),
        }
    }

    /// Whether a page of this origin may call what was called by this `Host`: it is the same site, or the public one.
    fn allows_origin(&self, origin: &str, host: &str) -> bool {
        let Some(from) = Site::read(origin) else { return false };
        if self.public.as_ref() == Some(&from) {
            return true;
        }
        // Whether TLS ends here or at a proxy, the `Host` does not say; the public address does.
        let is_public = self.public.as_ref().is_some_and(|public| public.host == from.host);
        let scheme = if from.is_https { "https" } else { "http" };
        let called = host.parse().ok().and_then(|authority| Site::of(scheme, &authority));
        !is_public && called == Some(from)
    }

    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let refused = |why: &str| Err(Refusal::new(Code::Forbidden, why));
        // Two of them mean one host to a proxy and another here.
        if headers.get_all(header::HOST).iter().count() > 1 {
            return Err(Refusal::invalid("a request has one Host header"));
        }
        let host = headers.get(header::HOST).map(|h| h.to_str().unwrap_or_default());
        let host = host.or_else(|| uri.authority().map(|a| a.as_str()));
        let Some(host) = host.filter(|host| self.allows(host)) else {
            return refused(
                "this host does not go by that name; use its address, or start it with --public-url and the \
                 name that a proxy passes on (docs/run-a-host.md has Caddy and Tailscale)",
            );
        };
        let origin = headers.get(header::ORIGIN).map(|o| o.to_str().unwrap_or_default());
        if origin.is_some_and(|origin| !self.allows_origin(origin, host)) {
            return refused("pages of other sites may not call this host");
        }
        Ok(())
    }
}

/// A host without the brackets of an IPv6 address.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host)
}

/// Runs one request.
pub(super) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let wants_pages = pages::are_wanted(&request);
    let mut span = guard.app.shared.traces.request(request.headers());
    if let Some(span) = &mut span {
        let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        span.word("http.request.method", known(request.method()));
        span.name("http.route", path.unwrap_or_default().to_owned());
    }
    let answer = request::scoped(answer(&guard, request, next));
    let response = traces::within(span.as_ref(), answer).await;
    if let Some(span) = &mut span {
        span.number("http.response.status_code", response.status().as_u16().into());
    }
    pages::shown(response, wants_pages)
}

/// A method is a word of the client's otherwise.
fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"];
    KNOWN.into_iter().find(|known| method == known).unwrap_or("_OTHER")
}

/// What is answered to the end.
const ALWAYS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

async fn answer(guard: &Guard, request: Request, next: Next) -> Response {
    let entered = guard.drain.enter(ALWAYS.contains(&request.uri().path()));
    let (app, now) = (&guard.app, guard.app.now());
    app.shared.metrics.requests.inc();
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let from = peer.map(|peer| app.shared.limits.origin(peer, request.headers()));
    let limited =
        from.map_or(Ok(()), |from| app.shared.limits.request(from, now)).map_err(Refused::from);
    // What another host passes on was asked of that one, under its names.
    let checked = match request.extensions().get::<Forwarded>() {
        Some(Forwarded) => Ok(()),
        None => guard.hosts.check(request.uri(), request.headers()).map_err(Refused::from),
    };
    let entered = entered.map_err(Refused::from);
    let mut response = match limited.and(checked).and(entered) {
        Ok(_under_way) => {
            match AssertUnwindSafe(app.reads.answered(next.run(request))).catch_unwind().await {
                Ok(Ok(response)) => response,
                Ok(Err(refusal)) => Refused::from(refusal).into_response(),
                Err(_) => Refused::from(Refusal::new(
                    Code::Internal,
                    "the host made a mistake; it is in its log under this request's id",
                ))
                .into_response(),
            }
        }
        Err(refused) => refused.into_response(),
    };
    // Whoever tries tokens is told of it no faster than this. Others at the same address, with tokens that
    // are good, go on.
    if response.extensions().get().is_some_and(|RefusedWith(code)| *code == Code::Unauthorized)
        && let Some(Err(wait)) = from.map(|from| app.shared.limits.failure(from, now))
    {
        response = Refused::from(wait).into_response();
    }
    if let Some(RefusedWith(code)) = response.extensions().get() {
        app.shared.metrics.refused(*code);
    }
    guard.browser.tell(response.headers_mut());
    if let Some(Keeps(how)) = response.extensions_mut().remove() {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(how));
    }
    response
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn only_our_own_names_are_answered() {
        let hosts = Hosts::new("127.0.0.1:7600".parse().unwrap(), Some("https://chorus.example/x"));
        for good in [
            "localhost",
            "LOCALHOST:7600",
            "127.0.0.1:1",
            "127.8.8.8",
            "[::1]:7600",
            "chorus.example",
            "Chorus.Example:443",
        ] {
            assert!(hosts.allows(good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "localhost@evil",
            "a b",
            "[::2]",
            "127.0.0.1:7600.evil.example",
            "localhost:http",
        ] {
            assert!(!hosts.allows(bad), "{bad}");
        }
        for bad in [
            "null",
            "",
            "file://localhost:7600",
            "http://evil.example",
            "http://localhost:7600/x",
            "http://localhost:3000",
            "http://127.0.0.1",
            "http://localhost:7600.evil.example",
            "http://chorus.example",
            "https://chorus.example:444",
            "http://chorus.example:7600",
        ] {
            assert!(!hosts.allows_origin(bad, "127.0.0.1:7600"), "{bad}");
            assert!(!hosts.allows_origin(bad, "chorus.example"), "{bad}");
        }
        for good in ["http://127.0.0.1:7600", "http://localhost:7600", "https://[::1]:7600"] {
            assert!(hosts.allows_origin(good, "127.0.0.1:7600"), "{good}");
        }
        // A proxy passes on its own name, or the host's address.
        for host in ["chorus.example", "127.0.0.1:7600"] {
            assert!(hosts.allows_origin("https://chorus.example", host));
            assert!(hosts.allows_origin("https://Chorus.Example:443", host));
        }
        assert!(!hosts.allows_origin("http://127.0.0.1:7600", "127.0.0.1:7601"));
        let open = Hosts::new("0.0.0.0:7600".parse().unwrap(), None);
        assert!(open.allows("192.168.1.5:7600"));
        assert!(!open.allows("evil.example"));
    }
}
