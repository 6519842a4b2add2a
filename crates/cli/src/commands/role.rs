//! `chorus role`: named groups of members. A mention of one is answered by one of them.

use chorus_wire::rest::roles::Role;
use clap::Subcommand;
use serde_json::json;

use super::Context;
use crate::failure::Result;
use crate::lookup;
use crate::print::{line, table};

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Make a role, and put members into it
    Create { name: String, members: Vec<String> },
    /// The roles with their members
    #[command(visible_alias = "ls")]
    List,
    /// Put members into a role
    Add {
        name: String,
        #[arg(required = true)]
        members: Vec<String>,
    },
    /// Take members out of a role
    Remove {
        name: String,
        #[arg(required = true)]
        members: Vec<String>,
    },
    /// Delete a role
    Delete { name: String },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let name = match args {
        Args::Create { name, members } => {
            let members = lookup::members(&client, &members).await?;
            let name = client.add_role(lookup::member(&name)).await?.name;
            for member in &members {
                client.add_to_role(&name, member).await?;
            }
            name
        }
        Args::List => {
            let roles = client.roles().await?;
            return context.print.show(&roles, |all| list(&all.roles));
        }
        Args::Add { name, members } => {
            let name = lookup::member(&name).to_owned();
            for member in &lookup::members(&client, &members).await? {
                client.add_to_role(&name, member).await?;
            }
            name
        }
        Args::Remove { name, members } => {
            let name = lookup::member(&name).to_owned();
            for member in &members {
                client.remove_from_role(&name, lookup::member(member)).await?;
            }
            name
        }
        Args::Delete { name } => {
            let name = lookup::member(&name);
            client.remove_role(name).await?;
            return context
                .print
                .show(&json!({ "deleted": name }), |_| format!("deleted @{}", line(name)));
        }
    };
    let mut roles = client.roles().await?.roles;
    roles.retain(|role| role.name == name);
    match roles.first() {
        Some(role) => context.print.show(role, one),
        None => Ok(()),
    }
}

fn one(role: &Role) -> String {
    match members(role).as_str() {
        "" => format!("@{}: nobody yet", line(&role.name)),
        members => format!("@{}: {members}", line(&role.name)),
    }
}

fn members(role: &Role) -> String {
    role.members.iter().map(|member| line(member)).collect::<Vec<_>>().join(", ")
}

fn list(roles: &[Role]) -> String {
    let rows: Vec<_> =
        roles.iter().map(|role| vec![format!("@{}", line(&role.name)), members(role)]).collect();
    table(
        "no roles yet; make one with: chorus role create NAME MEMBER…",
        &["ROLE", "MEMBERS"],
        &rows,
    )
}
