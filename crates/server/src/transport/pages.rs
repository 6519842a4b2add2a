//! Refusals as pages: a person who follows a link reads a sentence and no JSON.
//!
//! Invariant: status, headers and sentence are those that a program gets. What is below `/v1` is for programs, and
//! answers JSON to everybody.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use super::browser::{FORM_POLICY, FORM_REFERRER, PAGE_POLICY};
use super::refused::Sentence;
use crate::page;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// Whether a refusal of the request is shown as a page.
pub(super) fn are_wanted(request: &Request) -> bool {
    let path = request.uri().path();
    let is_api = path == "/v1" || path.starts_with("/v1/");
    !is_api && prefers_html(request.headers())
}

/// A refusal as a page, if pages are wanted.
pub(super) fn shown(mut response: Response, wanted: bool) -> Response {
    let Some(sentence) = response.extensions_mut().remove::<Sentence>() else { return response };
    if wanted {
        let status = response.status().as_u16();
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(header::CONTENT_TYPE, HTML);
        let (policy, html) = match sentence.form {
            Some(form) => {
                headers.insert(header::REFERRER_POLICY, HeaderValue::from_static(FORM_REFERRER));
                (FORM_POLICY, form)
            }
            None => {
                let request_id = sentence.request_id.as_deref();
                (PAGE_POLICY, page::refused(status, &sentence.text, request_id))
            }
        };
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        *response.body_mut() = Body::from(html);
    }
    response
}

/// Whether pages are named in `Accept`, and before JSON. A program that takes anything is no browser.
fn prefers_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    let ranges = accepted.flat_map(|accept| accept.split(','));
    let (mut html, mut json) = (0.0_f32, 0.0_f32);
    for range in ranges {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok()).unwrap_or(1.0);
        match &*kind {
            "text/html" => html = quality,
            "application/json" => json = quality,
            _ => {}
        }
    }
    html > json
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn a_browser_names_pages_before_json() {
        for (accept, expected) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("Text/HTML", true),
            ("application/json;q=0.5, text/html", true),
            ("", false),
            ("*/*", false),
            ("application/json", false),
            ("application/json, text/html", false),
            ("text/html;q=0, */*", false),
            ("text/html; q=0.4, application/json; q=0.6", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(prefers_html(&headers), expected, "{accept}");
        }
        assert!(!prefers_html(&HeaderMap::new()));
    }
}
