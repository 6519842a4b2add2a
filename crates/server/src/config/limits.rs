//! `[limits]`.

use std::net::IpAddr;
use std::time::Duration;

use super::kind::Span;
use super::section::section;

/// Less than any network needs.
const MOMENT: Span = Span(Duration::from_millis(50));

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
        /// Pings of one session a second, and acknowledgements of what was not offered: by a connection of C2A, its WebSocket, or MCP.
        /// Past it a call is refused, and a connection that goes on without one is closed.
        pings_per_second: u32 = 50;
        /// And so many at once.
        pings_burst: u32 = 2_000, 1 => 10_000_000;
        /// Lines that one agent may write into the host's log a second (`notifications/message`); each is cut at 1,024 bytes.
        agent_lines_per_second: u32 = 5;
        /// And so many at once.
        agent_lines_burst: u32 = 50, 1 => 10_000_000;
        /// Conversations of any kind that one member may make in a day, unless it is an operator; 0 is no limit, here and in the next two.
        conversations_per_day: u32 = 1_000;
        /// Seats that one member may give to others in a day, by itself or through projects, unless it is an operator.
        seats_per_day: u32 = 10_000;
        /// Bytes that the files of one member may have, in MiB, unless it is an operator.
        member_storage_mib: u64 = 1_024;
        /// Open connections in all. The limit of open files, which `chorus serve` raises as far as it may, bounds them too: 256 files
        /// are the host's own. Past it a connection is answered with UNAVAILABLE, or closed at once.
        connections: u32 = 20_000, 1 => 10_000_000;
        /// Open connections from one address; 0 is no limit. Past it a connection is answered with RATE_LIMITED, or closed at once.
        address_connections: u32 = 1_000;
        /// Addresses that may have any number of connections: this machine, and machines of yours with very many agents. Proxies in
        /// trusted_proxies may too.
        uncounted_addresses: Vec<String> = vec!["127.0.0.1".to_owned(), "::1".to_owned()];
        /// How long a TLS handshake may take.
        handshake_time: Span = Span::seconds(10), MOMENT => Span::hours(1);
        /// How long the head of a request may take to come, from its first byte, and the first one of a connection from its beginning.
        header_time: Span = Span::seconds(10), MOMENT => Span::hours(1);
        /// How long a connection is kept without a request. Longer than proxies and clients keep one, which is 60 to 90 s as a rule:
        /// whoever asks first must not find it closed.
        idle_time: Span = Span::minutes(2), MOMENT => Span::days(1);
        /// Seconds in which the body of a request has to come.
        body_seconds: u64 = 30, 1 => 3_600;
        /// Addresses of proxies before this host, whose X-Forwarded-For says for whom they ask. Others are not believed.
        trusted_proxies: Vec<String> = Vec::new();
    }
    check |limits| {
        let lists =
            [("trusted_proxies", &limits.trusted_proxies), ("uncounted_addresses", &limits.uncounted_addresses)];
        let wrong = lists.into_iter().filter_map(|(key, list)| {
            let text = list.iter().find(|text| text.parse::<IpAddr>().is_err())?;
            Some((key, format!("{text:?} is no IP address")))
        });
        wrong.collect()
    };
}
