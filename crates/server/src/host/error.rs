//! Why a host does not start.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::{fmt, io};

use chorus_core::model::error::Refusal;
use chorus_store::OpenError;
use chorus_store::postgres::AddressError;

use crate::auth::KeysError;
use crate::tls::TlsError;

/// Why the host did not start.
#[derive(Debug)]
pub enum StartError {
    /// Where the database is to be.
    Address(AddressError),
    Store(OpenError),
    Keys(KeysError),
    /// The certificate or its key.
    Tls(TlsError),
    /// `[otlp]`.
    Traces(String),
    /// `[files]`.
    Objects(String),
    /// `[webhook] roots`.
    Roots(TlsError),
    /// What posts to endpoints.
    Egress(reqwest::Error),
    /// The address to listen on.
    Listen {
        addr: SocketAddr,
        why: io::Error,
    },
    /// The address at which other hosts are to reach this one.
    ListenForHosts {
        addr: SocketAddr,
        why: io::Error,
    },
    /// A file of the data folder.
    File {
        path: PathBuf,
        why: io::Error,
    },
    /// A thread of the host's.
    Thread(io::Error),
    /// The folder was a host's, and something of it is not there any more.
    Lost(String),
    /// The workspace is another's, who cannot be reached, and why.
    Owned(String),
    /// The keys are not those of the other hosts.
    OtherKeys(String),
    /// The list of the workspaces beside the host's own.
    Workspaces(chorus_store::db::Error),
    /// The first start could not make what a workspace needs.
    First(Refusal),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(why) => why.fmt(f),
            Self::Store(why) => why.fmt(f),
            Self::Keys(why) => why.fmt(f),
            Self::Tls(why) => why.fmt(f),
            Self::Listen { addr, why } => {
                write!(f, "cannot listen on {addr}: {why}; choose another with --listen")
            }
            Self::ListenForHosts { addr, why } => write!(
                f,
                "cannot listen for other hosts on {addr}: {why}; name an address of this machine and a free port with \
                 hosts.listen"
            ),
            Self::Roots(why) => write!(f, "webhook.roots: {why}"),
            Self::Egress(why) => write!(f, "no client for webhooks: {why}"),
            Self::Thread(why) => write!(f, "cannot start a thread: {why}"),
            Self::File { path, why } => write!(f, "{}: {why}", path.display()),
            Self::Objects(why) => write!(f, "files.store: {why}"),
            Self::Traces(why) | Self::Lost(why) | Self::OtherKeys(why) => f.write_str(why),
            Self::Owned(why) => write!(
                f,
                "the workspace of this database is in use, and this host cannot reach who has it: {why}; if that is \
                 another host, see hosts.listen in docs/settings.md and the firewall between them"
            ),
            Self::Workspaces(why) => write!(f, "the workspaces beside the host's own: {why}"),
            Self::First(why) => write!(f, "the workspace could not be made: {}", why.message),
        }
    }
}

impl std::error::Error for StartError {}
