//! `mcp_agent_mail` of PyPI as it comes, with what it says on standard output and its use of language models off: mail
//! between agents over MCP. It hangs when eight clients send at once, so it is measured at its best, with one.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Server;
use crate::bench::talk::{Endpoint, Tool};
use crate::bench::{load, talk};

/// Where its endpoint is.
const ENDPOINT: Endpoint = Endpoint { path: "/mcp/", stateless: false };
/// Names it takes are a colour and a thing.
const SENDER: &str = "BlueLake";
const READER: &str = "GreenCastle";
/// It takes seconds to load what it depends on.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running one, with two agents in a project.
pub(crate) struct AgentMail {
    addr: SocketAddr,
    project: String,
    _server: Server,
}

impl AgentMail {
    /// Starts it with the Python it is installed for, or says why there is none.
    pub(crate) fn start(python: Option<&Path>) -> Result<Self, String> {
        let python = python.ok_or("mcp-agent-mail is not installed")?;
        // It runs in a folder of its own; what the path links to would be another Python.
        let python = std::path::absolute(python).map_err(|e| format!("mcp-agent-mail: {e}"))?;
        let folder = super::folder("bench-agent-mail")?;
        let at = |name: &str| folder.path().join(name).display().to_string();
        let addr = SocketAddr::from(([127, 0, 0, 1], super::free_port()?));
        let child = Command::new(&python)
            .args(["-m", "mcp_agent_mail.http", "--host", "127.0.0.1"])
            .args(["--port", &addr.port().to_string()])
            .current_dir(folder.path())
            .env("DATABASE_URL", format!("sqlite+aiosqlite:///{}", at("mail.sqlite3")))
            .env("STORAGE_ROOT", at("mail"))
            .env("LLM_ENABLED", "false")
            // Else it looks for prices on the net first.
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .envs(
                ["TOOLS_LOG_ENABLED", "LOG_RICH_ENABLED", "HTTP_RBAC_ENABLED"]
                    .map(|n| (n, "false")),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("{}: {e}", python.display()))?;
        let project = at("project");
        let mut mail = Self { addr, project, _server: Server { child, folder } };
        mail.wait()?;
        mail.set_up("ensure_project", json!({"human_key": mail.project}))?;
        for name in [SENDER, READER] {
            let agent = json!({"project_key": mail.project, "program": "bench", "model": "none", "name": name});
            mail.set_up("register_agent", agent)?;
        }
        Ok(mail)
    }

    /// Messages a second from one agent to another, with one client.
    pub(crate) fn send(&self, window: Duration, text: &str) -> Result<f64, String> {
        let message = json!({"project_key": self.project, "sender_name": SENDER, "to": [READER], "subject": "the build", "body_md": text});
        self.measure("send_message", &message, window)
    }

    /// Reads of the newest fifty messages a second, with one client.
    pub(crate) fn fetch(&self, window: Duration) -> Result<f64, String> {
        let inbox = json!({"project_key": self.project, "agent_name": READER, "limit": 50, "include_bodies": true});
        self.measure("fetch_inbox", &inbox, window)
    }

    fn measure(&self, name: &'static str, args: &Value, window: Duration) -> Result<f64, String> {
        let arguments = args.to_string();
        let arguments = Box::new(move |_| arguments.clone());
        let tool = Tool { to: ENDPOINT, name, token: String::new(), arguments, asked: 0 };
        Ok(load::run(self.addr, window, vec![tool])?.rate)
    }

    fn set_up(&self, tool: &str, arguments: Value) -> Result<(), String> {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (status, answer) =
            talk::exchange(self.addr, "POST", ENDPOINT.path, "", &body.to_string())?;
        match String::from_utf8_lossy(&answer) {
            done if status == 200 && done.ends_with(r#""isError":false}}"#) => Ok(()),
            other => Err(format!("mcp-agent-mail: {tool}: HTTP {status}: {other}")),
        }
    }

    fn wait(&mut self) -> Result<(), String> {
        let started = Instant::now();
        while talk::exchange(self.addr, "GET", "/", "", "").is_err() {
            if let Ok(Some(status)) = self._server.child.try_wait() {
                return Err(format!("mcp-agent-mail ended: {status}"));
            }
            if started.elapsed() > PATIENCE {
                return Err("mcp-agent-mail does not answer".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}
