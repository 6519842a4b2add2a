//! A host of one's own: the binary on a temporary folder, and its command line beside it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use chorus_clients::kit::Door;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct House {
    host: Child,
    url: String,
    folder: TempDir,
}

impl House {
    pub(crate) fn open() -> Self {
        Self::with_settings("")
    }

    /// With these settings, as they stand in `chorus.toml`.
    pub(crate) fn with_settings(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("chorus.toml"), settings).unwrap();
        let (host, url) = serve(folder.path(), "127.0.0.1:0");
        Self { host, url, folder }
    }

    /// Ends the host as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.host.kill().unwrap();
        self.host.wait().unwrap();
    }

    /// Starts it again where it was.
    pub(crate) fn start_again(&mut self) {
        let address = self.url.strip_prefix("http://").unwrap().to_owned();
        self.host = serve(self.folder.path(), &address).0;
    }

    /// A folder that goes with the house.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A token of an agent of this name, in this role.
    pub(crate) fn token(&self, agent: &str, role: &str) -> String {
        let token = self.chorus(&["token", "issue", "--agent", agent, "--role", role]);
        token.trim().to_owned()
    }

    /// The MCP transport for whoever has this token.
    pub(crate) fn door(&self, token: &str) -> Door {
        Door { url: format!("{}/v1/mcp", self.url), token: token.to_owned() }
    }

    /// A command of the command line, for this host.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(args).arg("--data").arg(self.folder.path().join("data"));
        command.current_dir(self.folder.path());
        command
    }

    /// What a command of the command line prints.
    pub(crate) fn chorus(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command prints that somebody types in a home of theirs.
    pub(crate) fn typed_in(&self, home: &Path, args: &[&str]) -> String {
        let mut command = Command::new(binary());
        command.args(args).arg("--data").arg(self.folder.path().join("data"));
        command.env_remove("CODEX_HOME").env_remove("CLAUDE_CONFIG_DIR");
        let output = command.current_dir(home).env("HOME", home).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command of the command line prints as JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let printed = self.chorus(&[args, &["--json"]].concat());
        serde_json::from_str(&printed).unwrap_or_else(|e| panic!("{args:?}: {e}: {printed}"))
    }
}

/// A host in a folder, once it listens, and its URL.
fn serve(folder: &Path, listen: &str) -> (Child, String) {
    let mut command = Command::new(binary());
    command.args(["serve", "--json", "--listen", listen, "--data"]).arg(folder.join("data"));
    let mut host = command.current_dir(folder).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    (host, said["url"].as_str().unwrap().to_owned())
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.host.kill();
        let _ = self.host.wait();
    }
}

pub(crate) fn binary() -> PathBuf {
    std::env::var_os("CHORUS_BIN").expect("CHORUS_BIN is the binary under test").into()
}
