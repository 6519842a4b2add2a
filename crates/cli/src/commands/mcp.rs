//! `chorus mcp`: the MCP endpoint for a program that speaks over its standard streams, and what to write into the
//! settings of those that speak HTTP.

use chorus_client::mcp;
use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::BufReader;

use super::Context;
use crate::failure::Result;

#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// One channel only, ch_…
    #[arg(long, value_name = "ID")]
    channel: Option<String>,
    #[command(subcommand)]
    command: Option<Config>,
}

#[derive(Debug, Subcommand)]
enum Config {
    /// Print what a program's settings need to work here; the token comes from CHORUS_TOKEN
    Config {
        /// Whose settings
        #[arg(long = "for", value_enum)]
        program: Program,
        /// One channel only, ch_…
        #[arg(long, value_name = "ID")]
        channel: Option<String>,
    },
}

/// Programs whose settings are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Program {
    /// OpenAI Codex: ~/.codex/config.toml
    Codex,
    /// Claude Code: .mcp.json of the project
    Claude,
    /// Gemini CLI: ~/.gemini/settings.json
    Gemini,
    /// Cursor: ~/.cursor/mcp.json
    Cursor,
    /// Visual Studio Code: .vscode/mcp.json
    Vscode,
    /// Any program that starts its servers and speaks over standard streams
    Stdio,
}

/// What to write, and where.
#[derive(Debug, Serialize)]
struct Snippet {
    file: &'static str,
    text: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if let Some(Config::Config { program, channel }) = args.command {
        let url = context.target.url()?;
        let snippet = program.snippet(url.trim_end_matches('/'), channel.as_deref());
        return context.print.show(&snippet, |snippet| snippet.text.clone());
    }
    let client = context.target.client()?;
    let (input, output) = (BufReader::new(tokio::io::stdin()), tokio::io::stdout());
    Ok(mcp::bridge(&client, &path(args.channel.as_deref()), input, output).await?)
}

fn path(channel: Option<&str>) -> String {
    channel.map_or_else(|| "v1/mcp".to_owned(), |channel| format!("mcp/{channel}"))
}

impl Program {
    fn snippet(self, base: &str, channel: Option<&str>) -> Snippet {
        // Some model APIs refuse dots in the names of tools.
        let url = format!("{base}/{}?names=underscore", path(channel));
        let bearer = |variable: &str| json!({"Authorization": format!("Bearer {variable}")});
        let servers = |server: Value| pretty(&json!({"mcpServers": {"chorus": server}}));
        let (file, text) = match self {
            Self::Codex => (
                "~/.codex/config.toml",
                format!(
                    "[mcp_servers.chorus]\nurl = \"{url}\"\nbearer_token_env_var = \"CHORUS_TOKEN\""
                ),
            ),
            Self::Claude => (
                ".mcp.json",
                servers(json!({"type": "http", "url": url, "headers": bearer("${CHORUS_TOKEN}")})),
            ),
            Self::Gemini => (
                "~/.gemini/settings.json",
                servers(json!({"httpUrl": url, "headers": bearer("$CHORUS_TOKEN")})),
            ),
            Self::Cursor => (
                "~/.cursor/mcp.json",
                servers(json!({"url": url, "headers": bearer("${env:CHORUS_TOKEN}")})),
            ),
            Self::Vscode => (
                ".vscode/mcp.json",
                pretty(&json!({"servers": {"chorus": {
                    "type": "http", "url": url, "headers": bearer("${env:CHORUS_TOKEN}"),
                }}})),
            ),
            Self::Stdio => {
                let mut arguments = vec!["mcp", "--url", base];
                arguments.extend(channel.iter().flat_map(|channel| ["--channel", channel]));
                ("mcp.json", servers(json!({"command": "chorus", "args": arguments})))
            }
        };
        Snippet { file, text }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
