//! A machine on which nothing of ours has ever run; see `kit/bare-machine.sh`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use chorus_clients::kit::Kit;
use nix::sched::{CloneFlags, setns};
use tempfile::TempDir;

pub(crate) struct BareMachine {
    process: Child,
    /// It ends when this is closed.
    alive: Option<ChildStdin>,
    folder: TempDir,
    /// Variables that its users have.
    pub(crate) environment: Vec<(&'static str, String)>,
}

impl BareMachine {
    pub(crate) fn start(kit: &Kit, chorus: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/kit/bare-machine.sh");
        let mut command = Command::new("unshare");
        command.args(["--mount", "--net", script]).arg(folder.path()).arg(chorus).arg(kit.folder());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "it takes root, and overlays");
        let alive = process.stdin.take();
        Self { process, alive, folder, environment: Vec::new() }
    }

    /// What a user types in a shell, in a folder of the home.
    pub(crate) fn typed(&self, user: &str, folder: &str, line: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--mount", "--net", "--target", &self.process.id().to_string()]);
        command.arg("chroot").arg(self.root());
        command.args(["setpriv", "--reuid", user, "--regid", user, "--init-groups"]);
        command.args(["env", "--ignore-environment", "PATH=/usr/bin:/bin", "LANG=C.UTF-8"]);
        command.args([&format!("HOME=/home/{user}"), &format!("USER={user}")]);
        command.args(self.environment.iter().map(|(name, value)| format!("{name}={value}")));
        command.args(["sh", "-c", &format!("cd \"$HOME/{folder}\" && exec {line}")]);
        command.stdin(Stdio::null());
        command
    }

    /// A socket that only this machine reaches.
    pub(crate) fn listener(&self) -> TcpListener {
        let network = File::open(format!("/proc/{}/ns/net", self.process.id())).unwrap();
        let bound = std::thread::spawn(move || {
            setns(network, CloneFlags::CLONE_NEWNET).unwrap();
            TcpListener::bind("127.0.0.1:0").unwrap()
        });
        let listener = bound.join().unwrap();
        listener.set_nonblocking(true).unwrap();
        listener
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }
}

impl Drop for BareMachine {
    fn drop(&mut self) {
        drop(self.alive.take());
        let _ = self.process.wait();
    }
}
