//! One agent of the demo: a harness in a process of its own, `chorus join`, with a scripted runtime.
//!
//! Invariant: it ends with the demo. It leads a process group that is killed when this is dropped, and
//! watches its parent in case that is killed itself; its runtimes watch it in the same way.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

use crate::failure::{Failure, Result};

/// How an agent is run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) id: &'static str,
    /// The argument of `scripted-agent`.
    pub(crate) persona: &'static str,
    pub(crate) quiet_ms: u32,
    pub(crate) cap_ms: u32,
    /// `hold` or `turn`.
    pub(crate) knocks: &'static str,
}

#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) plan: Plan,
    token: String,
    url: String,
    folder: PathBuf,
    child: Option<Child>,
}

impl Agent {
    /// Starts the agent's harness; what it remembers and logs is kept in `folder`.
    pub(crate) fn start(plan: Plan, url: &str, token: String, folder: &Path) -> Result<Self> {
        let folder = folder.join(plan.id);
        std::fs::create_dir_all(&folder).map_err(|e| Failure::here("cannot make a folder", e))?;
        let mut agent = Self { plan, token, url: url.to_owned(), folder, child: None };
        agent.begin()?;
        Ok(agent)
    }

    /// Starts the harness on what the one before it remembered.
    pub(crate) fn begin(&mut self) -> Result {
        let failed = |e: std::io::Error| Failure::here("cannot start an agent", e);
        let exe = std::env::current_exe().map_err(failed)?;
        let runtime = format!("exec {} scripted-agent {}", quoted(&exe), self.plan.persona);
        let log = File::options().create(true).append(true).open(self.log()).map_err(failed)?;
        let mut command = Command::new(exe);
        command
            .args(["join", "--while-parent-lives", "--agent", self.plan.id])
            .args(["--runtime", &format!("cmd:{runtime}")])
            .args(["--url", &self.url])
            .arg("--state-dir")
            .arg(self.folder.join("state"))
            .args(["--quiet-ms", &self.plan.quiet_ms.to_string()])
            .args(["--cap-ms", &self.plan.cap_ms.to_string()])
            .args(["--knocks", self.plan.knocks])
            // Not an argument: those can be read by everybody on the machine.
            .env("CHORUS_TOKEN", &self.token)
            .env_remove("CHORUS_DATA")
            .env_remove("CHORUS_CONFIG")
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            .process_group(0)
            .kill_on_drop(true);
        self.child = Some(command.spawn().map_err(failed)?);
        Ok(())
    }

    /// SIGKILL to the harness's whole group, as a crash would be.
    pub(crate) async fn kill(&mut self) {
        self.signal(Signal::SIGKILL);
        if let Some(mut child) = self.child.take() {
            // Killed: it ends whatever it does.
            let _ = child.wait().await;
        }
    }

    /// SIGTERM, and SIGKILL if that is not enough.
    pub(crate) async fn stop(&mut self) {
        self.signal(Signal::SIGTERM);
        if let Some(child) = &mut self.child
            && tokio::time::timeout(Duration::from_secs(4), child.wait()).await.is_ok()
        {
            self.child = None;
        }
        self.kill().await;
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.child.as_ref().and_then(Child::id).and_then(|id| id.try_into().ok())
        {
            // Gone already is as good.
            let _ = killpg(Pid::from_raw(pid), signal);
        }
    }

    /// The end of what the harness logged, for when something went wrong.
    pub(crate) fn last_words(&self) -> String {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}

/// A path as one word of a shell's line.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
