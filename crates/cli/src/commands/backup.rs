//! `chorus backup`: everything in one file, from the host that runs or from a folder without one.
//!
//! The file has its name only once it was read to its end and found whole; until then it is called
//! `….partial`, and no command takes it for a backup.

pub(super) mod all;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use chorus_core::model::error::Code;
use chorus_core::model::ids::Timestamp;
use chorus_server::backup::{self, BackupError, Manifest};
use chorus_server::objects;
use chorus_server::{Address, Place};
use serde_json::{Value, json};

use super::Context;
use super::serve::Database;
use crate::failure::{Failure, Result};
use crate::host::given;
use crate::print::date;
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The file to make, which must not be there; in a folder, one named after the time
    #[arg(value_name = "FILE")]
    to: PathBuf,
    /// Every workspace of the host, each in a file of its own, in a new folder
    #[arg(long, conflicts_with_all = ["keys", "url"])]
    all: bool,
    /// Put the keys into it: a folder restored from it honours the tokens of this one
    #[arg(long)]
    with_keys: bool,
    /// Where the keys are, when not in the data folder
    #[arg(long, env = "CHORUS_KEYS", value_name = "DIR")]
    keys: Option<PathBuf>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if args.all {
        return all::back_up(&args.to, args.with_keys, context).await;
    }
    let to = target(args.to);
    if to.exists() {
        return Err(there_already(&to));
    }
    let keys = if args.with_keys { keys(args.keys, context)? } else { Vec::new() };
    let made = whole(&to, &keys, From::Either, context).await?;
    context.print.show(&as_json(&to, &made), |_| as_text("backed up to", &to, &made))
}

fn there_already(to: &Path) -> Failure {
    let there = Failure::new(Code::Conflict, format!("{} is there already", to.display()));
    there.next("name another file, or move that one away")
}

/// Makes a backup, which has its name when it is complete.
async fn whole(
    to: &Path,
    keys: &[(String, Vec<u8>)],
    from: From,
    context: &Context,
) -> Result<Manifest> {
    let partial = beside(to);
    backup::remove(&partial);
    let made = make(&partial, keys, from, context).await.and_then(|manifest| {
        fs::rename(&partial, to).map_err(|e| at(to, e))?;
        sync_folder(to)?;
        Ok(manifest)
    });
    if made.is_err() {
        backup::remove(&partial);
    }
    made
}

/// What a backup is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// Of the host, if there is one, else of the folder.
    Either,
    Folder,
}

async fn make(
    partial: &Path,
    keys: &[(String, Vec<u8>)],
    from: From,
    context: &Context,
) -> Result<Manifest> {
    let progress = Progress::begin(context.print, "backing up", None);
    // A host elsewhere, or the one on the folder; without one the folder is read itself.
    let has_host = || given(&context.target.url).is_some() || context.target.url().is_ok();
    if from == From::Either && has_host() {
        backup::make(partial).map_err(failure)?;
        let file = OpenOptions::new().write(true).open(partial).map_err(|e| at(partial, e))?;
        let client = context.target.client()?;
        let mut out = progress.bytes.wrap_write(&file);
        client.backup(|bytes| out.write_all(bytes)).await?.map_err(|e| at(partial, e))?;
        file.sync_all().map_err(|e| at(partial, e))?;
    } else {
        let (place, _) = Database::default().place(context)?;
        if let Place::Postgres(address) = place {
            return Err(in_a_database(&address));
        }
        let now = Timestamp(jiff::Timestamp::now().as_millisecond());
        let (data, objects) = (context.target.data()?, Database::default().objects(context)?);
        // It reads files from the disk, and perhaps from the object store.
        let take = || backup::take(&data, partial, &*objects::of(&objects), now);
        tokio::task::block_in_place(take).map_err(failure)?;
    }
    if !keys.is_empty() {
        backup::add_keys(partial, keys).map_err(failure)?;
    }
    backup::check(partial).map_err(failure)
}

fn in_a_database(address: &Address) -> Failure {
    let elsewhere = Failure::new(Code::Conflict, format!("the workspace is in {address}"));
    elsewhere.next("back that up with pg_dump, or by its archive")
}

/// The key files of the host on this machine.
fn keys(folder: Option<PathBuf>, context: &Context) -> Result<Vec<(String, Vec<u8>)>> {
    let folder = match folder.filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => folder,
        None if given(&context.target.url).is_some() && context.target.data.is_none() => {
            let usage = Failure::usage("--with-keys reads the keys from this machine's disk");
            return Err(usage.next("give the host's --data, on its own machine"));
        }
        None => context.target.data()?.join("keys"),
    };
    let mut keys = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|e| at(&folder, e))? {
        let path = entry.map_err(|e| at(&folder, e))?.path();
        if let Some(name) = path.file_name().and_then(|n| n.to_str()).filter(|_| path.is_file()) {
            keys.push((name.to_owned(), fs::read(&path).map_err(|e| at(&path, e))?));
        }
    }
    keys.sort();
    match keys.is_empty() {
        true => Err(Failure::new(Code::NotFound, format!("no keys in {}", folder.display()))),
        false => Ok(keys),
    }
}

fn target(to: PathBuf) -> PathBuf {
    if !to.is_dir() {
        return to;
    }
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    to.join(format!("chorus-{now}.db"))
}

pub(crate) fn beside(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

pub(crate) fn at(path: &Path, error: std::io::Error) -> Failure {
    failure(BackupError::Io { path: path.to_owned(), error })
}

/// The file's new name is on the disk too.
pub(crate) fn sync_folder(file: &Path) -> Result {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| at(folder, e))
}

pub(crate) fn failure(error: BackupError) -> Failure {
    let message = error.to_string();
    match error {
        BackupError::Unfit(_) => Failure::new(Code::ValidationError, message).next(
            "use another backup; this one was not taken by `chorus backup`, or not kept well",
        ),
        BackupError::Folder(_) => Failure::new(Code::Conflict, message),
        BackupError::Io { ref error, .. } if error.kind() == std::io::ErrorKind::NotFound => {
            Failure::new(Code::NotFound, message)
        }
        _ => Failure::new(Code::Unavailable, message),
    }
}

pub(crate) fn as_json(path: &Path, manifest: &Manifest) -> Value {
    json!({
        "path": path,
        "workspace_id": manifest.workspace_id(),
        "workspace": manifest.name,
        "taken_at": chorus_wire::time::format(manifest.taken_at),
        "bytes": manifest.bytes,
        "conversations": manifest.report.conversations,
        "events": manifest.report.events,
        "keys": manifest.keys,
    })
}

pub(crate) fn as_text(did: &str, path: &Path, manifest: &Manifest) -> String {
    let keys = match manifest.keys.len() {
        0 => "without keys",
        _ => "WITH KEYS: whoever reads it can speak as anybody",
    };
    format!(
        "{did} {}: {} of {}, {} conversation(s), {} event(s), {} bytes, {keys}",
        path.display(),
        manifest.name,
        date(manifest.taken_at),
        manifest.report.conversations,
        manifest.report.events,
        manifest.bytes,
    )
}
