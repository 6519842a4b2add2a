//! `chorus hosts`: which hosts are up, and which of them owns what.

use chorus_wire::rest::hosts::{HostInfo, Hosts};
use chorus_wire::rest::workspaces::{Workspace, WorkspaceList};

use super::{Context, workspace};
use crate::failure::Result;
use crate::print::{date, table};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Which of them owns each workspace beside the hosts' own that somebody uses, and why
    #[arg(long)]
    workspaces: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let hosts = client.hosts().await?;
    if !args.workspaces {
        return context.print.show(&hosts, list);
    }
    let mut all = workspace::all(&client).await?;
    all.workspaces.retain(|one| one.open);
    context.print.show(&all, |all| owners(all, &hosts))
}

fn owners(all: &WorkspaceList, hosts: &Hosts) -> String {
    let at = |one: &Workspace| {
        let host = hosts.hosts.iter().find(|host| host.id == one.host);
        host.map_or_else(String::new, |host| host.url.clone())
    };
    let row =
        |one: &Workspace| vec![one.name.clone(), at(one), one.why_host.clone().unwrap_or_default()];
    let rows: Vec<_> = all.workspaces.iter().map(row).collect();
    table("nobody uses a workspace beside the hosts' own", &["WORKSPACE", "HOST", "WHY"], &rows)
}

fn list(all: &Hosts) -> String {
    let row = |host: &HostInfo| {
        let does = match (host.owner, all.epoch) {
            (true, Some(epoch)) => format!("owns the workspace, epoch {epoch}"),
            (true, None) => "has the workspace in its folder".to_owned(),
            (false, _) => "passes requests on".to_owned(),
        };
        let owned = host.workspaces.map(|owned| owned.to_string());
        let lease = host.lease_ms.map(|ms| format!("{}.{} s", ms / 1_000, ms % 1_000 / 100));
        let since = host.since.map(|since| date(since.0));
        let version = host.version.clone();
        vec![
            host.url.clone(),
            does,
            owned.unwrap_or_default(),
            lease.unwrap_or_default(),
            since.unwrap_or_default(),
            version,
        ]
    };
    let rows: Vec<_> = all.hosts.iter().map(row).collect();
    table("no hosts", &["HOST", "DOES", "OWNED", "LEASE", "SINCE", "VERSION"], &rows)
}
