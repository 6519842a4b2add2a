//! `chorus mcp`: the MCP endpoint for a program that speaks over its standard streams, and what to write into the
//! settings of those that speak HTTP. [`setup`] writes it there.

mod change;
mod diff;
mod hooks;
mod json_entry;
mod json_list;
mod settings;
pub(super) mod setup;
mod toml_entry;

use chorus_client::{Client, mcp};
use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};
use settings::Settings;
use tokio::io::BufReader;

use super::Context;
use crate::failure::Result;
use crate::lookup;

#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// One channel only: title or ch_… id
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print what a program's settings need to work here; the token comes from CHORUS_TOKEN
    Config {
        /// Whose settings
        #[arg(long = "for", value_enum)]
        program: Program,
        /// One channel only: title or ch_… id
        #[arg(long, value_name = "CHANNEL")]
        channel: Option<String>,
    },
    /// Make an agent for a program, and write its token into the program's settings
    Setup(setup::Args),
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
    match args.command {
        Some(Command::Config { program, channel }) => {
            let url = context.target.url()?;
            let channel = id_of(channel, context).await?;
            let snippet = program.snippet(url.trim_end_matches('/'), channel.as_deref());
            return context.print.show(&snippet, |snippet| snippet.text.clone());
        }
        Some(Command::Setup(args)) => return setup::run(args, context).await,
        None => {}
    }
    let client = context.target.client()?;
    let channel = id_of(args.channel, context).await?;
    let (input, output) = (BufReader::new(tokio::io::stdin()), tokio::io::stdout());
    Ok(mcp::bridge(&client, &path(channel.as_deref()), input, output).await?)
}

/// A channel's id by its title. Nobody has to be asked for what is an id already, as in settings without a token.
async fn id_of(channel: Option<String>, context: &Context) -> Result<Option<String>> {
    match channel {
        Some(name) if !name.starts_with("ch_") => {
            Ok(Some(lookup::conversation(&context.target.client()?, &name).await?))
        }
        id => Ok(id),
    }
}

fn path(channel: Option<&str>) -> String {
    channel.map_or_else(|| "v1/mcp".to_owned(), |channel| format!("mcp/{channel}"))
}

/// The address of the endpoint, with names of tools that every model's API takes: some refuse dots.
fn address(base: &str, channel: Option<&str>) -> String {
    format!("{}/{}?names=underscore", base.trim_end_matches('/'), path(channel))
}

impl Program {
    fn snippet(self, base: &str, channel: Option<&str>) -> Snippet {
        let url = address(base, channel);
        let (file, token) = match self {
            Self::Codex => ("~/.codex/config.toml", ""),
            Self::Claude => (".mcp.json", "${CHORUS_TOKEN}"),
            Self::Gemini => ("~/.gemini/settings.json", "$CHORUS_TOKEN"),
            Self::Cursor => ("~/.cursor/mcp.json", "${env:CHORUS_TOKEN}"),
            Self::Vscode => (".vscode/mcp.json", "${env:CHORUS_TOKEN}"),
            Self::Stdio => ("mcp.json", ""),
        };
        let entry = match self {
            Self::Stdio => {
                let mut arguments = vec!["mcp", "--url", base];
                arguments.extend(channel.iter().flat_map(|channel| ["--channel", channel]));
                json!({"command": "chorus", "args": arguments})
            }
            _ => self.entry(&url, &format!("Bearer {token}")),
        };
        let text = match self.section() {
            Some(section) => pretty(&json!({section: {"chorus": entry}})),
            None => format!(
                "[mcp_servers.chorus]\nurl = \"{url}\"\nbearer_token_env_var = \"CHORUS_TOKEN\""
            ),
        };
        Snippet { file, text }
    }
}

/// The host to which a program's settings lead, as the agent whose token is in them.
pub(super) fn client_of(program: Program) -> Option<Client> {
    let entry = Settings::open(program, None).ok()?.entry().ok()??;
    let (host, token) = entry.token()?;
    Client::new(host, token).ok()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
