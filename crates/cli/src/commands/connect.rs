//! `chorus connect`: a program that people start themselves says that its sessions are there, and reads its agent's mail.
//! It is `chorus mcp setup` with hooks.

use std::time::Duration;

use clap::ValueEnum;

use super::Context;
use super::mcp::{self, setup};
use crate::failure::Result;
use crate::values::span;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The program
    #[arg(value_enum)]
    program: Program,
    /// Member id of its agent; made when it is new [default: the program's name]
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Channels that the agent is put into, by name or id
    #[arg(long, value_name = "NAME", num_args = 1..)]
    channel: Vec<String>,
    /// How long its token is valid
    #[arg(long, default_value = "365d", value_parser = span)]
    ttl: Duration,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Take the entry and the hooks out of the program's settings, and end the token
    #[arg(long, conflicts_with_all = ["agent", "channel", "ttl"])]
    undo: bool,
}

/// Programs that have hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Program {
    /// OpenAI Codex: ~/.codex/config.toml and hooks.json
    Codex,
    /// Claude Code: ~/.claude.json and ~/.claude/settings.json
    Claude,
    /// Gemini CLI: ~/.gemini/settings.json
    Gemini,
}

impl Program {
    /// What a session of it says that it runs.
    pub(crate) fn runtime(self) -> &'static str {
        match self {
            Self::Codex => "codex_cli",
            Self::Claude => "claude_code",
            Self::Gemini => "gemini_cli",
        }
    }
}

impl From<Program> for mcp::Program {
    fn from(program: Program) -> Self {
        match program {
            Program::Codex => Self::Codex,
            Program::Claude => Self::Claude,
            Program::Gemini => Self::Gemini,
        }
    }
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let Args { program, agent, channel, ttl, yes, undo } = args;
    let program = program.into();
    let args = setup::Args { program, agent, channel, ttl, file: None, yes, undo, hooks: true };
    setup::run(args, context).await
}
