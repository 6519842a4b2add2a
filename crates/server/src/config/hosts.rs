//! `[hosts]`: several hosts on one PostgreSQL database.

use std::net::SocketAddr;

use super::kind::Span;
use super::section::section;

section! {
    /// Several hosts on one database. One of them owns the workspace and serves it; the others pass
    /// requests on to it, and take over when it ends.
    Hosts ["hosts"] {
        /// The address and port at which this host listens for the others, which need to reach it.
        /// By default that is the address from which it reaches the database, and any free port.
        listen: Option<SocketAddr> = None;
        /// How long this host may be silent until others take over what it owns.
        lease: Span = Span::seconds(5), Span::seconds(3) => Span::minutes(1);
    }
    check |hosts| {
        match hosts.listen.is_some_and(|at| at.ip().is_unspecified()) {
            true => vec![("listen", "is the address by which the other hosts reach this one".to_owned())],
            false => Vec::new(),
        }
    };
}
