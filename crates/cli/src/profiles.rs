//! Hosts that this user is signed in to, kept in the user's configuration folder.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;

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
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|e| {
                let what =
                    format!("{} is not as chorus login writes it: {}", path.display(), e.message());
                Failure::usage(what).next("remove it, and sign in again with: chorus login URL")
            }),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(Failure::here(&format!("cannot read {}", path.display()), e)),
        }
    }

    /// Keeps them where nobody else can read them; says where.
    pub(crate) fn write(&self) -> Result<PathBuf> {
        let path = path().ok_or_else(|| {
            Failure::usage("there is no home folder to keep the token in")
                .next("set HOME or XDG_CONFIG_HOME, or give --url and --token to each command")
        })?;
        let failed =
            |e: std::io::Error| Failure::here(&format!("cannot write {}", path.display()), e);
        let folder = path.parent().map(ToOwned::to_owned).unwrap_or_default();
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let text = toml::to_string(self).map_err(|e| Failure::here("cannot write profiles", e))?;
        let mut file =
            tempfile::Builder::new().prefix(".profiles").tempfile_in(&folder).map_err(failed)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
        file.persist(&path).map_err(|e| failed(e.error))?;
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

fn path() -> Option<PathBuf> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = given("XDG_CONFIG_HOME").or_else(|| Some(given("HOME")?.join(".config")))?;
    Some(folder.join("chorus/profiles.toml"))
}
