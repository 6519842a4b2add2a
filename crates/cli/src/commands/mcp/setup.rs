//! `chorus mcp setup`: a program in one go. The agent, its membership, its token, and the entry in the program's own
//! settings; and `--undo`, which takes the entry out and ends its token.
//!
//! Nothing is made before the change was shown and agreed to. The token is in the file and is printed nowhere.

use std::path::PathBuf;
use std::time::Duration;

use chorus_client::Client;
use chorus_core::model::caller::Authority;
use chorus_core::model::error::Code;
use chorus_wire::rest::channels::{Channel, SeatPut};
use chorus_wire::rest::tokens::{NewToken, Token};
use chorus_wire::time::Time;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::change::{Change, Hooked, shown};
use super::settings::{Entry, Settings, Unreadable};
use super::{Program, address};
use crate::ask::confirm;
use crate::commands::Context;
use crate::ended::{self, Ended};
use crate::failure::{Failure, Result};
use crate::lookup;
use crate::print::{date, line};
use crate::values::span;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The program
    #[arg(long = "for", value_name = "PROGRAM", value_parser = with_settings())]
    pub(crate) program: Program,
    /// Member id of its agent; made when it is new [default: the program's name]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Channels that the agent is put into, by name or id
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) channel: Vec<String>,
    /// How long its token is valid
    #[arg(long, default_value = "365d", value_parser = span)]
    pub(crate) ttl: Duration,
    /// The settings file, when it is not the program's usual one
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Take the entry out of the program's settings, and end its token
    #[arg(long, conflicts_with_all = ["agent", "channel", "ttl"])]
    pub(crate) undo: bool,
    /// Hooks too, as `chorus connect` writes them.
    #[arg(skip)]
    pub(crate) hooks: bool,
}

/// What was done, for programs.
#[derive(Debug, Serialize)]
struct Done {
    file: String,
    agent: String,
    /// The agent was made now.
    new_agent: bool,
    /// Ids of the channels it was put into now.
    joined: Vec<String>,
    expires_at: Time,
    /// What became of the token that was in the entry before.
    replaced: Option<Ended>,
    /// The file that has the hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    hooks: Option<String>,
    /// The program runs the hooks only once its user has said so.
    #[serde(skip)]
    asks_for_trust: bool,
    next: String,
}

#[derive(Debug, Serialize)]
struct Undone {
    file: String,
    removed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hooks: Option<String>,
    token: Option<Ended>,
}

/// The programs whose settings files are known.
fn with_settings() -> impl TypedValueParser<Value = Program> {
    let named = |name: &'static str, about: &'static str| PossibleValue::new(name).help(about);
    let programs = PossibleValuesParser::new([
        named("codex", "OpenAI Codex: ~/.codex/config.toml"),
        named("claude", "Claude Code: ~/.claude.json"),
        named("gemini", "Gemini CLI: ~/.gemini/settings.json"),
        named("cursor", "Cursor: ~/.cursor/mcp.json"),
        named("vscode", "Visual Studio Code: .vscode/mcp.json"),
        // Refused with what to do instead.
        PossibleValue::new("stdio").hide(true),
    ]);
    programs.try_map(|name| Program::from_str(&name, false))
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    match args.undo {
        true => undo(&args, context).await,
        false => set_up(&args, context).await,
    }
}

async fn set_up(args: &Args, context: &Context) -> Result {
    let settings = Settings::open(args.program, args.file.as_deref())?;
    let host = context.target.url()?;
    let url = address(&host, None);
    let client = context.target.client()?;
    let agent = args.agent.as_deref().map_or(args.program.agent(), lookup::member);

    // Everything that may be refused, before anything is made.
    let planned = settings.with(&Entry::new(url.clone(), "…"));
    let planned = planned.map_err(|why| by_hand(why, args, &settings, &host, context))?;
    ours(args, &settings)?;
    let is_new = lookup::agent(&client, agent).await?.is_none();
    let joins = joins(&client, agent, &args.channel).await?;

    let hooks = args.hooks.then(|| Hooked::open(args.program)).transpose()?;
    let changes = match &hooks {
        Some(hooks) => hooks.beside(&settings, planned, Hooked::with)?,
        None => vec![Change::of(&settings, planned)],
    };
    if !context.print.json {
        let changes = shown(&changes, &url, hooks.as_ref(), context);
        let plan = plan(agent, is_new, &joins, args.ttl);
        context.print.text(&format!("{changes}\n{plan}"))?;
    }
    confirm("Do that?", args.yes)?;

    if is_new {
        lookup::make_agent(&client, agent).await?;
    }
    for channel in &joins {
        client.seat(&channel.id, agent, &SeatPut::default()).await?;
    }
    let new = NewToken {
        agent: agent.to_owned(),
        role: Authority::Worker.into(),
        session: None,
        ttl_s: Some(args.ttl.as_secs()),
    };
    let token = client.issue_token(&new).await?;
    let before = match write(args, &url, &token) {
        Ok(before) => before,
        Err(failure) => {
            // Nobody has it.
            client.revoke_token(&token.jti).await?;
            return Err(failure);
        }
    };
    let replaced = match &before {
        Some(entry) => end(entry).await,
        None => None,
    };
    if let Some(hooks) = &hooks {
        hooks.write(Hooked::with)?;
    }
    let channel = args
        .channel
        .first()
        .filter(|name| !name.starts_with("ch_"))
        .map(|name| format!("#{}", line(name.trim_start_matches('#'))));
    let done = Done {
        file: settings.path.display().to_string(),
        agent: agent.to_owned(),
        new_agent: is_new,
        joined: joins.iter().map(|channel| channel.id.clone()).collect(),
        expires_at: token.expires_at,
        replaced,
        hooks: hooks.as_ref().map(Hooked::file),
        asks_for_trust: args.program == Program::Codex,
        next: args.program.next(channel.as_deref()),
    };
    let undo = undo_line(args);
    let note = settings.is_in_checkout();
    context.print.show(&done, |done| told(done, &undo, note))
}

/// Writes the entry into the file as it is by now; gives the entry that it replaced.
fn write(args: &Args, url: &str, token: &Token) -> Result<Option<Entry>> {
    let _held = Settings::open(args.program, args.file.as_deref())?.hold()?;
    let settings = Settings::open(args.program, args.file.as_deref())?;
    let wrong = |Unreadable(why)| {
        Failure::new(Code::Conflict, format!("{}: {why}", settings.path.display()))
    };
    let before = ours(args, &settings)?;
    let text = settings.with(&Entry::new(url.to_owned(), &token.token)).map_err(wrong)?;
    settings.write_private(&text)?;
    Ok(before)
}

/// The entry that there is, which has to be one of Chorus.
fn ours(args: &Args, settings: &Settings) -> Result<Option<Entry>> {
    let file = settings.path.display();
    let wrong = |Unreadable(why)| {
        let failure = Failure::new(Code::Conflict, format!("{file} is left as it is: {why}"));
        failure.next("take the entry `chorus` out by hand, and end its token: chorus token list")
    };
    let entry = settings.entry().map_err(wrong)?;
    if !entry.as_ref().is_some_and(Entry::is_foreign) {
        return Ok(entry);
    }
    let why = format!("{file} has an entry `chorus` that leads to no Chorus; it is left as it is");
    let program = args.program.agent();
    let next = format!(
        "rename it or take it out by hand; what to write: chorus mcp config --for {program}"
    );
    Err(Failure::new(Code::Conflict, why).next(next))
}

/// The channels of these names in which the agent is not yet.
async fn joins(client: &Client, agent: &str, names: &[String]) -> Result<Vec<Channel>> {
    let mut joins: Vec<Channel> = Vec::new();
    for name in names {
        let id = lookup::conversation(client, name).await?;
        let channel = client.channel(&id).await?;
        let members = channel.members.as_deref().unwrap_or_default();
        let is_there = members.iter().any(|seat| seat.member == agent);
        if !is_there && joins.iter().all(|known| known.id != channel.id) {
            joins.push(channel);
        }
    }
    Ok(joins)
}

fn plan(agent: &str, is_new: bool, joins: &[Channel], ttl: Duration) -> String {
    let agent = line(agent);
    let mut steps = Vec::new();
    if is_new {
        steps.push(format!("makes the agent @{agent}"));
    }
    if !joins.is_empty() {
        steps.push(format!("puts @{agent} into {}", titles(joins)));
    }
    let days = ttl.as_secs() / 86_400;
    let valid = if days > 0 { format!("{days} days") } else { format!("{} s", ttl.as_secs()) };
    steps.push(format!("writes a token of @{agent} into that file, valid for {valid}"));
    format!("This {}.", steps.join(", "))
}

fn titles(channels: &[Channel]) -> String {
    channels.iter().map(lookup::shown).collect::<Vec<_>>().join(", ")
}

fn told(done: &Done, undo: &str, in_checkout: bool) -> String {
    let mut lines = vec![
        format!("wrote {}, which only you can read", done.file),
        format!("@{}'s token is in it, and ends {}", line(&done.agent), date(done.expires_at.0)),
    ];
    match &done.replaced {
        Some(Ended::Revoked { .. }) => lines.push("the token that was in it is revoked".to_owned()),
        Some(Ended::Unknown { why }) => lines.push(not_ended(why)),
        Some(Ended::Over) | None => {}
    }
    if in_checkout {
        lines.push(format!("{} is in a git checkout: do not commit the token", done.file));
    }
    if let Some(hooks) = &done.hooks {
        lines.push(format!("the hooks are in {hooks}"));
        if done.asks_for_trust {
            lines.push("Codex asks once whether it may run them: trust them".to_owned());
        }
    }
    lines.push(format!("next: {}", done.next));
    lines.push(format!("to take it back: {undo}"));
    lines.join("\n")
}

fn not_ended(why: &str) -> String {
    format!(
        "the token that was in it may still be valid, because {}; see: chorus token list",
        line(why)
    )
}

fn undo_line(args: &Args) -> String {
    let program = args.program.agent();
    if args.hooks {
        return format!("chorus connect {program} --undo");
    }
    let file = args.file.as_ref().map(|file| format!(" --file {}", file.display()));
    format!("chorus mcp setup --for {program}{} --undo", file.unwrap_or_default())
}

async fn undo(args: &Args, context: &Context) -> Result {
    let settings = Settings::open(args.program, args.file.as_deref())?;
    let file = settings.path.display().to_string();
    let hooks = args.hooks.then(|| Hooked::open(args.program)).transpose()?;
    let (entry, left) = taken_out(args, &settings)?.unzip();
    let changes = match &hooks {
        Some(hooks) => {
            let left = left.unwrap_or_else(|| settings.text().to_owned());
            hooks.beside(&settings, left, Hooked::without)?
        }
        None => left.map(|left| Change::of(&settings, left)).into_iter().collect(),
    };
    let changes: Vec<_> =
        changes.into_iter().filter(|change| change.before != change.after).collect();
    if changes.is_empty() {
        let undone = Undone { file, removed: false, hooks: None, token: None };
        return context.print.show(&undone, |undone| {
            format!("{} has no entry `chorus`: there is nothing to undo", undone.file)
        });
    }
    let url = entry.as_ref().map(|entry: &Entry| entry.url.clone()).unwrap_or_default();
    if !context.print.json {
        context.print.text(&shown(&changes, &url, hooks.as_ref(), context))?;
    }
    confirm("Take that out, and end its token?", args.yes)?;
    // As the files are by now.
    let held = settings.hold()?;
    let settings = Settings::open(args.program, args.file.as_deref())?;
    let entry = match taken_out(args, &settings)? {
        Some((entry, without)) => {
            settings.write_as_before(&without)?;
            Some(entry)
        }
        None => entry,
    };
    drop(held);
    if let Some(hooks) = &hooks {
        hooks.write(Hooked::without)?;
    }
    let token = match &entry {
        Some(entry) => end(entry).await,
        None => None,
    };
    let hooks = hooks.as_ref().map(Hooked::file);
    let undone = Undone { file, removed: true, hooks, token };
    context.print.show(&undone, |undone| {
        let token = match &undone.token {
            Some(Ended::Revoked { jti }) => format!("revoked its token {}", line(jti)),
            Some(Ended::Over) => "its token had ended already".to_owned(),
            Some(Ended::Unknown { why }) => not_ended(why),
            None => "there was no token in it".to_owned(),
        };
        let stays = "the agent and what it said stay; see: chorus member list";
        let hooks = undone.hooks.as_ref().map(|file| format!(", and the hooks out of {file}"));
        let hooks = hooks.unwrap_or_default();
        format!("took the entry `chorus` out of {}{hooks}\n{token}\n{stays}", undone.file)
    })
}

/// The entry, and the text without it; none if there is no entry.
fn taken_out(args: &Args, settings: &Settings) -> Result<Option<(Entry, String)>> {
    let entry = ours(args, settings)?;
    let without = settings.without().map_err(|Unreadable(why)| {
        Failure::new(Code::Conflict, format!("{} is left as it is: {why}", settings.path.display()))
    })?;
    Ok(entry.zip(without))
}

/// Revokes the token of an entry; none where it had none.
async fn end(entry: &Entry) -> Option<Ended> {
    let (host, token) = entry.token()?;
    Some(ended::end(host, token).await)
}

/// For a file that cannot be changed without losing something of it: what to do instead.
fn by_hand(
    Unreadable(why): Unreadable,
    args: &Args,
    settings: &Settings,
    host: &str,
    context: &Context,
) -> Failure {
    let snippet = args.program.snippet(host.trim_end_matches('/'), None).text;
    let agent = args.agent.as_deref().map_or(args.program.agent(), lookup::member);
    let token = format!(
        "chorus token issue --agent {} --role worker --ttl {}s",
        line(agent),
        args.ttl.as_secs()
    );
    let export = format!("export CHORUS_TOKEN=$({token})");
    // The failure comes in any case.
    let _ = match context.print.json {
        true => Ok(()),
        false => context.print.text(&format!("{snippet}\n\n{export}")),
    };
    let file = settings.path.display();
    let why = format!(
        "{file} is left as it is, for it cannot be changed without losing something: {why}"
    );
    Failure::new(Code::Conflict, why).next("add what is printed above by hand")
}
