//! `chorus init`: a folder becomes a workspace: the settings in `chorus.toml`, an operator with a name, and #general.

use std::io::IsTerminal;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_core::model::token::OPERATOR;
use chorus_server::{Config, Host};
use chorus_wire::rest::channels::NewChannel;
use chorus_wire::rest::members::MemberPatch;
use serde_json::json;

use super::Context;
use crate::ask;
use crate::failure::{Failure, Result};
use crate::host::{CONFIG, mistaken};
use crate::lookup::GENERAL;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What the workspace is called [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
    /// What you are called [default: your user name]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Where the host listens [default: 127.0.0.1:7600]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Take the defaults and ask nothing
    #[arg(long)]
    yes: bool,
}

/// The port that hosts have unless something else is said.
const LISTEN: &str = "127.0.0.1:7600";

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if Path::new(CONFIG).exists() {
        let there = Failure::new(Code::Conflict, format!("{CONFIG} is here already"));
        return Err(there.next("start its host with: chorus serve"));
    }
    let data = context.target.data()?;
    if data.join("operator.token").exists() {
        let there = format!("{} has a workspace already", data.display());
        return Err(Failure::new(Code::Conflict, there).next("start its host with: chorus serve"));
    }
    let asks = !args.yes && std::io::stdin().is_terminal();
    let workspace = answer(asks, args.workspace, "What is the workspace called?", folder())?;
    let name = answer(asks, args.name, "What are you called?", user())?;
    let listen = answer(asks, args.listen, "Where does the host listen?", LISTEN.to_owned())?;
    let text = settings(&workspace, &listen, &data);
    let written =
        chorus_server::config::load::Written { file: Some((CONFIG, &text)), ..Default::default() };
    let loaded = chorus_server::config::load::load(&written).map_err(mistaken)?;
    let mut config = Config::of(loaded.settings);
    // Nobody else comes in while it is set up.
    config.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    config.public_url = None;
    let running = Host::start(config).await.map_err(|e| Failure::here("cannot set up", e))?;
    let made = furnish(&running.url, &running.operator_token, &name).await;
    running.stop().await;
    made?;
    std::fs::write(CONFIG, text).map_err(|e| Failure::here("cannot write chorus.toml", e))?;
    let shown = json!({"config": CONFIG, "data": data, "workspace": workspace, "channel": GENERAL});
    context.print.show(&shown, |_| {
        format!("Wrote {CONFIG} and made #{GENERAL} in {}. Next: chorus serve", data.display())
    })
}

/// The operator's name, and the first channel.
async fn furnish(url: &str, token: &str, name: &str) -> Result {
    let client = Client::new(url, token)?;
    let patch = MemberPatch { display_name: Some(name.to_owned()), ..MemberPatch::default() };
    client.change_member(OPERATOR, &patch).await?;
    let new = NewChannel { title: GENERAL.to_owned(), ..NewChannel::default() };
    client.create_channel(&new).await?;
    Ok(())
}

fn answer(asks: bool, given: Option<String>, question: &str, default: String) -> Result<String> {
    match given {
        Some(given) => Ok(given),
        None if asks => {
            let typed = ask::line(&format!("{question} [{default}] "))?;
            Ok(if typed.is_empty() { default } else { typed })
        }
        None => Ok(default),
    }
}

fn settings(workspace: &str, listen: &str, data: &Path) -> String {
    let text = |value: &str| toml::Value::from(value).to_string();
    format!(
        "# A Chorus host; docs/settings.md has all settings, `chorus config show` what is in force.\n\
         workspace = {}\nlisten = {}\ndata = {}\n",
        text(workspace),
        text(listen),
        text(&data.display().to_string()),
    )
}

fn folder() -> String {
    let here = std::env::current_dir().ok();
    let name = here.as_deref().and_then(Path::file_name).map(|name| name.display().to_string());
    name.unwrap_or_else(|| "default".to_owned())
}

fn user() -> String {
    std::env::var("USER")
        .ok()
        .filter(|user| !user.is_empty())
        .unwrap_or_else(|| "Operator".to_owned())
}
