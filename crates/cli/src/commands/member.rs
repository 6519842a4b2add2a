//! `chorus member`: people and agents of the workspace.

use chorus_core::model::caller::Authority;
use chorus_core::model::member::MemberKind;
use chorus_wire::named::NamedEnum;
use chorus_wire::rest::deliveries::{ListDeliveries, StateFilter};
use chorus_wire::rest::members::{Identity, Member, MemberPatch, NewMember};
use clap::Subcommand;
use serde_json::json;

use super::Context;
use crate::failure::Result;
use crate::lookup;
use crate::print::{line, table};
use crate::values::word;

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Add a person or an agent
    Create {
        /// Never changes: reviewer_agent
        id: String,
        /// human or agent
        #[arg(long, default_value = "human", value_parser = word::<MemberKind>)]
        kind: MemberKind,
        #[command(flatten)]
        fields: Fields,
        /// Also print a token with this role
        #[arg(long, value_name = "ROLE", value_parser = word::<Authority>)]
        token_role: Option<Authority>,
    },
    /// Everybody
    #[command(visible_alias = "ls")]
    List,
    /// Change a member; what is not given stays
    Set {
        id: String,
        #[command(flatten)]
        fields: Fields,
        /// Make it the workspace's lead, or no longer
        #[arg(long)]
        lead: Option<bool>,
    },
    /// Remove a member from the workspace; what it said stays
    Remove { id: String },
    /// End what an agent works on: its runs stop, and it owes no answer
    Break { id: String },
    /// Pause an agent: it is told nothing, and may change nothing
    Pause { id: String },
    /// Let a paused agent go on; it is told what still waits for it
    Continue { id: String },
}

#[derive(clap::Args, Debug)]
pub(crate) struct Fields {
    /// What @ names [default: the id]
    #[arg(long)]
    handle: Option<String>,
    /// How it is shown
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// Whose agent it is
    #[arg(long, value_name = "MEMBER")]
    owner: Option<String>,
    /// Who it is elsewhere: PLATFORM:ID; may be given again
    #[arg(long, value_name = "PLATFORM:ID", value_parser = identity)]
    identity: Vec<Identity>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    match args {
        Args::Create { id, kind, fields, token_role } => {
            let new = NewMember {
                id: lookup::member(&id).to_owned(),
                kind: kind.into(),
                handle: fields.handle.as_deref().map(|handle| lookup::member(handle).to_owned()),
                display_name: fields.display_name,
                owner_id: fields.owner,
                identities: fields.identity,
                token_role: token_role.map(Into::into),
            };
            let member = client.add_member(&new).await?;
            context.print.show(&member, |member| match &member.token {
                Some(token) => format!("{}\n{token}", one(member)),
                None => one(member),
            })
        }
        Args::List => {
            let mut members = client.members().await?;
            // Those who stand in for others elsewhere are nobody here.
            members.members.retain(|member| member.stands_in_for.is_none());
            context.print.show(&members, |all| list(&all.members))
        }
        Args::Set { id, fields, lead } => {
            let patch = MemberPatch {
                handle: fields.handle.as_deref().map(|handle| lookup::member(handle).to_owned()),
                display_name: fields.display_name,
                owner_id: fields.owner,
                identities: Some(fields.identity).filter(|given| !given.is_empty()),
                lead,
            };
            let id = lookup::known(&client, &id).await?;
            let member = client.change_member(&id, &patch).await?;
            context.print.show(&member, one)
        }
        Args::Remove { id } => {
            let id = lookup::known(&client, &id).await?;
            client.remove_member(&id).await?;
            context.print.show(&json!({ "removed": id }), |_| format!("removed {}", line(&id)))
        }
        Args::Break { id } => {
            let id = lookup::known(&client, &id).await?;
            let query = ListDeliveries { state: Some(StateFilter::Open), member: Some(id.clone()) };
            let mut open = client.deliveries(&query).await?.deliveries;
            open.retain(|one| matches!(one.receipt.state.as_str(), "offered" | "accepted"));
            for one in &open {
                client.end_delivery(&one.id).await?;
            }
            let said = match open.len() {
                0 => "works on nothing".to_owned(),
                ended => format!("works on nothing any more; ended: {ended}"),
            };
            context.print.show(&json!({ "ended": open.len() }), |_| format!("{} {said}", line(&id)))
        }
        Args::Pause { id } => {
            let id = lookup::known(&client, &id).await?;
            let member = client.pause_agent(&id).await?;
            let next = format!("chorus member continue {}", line(&id));
            context
                .print
                .show(&member, |m| format!("{} is paused; let it go on with: {next}", one(m)))
        }
        Args::Continue { id } => {
            let id = lookup::known(&client, &id).await?;
            let member = client.continue_agent(&id).await?;
            context.print.show(&member, |member| format!("{} goes on", one(member)))
        }
    }
}

fn one(member: &Member) -> String {
    format!("@{} ({}, {})", line(&member.handle), member.kind.name(), line(&member.id))
}

fn list(members: &[Member]) -> String {
    let rows: Vec<_> = members
        .iter()
        .map(|member| {
            let mut notes: Vec<String> =
                member.roles.iter().map(|role| format!("@{}", line(role))).collect();
            if member.lead {
                notes.push("lead".to_owned());
            }
            if let Some(paused) = &member.paused {
                notes.push(format!("paused by {}", line(&paused.by)));
            }
            notes.extend(member.owner_id.iter().map(|owner| format!("of {}", line(owner))));
            vec![
                line(&member.id),
                member.kind.name().to_owned(),
                format!("@{}", line(&member.handle)),
                line(&member.display_name),
                notes.join(", "),
            ]
        })
        .collect();
    table("no members", &["ID", "KIND", "HANDLE", "NAME", "ROLES"], &rows)
}

fn identity(text: &str) -> std::result::Result<Identity, String> {
    match text.split_once(':') {
        Some((platform, id)) if !platform.is_empty() && !id.is_empty() => {
            Ok(Identity { platform: platform.to_owned(), id: id.to_owned() })
        }
        _ => Err("an identity is written PLATFORM:ID, as slack:U024BE7LH".to_owned()),
    }
}
