//! Which host a command talks to, and as whom.
//!
//! A running host leaves `host.json` (its address and process) and `operator.token` in its data folder, so
//! that a command beside it needs nothing but the folder; `--url` and `--token` reach one elsewhere. What
//! is not said by a flag or `CHORUS_*` comes from `chorus.toml`.
//!
//! Invariants: in a folder that is a workspace no command goes to another host by itself; and a folder's `host.json` is
//! believed only while a host holds that folder, since folders come from elsewhere too.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_server::config::basics::Basics;
use chorus_server::config::load::{Loaded, Mistake, Written, load};
use clap::Args;
use nix::sys::signal::kill;
use nix::unistd::{Pid, Uid};
use serde::Deserialize;

use crate::failure::{Failure, Result};
use crate::profiles::{Profile, Profiles};

/// Where a running host says how it is reached, in its data folder.
pub(crate) const HOST_FILE: &str = "host.json";
pub(crate) const CONFIG: &str = "chorus.toml";
/// What a running host holds locked in its data folder.
const LOCK_FILE: &str = "lock";
/// A data folder with one of these is a host's, also while it does not run.
const MARKS: [&str; 3] = ["chorus.db", "keys", HOST_FILE];
const HEADING: &str = "Which host, and how to print";

/// The options every command has.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Target {
    /// The host's data folder [env: CHORUS_DATA] [default: ./chorus-data]
    #[arg(long, global = true, help_heading = HEADING, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The host's address, when it is not the one of the data folder
    #[arg(long, global = true, help_heading = HEADING, env = "CHORUS_URL", value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A token; without it the operator's of the data folder is used
    #[arg(long, global = true, help_heading = HEADING, env = "CHORUS_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// A host that `chorus login` keeps, by its name [default: the one signed in to last]
    #[arg(long, global = true, help_heading = HEADING, env = "CHORUS_PROFILE", value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Settings [default: chorus.toml, when it is there]
    #[arg(long, global = true, help_heading = HEADING, env = "CHORUS_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Authorities whose certificates are trusted too, in PEM, for a host with a certificate of your own
    #[arg(long, global = true, help_heading = HEADING, env = "CHORUS_CA", value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true, help_heading = HEADING)]
    pub(crate) json: bool,
    /// Print more: codes and request ids of errors, and who was told of each event
    #[arg(long, short, global = true, help_heading = HEADING)]
    pub(crate) verbose: bool,
}

/// What a running host says of itself in its folder.
#[derive(Debug, Deserialize)]
struct HostFile {
    url: String,
    pid: i32,
}

impl Target {
    /// The settings file: the one named, which must be there, or `chorus.toml` if it is; and its text.
    pub(crate) fn file(&self) -> Result<Option<(String, String)>> {
        let (path, named) = match given_path(&self.config) {
            Some(path) => (path, true),
            None => (Path::new(CONFIG), false),
        };
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Some((path.display().to_string(), text))),
            Err(e) if !named && e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Failure::usage(format!("{}: {e}", path.display()))),
        }
    }

    /// The settings: the file, then the environment, then these flags (path, value, and how it was written).
    pub(crate) fn settings(
        &self,
        mut flags: Vec<(String, String, String)>,
    ) -> Result<std::result::Result<Loaded, Vec<Mistake>>> {
        if let Some(data) = given_path(&self.data) {
            let data = data.display().to_string();
            flags.push(("data".to_owned(), data, "--data".to_owned()));
        }
        let file = self.file()?;
        let file = file.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        Ok(load(&Written { file, variables: variables(), flags }))
    }

    /// Trusts the authorities that were named, for all that this command does.
    pub(crate) fn trust(&self) -> Result {
        let Some(path) = given_path(&self.ca) else { return Ok(()) };
        let wrong = |why: String| Failure::usage(format!("--ca {}: {why}", path.display()));
        let pem = std::fs::read(path).map_err(|e| wrong(e.to_string()))?;
        chorus_client::trust(&pem).map_err(|e| wrong(e.to_string()))
    }

    /// The data folder: the flag, the variable, else what `chorus.toml` says. No other setting of the host is read, so that
    /// a mistake in them stops no client.
    pub(crate) fn data(&self) -> Result<PathBuf> {
        if let Some(data) = given_path(&self.data) {
            return Ok(data.to_owned());
        }
        if let Some(data) = std::env::var_os("CHORUS_DATA").filter(|data| !data.is_empty()) {
            return Ok(data.into());
        }
        let file = self.file()?.and_then(|(_, text)| text.parse::<toml::Table>().ok());
        let data = file.as_ref().and_then(|file| file.get("data")?.as_str());
        Ok(data.map_or_else(|| Basics::default().data, PathBuf::from))
    }

    /// The address of the host.
    pub(crate) fn url(&self) -> Result<String> {
        if let Some(url) = given(&self.url) {
            return Ok(url.to_owned());
        }
        match self.kept()? {
            Some(profile) => Ok(profile.url),
            None => self.running(),
        }
    }

    /// The profile that is meant: the one named; else the current one, where the folder at hand is no workspace.
    fn kept(&self) -> Result<Option<Profile>> {
        let name = given(&self.profile);
        if name.is_none() && (self.names_a_folder() || self.is_in_workspace()?) {
            return Ok(None);
        }
        Ok(Profiles::read()?.chosen(name)?.cloned())
    }

    fn names_a_folder(&self) -> bool {
        let variable = std::env::var_os("CHORUS_DATA");
        given_path(&self.data).is_some() || variable.is_some_and(|data| !data.is_empty())
    }

    /// Whether the folder at hand is a workspace, whose host is meant here even if it does not run. One that cannot be
    /// looked into may be.
    pub(crate) fn is_in_workspace(&self) -> Result<bool> {
        let data = self.data()?;
        let is_there = |mark: &str| data.join(mark).try_exists().unwrap_or(true);
        Ok(self.file()?.is_some() || MARKS.iter().any(|mark| is_there(mark)))
    }

    /// The address of the host that runs on the data folder.
    fn running(&self) -> Result<String> {
        let data = self.data()?;
        let is_named = self.names_a_folder() || given_path(&self.config).is_some();
        if let Some(url) = running_at(&data, is_named)? {
            return Ok(url);
        }
        let shown = data.display();
        let next = if self.names_a_folder() {
            format!("start one with: chorus serve --data {shown}")
        } else if self.is_in_workspace()? {
            let current = Profiles::read().ok().and_then(|profiles| profiles.current);
            let other = match &current {
                Some(name) => format!("or take the host you are signed in to: --profile {name}"),
                None => {
                    "or sign in to one elsewhere (chorus login LINK) and name it: --profile NAME"
                        .to_owned()
                }
            };
            format!("start it with: chorus serve, {other}")
        } else {
            let start = format!("start one with: chorus serve --data {shown}");
            format!(
                "{start}, or sign in to one elsewhere with: chorus login LINK (`chorus signin` prints the link there)"
            )
        };
        let message = format!("no host runs on {shown}");
        Err(Failure::new(Code::Unavailable, message).next(next))
    }

    /// The token of the flag or the variable.
    pub(crate) fn given_token(&self) -> Option<String> {
        given(&self.token).map(str::to_owned)
    }

    /// The token given; in a runtime's turn, the turn's own.
    fn token(&self) -> Option<String> {
        let given = given(&self.token).map(str::to_owned);
        given.or_else(|| std::env::var("CHORUS_TURN_TOKEN").ok().filter(|token| !token.is_empty()))
    }

    /// The host, as whoever the token says. A folder's operator token is never sent to another address
    /// unless both were named.
    pub(crate) fn client(&self) -> Result<Client> {
        let url = self.url()?;
        let kept = if given(&self.url).is_some() { None } else { self.kept()? };
        let token = match self.token().or(kept.map(|profile| profile.token)) {
            Some(token) => token,
            None if given(&self.url).is_some() && given_path(&self.data).is_none() => {
                let missing = Failure::new(Code::Unauthorized, "--url needs a token");
                return Err(missing.next("give --token or CHORUS_TOKEN, or the host's --data"));
            }
            None => operator_token(&self.data()?)?,
        };
        Ok(Client::new(&url, token)?)
    }

    /// The host, as its operator.
    pub(crate) fn operator(&self) -> Result<Client> {
        let data = self.data()?;
        let url = given(&self.url).map_or_else(|| self.running(), |url| Ok(url.to_owned()))?;
        Ok(Client::new(&url, operator_token(&data)?)?)
    }
}

/// The environment, as far as it is text.
pub(crate) fn variables() -> Vec<(String, String)> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("CHORUS_"))
        .collect()
}

/// All mistakes of the settings as one failure.
pub(crate) fn mistaken(mistakes: Vec<Mistake>) -> Failure {
    let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    let failure = Failure::usage(told.join("\n"));
    failure.next("chorus config check says it line by line, docs/settings.md has all settings")
}

/// The address of the host that runs on a folder, if one does. What the file says is believed while a host holds the folder's
/// lock; and where nobody named the folder, if the file is this user's or root's.
pub(crate) fn running_at(data: &Path, is_named: bool) -> Result<Option<String>> {
    if let Some((host, name)) = beside(data) {
        return Ok(running_at(host, is_named)?.map(|url| format!("{url}/w/{name}")));
    }
    let path = data.join(HOST_FILE);
    let (mut text, owner) = match File::open(&path) {
        Ok(file) => {
            let owner = file.metadata().map(|found| found.uid());
            (file, owner.map_err(|e| unreadable(&path, e))?)
        }
        Err(e) if e.kind() == ErrorKind::PermissionDenied => return Err(not_yours(&path)),
        Err(_) => return Ok(None),
    };
    let mut said = String::new();
    text.read_to_string(&mut said).map_err(|e| unreadable(&path, e))?;
    let Ok(host) = serde_json::from_str::<HostFile>(&said) else { return Ok(None) };
    // One that was killed has left its file behind.
    let is_alive = !matches!(kill(Pid::from_raw(host.pid), None), Err(nix::errno::Errno::ESRCH));
    if !is_alive || !is_held(data) {
        return Ok(None);
    }
    if !is_named && owner != Uid::effective().as_raw() && owner != 0 {
        return Err(not_yours(&path));
    }
    Ok(Some(host.url))
}

/// The data folder of the host that serves a workspace from a folder in its own, and the workspace's name, which a key
/// follows where hosts share a database.
fn beside(data: &Path) -> Option<(&Path, &str)> {
    let folder = data.parent().filter(|folder| folder.ends_with("workspaces"))?;
    let host = folder.parent()?;
    let host = if host.as_os_str().is_empty() { Path::new(".") } else { host };
    host.join(HOST_FILE).exists().then_some((host, data.file_stem()?.to_str()?))
}

/// Whether a host holds the folder. A link is no lock of this folder.
fn is_held(data: &Path) -> bool {
    let lock = data.join(LOCK_FILE);
    let is_file = std::fs::symlink_metadata(&lock).is_ok_and(|found| found.is_file());
    let Some(lock) = is_file.then(|| File::open(&lock).ok()).flatten() else { return false };
    // Shared: two commands that look at once are no hosts to each other.
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Refuses a data folder that another user keeps for itself.
pub(crate) fn must_be_open(data: &Path) -> Result {
    for file in ["", LOCK_FILE, "chorus.db"] {
        let path = data.join(file);
        let opened = if file.is_empty() {
            std::fs::read_dir(data).map(drop)
        } else {
            File::open(&path).map(drop)
        };
        if opened.is_err_and(|e| e.kind() == ErrorKind::PermissionDenied) {
            return Err(not_yours(&path));
        }
    }
    Ok(())
}

fn unreadable(path: &Path, why: std::io::Error) -> Failure {
    Failure::here(&format!("cannot read {}", path.display()), why)
}

/// The folder is another user's.
fn not_yours(path: &Path) -> Failure {
    let message = format!("permission denied: {} is another user's", path.display());
    Failure::new(Code::InsufficientAuthority, message)
        .next("run this as the user of the host, or ask its operator for a token and give --url and --token")
}

fn operator_token(data: &Path) -> Result<String> {
    let path = data.join("operator.token");
    let token = std::fs::read_to_string(&path).map_err(|e| {
        if e.kind() == ErrorKind::PermissionDenied {
            return not_yours(&path);
        }
        let message = format!("cannot read the operator's token {}: {e}", path.display());
        Failure::new(Code::Unauthorized, message).next("give --token or CHORUS_TOKEN")
    })?;
    Ok(token.trim().to_owned())
}

/// An empty value of the environment is none.
pub(crate) fn given(value: &Option<String>) -> Option<&str> {
    value.as_deref().filter(|value| !value.is_empty())
}

fn given_path(value: &Option<PathBuf>) -> Option<&Path> {
    value.as_deref().filter(|value| !value.as_os_str().is_empty())
}
