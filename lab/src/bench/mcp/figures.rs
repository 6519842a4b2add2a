//! The lines of `bench mcp`: what is compared with what, and the bounds we set ourselves.

use crate::bench::report::Figure;

/// In the order in which they are printed: the peer's and the REST transport's first, then ours.
pub(super) const FIGURES: &[Figure] = &[
    Figure::peer("mcp_agent_mail.send", "calls/s"),
    Figure::peer("mcp_agent_mail.fetch", "calls/s"),
    Figure::peer("rest.post.c1", "calls/s"),
    Figure::peer("rest.post.c16", "calls/s"),
    Figure::peer("rest.post.c64", "calls/s"),
    Figure::peer("rest.read.c1", "calls/s"),
    Figure::peer("rest.read.c16", "calls/s"),
    Figure::peer("rest.read.c64", "calls/s"),
    Figure::mcp("post.c1", "calls/s").over_sample("rest", "rest.post.c1"),
    Figure::mcp("post.c16", "calls/s").over_sample("rest", "rest.post.c16").at_least(0.6),
    Figure::mcp("post.c16", "calls/s")
        .over_sample("mcp_agent_mail", "mcp_agent_mail.send")
        .at_least(500.0),
    Figure::mcp("post.c64", "calls/s").over_sample("rest", "rest.post.c64"),
    Figure::mcp("read.c1", "calls/s").over_sample("rest", "rest.read.c1"),
    Figure::mcp("read.c16", "calls/s").over_sample("rest", "rest.read.c16").at_least(0.8),
    Figure::mcp("read.c16", "calls/s").over_sample("mcp_agent_mail", "mcp_agent_mail.fetch"),
    Figure::mcp("read.c64", "calls/s").over_sample("rest", "rest.read.c64"),
    Figure::mcp("post.c1.p99_us", "us").over_sample("rest", "rest.post.c1.p99_us"),
    Figure::mcp("post.c16.p99_us", "us").over_sample("rest", "rest.post.c16.p99_us"),
    Figure::mcp("post.c64.p99_us", "us").over_sample("rest", "rest.post.c64.p99_us"),
    Figure::mcp("read.c1.p99_us", "us").over_sample("rest", "rest.read.c1.p99_us"),
    Figure::mcp("read.c16.p99_us", "us").over_sample("rest", "rest.read.c16.p99_us"),
    Figure::mcp("read.c64.p99_us", "us").over_sample("rest", "rest.read.c64.p99_us"),
    Figure::mcp("wait_1000.kib", "KiB").at_most(30.0),
    Figure::mcp("wait_1000.p99_ms", "ms").at_most(50.0),
    Figure::mcp("wait_1000.at_once.p99_ms", "ms"),
];
