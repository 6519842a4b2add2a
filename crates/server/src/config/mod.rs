//! What the host is told before it starts: the settings, a section a file, and what only a program can pass.
//!
//! [`settings`] lists the sections; [`load`] reads them from the file, the variables and the flags;
//! [`page`] prints them. Files and environment are read by whoever makes the [`Config`]. A new setting is a
//! line in its section, and `cargo xtask tidy --write` puts it on the page.

pub mod kind;
pub mod load;
pub mod page;
pub mod section;
pub mod settings;

pub mod approvals;
pub mod attention;
pub mod audit;
pub mod basics;
pub mod budget;
pub mod database;
pub mod deadlines;
pub mod digest;
pub mod files;
pub mod hosts;
pub mod issuers;
pub mod limits;
pub mod otlp;
pub mod redaction;
pub mod registry;
pub mod retention;
pub mod telemetry;
pub mod threads;
pub mod tls;
pub mod webhook;
pub mod workspaces;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chorus_store::{Clock, Sync, SystemClock};
pub use load::{Loaded, Mistake, Source, Written};
pub use settings::Settings;

/// The port that `chorus` commands look for first.
pub const PORT: u16 = 7600;

#[derive(Clone)]
pub struct Config {
    /// The folder with the database, the keys and the operator's token; made when it is not there.
    pub data: PathBuf,
    /// The URL of the database, when it is not in the folder.
    pub database: Option<String>,
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
    /// How much longer each commit takes, as on a slow disk: for comparison only.
    pub dangerous_slow_sync: Duration,
    pub clock: Arc<dyn Clock>,
    /// All that `chorus.toml` can say. What stands above its sections is taken from the fields here.
    pub settings: Settings,
    pub pace: Pace,
}

/// How long a harness's connection may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// From the connection to its `initialize`.
    pub hello_within: Duration,
    pub ping_every: Duration,
    /// Silence after which the peer is taken for dead, and the longest a write may take.
    pub dead_after: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            hello_within: Duration::from_secs(10),
            ping_every: Duration::from_secs(20),
            dead_after: Duration::from_secs(60),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data: PathBuf::from("chorus-data"),
            database: None,
            keys: None,
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT),
            public_url: None,
            workspace: "default".to_owned(),
            sync: Sync::Full,
            dangerous_no_batching: false,
            dangerous_slow_sync: Duration::ZERO,
            clock: Arc::new(SystemClock),
            settings: Settings::default(),
            pace: Pace::default(),
        }
    }
}

impl Config {
    /// The defaults on this folder.
    pub fn on(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }

    /// What the settings say.
    pub fn of(settings: Settings) -> Self {
        let basics = settings.basics.clone();
        let sync = if basics.dangerous_sync_normal { Sync::DangerousNormal } else { Sync::Full };
        Self {
            data: basics.data,
            database: settings.database.url.clone().map(|url| url.0),
            keys: basics.keys,
            listen: basics.listen,
            public_url: basics.public_url,
            workspace: basics.workspace,
            sync,
            dangerous_no_batching: basics.dangerous_no_batching,
            settings,
            ..Self::default()
        }
    }
}
