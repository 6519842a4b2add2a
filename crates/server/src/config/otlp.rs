//! `[otlp]`: traces, for a collector.

use super::section::section;

section! {
    /// Traces: what a request became, to a collector by OTLP over HTTP. Only in a `chorus` that was built with `--features otlp`; any
    /// other refuses to start with an endpoint.
    Otlp ["otlp"] {
        /// The collector: `http://127.0.0.1:4318`, to which `/v1/traces` is added. Where nothing is set, OTEL_EXPORTER_OTLP_ENDPOINT counts.
        endpoint: Option<String> = None;
        /// How many of a hundred traces are kept. A request that brings a `traceparent` is kept when that says so.
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
