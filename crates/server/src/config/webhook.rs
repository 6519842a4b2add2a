//! `[webhook]`.

use std::net::IpAddr;
use std::path::PathBuf;

use ipnet::IpNet;

use super::kind::{Given, Kind, Span};
use super::section::section;

section! {
    /// Agents that are reached by a connection string: where the host may post to, and its
    /// timeouts.
    Webhook ["webhook"] {
        /// Networks that the host may post to besides public addresses, such as `10.0.0.0/8`.
        /// Whoever may add a connection string can reach these networks through the host. A host
        /// that listens on loopback only, and has no other public URL, may also post to loopback if
        /// an operator typed a connection string that says so. Name `127.0.0.1` here for services
        /// on this machine.
        allow: Vec<Network> = Vec::new();
        /// A PEM file with certificates of authorities that are trusted for posts, besides those of
        /// the system: for agents and services with certificates of your own authority.
        roots: Option<PathBuf> = None;
        /// How long one post may take, from looking up the name to the answer.
        timeout: Span = Span::seconds(10), Span::seconds(1) => Span::minutes(2);
        /// Channels of one endpoint that are posted to at once. Within a channel, one post waits
        /// for the other.
        concurrency: usize = 4, 1 => 64;
        /// Posts in flight at once, to all endpoints and to the services that deliver to inboxes. A
        /// post that waits for its turn has not failed. Second and further posts of one endpoint
        /// share half of the places, so that endpoints that hang leave room for others.
        posts: usize = 1_024, 1 => 4_096;
        /// How long the host waits for more from the author after a message that looks complete. An
        /// agent behind a connection string has no harness that would wait. 0 posts each message at
        /// once.
        quiet: Span = Span::seconds(2), Span::seconds(0) => Span::minutes(1);
        /// How long the host waits at most after a message that looks unfinished.
        quiet_unfinished: Span = Span::seconds(5), Span::seconds(0) => Span::minutes(1);
        /// How long the host waits at most while the author types or goes on.
        quiet_cap: Span = Span::seconds(30), Span::seconds(0) => Span::minutes(5);
    }
}

/// A network, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(pub IpNet);

impl Kind for Network {
    fn what() -> String {
        "a network or an address, such as 10.0.0.0/8 or fd12::1".to_owned()
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        let text = String::read(given)?;
        let address = || text.parse::<IpAddr>().map(IpNet::from);
        let network = text.parse::<IpNet>().or_else(|_| address()).map_err(|_| None)?;
        // Bits beyond the prefix are a slip of the pen, and nobody knows in which half.
        let exact = network.trunc() == network;
        exact.then_some(Self(network)).ok_or_else(|| {
            Some(format!("{text:?} has more bits than its prefix; {} is meant?", network.trunc()))
        })
    }

    fn show(&self) -> String {
        format!("{:?}", self.0.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn networks_are_read_and_shown() {
        let read = |text: &str| Network::read(&Given::Text(text.to_owned()));
        for (text, shown) in [
            ("10.0.0.0/8", "\"10.0.0.0/8\""),
            ("10.1.2.3", "\"10.1.2.3/32\""),
            ("fd00::/8", "\"fd00::/8\""),
            ("fd12::1", "\"fd12::1/128\""),
            ("0.0.0.0/0", "\"0.0.0.0/0\""),
        ] {
            assert_eq!(read(text).unwrap().show(), shown);
        }
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "example.com", "10.0.0.0/-1", "::1/129"] {
            assert_eq!(read(bad), Err(None), "{bad}");
        }
        let meant = read("10.1.2.3/8").unwrap_err().unwrap();
        assert!(meant.contains("10.0.0.0/8"), "{meant}");
    }
}
