//! The demo's host: `chorus serve` in a process of its own, so that it can be killed for real.
//!
//! Invariant: it ends with the demo, as the agents do.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use chorus_client::Client;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

use super::room::PATIENCE;
use crate::failure::{Failure, Result};
use crate::host::{Target, variables};

/// How often it is looked whether it is up.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct HostProcess {
    pub(crate) url: String,
    folder: PathBuf,
    listen: SocketAddr,
    child: Option<Child>,
}

impl HostProcess {
    /// Starts a host whose data folder is in `folder`.
    pub(crate) async fn start(folder: &Path) -> Result<(Self, Client)> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr());
        let listen = free.map_err(|e| Failure::here("no address is free", e))?;
        let url = format!("http://{listen}");
        let mut host = Self { url, folder: folder.to_owned(), listen, child: None };
        let operator = host.begin().await?;
        Ok((host, operator))
    }

    /// Starts it on what the one before it left, and waits until it answers.
    pub(crate) async fn begin(&mut self) -> Result<Client> {
        let failed = |e: std::io::Error| Failure::here("cannot start a host", e);
        let log = self.folder.join("host.log");
        let log = File::options().create(true).append(true).open(log).map_err(failed)?;
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        // Nothing of how a host of this machine is set up is the demo's.
        for (name, _) in variables() {
            command.env_remove(name);
        }
        command
            .arg("--data")
            .arg(self.data())
            .args(["serve", "--while-parent-lives", "--listen", &self.listen.to_string()])
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            .process_group(0)
            .kill_on_drop(true);
        self.child = Some(command.spawn().map_err(failed)?);
        let began = Instant::now();
        loop {
            if let Ok(operator) =
                (Target { data: Some(self.data()), ..Target::default() }).operator()
                && operator.whoami().await.is_ok()
            {
                return Ok(operator);
            }
            if began.elapsed() > PATIENCE {
                return Err(Failure::here("the host did not start", self.last_words()));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// SIGKILL, as a crash would be.
    pub(crate) async fn kill(&mut self) {
        self.end(Signal::SIGKILL, Duration::MAX).await;
    }

    /// SIGTERM, and SIGKILL if that is not enough.
    pub(crate) async fn stop(&mut self) {
        self.end(Signal::SIGTERM, Duration::from_secs(10)).await;
        self.kill().await;
    }

    async fn end(&mut self, signal: Signal, within: Duration) {
        let Some(child) = &mut self.child else { return };
        if let Some(pid) = child.id().and_then(|id| id.try_into().ok()) {
            // Gone already is as good.
            let _ = kill(Pid::from_raw(pid), signal);
        }
        if tokio::time::timeout(within, child.wait()).await.is_ok() {
            self.child = None;
        }
    }

    /// The end of what it logged, for when something went wrong.
    pub(crate) fn last_words(&self) -> String {
        let text = std::fs::read_to_string(self.folder.join("host.log")).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }
}
