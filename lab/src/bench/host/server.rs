//! A host as a child process, and what can be seen of it from outside.

use std::fs;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::bench::peers::{Base, Schema, Server, folder, free_port};
use crate::bench::talk;

/// In which the kernel counts the processor's time, in a second.
const TICKS: f64 = 100.0;

/// A running host on a folder of its own.
pub(crate) struct Host {
    pub(crate) addr: SocketAddr,
    /// An operator's token.
    pub(crate) token: String,
    /// Milliseconds from starting the process to its first answer.
    pub(crate) started_ms: f64,
    chorus: PathBuf,
    flags: Vec<String>,
    server: Server,
    /// Its database, when that is not in its folder; dropped after it.
    database: Option<Schema>,
}

/// How hosts are started.
#[derive(Clone, Copy)]
pub(crate) struct Hosts<'a> {
    pub(crate) chorus: &'a Path,
    /// Where their databases are, when they are not in their folders.
    pub(crate) base: Option<&'a Base>,
}

/// Where a host keeps its workspace.
pub(crate) struct Ground {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) database: Option<Schema>,
}

impl Hosts<'_> {
    /// Room for a host, with nothing in it.
    pub(crate) fn ground(&self) -> Result<Ground, String> {
        let database = self.base.map(Base::schema).transpose()?;
        Ok(Ground { folder: folder("bench-chorus")?, database })
    }

    /// Starts one on nothing, with more flags of `chorus serve`.
    pub(crate) fn start(&self, flags: &[&str]) -> Result<Host, String> {
        self.start_on(flags, self.ground()?)
    }

    /// Starts one on this.
    pub(crate) fn start_on(&self, flags: &[&str], ground: Ground) -> Result<Host, String> {
        let Ground { folder, database } = ground;
        let mut flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        flags.extend(database.iter().map(|schema| format!("--database={}", schema.url)));
        let chorus = self.chorus.to_owned();
        let (server, addr, started_ms) = serve(&chorus, &flags, folder)?;
        let token = operator(&chorus, server.folder.path())?;
        Ok(Host { addr, token, started_ms, chorus, flags, server, database })
    }
}

impl Host {
    /// Starts another on the same database, with the same keys; it has to end before this one.
    pub(crate) fn beside(&self) -> Result<Self, String> {
        let mut flags = self.flags.clone();
        flags.push(format!("--keys={}", self.server.folder.path().join("keys").display()));
        let (server, addr, started_ms) = serve(&self.chorus, &flags, folder("bench-chorus")?)?;
        let (chorus, token) = (self.chorus.clone(), self.token.clone());
        Ok(Self { addr, token, started_ms, chorus, flags, server, database: None })
    }

    /// Stops it and starts it again on the folder it has.
    pub(crate) fn restart(self) -> Result<Self, String> {
        let Self { token, chorus, flags, server, database, .. } = self;
        let folder = server.stop()?;
        let (server, addr, started_ms) = serve(&chorus, &flags, folder)?;
        Ok(Self { addr, token, started_ms, chorus, flags, server, database })
    }

    /// Kills it, and starts it again on the folder it has.
    pub(crate) fn crash(self) -> Result<Self, String> {
        let Self { token, chorus, flags, mut server, database, .. } = self;
        let folder = server.kill()?;
        let (server, addr, started_ms) = serve(&chorus, &flags, folder)?;
        Ok(Self { addr, token, started_ms, chorus, flags, server, database })
    }

    /// Stops it for good; what it kept stays.
    pub(crate) fn end(self) -> Result<Ground, String> {
        let Self { server, database, .. } = self;
        Ok(Ground { folder: server.stop()?, database })
    }

    /// Kills it for good; what it kept stays.
    pub(crate) fn kill(self) -> Result<Ground, String> {
        let Self { mut server, database, .. } = self;
        Ok(Ground { folder: server.kill()?, database })
    }

    /// Lets it stand still, until it is killed.
    pub(crate) fn stand_still(&self) -> Result<(), String> {
        let process = Pid::from_raw(self.server.child.id().cast_signed());
        kill(process, Signal::SIGSTOP).map_err(|e| format!("SIGSTOP: {e}"))
    }

    /// Asks as the operator; an answer that is no success is an error.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        self.ask_as(&self.token, method, path, body)
    }

    /// The same, as whoever has this token.
    pub(crate) fn ask_as(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value, String> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, answer) = talk::exchange(self.addr, method, path, token, &body)?;
        if !(200..300).contains(&status) {
            let answer = String::from_utf8_lossy(&answer);
            return Err(format!("{method} {path}: HTTP {status}: {answer}"));
        }
        Ok(serde_json::from_slice(&answer).unwrap_or(Value::Null))
    }

    /// Its data folder.
    pub(crate) fn folder(&self) -> &Path {
        self.server.folder.path()
    }

    /// Memory it has in the machine, in MiB.
    pub(crate) fn resident_mib(&self) -> f64 {
        self.seen("status", "VmRSS:") / 1024.0
    }

    /// Whether its database is in its folder.
    pub(crate) fn has_its_database(&self) -> bool {
        self.database.is_none()
    }

    /// Bytes it has caused to be written to the disk since it started.
    pub(crate) fn written_bytes(&self) -> f64 {
        self.seen("io", "write_bytes:")
    }

    /// The most memory it had since [`Host::forget_peak`], in MiB.
    pub(crate) fn peak_mib(&self) -> f64 {
        self.seen("status", "VmHWM:") / 1024.0
    }

    /// Counts the most memory from here on.
    pub(crate) fn forget_peak(&self) -> Result<(), String> {
        let path = format!("/proc/{}/clear_refs", self.server.child.id());
        fs::write(&path, "5").map_err(|e| format!("{path}: {e}"))
    }

    /// Seconds of the processor that it has used since it started.
    pub(crate) fn cpu_s(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.server.child.id()));
        let text = text.unwrap_or_default();
        // The name stands in brackets and may hold anything; user and system time are 12th and 13th after it.
        let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<f64>().ok());
        ticks.sum::<f64>() / TICKS
    }

    fn seen(&self, file: &str, field: &str) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.server.child.id()));
        text.unwrap_or_default()
            .lines()
            .find_map(|line| line.strip_prefix(field)?.split_whitespace().next()?.parse().ok())
            .unwrap_or(f64::NAN)
    }
}

/// Starts the process and waits for its first answer.
fn serve(
    chorus: &Path,
    flags: &[String],
    folder: tempfile::TempDir,
) -> Result<(Server, SocketAddr, f64), String> {
    let addr = SocketAddr::from(([127, 0, 0, 1], free_port()?));
    let started = Instant::now();
    let child = Command::new(chorus)
        .arg("serve")
        .arg("--data")
        .arg(folder.path())
        .args(["--listen", &addr.to_string()])
        .args(flags)
        // What is measured is the host, not the limits that an operator gives it.
        .env("CHORUS_LIMITS_MEMBER_PER_SECOND", "0")
        .env("CHORUS_LIMITS_SESSION_PER_SECOND", "0")
        .env("CHORUS_LIMITS_CONNECTION_PER_SECOND", "0")
        .env("CHORUS_LIMITS_ADDRESS_PER_SECOND", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|e| format!("{}: {e}", chorus.display()))?;
    let mut server = Server { child, folder };
    loop {
        if matches!(talk::exchange(addr, "GET", "/healthz", "", ""), Ok((200, _))) {
            let started_ms = started.elapsed().as_secs_f64() * 1e3;
            greeting(&mut server)?;
            return Ok((server, addr, started_ms));
        }
        if let Ok(Some(status)) = server.child.try_wait() {
            return Err(format!("chorus serve ended: {status}"));
        }
        if started.elapsed() > Duration::from_secs(20) {
            return Err("chorus serve does not answer".to_owned());
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Reads the one line by which the host says that commands find it.
fn greeting(server: &mut Server) -> Result<(), String> {
    let stdout = server.child.stdout.as_mut().ok_or("chorus serve has no output")?;
    let ended = |e| format!("chorus serve said nothing: {e}");
    let mut byte = [0];
    while byte != *b"\n" {
        stdout.read_exact(&mut byte).map_err(ended)?;
    }
    Ok(())
}

/// A token of an operator, from the command line as a person would get it.
fn operator(chorus: &Path, data: &Path) -> Result<String, String> {
    let output = Command::new(chorus)
        .args(["token", "issue", "--agent", "bench", "--role", "operator", "--data"])
        .arg(data)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("chorus token: {e}"))?;
    if !output.status.success() {
        return Err(format!("chorus token: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Server {
    /// Ends the process as a crash does, and gives its folder back.
    fn kill(&mut self) -> Result<tempfile::TempDir, String> {
        self.child.kill().map_err(|e| format!("kill: {e}"))?;
        self.child.wait().map_err(|e| format!("kill: {e}"))?;
        Ok(std::mem::replace(&mut self.folder, folder("bench-killed")?))
    }

    /// Ends the process as an operator would, and gives its folder back.
    fn stop(mut self) -> Result<tempfile::TempDir, String> {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        kill(pid, Signal::SIGTERM).map_err(|e| format!("stop: {e}"))?;
        self.child.wait().map_err(|e| format!("stop: {e}"))?;
        // The folder outlives this process; an empty one takes its place and goes with it.
        Ok(std::mem::replace(&mut self.folder, folder("bench-stopped")?))
    }
}
