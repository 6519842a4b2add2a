//! What we compare with: the limits of the machine, and the peers it has.
//!
//! Every peer is started here, on a folder of its own on the same disk, and set so that it too has its
//! work on disk before it answers. A peer is measured at its best: the least work that gives what a post of
//! ours gives (a retry is recognised, a sequence number, the message, and whom it is for).

mod agent_mail;
mod limit;
mod nats;
mod postgres;
mod redis;

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Child;

pub(crate) use agent_mail::AgentMail;
pub(crate) use limit::{Hello, Syncs};
pub(crate) use nats::absence as nats_absence;
pub(crate) use postgres::{Base, Postgres, Schema, Transfers};
pub(crate) use redis::Redis;

/// A server process that ends with this value, and has its folder removed after that.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port of the loopback address that was free just now.
pub(crate) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| format!("free port: {e}"))?;
    listener.local_addr().map(|addr| addr.port()).map_err(|e| format!("free port: {e}"))
}

/// A new folder on the disk that is measured.
pub(crate) fn folder(name: &str) -> Result<tempfile::TempDir, String> {
    tempfile::Builder::new().prefix(name).tempdir().map_err(|e| format!("{name}: {e}"))
}

/// Where a program is, on `PATH` or where distributions put servers.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/local/bin", "/usr/sbin"].map(PathBuf::from));
    folders.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}
