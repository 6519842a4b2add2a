//! `chorus workspace`: workspaces beside the host's own.

mod moving;
mod quota;

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_wire::rest::workspaces::{CreatedWorkspace, NewWorkspace, Workspace, WorkspaceList};
use clap::Subcommand;

use super::Context;
use crate::failure::{Failure, Result};
use crate::host::given;
use crate::print::{date, table};

/// Asked for at once.
const PAGE: u32 = 1_000;

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Make one, and print the link that signs its operator in
    Create {
        /// 2 to 40 of a-z, 0-9 and -, as in acme-labs
        name: String,
    },
    /// Which there are
    #[command(visible_alias = "ls")]
    List,
    /// Print another link that signs its operator in
    Signin { name: String },
    /// Keep everybody out; it stays as it is
    Suspend { name: String },
    /// Let everybody in again, also after `delete`
    Resume { name: String },
    /// Say what one may take, where that is not what the settings say; or show it
    Quota {
        name: String,
        #[command(flatten)]
        quota: quota::Args,
    },
    /// Bring it to another host, with everything in it; its tokens are good there
    Move {
        name: String,
        /// The other host's address
        #[arg(long, value_name = "URL")]
        to: String,
        /// The token of an operator there [default: that of `chorus login`]
        #[arg(long, env = "CHORUS_TO_TOKEN", hide_env_values = true, value_name = "TOKEN")]
        to_token: Option<String>,
    },
    /// Keep everybody out, and remove it for good after some days
    #[command(visible_alias = "rm")]
    Delete { name: String },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    match args {
        Args::Create { name } => {
            let made = client.create_workspace(&NewWorkspace { name }).await?;
            context.print.show(&made, |made| {
                format!("made the workspace {}\n{}", made.workspace.name, let_in(made))
            })
        }
        Args::List => {
            let all = all(&client).await?;
            context.print.show(&all, list)
        }
        Args::Signin { name } => context.print.show(&client.workspace_link(&name).await?, let_in),
        Args::Suspend { name } => {
            context.print.show(&client.suspend_workspace(&name, true).await?, one)
        }
        Args::Resume { name } => {
            context.print.show(&client.suspend_workspace(&name, false).await?, one)
        }
        Args::Quota { name, quota } => quota::run(&name, &quota, context).await,
        Args::Move { name, to, to_token } => {
            moving::run(&name, &to, given(&to_token), context).await
        }
        Args::Delete { name } => context.print.show(&client.delete_workspace(&name).await?, one),
    }
}

/// The one of this name.
async fn named(client: &Client, name: &str) -> Result<Workspace> {
    let found = all(client).await?.workspaces.into_iter().find(|one| one.name == name);
    found.ok_or_else(|| {
        let why = format!("this host has no workspace {name:?}");
        Failure::new(Code::NotFound, why).next("which there are: chorus workspace list")
    })
}

pub(super) async fn all(client: &Client) -> Result<WorkspaceList> {
    let mut all = WorkspaceList::default();
    loop {
        let after = all.workspaces.last().map_or("", |last| &last.name).to_owned();
        let page = client.workspaces(&after, PAGE).await?;
        all.workspaces.extend(page.workspaces);
        if !page.has_more {
            return Ok(all);
        }
    }
}

fn let_in(made: &CreatedWorkspace) -> String {
    format!(
        "  its address    {}\n  its operator   {}\n                 (signs in once, within ten minutes)",
        made.workspace.url, made.sign_in_url
    )
}

fn one(workspace: &Workspace) -> String {
    let name = &workspace.name;
    match workspace.removed_at {
        Some(at) => format!(
            "{name} is deleted, and removed for good at {}; until then: chorus workspace resume {name}",
            date(at.0)
        ),
        None => format!("{name} is {}", workspace.state),
    }
}

fn list(all: &WorkspaceList) -> String {
    let row = |one: &Workspace| {
        let now = match (&one.trouble, one.open, one.removed_at) {
            (Some(why), ..) => why.clone(),
            (None, _, Some(at)) => {
                let moved = one.moved_to.as_ref().map(|to| format!("moved to {to}, and "));
                format!("{}removed for good at {}", moved.unwrap_or_default(), date(at.0))
            }
            (None, true, None) => "in use".to_owned(),
            (None, false, None) => String::new(),
        };
        vec![one.name.clone(), one.state.clone(), date(one.created_at.0), one.url.clone(), now]
    };
    let rows: Vec<_> = all.workspaces.iter().map(row).collect();
    table("no workspaces", &["WORKSPACE", "STATE", "MADE", "ADDRESS", "NOW"], &rows)
}
