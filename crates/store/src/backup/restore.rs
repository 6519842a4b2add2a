//! Restores a data folder from a backup. The folder is made next to its place and moved there when
//! it is complete, so that an interrupted restore leaves no folder that a host would start on.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chorus_core::model::ids::Prefix;

use super::{BackupError, Manifest, Result, check, io_at, keys, sync};
use crate::db::Db;
use crate::postgres::Address;
use crate::sqlite::{Folder, Sqlite};
use crate::{Tenant, directory, membership, schema};

/// Makes the folder `data` from a backup. It must be absent or empty.
///
/// The workspace's epoch is increased, which voids the turns granted before. The restored database
/// does not know what happened after the backup, so it would issue the same fences again.
pub fn restore(file: &Path, data: &Path) -> Result<Manifest> {
    must_be_empty(data)?;
    let manifest = check(file)?;
    let beside = beside(data);
    // An interrupted restore may have left this behind.
    if beside.exists() {
        fs::remove_dir_all(&beside).map_err(io_at(&beside))?;
    }
    let made = fill(file, &beside).and_then(|()| settle(&beside, data));
    if made.is_err() {
        // The error is reported anyway; the next attempt removes leftovers too.
        let _ = fs::remove_dir_all(&beside);
    }
    made.map(|()| manifest)
}

/// A PostgreSQL database was restored to an earlier time by its own tools: voids the earlier turns,
/// as [`restore`] does for a folder. Returns the workspace's public id.
pub fn put_back(address: &Arc<Address>) -> Result<String> {
    let db = membership::writer(address, crate::db::Sync::Full)?;
    let db: &dyn Db = &db;
    schema::check(db, &schema::POSTGRES).map_err(|why| BackupError::Folder(why.to_string()))?;
    let none = || BackupError::Folder(format!("{address}: it holds no workspace"));
    let tenant = next_epoch(db)?.ok_or_else(none)?;
    // The others went back in time with it.
    let others = "SELECT workspace FROM workspace_name";
    for other in db.all(others, &[], |row| row.int::<i64>(0))? {
        raise_epoch(db, other)?;
    }
    // Whoever restores says by that which keys are right: those of the next host.
    let sql = "UPDATE workspace_owner SET keys = NULL WHERE workspace = $1";
    db.execute(sql, &[tenant.key.into()])?;
    Ok(tenant.uid.show(Prefix::Workspace))
}

/// Starts another epoch of the workspace: turns of the previous one are void.
fn next_epoch(db: &dyn Db) -> Result<Option<Tenant>> {
    let tenant = directory::tenant(db, Tenant::OWN)?;
    if let Some(tenant) = &tenant {
        raise_epoch(db, tenant.key)?;
    }
    Ok(tenant)
}

fn raise_epoch(db: &dyn Db, workspace: i64) -> Result<()> {
    let sql = "UPDATE workspace SET epoch = epoch + 1 WHERE workspace = $1";
    Ok(db.execute(sql, &[workspace.into()]).map(drop)?)
}

fn fill(file: &Path, folder: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io_at(folder))?;
    let database = Folder::database_in(folder);
    let mut copy = private(&database)?;
    let mut original = File::open(file).map_err(io_at(file))?;
    io::copy(&mut original, &mut copy).map_err(io_at(&database))?;
    drop(copy);
    let db = Sqlite::alone(&database)?;
    let db: &dyn Db = &db;
    let secrets = keys(db)?;
    db.begin()?;
    next_epoch(db)?;
    db.execute("DROP TABLE backup", &[])?;
    db.commit()?;
    sync(&database)?;
    if !secrets.is_empty() {
        let keys = folder.join("keys");
        DirBuilder::new().mode(0o700).create(&keys).map_err(io_at(&keys))?;
        for (name, bytes) in secrets {
            let plain = !name.starts_with('.') && !name.contains('/');
            if !plain {
                return Err(BackupError::Unfit(format!("a key in it has the name {name:?}")));
            }
            let path = keys.join(name);
            let mut key = private(&path)?;
            key.write_all(&bytes).and_then(|()| key.sync_all()).map_err(io_at(&path))?;
        }
        sync(&keys)?;
    }
    sync(folder)
}

fn private(path: &Path) -> Result<File> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    made.map_err(io_at(path))
}

/// Moves a folder that was made next to its place to its final name.
pub(crate) fn settle(beside: &Path, data: &Path) -> Result<()> {
    must_be_empty(data)?;
    fs::rename(beside, data).map_err(io_at(data))?;
    sync(parent(data))
}

pub(crate) fn must_be_empty(data: &Path) -> Result<()> {
    match fs::read_dir(data) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io_at(data)(error)),
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(BackupError::Folder(format!("{} is not empty", data.display()))),
        },
    }
}

/// Where the folder is made: in the same parent, so that moving it is one step.
pub(crate) fn beside(data: &Path) -> PathBuf {
    let mut name = data.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    parent(data).join(name)
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
