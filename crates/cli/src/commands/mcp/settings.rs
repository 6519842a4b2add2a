//! The settings file of a program: where it is, and the entry for Chorus in it.
//!
//! Invariant: a file that holds a token is readable for its owner alone, and is there whole or as it was before.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chorus_core::model::error::Code;
use serde_json::{Value, json};

use super::{Program, json_entry, toml_entry};
use crate::failure::{Failure, Result};

/// The name of the entry.
const NAME: &str = "chorus";
/// Links that are followed one after the other.
const LINKS: usize = 16;
/// Only its owner may read a file with a token.
const PRIVATE: u32 = 0o600;

/// What an entry says: the address, and the `Authorization` that is sent there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) url: String,
    pub(super) bearer: String,
}

/// A settings file as it is now.
#[derive(Debug)]
pub(super) struct Settings {
    program: Program,
    pub(super) path: PathBuf,
    /// None when there is no such file yet.
    text: Option<String>,
}

/// What is wrong with a file that is left as it is.
#[derive(Debug)]
pub(super) struct Unreadable(pub(super) String);

impl Entry {
    pub(super) fn new(url: String, token: &str) -> Self {
        Self { url, bearer: format!("Bearer {token}") }
    }

    /// The address of the host, and the token; none where it is named by a variable.
    pub(super) fn token(&self) -> Option<(&str, &str)> {
        let token = self.bearer.strip_prefix("Bearer ")?.trim();
        let is_written = !token.is_empty() && !token.starts_with('$');
        Some((self.host()?, token)).filter(|_| is_written)
    }

    /// The address of the host; none of an entry that leads to no Chorus.
    fn host(&self) -> Option<&str> {
        let ends = ["/v1/mcp", "/mcp/"].iter().filter_map(|path| self.url.find(path));
        Some(&self.url[..ends.min()?])
    }

    /// Whether it is somebody else's, who has taken our name for it.
    pub(super) fn is_foreign(&self) -> bool {
        self.host().is_none()
    }
}

impl Settings {
    pub(super) fn open(program: Program, named: Option<&Path>) -> Result<Self> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => program.path()?,
        };
        let path = named_by(&path)?;
        // A device or a pipe would be read for ever.
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            let no_file = Failure::new(Code::Conflict, format!("{} is no file", path.display()));
            return Err(no_file.next("name the settings file with --file"));
        }
        let text = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(Failure::here(&format!("cannot read {}", path.display()), e)),
        };
        Ok(Self { program, path, text })
    }

    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The entry that there is.
    pub(super) fn entry(&self) -> std::result::Result<Option<Entry>, Unreadable> {
        let Some(section) = self.program.section() else {
            let found = toml_entry::get(self.text(), NAME).map_err(Unreadable)?;
            return Ok(found.map(|(url, bearer)| Entry { url, bearer }));
        };
        let found = json_entry::get(self.text(), section, NAME).map_err(Unreadable)?;
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(found.map(|entry| Entry {
            url: word(entry.get("url").or(entry.get("httpUrl")).unwrap_or(&Value::Null)),
            bearer: word(&entry["headers"]["Authorization"]),
        }))
    }

    /// Held while the file is read and replaced: of two commands at once the second finds what the first wrote. It is the
    /// folder that is locked, since the file is replaced.
    pub(super) fn hold(&self) -> Result<File> {
        let hold = || {
            fs::create_dir_all(self.folder())?;
            let folder = File::open(self.folder())?;
            folder.lock().map(|()| folder)
        };
        let folder = self.folder().display();
        hold().map_err(|e| Failure::here(&format!("cannot use {folder}"), e))
    }

    fn folder(&self) -> &Path {
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new("."))
    }

    /// The text with this entry.
    pub(super) fn with(&self, entry: &Entry) -> std::result::Result<String, Unreadable> {
        let Entry { url, bearer } = entry;
        let put = match self.program.section() {
            None => toml_entry::put(self.text(), NAME, url, bearer),
            Some(section) => {
                json_entry::put(self.text(), section, NAME, &self.program.entry(url, bearer))
            }
        };
        put.map_err(Unreadable)
    }

    /// The text without the entry; none if it has none.
    pub(super) fn without(&self) -> std::result::Result<Option<String>, Unreadable> {
        let gone = match self.program.section() {
            None => toml_entry::remove(self.text(), NAME),
            Some(section) => json_entry::remove(self.text(), section, NAME),
        };
        gone.map_err(Unreadable)
    }

    /// Writes the file with a token in it.
    pub(super) fn write_private(&self, text: &str) -> Result {
        self.write(text, PRIVATE)
    }

    /// Writes the file for whom could read it before.
    pub(super) fn write_as_before(&self, text: &str) -> Result {
        let mode =
            fs::metadata(&self.path).map_or(PRIVATE, |found| found.permissions().mode() & 0o777);
        self.write(text, mode)
    }

    fn write(&self, text: &str, mode: u32) -> Result {
        let write = || {
            fs::create_dir_all(self.folder())?;
            let mut file = tempfile::NamedTempFile::new_in(self.folder())?;
            file.write_all(text.as_bytes())?;
            file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map_err(|e| e.error)
        };
        let written = write();
        written
            .map(drop)
            .map_err(|e| Failure::here(&format!("cannot write {}", self.path.display()), e))
    }

    /// Whether it is in a checkout, where it may be committed by mistake.
    pub(super) fn is_in_checkout(&self) -> bool {
        let path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        path.ancestors().skip(1).any(|folder| folder.join(".git").exists())
    }
}

/// The file that a path names: a link stays a link, and what it names is written, also if it is not there yet.
fn named_by(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&path) else {
            return Ok(fs::canonicalize(&path).unwrap_or(path));
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    let loops = format!("{} is a link that leads to itself", path.display());
    Err(Failure::new(Code::Conflict, loops).next("name the settings file with --file"))
}

/// A program's folder: what this variable says, or this folder of the user's.
pub(super) fn folder(variable: &str, name: &str) -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = Some(variable).filter(|name| !name.is_empty()).and_then(set) {
        return Ok(PathBuf::from(folder));
    }
    let missing = || {
        let why = Failure::usage("there is no HOME to look for the program's settings in");
        why.next("name the file with --file")
    };
    Ok(PathBuf::from(set("HOME").ok_or_else(missing)?).join(name))
}

impl Program {
    /// The file that the program reads.
    fn path(self) -> Result<PathBuf> {
        Ok(match self {
            Self::Codex => folder("CODEX_HOME", ".codex")?.join("config.toml"),
            Self::Claude => folder("CLAUDE_CONFIG_DIR", "")?.join(".claude.json"),
            Self::Gemini => folder("", ".gemini")?.join("settings.json"),
            Self::Cursor => folder("", ".cursor")?.join("mcp.json"),
            Self::Vscode => PathBuf::from(".vscode/mcp.json"),
            Self::Stdio => {
                let why = Failure::usage("the settings of a program of any kind are not known");
                return Err(why.next("see what to write: chorus mcp config --for stdio"));
            }
        })
    }

    /// The member of a JSON file that has the servers; none where the file is TOML.
    pub(super) fn section(self) -> Option<&'static str> {
        match self {
            Self::Codex => None,
            Self::Vscode => Some("servers"),
            _ => Some("mcpServers"),
        }
    }

    /// The entry of a JSON file.
    pub(super) fn entry(self, url: &str, bearer: &str) -> Value {
        let headers = json!({ "Authorization": bearer });
        match self {
            Self::Gemini => json!({"httpUrl": url, "headers": headers}),
            Self::Cursor => json!({"url": url, "headers": headers}),
            _ => json!({"type": "http", "url": url, "headers": headers}),
        }
    }

    /// The name of the agent that works in the program, unless another is given.
    pub(crate) fn agent(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Stdio => "agent",
        }
    }

    /// What to type next.
    pub(super) fn next(self, channel: Option<&str>) -> String {
        let ask = match channel {
            Some(channel) => format!("What is new in {channel} of chorus?"),
            None => "Which channels of chorus can you see?".to_owned(),
        };
        match self {
            Self::Codex | Self::Claude => format!("{} \"{ask}\"", self.agent()),
            Self::Gemini => format!("gemini -i \"{ask}\""),
            Self::Cursor => format!("open Cursor and ask: {ask}"),
            _ => format!("open this folder in Visual Studio Code and ask: {ask}"),
        }
    }
}
