//! `chorus export`: the history of a workspace as lines of JSON, from the host that runs or from a folder
//! without one. As with a backup, the file has its name only once its last line is there.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use chorus_core::model::error::Code;
use chorus_core::model::ids::Timestamp;
use chorus_server::{Place, backup, history};
use serde_json::{Value, json};

use super::Context;
use super::backup::{at, beside, failure, sync_folder};
use super::serve::Database;
use crate::failure::{Failure, Result};
use crate::host::given;
use crate::print::line;
use crate::progress::Progress;

/// The last line is a few hundred bytes.
const TAIL: i64 = 4_096;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The file to make, which must not be there
    #[arg(value_name = "FILE")]
    to: PathBuf,
    /// Where the keys are, when not in the data folder; an export is signed
    #[arg(long, env = "CHORUS_KEYS", value_name = "DIR")]
    keys: Option<PathBuf>,
    #[command(flatten)]
    database: Database,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let to = &args.to;
    if to.exists() {
        let there = Failure::new(Code::Conflict, format!("{} is there already", to.display()));
        return Err(there.next("name another file, or move that one away"));
    }
    let partial = beside(to);
    backup::remove(&partial);
    let made = make(&partial, &args, context).await.and_then(|summary| {
        fs::rename(&partial, to).map_err(|e| at(to, e))?;
        sync_folder(to)?;
        Ok(summary)
    });
    if made.is_err() {
        backup::remove(&partial);
    }
    let mut made = made?;
    made["path"] = json!(to);
    context.print.show(&made, as_text)
}

async fn make(partial: &Path, args: &Args, context: &Context) -> Result<Value> {
    // What everybody said is its owner's alone.
    backup::make(partial).map_err(failure)?;
    let file = OpenOptions::new().write(true).open(partial).map_err(|e| at(partial, e))?;
    let progress = Progress::begin(context.print, "exporting", None);
    let mut out = BufWriter::new(progress.bytes.wrap_write(&file));
    if given(&context.target.url).is_some() || context.target.url().is_ok() {
        let client = context.target.client()?;
        client.export(|bytes| out.write_all(bytes)).await?.map_err(|e| at(partial, e))?;
    } else {
        let (place, data) = args.database.place(context)?;
        if matches!(place, Place::Folder { .. }) && !data.join("chorus.db").is_file() {
            let none = format!("{} holds no database", data.display());
            return Err(Failure::new(Code::NotFound, none).next("name a data folder with --data"));
        }
        let keys = args.keys.clone().filter(|keys| !keys.as_os_str().is_empty());
        let sign = history::Signing::open(&keys.unwrap_or_else(|| data.join("keys")));
        let sign = sign.map_err(|e| Failure::here("cannot sign", e))?;
        let now = Timestamp(jiff::Timestamp::now().as_millisecond());
        let objects = args.database.objects(context)?;
        tokio::task::block_in_place(|| history::export(&place, &sign, now, objects, &mut out))
            .map_err(|e| Failure::new(Code::Unavailable, format!("no export was made: {e}")))?;
    }
    out.flush().map_err(|e| at(partial, e))?;
    file.sync_all().map_err(|e| at(partial, e))?;
    summary(partial)
}

/// What the first and the last line say; one without a last line broke off.
fn summary(file: &Path) -> Result<Value> {
    let broke = || Failure::new(Code::Unavailable, "the export broke off; the host's log says why");
    let io = |e| at(file, e);
    let mut from = BufReader::new(File::open(file).map_err(io)?);
    let mut first = String::new();
    from.read_line(&mut first).map_err(io)?;
    let length = from.get_ref().metadata().map_err(io)?.len();
    let tail = i64::try_from(length).unwrap_or(TAIL).min(TAIL);
    from.seek(SeekFrom::End(-tail)).map_err(io)?;
    let mut last = Vec::new();
    from.read_to_end(&mut last).map_err(io)?;
    let last = last.strip_suffix(b"\n").ok_or_else(broke)?;
    let last = last.rsplit(|b| *b == b'\n').next().unwrap_or_default();
    let header: Value = serde_json::from_str(&first).map_err(|_| broke())?;
    let end: Value = serde_json::from_slice(last).map_err(|_| broke())?;
    let (header, end) = (&header["header"], &end["end"]);
    if end.is_null() {
        return Err(broke());
    }
    Ok(json!({
        "workspace_id": header["workspace_id"],
        "exported_at": header["exported_at"],
        "key": header["key"],
        "bytes": length,
        "members": end["members"],
        "conversations": end["conversations"],
        "events": end["events"],
    }))
}

fn as_text(made: &Value) -> String {
    line(&format!(
        "exported to {}: {} member(s), {} conversation(s), {} event(s), signed by {}",
        made["path"].as_str().unwrap_or_default(),
        made["members"],
        made["conversations"],
        made["events"],
        made["key"].as_str().unwrap_or_default(),
    ))
}
