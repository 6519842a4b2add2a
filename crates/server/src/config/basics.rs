//! The settings that stand above all sections: where the host keeps things and how it is reached.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use super::PORT;
use super::section::section;

section! {
    /// Where the host keeps its data, and how others reach it.
    Basics [""] {
        /// The folder with the database, the keys and the operator's token. It is created if it
        /// does not exist.
        data: PathBuf = PathBuf::from("./chorus-data");
        /// The address and port to listen on. Port 0 takes any free one.
        listen: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT);
        /// The address under which others reach the host, if it is not the one it listens on:
        /// `https://chorus.example`.
        public_url: Option<String> = None;
        /// The folder with the keys, if it is not `keys` in the data folder.
        keys: Option<PathBuf> = None;
        /// The name of the workspace that is created in an empty data folder.
        workspace: String = "default".to_owned();
        /// Seconds that open connections and requests have to finish when the host is told to stop.
        drain_seconds: u64 = 10, 0 => 600;
        /// Answers before the disk has synced: a power cut can lose acknowledged messages.
        dangerous_sync_normal: bool = false;
        /// Commits each command in a transaction of its own, for comparison.
        dangerous_no_batching: bool = false;
    }
    check |basics| {
        let web = basics.public_url.as_deref().is_none_or(|url| {
            let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            rest.is_some_and(|rest| !rest.is_empty() && !rest.contains('@'))
        });
        match web {
            true => Vec::new(),
            false => vec![("public_url", "is no address such as https://chorus.example".to_owned())],
        }
    };
}
