//! `[otlp]`: traces, for a collector.

use super::section::section;

section! {
    /// Traces of requests, sent to a collector by OTLP over HTTP. They need a `chorus` that was
    /// built with `--features otlp`; any other refuses to start with an endpoint.
    Otlp ["otlp"] {
        /// The collector: `http://127.0.0.1:4318`, to which `/v1/traces` is added. Without it,
        /// OTEL_EXPORTER_OTLP_ENDPOINT is used.
        endpoint: Option<String> = None;
        /// Percentage of traces that are kept. A request with a `traceparent` is kept if that says
        /// so.
        percent: u32 = 100, 0 => 100;
    }
    check |otlp| {
        let web = otlp.endpoint.as_deref().is_none_or(|url| {
            let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            rest.is_some_and(|rest| !rest.is_empty() && !rest.contains('@'))
        });
        match web {
            true => Vec::new(),
            false => vec![("endpoint", "is no address such as http://127.0.0.1:4318".to_owned())],
        }
    };
}
