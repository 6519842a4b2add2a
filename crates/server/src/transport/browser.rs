//! What a browser is told with every answer, page and JSON alike: to guess no type, to run and load nothing, to be framed
//! by nobody, to share it with no other origin, to send no address on, and to keep none of it.
//!
//! An answer that states a policy of its own keeps that one: pages have styles, files are sandboxed, and pages with a form
//! have the browser say where the form comes from.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Uri};

/// For answers that are no pages.
const POLICY: &str = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'";
/// A page may have styles, and no form sends what is on it anywhere.
pub(super) const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";
/// With `no-referrer` a browser sends forms with `Origin: null`, as those of any other site.
pub(super) const FORM_REFERRER: &str = "same-origin";
/// A page with a form that this host takes.
pub(super) const FORM_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; \
     frame-ancestors 'none'";
/// The page itself: its own scripts and styles, pictures that it makes of what it was answered, and nobody else. What
/// Svelte makes elements of goes through the one policy of trusted types that it has.
pub(super) const APP_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
     connect-src 'self'; font-src 'none'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types svelte-trusted-html";
/// Two years, which is what lists of such hosts ask for. Other hosts of the domain are not ours to speak for.
const ONLY_HTTPS: &str = "max-age=63072000";

/// The headers of one host's answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Browser {
    only_https: bool,
}

impl Browser {
    /// `public_url` is how the host is reached. A machine's own name says nothing: what else runs under it may have no
    /// certificate.
    pub(super) fn of(public_url: &str) -> Self {
        let url = public_url.parse::<Uri>().ok();
        let only_https = url.is_some_and(|url| {
            url.scheme_str() == Some("https") && url.host().is_some_and(|host| host != "localhost")
        });
        Self { only_https }
    }

    pub(super) fn tell(self, headers: &mut HeaderMap) {
        // It grows once and not with every other header.
        headers.reserve(8);
        for (name, value) in [
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            // Almost every answer is what somebody said or may see, and the rest is small.
            (CACHE_CONTROL, "no-store"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
        headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
        if self.only_https {
            headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(ONLY_HTTPS));
        }
    }
}
