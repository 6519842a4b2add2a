//! `chorus completions`: a script for the shell, which asks the program itself what could come next: commands, options, and
//! the names of channels and members.

use std::ffi::OsStr;
use std::time::Duration;

use chorus_client::Client;
use clap::{Arg, Command, Parser};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use serde_json::json;

use super::Context;
use crate::args::Cli;
use crate::failure::{Failure, Result};

/// Who presses Tab does not wait for a host that is away.
const PATIENCE: Duration = Duration::from_secs(1);
/// The variable by which the script asks.
pub(crate) const VARIABLE: &str = "CHORUS_COMPLETE";

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// bash, zsh or fish
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell).ok_or_else(|| Failure::usage("no such shell"))?;
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "chorus", "chorus", "chorus", &mut script)
        .map_err(|e| Failure::here("cannot write the script", e))?;
    let script = String::from_utf8_lossy(&script).into_owned();
    context.print.show(&json!({ "script": script }), |_| script.clone())
}

/// The command line, in which names of channels and members are completed wherever they can stand.
pub(crate) fn with_names(command: Command) -> Command {
    command.mut_args(named).mut_subcommands(with_names)
}

fn named(arg: Arg) -> Arg {
    let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let is = |names: &[&str]| {
        let id = arg.get_id().as_str();
        names.iter().any(|name| value.as_deref() == Some(*name) || id.eq_ignore_ascii_case(name))
    };
    if is(&["CHANNEL", "CHANNELS", "CONVERSATION|THREAD"]) {
        arg.add(ArgValueCompleter::new(channels))
    } else if is(&["MEMBER", "MEMBERS", "AGENT"]) {
        arg.add(ArgValueCompleter::new(members))
    } else {
        arg
    }
}

fn channels(begun: &OsStr) -> Vec<CompletionCandidate> {
    let sign = if begun.to_string_lossy().starts_with('#') { "#" } else { "" };
    let found = ask(async |client| {
        let channels = client.channels().await.ok()?.channels;
        let open = channels.into_iter().filter(|channel| !channel.archived);
        Some(open.map(|channel| (channel.title, channel.description)).collect())
    });
    candidates(begun, sign, found)
}

fn members(begun: &OsStr) -> Vec<CompletionCandidate> {
    let sign = if begun.to_string_lossy().starts_with('@') { "@" } else { "" };
    let found = ask(async |client| {
        let members = client.members().await.ok()?.members;
        Some(members.into_iter().map(|member| (member.id, member.display_name)).collect())
    });
    candidates(begun, sign, found)
}

fn candidates(
    begun: &OsStr,
    sign: &str,
    found: Option<Vec<(String, String)>>,
) -> Vec<CompletionCandidate> {
    let begun = begun.to_string_lossy();
    let found = found.unwrap_or_default().into_iter();
    let named = found.map(|(name, about)| (format!("{sign}{name}"), about));
    let fitting = named.filter(|(name, _)| name.starts_with(&*begun));
    fitting
        .map(|(name, about)| {
            let about = Some(about).filter(|about| !about.is_empty());
            CompletionCandidate::new(name).help(about.map(Into::into))
        })
        .collect()
}

/// What the host says that a command without options would talk to; nothing where there is none.
fn ask<T>(question: impl AsyncFnOnce(Client) -> Option<T>) -> Option<T> {
    // As the environment says.
    let client = Cli::try_parse_from(["chorus", "whoami"]).ok()?.target.client().ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async { tokio::time::timeout(PATIENCE, question(client)).await.ok()? })
}
