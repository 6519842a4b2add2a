//! A host in a process of its own, on a folder of its own.

use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{Going, Ran, chorus, run, words};

pub(crate) struct Host {
    pub(crate) folder: TempDir,
    elsewhere: Option<PathBuf>,
    port: u16,
    serving: Option<Going>,
}

impl Host {
    pub(crate) fn start() -> Self {
        Self::start_in(None)
    }

    /// On a folder that is somewhere else than in the temporary one.
    fn start_in(elsewhere: Option<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Free now; a restart must find the same one, so it is not left to the host.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut host = Self { folder, elsewhere, port, serving: None };
        host.serve();
        host
    }

    pub(crate) fn serve(&mut self) {
        let listen = format!("127.0.0.1:{}", self.port);
        let mut command = chorus();
        command.args(["serve", "--listen", &listen, "--json", "--data"]).arg(self.data());
        let serving = Going::start(&mut command);
        let said = serving.wait(|line| serde_json::from_str::<Value>(line).ok());
        assert_eq!(said["url"], format!("http://{listen}"));
        self.serving = Some(serving);
    }

    /// SIGKILL, as a crash would be.
    pub(crate) fn kill(&mut self) {
        self.serving.take().unwrap().kill();
    }

    pub(crate) fn pid(&self) -> nix::unistd::Pid {
        self.serving.as_ref().unwrap().pid()
    }

    /// Whether its process is only there to be buried.
    pub(crate) fn has_ended(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid()));
        stat.is_ok_and(|stat| {
            stat.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z'))
        })
    }

    /// SIGTERM, and its end.
    pub(crate) fn stop(&mut self) {
        let mut serving = self.serving.take().unwrap();
        nix::sys::signal::kill(serving.pid(), nix::sys::signal::Signal::SIGTERM).unwrap();
        serving.child.wait().unwrap();
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.elsewhere.clone().unwrap_or_else(|| self.folder.path().join("data"))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Runs a command beside the host, as its operator.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        run(chorus().args(words(arguments)).arg("--data").arg(self.data()))
    }

    /// As [`Host::run`], which must go well; the answer as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        self.run(&all).ok().json()
    }

    /// People alice and bob and a channel #ops with both, the operator and these agents.
    pub(crate) fn with_room(agents: &[&str]) -> Self {
        Self::start().furnished(agents)
    }

    pub(crate) fn with_room_in(data: PathBuf, agents: &[&str]) -> Self {
        Self::start_in(Some(data)).furnished(agents)
    }

    fn furnished(self, agents: &[&str]) -> Self {
        let host = self;
        for person in ["alice", "bob"] {
            host.json(&["member", "create", person, "--kind", "human"]);
        }
        for agent in agents {
            host.run(&["token", "issue", "--agent", agent, "--role", "worker"]).ok();
        }
        host.json(&[&["channel", "create", "ops", "alice", "bob"], agents].concat());
        host
    }

    /// The live events of #ops, from its beginning.
    pub(crate) fn tail(&self) -> Going {
        let mut command = chorus();
        command.args(["tail", "#ops", "--since", "0", "--json", "--data"]).arg(self.data());
        Going::start(&mut command)
    }

    pub(crate) fn post(&self, text: &str) -> Value {
        self.json(&["post", "#ops", text, "--as", "alice"])
    }
}
