//! What the host is told before it starts. Files and environment are read by whoever makes the [`Config`].

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use chorus_store::{Clock, Sync, SystemClock};

/// The port that `chorus` commands look for first.
pub const PORT: u16 = 7600;

#[derive(Clone)]
pub struct Config {
    /// The folder with the database, the keys and the operator's token; made when it is not there.
    pub data: PathBuf,
    /// The folder with the keys, when it is not `keys` in the data folder.
    pub keys: Option<PathBuf>,
    /// Port 0 takes any free one.
    pub listen: SocketAddr,
    /// How others reach the host, when that is not the address it listens on: `https://chorus.example`.
    pub public_url: Option<String>,
    /// The name of the workspace that an empty folder gets.
    pub workspace: String,
    pub sync: Sync,
    /// Off, every command is a transaction of its own: for comparison only.
    pub dangerous_no_batching: bool,
    pub clock: Arc<dyn Clock>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data: PathBuf::from("chorus-data"),
            keys: None,
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT),
            public_url: None,
            workspace: "default".to_owned(),
            sync: Sync::Full,
            dangerous_no_batching: false,
            clock: Arc::new(SystemClock),
        }
    }
}

impl Config {
    /// The defaults on this folder.
    pub fn on(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }
}
