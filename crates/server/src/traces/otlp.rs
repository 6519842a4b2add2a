//! Spans to a collector, by OTLP over HTTP in protobuf.
//!
//! The queue and the thread that empties it are those of OpenTelemetry's batch processor: 2,048 spans wait at most, a
//! request to the collector takes at most 10 s, and neither is on anybody's way.

use std::time::{Duration, Instant, SystemTime};

use chorus_store::Commit;
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, TraceContextExt, TraceFlags, TraceId,
    TraceState, Tracer, TracerProvider,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};

use super::Place;

/// How long what is left may take to be sent when the host stops.
const GOODBYE: Duration = Duration::from_secs(3);

pub(super) struct Exporter {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Exporter {
    pub(super) fn open(endpoint: &str, percent: u32) -> Result<Self, String> {
        let endpoint = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint)
            .build()
            .map_err(|why| format!("traces cannot be sent: {why}"))?;
        let resource = Resource::builder()
            .with_service_name("chorus")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let kept = Sampler::TraceIdRatioBased(f64::from(percent) / 100.0);
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(Sampler::ParentBased(Box::new(kept)))
            .with_resource(resource.build())
            .build();
        let tracer = provider.tracer("chorus");
        Ok(Self { provider, tracer })
    }

    pub(super) fn begin(&self, name: &'static str, parent: Option<Place>) -> Span {
        self.build(SpanBuilder::from_name(name), parent)
    }

    pub(super) fn request(&self, parent: Option<Place>) -> Span {
        self.build(SpanBuilder::from_name("request").with_kind(SpanKind::Server), parent)
    }

    pub(super) fn commit(&self, parent: Place, commit: Commit) {
        let builder = SpanBuilder::from_name("commit").with_start_time(system(commit.began));
        let mut span = self.build(builder, Some(parent));
        span.number("chorus.commands", i64::try_from(commit.commands).unwrap_or(i64::MAX));
        span.0.end_with_timestamp(system(commit.ended));
    }

    pub(super) fn close(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(GOODBYE) {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }

    fn build(&self, builder: SpanBuilder, parent: Option<Place>) -> Span {
        let parent = parent.map_or_else(Context::new, |place| {
            let flags = if place.sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
            let (trace, span) = (TraceId::from(place.trace), SpanId::from(place.span));
            let context = SpanContext::new(trace, span, flags, true, TraceState::NONE);
            Context::new().with_remote_span_context(context)
        });
        Span(self.tracer.build_with_context(builder, &parent))
    }
}

/// As the calendar has it.
fn system(at: Instant) -> SystemTime {
    SystemTime::now() - at.elapsed()
}

/// Something under way; it ends when this is dropped.
pub(crate) struct Span(opentelemetry_sdk::trace::Span);

impl Span {
    pub(crate) fn place(&self) -> Place {
        let context = self.0.span_context();
        Place {
            trace: u128::from_be_bytes(context.trace_id().to_bytes()),
            span: u64::from_be_bytes(context.span_id().to_bytes()),
            sampled: context.is_sampled(),
        }
    }

    /// A word of ours.
    pub(crate) fn word(&mut self, key: &'static str, word: &'static str) {
        self.0.set_attribute(KeyValue::new(key, word));
    }

    /// A route, or an id.
    pub(crate) fn name(&mut self, key: &'static str, name: String) {
        self.0.set_attribute(KeyValue::new(key, name));
    }

    pub(crate) fn number(&mut self, key: &'static str, number: i64) {
        self.0.set_attribute(KeyValue::new(key, number));
    }
}
