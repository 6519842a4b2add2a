//! The cookie in which a browser keeps the session of somebody who has signed in. The host's own page asks the API with it
//! ([`of_page`]); whoever speaks for an agent brings a token.

use axum::http::{HeaderMap, HeaderValue, header};
use chorus_core::model::error::{Code, Refusal};

use crate::auth::SENT_OUT_MS;
use crate::workspaces::PREFIX;

/// Only over HTTPS can a cookie have the prefix that binds it to this host.
const NAMES: [&str; 2] = ["__Host-chorus_session", "chorus_session"];
/// By which a browser is known that was sent to an issuer to sign in there.
const SENT_OUT: [&str; 2] = ["__Host-chorus_signin", "chorus_signin"];
/// What the page sends along. Another site's page cannot: there is no CORS here, and a form has no headers.
const OF_PAGE: &str = "x-chorus-page";
/// As long as the token in it at most: 30 days, in seconds.
const LIFE_S: u32 = 30 * 24 * 3600;

/// `url` is how the host is reached.
pub(super) fn of_session(token: &str, url: &str) -> Option<HeaderValue> {
    cookie(&name(url), token, LIFE_S, "Strict", url)
}

/// Of a browser that is sent out. It comes back from another site, so that a strict cookie would not
/// be sent along; all that this one proves is that it is the same browser.
pub(super) fn of_sent_out(state: &str, url: &str) -> Option<HeaderValue> {
    cookie(&one_of(SENT_OUT, url), state, (SENT_OUT_MS / 1000) as u32, "Lax", url)
}

/// The state of a browser that has come back.
pub(super) fn sent_out<'a>(headers: &'a HeaderMap, url: &str) -> Option<&'a str> {
    named(headers, &one_of(SENT_OUT, url))
}

/// It is not out any more.
pub(super) fn of_come_back(url: &str) -> Option<HeaderValue> {
    cookie(&one_of(SENT_OUT, url), "", 0, "Lax", url)
}

/// Takes it back.
pub(super) fn of_nobody(url: &str) -> Option<HeaderValue> {
    cookie(&name(url), "", 0, "Strict", url)
}

fn cookie(name: &str, value: &str, life_s: u32, same_site: &str, url: &str) -> Option<HeaderValue> {
    let secure = if url.starts_with("https://") { "; Secure" } else { "" };
    let cookie =
        format!("{name}={value}; Path=/; Max-Age={life_s}; HttpOnly; SameSite={same_site}{secure}");
    let mut cookie = HeaderValue::from_str(&cookie).ok()?;
    cookie.set_sensitive(true);
    Some(cookie)
}

fn name(url: &str) -> String {
    one_of(NAMES, url)
}

/// A browser that is signed in to several workspaces of a host has a cookie for each.
fn one_of(names: [&'static str; 2], url: &str) -> String {
    let name = if url.starts_with("https://") { names[0] } else { names[1] };
    match url.rsplit_once(PREFIX) {
        Some((_, workspace)) => format!("{name}_{workspace}"),
        None => name.to_owned(),
    }
}

/// The token with which the host's own page asks; none where there is no cookie.
pub(super) fn of_page<'a>(headers: &'a HeaderMap, url: &str) -> Result<Option<&'a str>, Refusal> {
    let Some(token) = token(headers, url) else { return Ok(None) };
    let said = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if said(OF_PAGE) != Some("1") {
        return Err(Refusal::new(
            Code::Unauthorized,
            "a browser's session is taken from the page of this host, which sends X-Chorus-Page: 1 along; a program \
             sends Authorization: Bearer …",
        ));
    }
    if said("sec-fetch-site").is_some_and(|site| site != "same-origin") {
        return Err(Refusal::new(
            Code::Unauthorized,
            "another site asks with this browser's session; open the page of this host itself",
        ));
    }
    Ok(Some(token))
}

/// The token in it. Over HTTPS only that of the name which another host of the domain cannot set.
pub(super) fn token<'a>(headers: &'a HeaderMap, url: &str) -> Option<&'a str> {
    named(headers, &name(url))
}

fn named<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(found, _)| found.trim() == name);
    found.next().map(|(_, token)| token.trim())
}
