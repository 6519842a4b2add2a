//! Hosts that this user is signed in to, kept in the user's configuration folder.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};

/// What `chorus login` has kept.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Profiles {
    /// The one that is used where nothing else is said.
    pub(crate) current: Option<String>,
    pub(crate) profiles: BTreeMap<String, Profile>,
}

/// One host, and who this user is there.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Profile {
    pub(crate) url: String,
    pub(crate) member: String,
    pub(crate) token: String,
}

impl std::fmt::Debug for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the token.
        f.debug_struct("Profile").field("url", &self.url).field("member", &self.member).finish()
    }
}

impl Profiles {
    pub(crate) fn read() -> Result<Self> {
        let Some(path) = path() else { return Ok(Self::default()) };
        match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|e| {
                let what =
                    format!("{} is not as chorus login writes it: {}", path.display(), e.message());
                Failure::usage(what).next("remove it, and sign in again with: chorus login URL")
            }),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(Failure::here(&format!("cannot read {}", path.display()), e)),
        }
    }

    /// Whether a change could be kept: they can be read, and written to their folder.
    pub(crate) fn can_change() -> Result {
        let path = place()?;
        let _held = hold(&path)?;
        Self::read()?;
        temporary(&path).map(drop)
    }

    /// Changes them, alone among the commands of this user, and keeps them where nobody else can read them; says where.
    pub(crate) fn change(change: impl FnOnce(&mut Self)) -> Result<PathBuf> {
        let path = place()?;
        let _held = hold(&path)?;
        let mut profiles = Self::read()?;
        change(&mut profiles);
        let text =
            toml::to_string(&profiles).map_err(|e| Failure::here("cannot write profiles", e))?;
        let mut file = temporary(&path)?;
        file.write_all(text.as_bytes()).map_err(|e| unwritten(&path, e))?;
        file.persist(&path).map_err(|e| unwritten(&path, e.error))?;
        Ok(path)
    }

    /// The one of this name, else the current one.
    pub(crate) fn chosen(&self, name: Option<&str>) -> Result<Option<&Profile>> {
        let Some(name) = name else {
            return Ok(self.current.as_ref().and_then(|name| self.profiles.get(name)));
        };
        if let Some(profile) = self.profiles.get(name) {
            return Ok(Some(profile));
        }
        let known: Vec<_> = self.profiles.keys().map(String::as_str).collect();
        let next = match known.as_slice() {
            [] => "sign in with: chorus login URL".to_owned(),
            known => format!("there are: {}", known.join(", ")),
        };
        Err(Failure::usage(format!("no profile is called {name:?}")).next(next))
    }
}

/// Held by the command that changes the profiles, beside them: they are replaced whole.
const LOCK_FILE: &str = "profiles.lock";

fn hold(path: &Path) -> Result<File> {
    let folder = folder(path);
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let held = made.and_then(|()| {
        let mut open = OpenOptions::new();
        let lock = open.create(true).truncate(false).write(true).mode(0o600);
        let lock = lock.open(folder.join(LOCK_FILE))?;
        lock.lock().map(|()| lock)
    });
    held.map_err(|e| unwritten(path, e))
}

fn temporary(path: &Path) -> Result<tempfile::NamedTempFile> {
    let made = tempfile::Builder::new().prefix(".profiles").tempfile_in(folder(path));
    made.map_err(|e| unwritten(path, e))
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

fn unwritten(path: &Path, why: std::io::Error) -> Failure {
    let failure = Failure::here(&format!("cannot write {}", path.display()), why);
    failure.next("mend that, or give --url and --token to each command")
}

fn place() -> Result<PathBuf> {
    path().ok_or_else(|| {
        Failure::usage("there is no home folder to keep the token in")
            .next("set HOME or XDG_CONFIG_HOME, or give --url and --token to each command")
    })
}

fn path() -> Option<PathBuf> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = given("XDG_CONFIG_HOME").or_else(|| Some(given("HOME")?.join(".config")))?;
    Some(folder.join("chorus/profiles.toml"))
}
