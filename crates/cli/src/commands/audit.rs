//! `chorus audit`: who did what to whom, when, and how it ended; `--verify` walks every chain, `--export` keeps a
//! copy with the signed ends.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_core::model::ids::Timestamp;
use chorus_wire::rest::audit::{Audit, AuditEntry, ListAudit};
use serde::Serialize;
use serde_json::json;

use super::{Context, doctor};
use crate::failure::{Failure, Result};
use crate::lookup;
use crate::print::{date, line, table};
use crate::values::span;

/// Entries asked for at once.
const PAGE: u32 = 1_000;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Whose acts, and acts about whom
    #[arg(long, value_name = "MEMBER")]
    member: Option<String>,
    /// What was done: claimed, message_posted, token_issued, …
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only of the last 90s, 15m, 24h or 7d
    #[arg(long, value_name = "SPAN", value_parser = span)]
    since: Option<Duration>,
    /// Only in this channel: title or ch_… id
    #[arg(long, value_name = "CHANNEL")]
    conversation: Option<String>,
    /// At most so many entries; all of them with --json
    #[arg(long, default_value_t = 1_000, value_name = "N", conflicts_with = "export")]
    limit: usize,
    /// Walk every chain of the data folder, and say where one breaks
    #[arg(long, conflicts_with_all = ["member", "kind", "since", "conversation", "export"])]
    verify: bool,
    /// Write the entries as JSON lines to a new file, the signed ends of all chains last
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if args.verify {
        return doctor::run(doctor::Args::default(), context).await;
    }
    let client = context.target.client()?;
    let query = ListAudit {
        member: args.member.map(|member| lookup::member(&member).to_owned()),
        kind: args.kind,
        conversation: match args.conversation {
            Some(name) => Some(lookup::conversation(&client, &name).await?),
            None => None,
        },
        since: args.since.map(ago).map(Into::into),
        after: None,
        limit: Some(PAGE),
    };
    match args.export {
        Some(path) => export(&client, query, &path, context).await,
        None => list(&client, query, args.limit, context).await,
    }
}

async fn list(client: &Client, mut query: ListAudit, limit: usize, context: &Context) -> Result {
    let mut all = Audit::default();
    loop {
        let page = client.audit(&query).await?;
        all.entries.extend(page.entries);
        let is_enough = !context.print.json && all.entries.len() >= limit;
        query.after = page.next;
        if query.after.is_none() || is_enough {
            break;
        }
    }
    let more = query.after.is_some() || all.entries.len() > limit;
    if context.print.json {
        return context.print.json(&all);
    }
    all.entries.truncate(limit);
    context.print.paged(&shown(&all.entries))?;
    if more {
        context.print.note(&format!(
            "the first {limit} entries; narrow them with --since, --member or --kind, or raise --limit"
        ));
    }
    Ok(())
}

/// The file is there whole, or not at all.
async fn export(client: &Client, mut query: ListAudit, path: &Path, context: &Context) -> Result {
    if path.exists() {
        let there = Failure::new(Code::Conflict, format!("{} exists", path.display()));
        return Err(there.next("name a new file"));
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".partial");
    let beside = PathBuf::from(beside);
    let failed = |e: std::io::Error| Failure::here(&format!("cannot write {}", path.display()), e);
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside);
    let mut out = BufWriter::new(file.map_err(failed)?);
    let mut count = 0;
    loop {
        let page = client.audit(&query).await?;
        for entry in &page.entries {
            put(&mut out, entry).map_err(failed)?;
        }
        count += page.entries.len();
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    put(&mut out, &client.heads().await?).map_err(failed)?;
    let file: File = out.into_inner().map_err(|e| failed(e.into_error()))?;
    file.sync_all().map_err(failed)?;
    std::fs::rename(&beside, path).map_err(failed)?;
    let written = json!({ "entries": count, "file": path });
    context.print.show(&written, |_| format!("{count} entries in {}", path.display()))
}

fn put(out: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

fn ago(span: Duration) -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(now.saturating_sub(span).as_millis()).unwrap_or(i64::MAX))
}

fn shown(entries: &[AuditEntry]) -> String {
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            let about = [&entry.subject, &entry.member, &entry.name];
            let about: Vec<_> = about.into_iter().flatten().map(|text| line(text)).collect();
            vec![
                date(entry.at.0),
                entry.by.as_deref().map_or_else(|| "the host".to_owned(), line),
                line(&entry.kind),
                about.join(" "),
                entry.refused.clone().unwrap_or_default(),
            ]
        })
        .collect();
    table("no entries fit", &["AT", "BY", "WHAT", "ABOUT", "REFUSED"], &rows)
}
