//! `chorus hosts`: which hosts are up, and which of them owns the workspace.

use chorus_wire::rest::hosts::{HostInfo, Hosts};

use super::Context;
use crate::failure::Result;
use crate::print::{date, table};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let hosts = context.target.client()?.hosts().await?;
    context.print.show(&hosts, list)
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
