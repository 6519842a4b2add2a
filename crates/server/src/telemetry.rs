//! What is counted, in the text format of Prometheus at `/metrics`.
//!
//! Counting costs an atomic addition: families are looked up once, here, and never on the way of a post.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use chorus_core::model::attention::{Mode, Policy};
use chorus_core::model::error::Code;
use chorus_store::repair::Part;
use chorus_wire::code;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds of commit latency in seconds: from a fast disk's sync to a stuck one.
const LATENCY: [f64; 12] =
    [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Offer {
    policy: &'static str,
    mode: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refused {
    code: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CutBy {
    why: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Mended {
    part: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Posted {
    outcome: &'static str,
}

/// What came of a post to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Taken,
    /// It is tried again.
    Failed,
    /// A dead letter, or the end of the endpoint.
    Refused,
}

impl Outcome {
    /// In their order.
    const NAMES: [&str; 3] = ["taken", "failed", "refused"];
}

/// Why a connection was ended, or not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// As many as there may be in all.
    All,
    /// As many as one address may have.
    Address,
    /// Its TLS handshake took too long.
    Handshake,
    /// The head of a request took too long.
    Headers,
    /// It was not read from.
    Stalled,
}

impl Cut {
    /// In their order.
    const NAMES: [&str; 5] = ["limit", "address_limit", "handshake", "headers", "not_reading"];
}

pub(crate) struct Metrics {
    registry: Registry,
    posts: Counter,
    latency: Histogram,
    offers: Vec<Counter>,
    refusals: Vec<Counter>,
    cuts: Vec<Counter>,
    webhook_posts: Vec<Counter>,
    pub connections: Gauge,
    /// Connections of any kind.
    pub open: Gauge,
    /// Lines of the log that were not written.
    pub lost_lines: Gauge,
    pub followers: Gauge,
    /// Commands given to the writer that it has not answered.
    pub waiting: Gauge<i64, std::sync::atomic::AtomicI64>,
    pub requests: Counter<u64, AtomicU64>,
    redactions: Counter,
    repairs: Vec<Counter>,
    /// Events that retention dropped.
    pub dropped: Counter,
    /// 1 while what is old cannot be dropped.
    pub retention_failing: Gauge<i64, std::sync::atomic::AtomicI64>,
    /// Workspaces beside the host's own that are open, and that cannot be used.
    pub open_workspaces: Gauge,
    pub failing_workspaces: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("chorus");
        let posts = Counter::default();
        registry.register("posts", "Messages posted, duplicates too", posts.clone());
        let latency = Histogram::new(LATENCY);
        registry.register_with_unit(
            "command",
            "From a command's submission to its answer, its commit included",
            Unit::Seconds,
            latency.clone(),
        );
        let family = Family::<Offer, Counter>::default();
        registry.register("offers", "Deliveries offered to sessions", family.clone());
        let mut offers = Vec::new();
        for policy in Policy::ALL {
            for mode in Mode::ALL {
                let labels = Offer { policy: policy.name(), mode: mode.name() };
                offers.push(family.get_or_create_owned(&labels));
            }
        }
        let family = Family::<Refused, Counter>::default();
        registry.register("refusals", "Requests refused, by code", family.clone());
        let refusals = code::TABLE
            .iter()
            .map(|row| family.get_or_create_owned(&Refused { code: row.name }))
            .collect();
        let connections = Gauge::default();
        registry.register("connections", "Connected C2A sessions", connections.clone());
        let open = Gauge::default();
        registry.register("open_connections", "Connections of any kind", open.clone());
        let family = Family::<CutBy, Counter>::default();
        registry.register(
            "cut_connections",
            "Connections ended or not taken, by why",
            family.clone(),
        );
        let cuts = Cut::NAMES.map(|why| family.get_or_create_owned(&CutBy { why })).into();
        let family = Family::<Posted, Counter>::default();
        let help = "Posts to the endpoints of agents, by outcome";
        registry.register("webhook_posts", help, family.clone());
        let count = |outcome| family.get_or_create_owned(&Posted { outcome });
        let webhook_posts = Outcome::NAMES.map(count).into();
        let lost_lines = Gauge::default();
        let help =
            "Lines of the log that were not written, because what takes them did not keep up";
        registry.register("lost_log_lines", help, lost_lines.clone());
        let followers = Gauge::default();
        registry.register("followers", "Streams of server-sent events", followers.clone());
        let waiting = Gauge::default();
        registry.register("waiting_commands", "Commands not yet answered", waiting.clone());
        let requests = Counter::default();
        registry.register("requests", "HTTP requests", requests.clone());
        let redactions = Counter::default();
        registry.register("redactions", "Secrets blacked out of texts", redactions.clone());
        let family = Family::<Mended, Counter>::default();
        let help = "What did not fit the logs and was mended at the start";
        registry.register("repairs", help, family.clone());
        let part = |part: Part| family.get_or_create_owned(&Mended { part: part.name() });
        let repairs = Part::ALL.map(part).to_vec();
        let dropped = Counter::default();
        let help = "Events dropped because their time was over";
        registry.register("dropped_events", help, dropped.clone());
        let retention_failing = Gauge::default();
        let help = "1 while what is old cannot be archived, and is kept";
        registry.register("retention_failing", help, retention_failing.clone());
        let open_workspaces = Gauge::default();
        let help = "Workspaces beside the host's own that are open";
        registry.register("open_workspaces", help, open_workspaces.clone());
        let failing_workspaces = Gauge::default();
        let help = "Workspaces beside the host's own that cannot be used now";
        registry.register("failing_workspaces", help, failing_workspaces.clone());
        Self {
            redactions,
            repairs,
            dropped,
            retention_failing,
            open_workspaces,
            failing_workspaces,
            registry,
            posts,
            latency,
            offers,
            refusals,
            cuts,
            webhook_posts,
            connections,
            open,
            lost_lines,
            followers,
            waiting,
            requests,
        }
    }
}

impl Metrics {
    pub(crate) fn posted(&self) {
        self.posts.inc();
    }

    pub(crate) fn webhook(&self, outcome: Outcome) {
        if let Some(counter) = self.webhook_posts.get(outcome as usize) {
            counter.inc();
        }
    }

    /// So many secrets were blacked out of one text.
    pub(crate) fn redacted(&self, count: u32) {
        if count > 0 {
            self.redactions.inc_by(count.into());
        }
    }

    pub(crate) fn repaired(&self, part: Part) {
        if let Some(n) = Part::ALL.iter().position(|p| *p == part) {
            self.repairs[n].inc();
        }
    }

    pub(crate) fn answered(&self, after: Duration) {
        self.latency.observe(after.as_secs_f64());
    }

    pub(crate) fn offered(&self, policy: Policy, mode: Mode) {
        let at = |found: Option<usize>| found.unwrap_or_default();
        let policy = at(Policy::ALL.iter().position(|p| *p == policy));
        let mode = at(Mode::ALL.iter().position(|m| *m == mode));
        if let Some(counter) = self.offers.get(policy * Mode::ALL.len() + mode) {
            counter.inc();
        }
    }

    pub(crate) fn refused(&self, code: Code) {
        let index = code::TABLE.iter().position(|row| row.code == code);
        if let Some(counter) = index.and_then(|i| self.refusals.get(i)) {
            counter.inc();
        }
    }

    pub(crate) fn cut(&self, why: Cut) {
        if let Some(counter) = self.cuts.get(why as usize) {
            counter.inc();
        }
    }

    /// The answer to whoever asks for them.
    pub(crate) fn answer(&self) -> Response {
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        ([(header::CONTENT_TYPE, kind)], self.text()).into_response()
    }

    fn text(&self) -> String {
        let mut out = String::new();
        // Writing into a string does not fail.
        let _ = prometheus_client::encoding::text::encode(&mut out, &self.registry);
        out
    }
}
