//! Traces: what became of a request. A *request* (or a *call* on a connection) gives *command*s; each waits for a
//! *commit*; each *offer* of what was posted waits until it is written, and its *delivery* until it is acknowledged
//! (spec/operations.md, "Running").
//!
//! Built without the feature `otlp` there are no spans: [`Span`] has no values, and all of this is nothing.
//! With it, spans go into a queue of a fixed size, from which a thread of its own sends them; what does not fit is dropped.
//! A span says where time went and never what was said: words are ours, names are routes and ids.

#[cfg(not(feature = "otlp"))]
mod off;
#[cfg(feature = "otlp")]
mod otlp;

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use axum::http::HeaderMap;
use chorus_core::model::error::Code;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::offer::{Entry, Offer};
use chorus_store::Commit;
use chorus_wire::code;
use hashlink::LruCache;
#[cfg(not(feature = "otlp"))]
use off::Exporter;
#[cfg(not(feature = "otlp"))]
pub(crate) use off::Span;
#[cfg(feature = "otlp")]
use otlp::Exporter;
#[cfg(feature = "otlp")]
pub(crate) use otlp::Span;
use tokio::task::futures::TaskLocalFuture;

use crate::config::otlp::Otlp as Settings;

/// Events whose offers are still put under what posted them.
const ORIGINS: usize = 4_096;

tokio::task_local! {
    static CURRENT: Option<Place>;
}

/// Where in a trace something is: the parent of what it causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub trace: u128,
    pub span: u64,
    pub sampled: bool,
}

impl Place {
    /// What a request says of where it comes from: the header `traceparent` of W3C Trace Context. None when it
    /// says nothing, or nothing that can be read.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get("traceparent")?.to_str().ok()?;
        let mut parts = text.trim().split('-');
        let version = hex(parts.next()?, 2)?;
        let (trace, span) = (hex(parts.next()?, 32)?, hex(parts.next()?, 16)?);
        let flags = hex(parts.next()?, 2)?;
        // A later version may say more behind it; this one may not.
        let whole = version != 0xff && (version != 0 || parts.next().is_none());
        let place = Self { trace, span: u64::try_from(span).ok()?, sampled: flags & 1 == 1 };
        (whole && trace != 0 && span != 0).then_some(place)
    }
}

/// A number of so many digits, in small letters as the standard wants them.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if text.len() != digits || !plain {
        return None;
    }
    u128::from_str_radix(text, 16).ok()
}

/// The traces of a host.
pub(crate) struct Traces {
    exporter: Option<Exporter>,
    origins: Mutex<LruCache<Uid, Place>>,
}

impl Traces {
    /// None are made without an endpoint.
    pub(crate) fn open(settings: &Settings) -> Result<Self, String> {
        let exporter = match &settings.endpoint {
            Some(endpoint) => Some(Exporter::open(endpoint, settings.percent)?),
            None => None,
        };
        Ok(Self { exporter, origins: Mutex::new(LruCache::new(ORIGINS)) })
    }

    /// Something begins; it ends when the span is dropped.
    pub(crate) fn begin(&self, name: &'static str, parent: Option<Place>) -> Option<Span> {
        Some(self.exporter.as_ref()?.begin(name, parent))
    }

    /// A request from outside begins.
    pub(crate) fn request(&self, headers: &HeaderMap) -> Option<Span> {
        Some(self.exporter.as_ref()?.request(Place::of(headers)))
    }

    /// A command begins, under what is at work here.
    pub(crate) fn command(&self, name: &'static str) -> Option<Span> {
        let exporter = self.exporter.as_ref()?;
        let mut span = exporter.begin("command", CURRENT.try_with(|place| *place).ok().flatten());
        span.word("chorus.command", name);
        Some(span)
    }

    /// A command was answered, after the commit that it waited for: what it logged, if anything, or why it was refused.
    /// What it posted is remembered for its offers.
    pub(crate) fn answered(
        &self,
        mut span: Span,
        answer: Result<Option<&Entry>, Code>,
        commit: Option<Commit>,
    ) {
        let (Some(exporter), place) = (&self.exporter, span.place()) else { return };
        match answer {
            Err(code) => span.word("chorus.refused", code::name(code)),
            Ok(logged) => {
                if let Some(commit) = commit {
                    exporter.commit(place, commit);
                }
                if let Some(entry) = logged {
                    span.name("chorus.event", entry.event.uid.show(Prefix::Event));
                    let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
                    origins.insert(entry.event.uid, place);
                }
            }
        }
    }

    /// An offer begins, when it is known what posted its event.
    pub(crate) fn offer(&self, offer: &Offer) -> Option<Span> {
        let exporter = self.exporter.as_ref()?;
        let origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        let place = origins.peek(&offer.entry.event.uid).copied()?;
        let mut span = exporter.begin("offer", Some(place));
        span.word("chorus.policy", offer.decision.policy.name());
        span.word("chorus.mode", offer.decision.mode.name());
        span.number("chorus.attempt", offer.attempt.into());
        Some(span)
    }

    /// An offer was written; its acknowledgement is waited for.
    pub(crate) fn delivery(&self, offer: Option<Span>) -> Option<Span> {
        let place = offer?.place();
        self.begin("delivery", Some(place))
    }

    /// Sends what is left, or gives it up. It may take seconds.
    pub(crate) fn close(&self) {
        if let Some(exporter) = &self.exporter {
            exporter.close();
        }
    }
}

/// Does the work of a span. No `async fn`: that would hold the work twice, once as what it was given.
pub(crate) fn within<F: Future>(span: Option<&Span>, work: F) -> TaskLocalFuture<Option<Place>, F> {
    CURRENT.scope(span.map(Span::place), work)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    // covers: OPS-129
    #[test]
    fn a_parent_is_read_as_the_standard_writes_it_and_anything_else_is_none() {
        let check = |text: &str, expected: Option<(u128, u64, bool)>| {
            let headers =
                HeaderMap::from_iter([("traceparent".parse().unwrap(), text.parse().unwrap())]);
            let expected = expected.map(|(trace, span, sampled)| Place { trace, span, sampled });
            assert_eq!(Place::of(&headers), expected, "{text}");
        };
        let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
        let known = (0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c, 0xb7ad_6b71_6920_3331);
        check(&format!("00-{trace}-{span}-01"), Some((known.0, known.1, true)));
        check(&format!("00-{trace}-{span}-00"), Some((known.0, known.1, false)));
        check(&format!("01-{trace}-{span}-03-more"), Some((known.0, known.1, true)));
        for wrong in [
            String::new(),
            "00".to_owned(),
            format!("ff-{trace}-{span}-01"),
            format!("00-{trace}-{span}-01-more"),
            format!("00-{trace}-{span}"),
            format!("00-{}-{span}-01", trace.to_uppercase()),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-+{}-{span}-01", &trace[1..]),
            format!("00-{trace}0-{span}-01"),
        ] {
            check(&wrong, None);
        }
        assert_eq!(Place::of(&HeaderMap::new()), None);
    }
}
