//! Feeds libFuzzer's bytes to `chorus_parsers::ndjson`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chorus_parsers::ndjson(data));
