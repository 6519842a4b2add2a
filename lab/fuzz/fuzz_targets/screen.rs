//! Feeds libFuzzer's bytes to `chorus_parsers::screen`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chorus_parsers::screen(data));
