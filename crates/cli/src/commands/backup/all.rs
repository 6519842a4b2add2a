//! `chorus backup --all`: the workspaces of a host, each as a file in one folder; and the host's data folder made of such
//! a folder.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use chorus_core::model::error::Code;
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_server::Place;
use chorus_server::backup::{self, Manifest};
use serde_json::{Value, json};

use super::{From, as_json, as_text, at, failure, in_a_database, keys, there_already, whole};
use crate::commands::Context;
use crate::commands::serve::Database;
use crate::failure::{Failure, Result};

/// The file of the host's own workspace. No other can be called that.
const OWN: &str = "default.db";
/// The folder of the others, in the host's data folder.
const WORKSPACES: &str = "workspaces";

/// What was made of each workspace.
type Made = Vec<(PathBuf, Manifest)>;

pub(super) async fn back_up(to: &Path, with_keys: bool, context: &Context) -> Result {
    if let Place::Postgres(address) = Database::default().place(context)?.0 {
        return Err(in_a_database(&address));
    }
    let data = context.target.data()?;
    let to = if to.is_dir() {
        to.join(jiff::Timestamp::now().strftime("chorus-%Y%m%dT%H%M%SZ").to_string())
    } else {
        to.to_owned()
    };
    if to.exists() {
        return Err(there_already(&to));
    }
    // It has its name when it is complete.
    let partial = super::beside(&to);
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(|e| at(&partial, e))?;
    }
    DirBuilder::new().mode(0o700).create(&partial).map_err(|e| at(&partial, e))?;
    let made = each(&data, &partial, with_keys, context).await.and_then(|mut made| {
        fs::rename(&partial, &to).map_err(|e| at(&to, e))?;
        super::sync_folder(&to)?;
        for (path, _) in &mut made {
            *path = to.join(path.file_name().unwrap_or_default());
        }
        Ok(made)
    });
    if made.is_err() {
        // What went wrong is said anyway, and the next one removes it too.
        let _ = fs::remove_dir_all(&partial);
    }
    show("backed up to", &to, &made?, context)
}

async fn each(data: &Path, to: &Path, with_keys: bool, context: &Context) -> Result<Made> {
    let mut made = Vec::new();
    let others = names(&data.join(WORKSPACES), false)?;
    let all = [(OWN.to_owned(), data.to_owned())].into_iter().chain(
        others.into_iter().map(|name| (format!("{name}.db"), data.join(WORKSPACES).join(name))),
    );
    for (file, folder) in all {
        let target = crate::host::Target { data: Some(folder.clone()), ..context.target.clone() };
        let of_one = Context { target, print: context.print };
        let keys = if with_keys { keys(None, &of_one)? } else { Vec::new() };
        let path = to.join(file);
        let mut manifest = whole(&path, &keys, From::Either, &of_one).await;
        let is_other = folder != *data;
        // One that was deleted, or is at another host now, is to come back by nothing.
        if is_other && manifest.as_ref().is_err_and(|why| why.is(Code::NotFound)) {
            continue;
        }
        // Nobody is let into one that is suspended, and nobody holds its folder.
        if is_other && manifest.as_ref().is_err_and(|why| why.is(Code::Unavailable)) {
            manifest = whole(&path, &keys, From::Folder, &of_one).await.or(manifest);
        }
        let manifest = manifest.map_err(|failure| {
            failure.next(format!("that is of {}, and no backup was made", folder.display()))
        })?;
        made.push((path, manifest));
    }
    Ok(made)
}

/// The workspaces that a folder has, as folders or as files.
fn names(folder: &Path, files: bool) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|e| at(folder, e))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| at(folder, e))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let name = if files { name.strip_suffix(".db").map(str::to_owned) } else { Some(name) };
        let is_one = files || entry.path().join("chorus.db").is_file();
        names.extend(name.filter(|name| is_one && WorkspaceName::parse(name).is_ok()));
    }
    names.sort();
    Ok(names)
}

/// Makes a host's data folder of a folder of backups.
pub(crate) fn restore(from: &Path, data: &Path, context: &Context) -> Result {
    let own = from.join(OWN);
    if !own.is_file() {
        let why = format!(
            "{} has no {OWN}, and is no folder that `chorus backup --all` made",
            from.display()
        );
        return Err(Failure::new(Code::NotFound, why));
    }
    let mut made = vec![(data.to_owned(), backup::restore(&own, data).map_err(failure)?)];
    for name in names(from, true)? {
        let folder = data.join(WORKSPACES).join(&name);
        match backup::restore(&from.join(format!("{name}.db")), &folder) {
            Ok(manifest) => made.push((folder, manifest)),
            Err(why) => {
                // All of it, or nothing.
                let _ = fs::remove_dir_all(data);
                return Err(
                    failure(why).next(format!("that is of {name}, and nothing was restored"))
                );
            }
        }
    }
    show("restored to", data, &made, context)
}

fn show(did: &str, to: &Path, made: &Made, context: &Context) -> Result {
    let all: Vec<Value> = made.iter().map(|(path, one)| as_json(path, one)).collect();
    let shown = json!({ "path": to, "workspaces": all });
    context.print.show(&shown, |_| {
        let each = made.iter().map(|(path, one)| as_text(did, path, one));
        each.collect::<Vec<_>>().join("\n")
    })
}
