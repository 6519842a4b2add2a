//! The extent of the database, recorded in a file next to it. It proves that a database has lost
//! its end.
//!
//! SQLite silently treats the first incomplete frame of a write-ahead log as its end. If the disk
//! changes one byte in the middle, everything committed after it is lost, and the rest looks
//! consistent. The file `newest` records how many entries all logs have in total, and how many
//! blocks the audit log has. A database with fewer has lost committed data.
//!
//! Invariant: the file is never ahead of synced data. It is written in place after the commit that
//! it counts has returned, and synced only at a checkpoint. So it may lag behind, by one commit
//! after a crash and by more after a power cut. That proves nothing and does no harm.
//!
//! It belongs to a database file. PostgreSQL checks its own log and stops at damage.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use chorus_core::model::audit::Record;
use chorus_core::model::ids::{Timestamp, Uid};
use sha2::{Digest, Sha256};

use crate::db::{Db, Error, Result};
use crate::repair::part::Part;
use crate::{Place, Tenant, audit, directory};

/// Its name in a data folder.
const NAME: &str = "newest";
/// Its first bytes. A program that knows another format treats the file as absent.
const MAGIC: &[u8; 16] = b"chorus newest 1\n";
/// Magic, workspace, two counts and a checksum: well within one sector, which a disk writes
/// atomically.
const BYTES: usize = 16 + 16 + 8 + 8 + 16;

/// How much a workspace has committed. Neither number ever decreases, and retention does not change
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Entries of all logs, including dropped ones.
    pub(crate) entries: u64,
    /// Blocks of the audit log.
    pub(crate) blocks: u64,
}

/// What a database should have and does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    noted: Extent,
    found: Extent,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { noted, found } = self;
        let missing = |noted: u64, found: u64| (noted.saturating_sub(found), noted);
        let ((entries, of), (blocks, in_all)) =
            (missing(noted.entries, found.entries), missing(noted.blocks, found.blocks));
        write!(
            f,
            "the database ends before it should: {entries} of the {of} entries of its logs that were committed, and \
             {blocks} of the {in_all} blocks of its audit log, are not in it. Its write-ahead log chorus.db-wal was \
             damaged or cut, or an older copy stands in its place"
        )
    }
}

/// The file, kept open by the host that writes it.
pub(crate) struct Newest {
    path: PathBuf,
    workspace: Uid,
    extent: Extent,
    /// None until the first commit: what a host finds at its start may not be synced.
    file: Option<File>,
    failed: bool,
}

impl Newest {
    pub(crate) fn new(data: &Path, workspace: Uid, extent: Extent) -> Self {
        Self { path: data.join(NAME), workspace, extent, file: None, failed: false }
    }

    /// Records that this many more entries are committed, and possibly the new length of the audit
    /// log.
    pub(crate) fn committed(&mut self, entries: u64, blocks: Option<u64>) {
        self.extent.entries += entries;
        self.extent.blocks = blocks.unwrap_or(self.extent.blocks);
        // If it cannot be written it lags behind, and the host continues without it.
        if let Err(why) = self.write()
            && !std::mem::replace(&mut self.failed, true)
        {
            let path = self.path.display();
            tracing::warn!(%why, %path, "the extent of the database could not be recorded");
        }
    }

    /// Syncs the file.
    pub(crate) fn sync(&self) {
        if let Some(Err(why)) = self.file.as_ref().map(File::sync_data) {
            tracing::warn!(%why, path = %self.path.display(), "it cannot be synced");
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(private(&self.path)?),
        };
        file.write_all_at(&encode(self.workspace, self.extent), 0)
    }
}

/// What the database in a folder should have and does not, as far as that is known.
pub(crate) fn lost(place: &Place) -> Result<Option<Lost>> {
    let Place::Folder { data, .. } = place else { return Ok(None) };
    // Read before the database, which may grow meanwhile.
    let Some((workspace, noted)) = read(&data.join(NAME)) else { return Ok(None) };
    // Read-only: the log stays unchanged, in case something can be recovered from it.
    let db = place.reader()?;
    let db: &dyn Db = &*db;
    let found = match tenant(db)? {
        Some(tenant) if tenant.uid != workspace => return Ok(None),
        Some(tenant) => extent(db, tenant.key)?,
        None => Some(Extent::default()),
    };
    let Some(found) = found else { return Ok(None) };
    let less = found.entries < noted.entries || found.blocks < noted.blocks;
    Ok(less.then_some(Lost { noted, found }))
}

/// Accepts the loss: the workspace continues with what the database has. Turns that were granted in
/// the lost part are void, as after a restore, because their fences would be issued again.
///
/// The file, which proves the loss, is written last: after an earlier failure the loss is found
/// again.
pub(crate) fn accept(
    data: &Path,
    db: &dyn Db,
    tenant: Option<&Tenant>,
    now: Timestamp,
) -> Result<()> {
    if let Some(tenant) = tenant {
        let record = Record::repaired(now, None, Part::LogEnd.name());
        db.begin()?;
        let end = audit::head(db, tenant.key)?;
        audit::append(db, tenant.key, &end, now, &[record])?;
        let sql = "UPDATE workspace SET epoch = epoch + 1 WHERE workspace = $1";
        db.execute(sql, &[tenant.key.into()])?;
        db.flush()?;
        db.commit()?;
    }
    set(data, db)
}

/// Records the database's present extent, whatever was recorded.
pub(crate) fn set(data: &Path, db: &dyn Db) -> Result<()> {
    let failed = |why: io::Error| Error::Engine(format!("{NAME}: {why}"));
    let path = data.join(NAME);
    let Some(tenant) = tenant(db)? else { return remove(&path).map_err(failed) };
    let Some(extent) = extent(db, tenant.key)? else { return remove(&path).map_err(failed) };
    let mut newest = Newest::new(data, tenant.uid, extent);
    newest.write().map_err(failed)?;
    newest.sync();
    Ok(())
}

/// A host that does not sync its commits records nothing, because the file could be ahead of them.
pub(crate) fn forget(data: &Path) {
    if let Err(why) = remove(&data.join(NAME)) {
        tracing::warn!(%why, "{NAME} cannot be removed");
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
        _ => Ok(()),
    }
}

/// The extent of the database; none where a part of it cannot be read. Such damage is found with
/// its conversation. It proves no loss and must not keep the other conversations from being served.
pub(crate) fn extent(db: &dyn Db, workspace: i64) -> Result<Option<Extent>> {
    match count(db, workspace) {
        Ok(extent) => Ok(Some(extent)),
        Err(why @ (Error::Corrupt(_) | Error::Engine(_))) => {
            tracing::warn!(%why, "the extent of the database cannot be counted, so a loss would not be detected");
            Ok(None)
        }
        Err(why) => Err(why),
    }
}

fn count(db: &dyn Db, workspace: i64) -> Result<Extent> {
    // An older schema has neither log snapshots nor an audit log.
    let base = match has(db, "base")? {
        true => {
            "coalesce((SELECT b.seq FROM base b
                WHERE b.workspace = k.workspace AND b.conversation = k.conversation), 0)"
        }
        false => "0",
    };
    let sql = format!(
        "SELECT sum(max({base},
            coalesce((SELECT h.seq FROM head h
                WHERE h.workspace = k.workspace AND h.conversation = k.conversation), 0),
            coalesce((SELECT max(e.seq) FROM event e
                WHERE e.workspace = k.workspace AND e.conversation = k.conversation), 0)))
        FROM (SELECT workspace, conversation FROM conversation WHERE workspace = $1
            UNION SELECT workspace, conversation FROM head WHERE workspace = $1) k"
    );
    let entries = db.one(&sql, &[workspace.into()], |row| row.maybe_int(0))?;
    let blocks = if has(db, "audit")? { audit::head(db, workspace)?.block } else { 0 };
    Ok(Extent { entries: entries.flatten().unwrap_or(0), blocks })
}

/// Whether the file exists, valid or not: then there is or was a workspace next to it.
pub(crate) fn is_there(data: &Path) -> bool {
    data.join(NAME).exists()
}

/// Whether a database contains no workspace.
pub(crate) fn is_without(place: &Place) -> Result<bool> {
    let db = place.reader()?;
    Ok(tenant(&*db)?.is_none())
}

/// None in a database that has lost everything, even its tables.
fn tenant(db: &dyn Db) -> Result<Option<Tenant>> {
    if has(db, "workspace")? { directory::tenant(db, Tenant::OWN) } else { Ok(None) }
}

/// Whether the table exists.
pub(crate) fn has(db: &dyn Db, table: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = $1";
    Ok(db.one(sql, &[table.into()], |_| Ok(()))?.is_some())
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn encode(workspace: Uid, extent: Extent) -> [u8; BYTES] {
    let mut out = [0; BYTES];
    out[..16].copy_from_slice(MAGIC);
    out[16..32].copy_from_slice(&workspace.0.to_be_bytes());
    out[32..40].copy_from_slice(&extent.entries.to_be_bytes());
    out[40..48].copy_from_slice(&extent.blocks.to_be_bytes());
    let sum = Sha256::digest(&out[..48]);
    out[48..].copy_from_slice(&sum[..16]);
    out
}

/// None when the file is absent or invalid: then it proves nothing.
fn read(path: &Path) -> Option<(Uid, Extent)> {
    let mut bytes = [0; BYTES];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    match read {
        Ok(()) => {}
        Err(why) if why.kind() == ErrorKind::NotFound => return None,
        Err(why) => {
            tracing::warn!(%why, path = %path.display(), "it cannot be read and is not used for comparison");
            return None;
        }
    }
    let array = |from: usize| bytes[from..].first_chunk::<8>().map(|b| u64::from_be_bytes(*b));
    let workspace = Uid(u128::from_be_bytes(*bytes[16..].first_chunk::<16>()?));
    let extent = Extent { entries: array(32)?, blocks: array(40)? };
    (encode(workspace, extent) == bytes).then_some((workspace, extent))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // covers: OPS-441
    #[test]
    fn what_is_noted_is_read_back_and_what_is_not_whole_proves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        assert_eq!(read(&path), None);
        let mut newest = Newest::new(folder.path(), Uid(7), Extent { entries: 5, blocks: 2 });
        assert_eq!(read(&path), None, "nothing was committed yet");
        newest.committed(3, None);
        newest.committed(0, Some(4));
        newest.sync();
        let noted = Extent { entries: 8, blocks: 4 };
        assert_eq!(read(&path), Some((Uid(7), noted)));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), BYTES, "it is written over in place");
        for at in 0..BYTES {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(read(&path), None, "byte {at}");
        }
        std::fs::write(&path, &bytes[..BYTES - 1]).unwrap();
        assert_eq!(read(&path), None);
    }
}
