//! `[limits]`.

use std::net::IpAddr;
use std::time::Duration;

use super::kind::Span;
use super::section::section;

/// Less than any network needs.
const MOMENT: Span = Span(Duration::from_millis(50));

section! {
    /// How much one caller may ask for. A limit is a rate per second and a burst: so many requests
    /// or calls at once before the rate applies. A rate of 0 means no limit. Beyond it a caller is
    /// refused with RATE_LIMITED and told when to try again.
    Limits ["limits"] {
        /// Requests and calls per second of one member, over all its sessions.
        member_per_second: u32 = 2_000;
        /// The burst of one member.
        member_burst: u32 = 20_000, 1 => 10_000_000;
        /// Requests and calls per second of one session of an agent.
        session_per_second: u32 = 2_000;
        /// The burst of one session.
        session_burst: u32 = 20_000, 1 => 10_000_000;
        /// Calls per second on one connection.
        connection_per_second: u32 = 2_000;
        /// The burst on one connection.
        connection_burst: u32 = 20_000, 1 => 10_000_000;
        /// Requests per second from one address, with or without a token. In IPv6 a network of 64
        /// bits counts as one address.
        address_per_second: u32 = 50_000;
        /// The burst from one address.
        address_burst: u32 = 100_000, 1 => 10_000_000;
        /// Requests per second from one address without a token, or with an invalid one.
        failures_per_second: u32 = 10;
        /// The burst of such requests.
        failures_burst: u32 = 200, 1 => 10_000_000;
        /// Pings per second of one session, and acknowledgements of what was not offered, over C2A,
        /// its WebSocket, or MCP. Beyond it a request is refused, and a connection that keeps
        /// sending what cannot be refused is closed.
        pings_per_second: u32 = 50;
        /// The burst of pings.
        pings_burst: u32 = 2_000, 1 => 10_000_000;
        /// Lines per second that one agent may write into the host's log (`notifications/message`).
        /// Each is cut at 1,024 bytes.
        agent_lines_per_second: u32 = 5;
        /// The burst of such lines.
        agent_lines_burst: u32 = 50, 1 => 10_000_000;
        /// Conversations of any kind that one member may create in a day. Operators are exempt. 0
        /// means no limit, here and in the next two settings.
        conversations_per_day: u32 = 1_000;
        /// Members that one member may add to conversations in a day, directly or through projects.
        /// Operators are exempt.
        seats_per_day: u32 = 10_000;
        /// Storage for the files of one member, in MiB. Operators are exempt.
        member_storage_mib: u64 = 1_024;
        /// Open connections in all. The limit of open files, which `chorus serve` raises as far as
        /// it may, bounds them too: the host keeps 256 files for itself. Beyond it a connection is
        /// answered with UNAVAILABLE, or closed at once.
        connections: u32 = 20_000, 1 => 10_000_000;
        /// Open connections from one address; 0 means no limit. Beyond it a connection is answered
        /// with RATE_LIMITED, or closed at once.
        address_connections: u32 = 1_000;
        /// Addresses without a limit of connections: this machine, and machines of yours that run
        /// very many agents. Proxies in `trusted_proxies` have none either.
        uncounted_addresses: Vec<String> = vec!["127.0.0.1".to_owned(), "::1".to_owned()];
        /// How long a TLS handshake may take.
        handshake_time: Span = Span::seconds(10), MOMENT => Span::hours(1);
        /// How long the head of a request may take, from its first byte; for the first request,
        /// from the start of the connection.
        header_time: Span = Span::seconds(10), MOMENT => Span::hours(1);
        /// How long a connection is kept without a request. Keep it longer than proxies and clients
        /// do, which is usually 60 to 90 s: otherwise a client may send a request on a connection
        /// that has just been closed.
        idle_time: Span = Span::minutes(2), MOMENT => Span::days(1);
        /// Seconds in which the body of a request must arrive.
        body_seconds: u64 = 30, 1 => 3_600;
        /// Addresses of proxies in front of this host. The host believes their X-Forwarded-For, and
        /// nobody else's.
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
