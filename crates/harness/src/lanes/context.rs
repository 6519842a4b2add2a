//! What the runner has and knows when it tries a lane.

use std::path::Path;
use std::time::SystemTime;

use super::claude_inbox::ClaudeInbox;
use super::claude_inbox::hooks::Hooks;
use super::codex_socket::CodexSocket;
use super::flags::{Launch, Private};
use super::gemini_chats;
use super::outcome::{Kind, Turn};
use super::seats::Seats;

/// One of these a wake.
#[derive(Debug)]
pub struct LaneContext<'a, T> {
    /// How the program was started; its `begin` does not matter here.
    pub launch: Launch<'a>,
    /// The working folder.
    pub folder: &'a Path,
    /// The user's home.
    pub home: &'a Path,
    /// `$CLAUDE_CONFIG_DIR`, where the user has set it.
    pub claude_config: Option<&'a Path>,
    /// The value of the token's variable.
    pub token: &'a str,
    /// The program's process, while it runs.
    pub process: Option<u32>,
    /// The session to go on with.
    pub session: Option<&'a str>,
    /// The user's command for wakes, a line for `sh`.
    pub command: Option<&'a str>,
    /// What runs for wakes without a terminal.
    pub seats: &'a Seats,
    pub terminal: &'a T,
}

impl<T> LaneContext<'_, T> {
    /// The Codex lane of this session.
    pub fn codex(&self) -> CodexSocket<'_> {
        let socket = Private(self.launch.private).codex_socket();
        CodexSocket { socket, folder: self.folder, thread: self.session }
    }

    /// The Claude Code lane of this session.
    pub fn claude(&self) -> ClaudeInbox<'_> {
        let config = self.claude_config.map_or_else(|| self.home.join(".claude"), Path::to_owned);
        let hooks = Hooks::new(Private(self.launch.private).hooks());
        ClaudeInbox { hooks, config, process: self.process, session: self.session }
    }

    /// Waits until the program itself shows that it has this prompt. Never ends where nothing would show it.
    pub(super) async fn sees(&self, prompt: &str, since: SystemTime) -> (String, Turn) {
        match self.launch.kind {
            Kind::Codex => self.codex().sees(prompt, since).await,
            Kind::Claude => self.claude().sees(prompt, since).await,
            Kind::Gemini => gemini_chats::sees(self.home, prompt, since).await,
            Kind::Acp | Kind::Other => std::future::pending().await,
        }
    }
}
