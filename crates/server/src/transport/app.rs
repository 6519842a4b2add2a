//! The page, below `/app/`: its files, and its shell for every other path, which the page itself reads.
//!
//! It is the same for everybody and holds nothing that anybody said: what is shown in it is asked from the API. So a
//! browser may keep it, its files for ever, as their names say what is in them.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use chorus_core::model::error::{Code, Refusal};
use chorus_web::File;

use super::browser::APP_POLICY;
use super::refused::Refused;
use crate::services::App;

/// Where the page is.
pub(super) const PAGE: &str = "/app/";

const SHELL: &str = "index.html";

/// How long a browser may keep an answer, instead of not at all.
#[derive(Clone, Copy)]
pub(super) struct Keeps(pub &'static str);

const FOR_EVER: Keeps = Keeps("public, max-age=31536000, immutable");
const ASK_AGAIN: Keeps = Keeps("no-cache");

/// No operations of the API, and so in no document of it.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/app", get(async || Redirect::permanent(PAGE)))
        .route("/app/", get(async |headers: HeaderMap| of_path(SHELL, &headers)))
        .route(
            "/app/{*path}",
            get(async |Path(path): Path<String>, headers: HeaderMap| of_path(&path, &headers)),
        )
}

fn of_path(path: &str, headers: &HeaderMap) -> Response {
    let found = chorus_web::file(path);
    match found.or_else(|| chorus_web::file(SHELL).filter(|_| !is_file(path))) {
        Some(file) => answer(file, headers),
        None => {
            let why = "the page has no such file; reload it, there may be a newer one";
            Refused::from(Refusal::new(Code::NotFound, why)).into_response()
        }
    }
}

/// Whether a path names a file, which is there or not, and no place of the page.
fn is_file(path: &str) -> bool {
    path.starts_with(chorus_web::ASSETS)
}

fn answer(file: &File, asked: &HeaderMap) -> Response {
    let (encoding, body) = encoded(file, asked);
    let tag = format!("\"{}{}\"", file.tag(), encoding.map_or("", |name| &name[..1]));
    let known = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut known = known.flat_map(|value| value.split(',')).map(str::trim);
    let is_known = known.any(|known| known == "*" || known.trim_start_matches("W/") == tag);
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, file.media_type())], body).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(APP_POLICY));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    if let Some(encoding) = encoding.filter(|_| !is_known) {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    let keeps = if file.is_immutable() { FOR_EVER } else { ASK_AGAIN };
    response.extensions_mut().insert(keeps);
    response
}

/// The smallest form that the browser takes.
fn encoded(file: &File, asked: &HeaderMap) -> (Option<&'static str>, &'static [u8]) {
    for (name, bytes) in [("br", file.br), ("gzip", file.gzip)] {
        if let Some(bytes) = bytes.filter(|_| takes(asked, name)) {
            return (Some(name), bytes);
        }
    }
    (None, file.plain)
}

fn takes(asked: &HeaderMap, name: &str) -> bool {
    let values = asked.get_all(header::ACCEPT_ENCODING).iter().filter_map(|v| v.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|coding| coding.eq_ignore_ascii_case(name));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
        is_named && weight.unwrap_or(1.0) > 0.0
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    const FILE: File = File {
        path: "assets/index-3f1c9a.js",
        plain: b"plain and long",
        br: Some(b"brotli"),
        gzip: Some(b"gzipped"),
    };

    fn asking(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn the_smallest_form_is_sent_that_a_browser_takes() {
        for (accept, expected) in [
            ("gzip, deflate, br, zstd", Some("br")),
            ("GZIP", Some("gzip")),
            ("br;q=0, gzip;q=0.5", Some("gzip")),
            ("br; q=0.1", Some("br")),
            ("identity", None),
            ("", None),
        ] {
            let (encoding, bytes) = encoded(&FILE, &asking(header::ACCEPT_ENCODING, accept));
            assert_eq!(encoding, expected, "{accept}");
            assert_eq!(bytes == FILE.plain, expected.is_none(), "{accept}");
        }
        let bare = File { br: None, gzip: None, ..FILE };
        assert_eq!(encoded(&bare, &asking(header::ACCEPT_ENCODING, "br")).0, None);
    }

    #[test]
    fn what_a_browser_has_is_not_sent_again() {
        let first = answer(&FILE, &HeaderMap::new());
        assert_eq!(first.status(), 200);
        let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
        for (known, status) in [
            (tag.clone(), 304),
            (format!("\"x\", W/{tag}"), 304),
            ("*".into(), 304),
            ("\"x\"".into(), 200),
        ] {
            let again = answer(&FILE, &asking(header::IF_NONE_MATCH, &known));
            assert_eq!(again.status(), status, "{known}");
            assert_eq!(again.headers()[header::ETAG].to_str().unwrap(), tag);
        }
        // The tag is of one form.
        let mut pressed = asking(header::IF_NONE_MATCH, &tag);
        pressed.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("br"));
        assert_eq!(answer(&FILE, &pressed).status(), 200);
    }
}
