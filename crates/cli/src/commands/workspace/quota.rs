//! `chorus workspace quota`.

use chorus_wire::rest::workspaces::WorkspaceQuota;

use crate::commands::Context;
use crate::failure::Result;
use crate::print::table;

/// What is not named stays as it is.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Requests under way and connections at one time, or `default`
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    connections: Option<Said>,
    /// Requests in a second, 0 for no limit, or `default`
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    requests_per_second: Option<Said>,
    /// The burst of such requests, or `default`
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    requests_burst: Option<Said>,
    /// Time of one core in percent, 0 for no limit, or `default`
    #[arg(long, value_name = "PERCENT", value_parser = number)]
    cpu_percent: Option<Said>,
    /// Files and log entries in MiB, 0 for no limit, or `default`
    #[arg(long, value_name = "MIB", value_parser = number)]
    storage_mib: Option<Said>,
}

/// A number, or none for what the settings say.
#[derive(Clone, Copy, Debug)]
struct Said(Option<u32>);

fn number(text: &str) -> std::result::Result<Said, String> {
    if text == "default" {
        return Ok(Said(None));
    }
    let number = text.parse().map_err(|_| format!("a number up to {}, or `default`", u32::MAX));
    Ok(Said(Some(number?)))
}

pub(super) async fn run(name: &str, args: &Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let now = super::named(&client, name).await?;
    let before = now.quota.unwrap_or_default();
    let said = |said: Option<Said>, before: Option<u32>| said.map_or(before, |said| said.0);
    let quota = WorkspaceQuota {
        connections: said(args.connections, before.connections),
        requests_per_second: said(args.requests_per_second, before.requests_per_second),
        requests_burst: said(args.requests_burst, before.requests_burst),
        cpu_percent: said(args.cpu_percent, before.cpu_percent),
        storage_mib: args.storage_mib.map_or(before.storage_mib, |said| said.0.map(u64::from)),
    };
    let now = if quota == before { now } else { client.set_workspace_quota(name, &quota).await? };
    context.print.show(&now, |now| shown(&now.quota.unwrap_or_default()))
}

fn shown(quota: &WorkspaceQuota) -> String {
    let row = |what: &str, value: Option<u64>| {
        let value =
            value.map_or_else(|| "as the settings say".to_owned(), |value| value.to_string());
        vec![what.to_owned(), value]
    };
    let rows = [
        row("connections", quota.connections.map(u64::from)),
        row("requests_per_second", quota.requests_per_second.map(u64::from)),
        row("requests_burst", quota.requests_burst.map(u64::from)),
        row("cpu_percent", quota.cpu_percent.map(u64::from)),
        row("storage_mib", quota.storage_mib),
    ];
    table("", &["MAY TAKE", ""], &rows)
}
