//! What cargo knows about the packages: the workspace's own and everything they bring along.

use std::path::PathBuf;

use serde::Deserialize;

use crate::{repo, step};

/// The part of `cargo metadata` that tidy reads.
#[derive(Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    workspace_members: Vec<String>,
}

/// One package, of the workspace or from a registry.
#[derive(Deserialize)]
pub(super) struct Package {
    id: String,
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression; older crates write `A/B` for `A OR B`.
    pub(super) license: Option<String>,
    /// Where it came from; `None` for a folder of this checkout.
    pub(super) source: Option<String>,
    pub(super) dependencies: Vec<Dependency>,
    manifest_path: PathBuf,
}

impl Package {
    /// The folder of a package of this checkout, relative to the root.
    pub(super) fn folder(&self) -> Result<PathBuf, String> {
        let folder = self.manifest_path.parent().and_then(|at| at.strip_prefix(repo::root()).ok());
        folder.map(PathBuf::from).ok_or_else(|| format!("{}: not in this checkout", self.name))
    }
}

/// One line of a manifest's dependency tables.
#[derive(Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub(super) kind: Option<String>,
}

impl Metadata {
    /// The packages of this workspace.
    pub(super) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }
}

/// Asks cargo, without changing the lock file.
pub(super) fn load() -> Result<Metadata, String> {
    let output = step::command(repo::cargo(), &["metadata", "--locked", "--format-version", "1"])
        .output()
        .map_err(|e| format!("cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))
}
