//! The cookie in which a browser keeps the session of somebody who has signed in. Only pages read it: the API takes the
//! `Authorization` header, which a page of another site cannot send.

use axum::http::{HeaderMap, HeaderValue, header};

/// Only over HTTPS can a cookie have the prefix that binds it to this host.
const NAMES: [&str; 2] = ["__Host-chorus_session", "chorus_session"];
/// As long as the token in it at most: 30 days, in seconds.
const LIFE_S: u32 = 30 * 24 * 3600;

/// `url` is how the host is reached.
pub(super) fn of_session(token: &str, url: &str) -> Option<HeaderValue> {
    let (name, secure) = match url.starts_with("https://") {
        true => (NAMES[0], "; Secure"),
        false => (NAMES[1], ""),
    };
    let cookie =
        format!("{name}={token}; Path=/; Max-Age={LIFE_S}; HttpOnly; SameSite=Strict{secure}");
    let mut cookie = HeaderValue::from_str(&cookie).ok()?;
    cookie.set_sensitive(true);
    Some(cookie)
}

/// The token in it.
pub(super) fn token(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(name, _)| NAMES.contains(&name.trim()));
    found.next().map(|(_, token)| token.trim())
}
