//! The cookie in which a browser keeps the session of somebody who has signed in. The host's own page asks the API with it
//! ([`of_page`]); whoever speaks for an agent brings a token.

use axum::http::{HeaderMap, HeaderValue, header};
use chorus_core::model::error::{Code, Refusal};

/// Only over HTTPS can a cookie have the prefix that binds it to this host.
const NAMES: [&str; 2] = ["__Host-chorus_session", "chorus_session"];
/// What the page sends along. Another site's page cannot: there is no CORS here, and a form has no headers.
const OF_PAGE: &str = "x-chorus-page";
/// As long as the token in it at most: 30 days, in seconds.
const LIFE_S: u32 = 30 * 24 * 3600;

/// `url` is how the host is reached.
pub(super) fn of_session(token: &str, url: &str) -> Option<HeaderValue> {
    cookie(token, LIFE_S, url)
}

/// Takes it back.
pub(super) fn of_nobody(url: &str) -> Option<HeaderValue> {
    cookie("", 0, url)
}

fn cookie(token: &str, life_s: u32, url: &str) -> Option<HeaderValue> {
    let secure = if url.starts_with("https://") { "; Secure" } else { "" };
    let name = name(url);
    let cookie =
        format!("{name}={token}; Path=/; Max-Age={life_s}; HttpOnly; SameSite=Strict{secure}");
    let mut cookie = HeaderValue::from_str(&cookie).ok()?;
    cookie.set_sensitive(true);
    Some(cookie)
}

fn name(url: &str) -> &'static str {
    if url.starts_with("https://") { NAMES[0] } else { NAMES[1] }
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
    let name = name(url);
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(found, _)| found.trim() == name);
    found.next().map(|(_, token)| token.trim())
}
