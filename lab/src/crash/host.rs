//! The host under test: a process on a lasting folder and a port that stays.

use std::fs::{File, OpenOptions};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::chance::Chance;
use super::door::{Answer, Door};

/// Longest start, recovery included, of a host whose folder is small.
const START: Duration = Duration::from_secs(30);
/// Ports that the system never gives to an outgoing connection. A client that tries a port of those again
/// and again while nobody listens can end up connected to itself, and then the port is taken.
const PORTS: std::ops::Range<u64> = 15_000..30_000;

pub(crate) struct Host {
    pub(crate) addr: SocketAddr,
    chorus: PathBuf,
    folder: PathBuf,
    child: Option<Child>,
    /// It was seen to take work since it was started.
    was_ready: bool,
    /// The database that it shares with other hosts, and the keys they share.
    pub(crate) database: Option<(String, PathBuf)>,
    /// Variables that it is started with.
    pub(crate) settings: Vec<(&'static str, String)>,
}

impl Host {
    /// One that will run on `folder`, at a port that is free now.
    pub(crate) fn on(folder: &Path, chorus: &Path, chance: &mut Chance) -> Result<Self, String> {
        for _ in 0..100 {
            let port = u16::try_from(chance.within(PORTS)).unwrap_or(0);
            let addr = SocketAddr::from(([127, 0, 0, 1], port));
            if TcpListener::bind(addr).is_ok() {
                let (chorus, folder) = (chorus.to_owned(), folder.to_owned());
                return Ok(Self {
                    addr,
                    chorus,
                    folder,
                    child: None,
                    was_ready: false,
                    database: None,
                    settings: Vec::new(),
                });
            }
        }
        Err("no port is free".to_owned())
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Whether it was started and not killed.
    pub(crate) fn runs(&self) -> bool {
        self.child.is_some()
    }

    /// Starts the process and does not wait.
    pub(crate) fn start(&mut self) -> Result<(), String> {
        let mut command = self.command();
        command.args(["serve", "--listen", &self.addr.to_string()]);
        if let Some((url, keys)) = &self.database {
            command.args(["--database", url, "--keys"]).arg(keys);
        }
        let child = command
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::null())
            .stderr(log(&self.folder.join("host.log"))?)
            .spawn()
            .map_err(|e| format!("chorus serve: {e}"))?;
        self.child = Some(child);
        self.was_ready = false;
        Ok(())
    }

    /// Whether it may have ended by itself: its database was begun again before it had begun.
    fn may_have_ended(&self) -> bool {
        self.database.is_some() && !self.was_ready
    }

    /// Waits until it takes work; gives how long that took.
    pub(crate) fn ready(&mut self) -> Result<Duration, String> {
        let began = Instant::now();
        loop {
            let mut door = Door::new(self.addr, "");
            if matches!(door.ask("GET", "/readyz", &Value::Null), Answer::Given(200, _)) {
                self.was_ready = true;
                return Ok(began.elapsed());
            }
            let child = self.child.as_mut().ok_or("the host was not started")?;
            if let Ok(Some(status)) = child.try_wait() {
                if self.may_have_ended() {
                    // As whoever looks after it would.
                    self.start()?;
                    continue;
                }
                let said = std::fs::read_to_string(self.folder.join("host.log"));
                return Err(format!("the host ended: {status}: {}", said.unwrap_or_default()));
            }
            if began.elapsed() > START {
                return Err(format!("the host is not ready after {START:?}"));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// SIGKILL. Says whether it was alive to be killed.
    pub(crate) fn kill(&mut self) -> Result<(), String> {
        let mut child = self.child.take().ok_or("there is no host to kill")?;
        if let Ok(Some(status)) = child.try_wait() {
            return match self.may_have_ended() {
                true => Ok(()),
                false => Err(format!("the host had ended by itself: {status}")),
            };
        }
        child.kill().and_then(|()| child.wait()).map_err(|e| format!("kill: {e}"))?;
        Ok(())
    }

    /// Stands still for so long, with all that it holds, and goes on as if nothing had been.
    pub(crate) fn freeze(&mut self, long: Duration) -> Result<(), String> {
        let child = self.child.as_ref().ok_or("there is no host to stop")?;
        let process = Pid::from_raw(child.id().cast_signed());
        let send = |signal| kill(process, signal).map_err(|e| format!("{signal}: {e}"));
        send(Signal::SIGSTOP)?;
        std::thread::sleep(long);
        send(Signal::SIGCONT)
    }

    /// SIGTERM, as an operator would stop it.
    pub(crate) fn stop(&mut self) -> Result<(), String> {
        let mut child = self.child.take().ok_or("there is no host to stop")?;
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM)
            .map_err(|e| format!("stop: {e}"))?;
        child.wait().map(drop).map_err(|e| format!("stop: {e}"))
    }

    /// A command on the host's folder, knowing nothing of the environment around it.
    pub(crate) fn command(&self) -> Command {
        let mut command = bare(&self.chorus);
        command.arg("--data").arg(self.data());
        command
    }

    /// Runs `chorus doctor` on the folder; an error is what it found.
    pub(crate) fn doctor(&self) -> Result<(), String> {
        self.doctor_on(&self.data())
    }

    /// The same on the folder of one of the host's workspaces.
    pub(crate) fn doctor_on(&self, data: &Path) -> Result<(), String> {
        let mut command = bare(&self.chorus);
        command.arg("--data").arg(data).arg("doctor");
        if let Some((url, keys)) = &self.database {
            command.args(["--database", url, "--keys"]).arg(keys);
        }
        let ran = command.output().map_err(|e| format!("doctor: {e}"))?;
        match ran.status.success() {
            true => Ok(()),
            false => Err(format!(
                "chorus doctor: {}: {}{}",
                ran.status,
                String::from_utf8_lossy(&ran.stdout),
                String::from_utf8_lossy(&ran.stderr)
            )),
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The binary without any `CHORUS_…` of the environment.
pub(crate) fn bare(chorus: &Path) -> Command {
    let mut command = Command::new(chorus);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CHORUS_") {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// A file that a process writes its log to, after what is there.
pub(crate) fn log(path: &Path) -> Result<File, String> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.map_err(|e| format!("{}: {e}", path.display()))
}
