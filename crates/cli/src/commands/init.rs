//! `chorus init`: a folder becomes a workspace: the settings in `chorus.toml`, an operator with a name, and #general.

use std::io::IsTerminal;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_core::model::token::OPERATOR;
use chorus_server::config::load::{Written, load};
use chorus_server::{Config, Host, Running};
use chorus_wire::rest::channels::NewChannel;
use chorus_wire::rest::members::MemberPatch;
use serde_json::json;

use super::Context;
use crate::ask;
use crate::failure::{Failure, Result};
use crate::host::{CONFIG, running_at};
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
    let has_workspace = Workspace::is_in(&data);
    if let Some(url) = running_at(&data, true)? {
        let runs = format!("a host runs on {} already, at {url}", data.display());
        return Err(Failure::new(Code::Conflict, runs).next("see: chorus status"));
    }
    let asks = !args.yes && std::io::stdin().is_terminal();
    let mut answers = Answers { workspace: args.workspace, name: args.name, listen: args.listen };
    // Everything that may be refused, in a folder that nobody keeps, before anything is made here.
    let (wanted, config) = loop {
        let wanted = answers.complete(asks)?;
        let wrong = match rehearse(&wanted, &data).await {
            Ok(config) => break (wanted, config),
            Err(wrong) => wrong,
        };
        if !asks || !answers.again(&wrong, wanted) {
            return Err(wrong.failure);
        }
        wrong.failure.print(false, context.target.verbose);
    };
    let workspace = Workspace::start(config).await?;
    let made = match has_workspace {
        true => workspace.finish(&wanted.name, &data).await,
        false => workspace.furnish(&wanted.name).await,
    };
    workspace.running.stop().await;
    made?;
    let text = settings(&wanted, &data);
    std::fs::write(CONFIG, text).map_err(|e| Failure::here("cannot write chorus.toml", e))?;
    let shown =
        json!({"config": CONFIG, "data": data, "workspace": wanted.workspace, "channel": GENERAL});
    context.print.show(&shown, |_| {
        format!("Wrote {CONFIG} and made #{GENERAL} in {}. Next: chorus serve", data.display())
    })
}

/// What was said so far.
struct Answers {
    workspace: Option<String>,
    name: Option<String>,
    listen: Option<String>,
}

struct Wanted {
    workspace: String,
    name: String,
    listen: String,
}

/// What is wrong, and with which of the answers, if it is with one of them.
struct Wrong {
    of: Option<&'static str>,
    failure: Failure,
}

const WORKSPACE: &str = "workspace";
const NAME: &str = "name";
const LISTENS: &str = "listen";

impl Answers {
    fn complete(&self, asks: bool) -> Result<Wanted> {
        Ok(Wanted {
            workspace: answer(asks, &self.workspace, "What is the workspace called?", folder)?,
            name: answer(asks, &self.name, "What are you called?", user)?,
            listen: answer(asks, &self.listen, "Where does the host listen?", || {
                LISTEN.to_owned()
            })?,
        })
    }

    /// Keeps the answers, but the one that is asked for again; whether there is one.
    fn again(&mut self, wrong: &Wrong, wanted: Wanted) -> bool {
        let Some(of) = wrong.of else { return false };
        let keep = |which, answer| Some(answer).filter(|_| which != of);
        self.workspace = keep(WORKSPACE, wanted.workspace);
        self.name = keep(NAME, wanted.name);
        self.listen = keep(LISTENS, wanted.listen);
        true
    }
}

/// Sets the same up in a folder that is removed again; gives the settings of the real one.
async fn rehearse(wanted: &Wanted, data: &Path) -> std::result::Result<Config, Wrong> {
    let of_none = |failure| Wrong { of: None, failure };
    for (of, text, what) in
        [(WORKSPACE, &wanted.workspace, "the workspace"), (NAME, &wanted.name, "you")]
    {
        if text.trim().is_empty() {
            let failure = Failure::usage(format!("a name is needed for {what}"));
            return Err(Wrong { of: Some(of), failure: failure.next(format!("give --{of} NAME")) });
        }
    }
    let config = configured(wanted, data)?;
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|e| of_none(Failure::here("cannot make a folder", e)))?;
    let trial = Config { data: folder.path().join("data"), ..configured(wanted, data)? };
    let workspace =
        Workspace::start(trial).await.map_err(|failure| Wrong { of: Some(WORKSPACE), failure })?;
    let made = workspace.furnish(&wanted.name).await;
    workspace.running.stop().await;
    made.map_err(|failure| Wrong { of: Some(NAME), failure: failure.wrongly_written() })?;
    Ok(config)
}

/// The settings that will be in the file. There is none yet, so that each is told of by its flag.
fn configured(wanted: &Wanted, data: &Path) -> std::result::Result<Config, Wrong> {
    let flag =
        |path: &str, value: &str, flag: &str| (path.to_owned(), value.to_owned(), flag.to_owned());
    let flags = vec![
        flag(WORKSPACE, &wanted.workspace, "--workspace"),
        flag(LISTENS, &wanted.listen, "--listen"),
        flag("data", &data.display().to_string(), "--data"),
    ];
    let loaded = load(&Written { flags, ..Written::default() }).map_err(|mistakes| {
        let names = [WORKSPACE, LISTENS];
        let of = names.into_iter().find(|name| mistakes.iter().any(|one| one.path == *name));
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Wrong { of, failure: Failure::usage(told.join("; ")) }
    })?;
    let mut config = Config::of(loaded.settings);
    // Nobody else comes in while it is set up.
    config.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    config.public_url = None;
    Ok(config)
}

/// A host that runs while it is set up.
struct Workspace {
    running: Running,
    client: Client,
}

impl Workspace {
    /// Whether there is one in the data folder.
    fn is_in(data: &Path) -> bool {
        ["operator.token", "chorus.db"].iter().any(|file| data.join(file).exists())
    }

    async fn start(config: Config) -> Result<Self> {
        let running = Host::start(config).await.map_err(|e| Failure::here("cannot set up", e))?;
        let client = Client::new(&running.url, running.operator_token.as_str())?;
        Ok(Self { running, client })
    }

    /// The operator's name, and the first channel.
    async fn furnish(&self, name: &str) -> Result {
        let patch = MemberPatch { display_name: Some(name.to_owned()), ..MemberPatch::default() };
        self.client.change_member(OPERATOR, &patch).await?;
        let new = NewChannel { title: GENERAL.to_owned(), ..NewChannel::default() };
        self.client.create_channel(&new).await?;
        Ok(())
    }

    /// The same, where a run before this one was cut short. A workspace in which there is more than that is left as it is.
    async fn finish(&self, name: &str, data: &Path) -> Result {
        let members = self.client.members().await?.members;
        let channels = self.client.channels().await?.channels;
        if members.iter().any(|member| member.id != OPERATOR)
            || channels.iter().any(|one| one.title != GENERAL || one.last_seq > 2)
        {
            let there = format!("{} has a workspace already", data.display());
            let there = Failure::new(Code::Conflict, there);
            return Err(there.next("start its host with: chorus serve"));
        }
        if channels.is_empty() {
            return self.furnish(name).await;
        }
        let patch = MemberPatch { display_name: Some(name.to_owned()), ..MemberPatch::default() };
        Ok(self.client.change_member(OPERATOR, &patch).await.map(drop)?)
    }
}

fn answer(
    asks: bool,
    given: &Option<String>,
    question: &str,
    default: impl Fn() -> String,
) -> Result<String> {
    match given {
        Some(given) => Ok(given.clone()),
        None if asks => {
            let default = default();
            let typed = ask::line(&format!("{question} [{default}] "))?;
            Ok(if typed.is_empty() { default } else { typed })
        }
        None => Ok(default()),
    }
}

fn settings(wanted: &Wanted, data: &Path) -> String {
    let text = |value: &str| toml::Value::from(value).to_string();
    format!(
        "# A Chorus host; docs/settings.md has all settings, `chorus config show` what is in force.\n\
         workspace = {}\nlisten = {}\ndata = {}\n",
        text(&wanted.workspace),
        text(&wanted.listen),
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
