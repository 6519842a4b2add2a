//! The runners of this user on this machine, by workspace and agent.

use std::fs;
use std::path::{Path, PathBuf};

use chorus_core::model::error::Code;
use chorus_harness::runner::home;

use crate::commands::join::folder_of;
use crate::failure::{Failure, Result};
use crate::lookup;
use crate::print::line;

/// So many of a workspace's last letters tell it from others.
const WORKSPACE: usize = 12;

/// Where what this user's programs must remember is: `$XDG_STATE_HOME/chorus`, by default below `~/.local/state`.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let set =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    state.map(|state| state.join("chorus"))
}

/// Where all of them are.
fn all() -> Result<PathBuf> {
    let why = "there is no folder for what a runner must remember";
    let state = state_folder().ok_or_else(|| {
        Failure::usage(why).next("set HOME, or XDG_STATE_HOME, to the path of a folder")
    })?;
    Ok(state.join("runs"))
}

/// The folder of one agent's runner.
pub(crate) fn folder(workspace: &str, agent: &str) -> Result<PathBuf> {
    // Sockets are in it, whose paths are short.
    let workspace = folder_of(workspace);
    let end = workspace.len().saturating_sub(WORKSPACE);
    Ok(all()?.join(&workspace[end..]).join(folder_of(agent)))
}

/// The folder of the runner of this name; of the only one where none is given.
pub(crate) fn find(agent: Option<&str>) -> Result<PathBuf> {
    let wanted = agent.map(|name| folder_of(lookup::member(name)));
    let mut found: Vec<PathBuf> = Vec::new();
    for workspace in folders(&all()?) {
        found.extend(folders(&workspace).into_iter().filter(|folder| {
            let name = folder.file_name();
            wanted.as_ref().is_none_or(|wanted| name.is_some_and(|name| name == wanted.as_str()))
        }));
    }
    found.retain(|folder| folder.join("run.json").is_file());
    if found.iter().any(|folder| home::holder(folder).is_some()) {
        found.retain(|folder| home::holder(folder).is_some());
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            let what = match agent {
                Some(name) => format!("{} does not run on this machine", line(name)),
                None => "nothing runs on this machine".to_owned(),
            };
            Err(Failure::new(Code::NotFound, what).next("start it with: chorus run codex"))
        }
        several => {
            let names: Vec<_> =
                several.iter().filter_map(|folder| folder.file_name()?.to_str()).collect();
            let why = format!("{} agents run on this machine", several.len());
            Err(Failure::new(Code::Conflict, why).next(format!("name one: {}", names.join(", "))))
        }
    }
}

fn folders(within: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(within).into_iter().flatten().flatten();
    let mut folders: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}
