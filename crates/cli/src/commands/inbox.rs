//! `chorus inbox`: connection strings by which services elsewhere reach an agent here.

use std::fs;
use std::path::PathBuf;

use chorus_wire::rest::inboxes::{Inbox, InboxPatch, NewInbox};
use clap::Subcommand;
use serde_json::json;

use super::Context;
use crate::failure::{Failure, Result};
use crate::lookup;
use crate::print::{date, line, table};

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Print a new connection string, which is shown this once
    Create {
        /// The agent's member id
        #[arg(long, value_name = "ID")]
        agent: String,
        /// How those are shown who speak through it
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        checks: Checks,
    },
    /// The inboxes, and what could not be sent back
    #[command(visible_alias = "ls")]
    List,
    /// One inbox
    Show { inbox: String },
    /// Change its name, or what deliveries have to show
    Set {
        inbox: String,
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        checks: Checks,
        /// Let any address deliver
        #[arg(long, conflicts_with = "allow")]
        allow_all: bool,
        /// Ask for no signature any more
        #[arg(long, conflicts_with = "signing_secret")]
        unsigned: bool,
        /// Ask for no token any more
        #[arg(long, conflicts_with = "jwt_key")]
        no_jwt: bool,
    },
    /// Print another connection string; the old one is refused at once
    Rotate { inbox: String },
    /// Remove an inbox; its conversations stay
    #[command(visible_alias = "rm")]
    Remove { inbox: String },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Checks {
    /// A network or address that may deliver, such as 192.0.2.0/24; may be given again
    #[arg(long, value_name = "CIDR")]
    allow: Vec<String>,
    /// A file with the whsec_… that deliveries must be signed with
    #[arg(long, value_name = "FILE")]
    signing_secret: Option<PathBuf>,
    /// A file with the public key, in PEM, of who signs the tokens that deliveries must come with
    #[arg(long, value_name = "FILE")]
    jwt_key: Option<PathBuf>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    match args {
        Args::Create { agent, name, checks } => {
            let new = NewInbox {
                agent: lookup::member(&agent).to_owned(),
                name,
                signing_secret: read(checks.signing_secret.as_ref())?,
                jwt_key: read(checks.jwt_key.as_ref())?,
                allow: checks.allow,
            };
            context.print.show(&client.add_inbox(&new).await?, |made| made.url.clone())
        }
        Args::List => {
            let all = client.inboxes().await?;
            context.print.show(&all, |all| list(&all.inboxes))
        }
        Args::Show { inbox } => context.print.show(&client.inbox(&inbox).await?, one),
        Args::Set { inbox, name, checks, allow_all, unsigned, no_jwt } => {
            let secret = read(checks.signing_secret.as_ref())?;
            let key = read(checks.jwt_key.as_ref())?;
            let patch = InboxPatch {
                name,
                allow: (allow_all || !checks.allow.is_empty()).then_some(checks.allow),
                signing_secret: (unsigned || secret.is_some()).then_some(secret),
                jwt_key: (no_jwt || key.is_some()).then_some(key),
            };
            context.print.show(&client.change_inbox(&inbox, &patch).await?, one)
        }
        Args::Rotate { inbox } => {
            context.print.show(&client.rotate_inbox(&inbox).await?, |made| made.url.clone())
        }
        Args::Remove { inbox } => {
            client.remove_inbox(&inbox).await?;
            let removed = json!({ "removed": inbox });
            context.print.show(&removed, |_| format!("removed {}", line(&inbox)))
        }
    }
}

/// Not in an argument, which everybody on the machine can see.
fn read(file: Option<&PathBuf>) -> Result<Option<String>> {
    let Some(path) = file else { return Ok(None) };
    let text = fs::read_to_string(path)
        .map_err(|why| Failure::usage(format!("{}: {why}", path.display())))?;
    Ok(Some(text.trim().to_owned()))
}

fn checks(inbox: &Inbox) -> String {
    let mut all = inbox.allow.clone();
    all.extend(inbox.signed.then(|| "signed".to_owned()));
    all.extend(inbox.jwt_key.is_some().then(|| "jwt".to_owned()));
    all.join(" ")
}

fn trouble(inbox: &Inbox) -> String {
    let shown = |e: &chorus_wire::rest::inboxes::InboxError| {
        format!("{} {}", date(e.at.0), line(&e.message))
    };
    inbox.last_error.as_ref().map(shown).unwrap_or_default()
}

fn one(inbox: &Inbox) -> String {
    let mut lines = vec![format!(
        "{} {} for {}, {} channels",
        inbox.id,
        line(&inbox.name),
        line(&inbox.agent),
        inbox.channels
    )];
    let (checks, trouble) = (checks(inbox), trouble(inbox));
    lines.extend((!checks.is_empty()).then(|| format!("checks: {checks}")));
    lines.extend((!trouble.is_empty()).then(|| format!("last error: {trouble}")));
    lines.join("\n")
}

fn list(inboxes: &[Inbox]) -> String {
    let row = |i: &Inbox| {
        let channels = i.channels.to_string();
        vec![i.id.clone(), line(&i.agent), line(&i.name), channels, checks(i), trouble(i)]
    };
    let rows: Vec<_> = inboxes.iter().map(row).collect();
    table(
        "no inboxes yet; make one with: chorus inbox create --agent ID",
        &["INBOX", "AGENT", "NAME", "CHANNELS", "CHECKS", "LAST ERROR"],
        &rows,
    )
}
