//! `[limits]`.

use std::net::IpAddr;

use super::section::section;

section! {
    /// How much one caller may ask for. A limit is so many requests or calls a second, and so many at once before that counts; 0 a
    /// second is no limit. Past it a caller is refused with RATE_LIMITED and told when to come again.
    Limits ["limits"] {
        /// Requests and calls of one member a second, over all its sessions.
        member_per_second: u32 = 2_000;
        /// And so many at once.
        member_burst: u32 = 20_000, 1 => 10_000_000;
        /// Requests and calls of one session of an agent a second.
        session_per_second: u32 = 2_000;
        /// And so many at once.
        session_burst: u32 = 20_000, 1 => 10_000_000;
        /// Calls on one connection a second.
        connection_per_second: u32 = 2_000;
        /// And so many at once.
        connection_burst: u32 = 20_000, 1 => 10_000_000;
        /// Requests from one address a second, with a token or without. A network of 64 bits counts as one address in IPv6.
        address_per_second: u32 = 50_000;
        /// And so many at once.
        address_burst: u32 = 100_000, 1 => 10_000_000;
        /// Requests with a token that is none, or without one, from one address a second.
        failures_per_second: u32 = 10;
        /// And so many at once.
        failures_burst: u32 = 200, 1 => 10_000_000;
        /// Seconds in which the body of a request has to come.
        body_seconds: u64 = 30, 1 => 3_600;
        /// Addresses of proxies before this host, whose X-Forwarded-For says for whom they ask. Others are not believed.
        trusted_proxies: Vec<String> = Vec::new();
    }
    check |limits| {
        let wrong = limits.trusted_proxies.iter().find(|text| text.parse::<IpAddr>().is_err());
        match wrong {
            Some(text) => vec![("trusted_proxies", format!("{text:?} is no IP address"))],
            None => Vec::new(),
        }
    };
}
