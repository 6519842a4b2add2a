//! Bringing a workspace from one host to another, each beside files: a copy with its keys goes out of a host where it is
//! suspended, comes to the other in pieces, and is suspended there until the first one has let it go.
//!
//! Invariant: it is never active at both. Whoever moves it has it `moved` here before it is resumed there.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

use axum::body::Bytes;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::OpenError;
use chorus_store::backup::{self, BackupError};
use chorus_store::catalog::{Entry, State};
use chorus_store::objects::ReadObjects;
use chorus_store::sqlite::Folder;

use super::{Told, Workspaces};
use crate::objects;

/// Bytes that come at a time.
pub(crate) const PIECE: usize = 8 * 1024 * 1024;

impl Workspaces {
    /// A copy of a suspended workspace, with its keys. The file has no name any more, so that nothing of it stays.
    pub(crate) async fn copy_out(self: &Arc<Self>, name: &str) -> Result<(Told, File), Refusal> {
        self.must_be_files()?;
        let entry = self.must_be_suspended(name).await?;
        let _alone = self.moving.lock().await;
        self.copied().insert(entry.name.clone());
        let (folder, now) = (self.catalog.folder(&entry), self.clock.now());
        let to = beside(&folder, "outgoing");
        let objects = objects::of(&self.objects);
        let made = tokio::task::spawn_blocking(move || {
            backup::remove(&to);
            let made = make_copy(&folder, &to, &*objects, now);
            let opened = made.and_then(|()| File::open(&to).map_err(|why| at(&to, &why)));
            backup::remove(&to);
            opened
        });
        let file = made.await.map_err(|_| failed("making the copy broke off"))??;
        self.must_be_as_copied(&entry)?;
        Ok((self.told(entry), file))
    }

    /// Takes a piece of a copy that comes from another host; gives how many bytes there are now.
    pub(crate) async fn take_piece(
        self: &Arc<Self>,
        name: &str,
        offset: u64,
        piece: Bytes,
    ) -> Result<u64, Refusal> {
        let name = WorkspaceName::parse(name)?;
        self.must_be_files()?;
        self.may_come(&name).await?;
        let _alone = self.moving.lock().await;
        let to = beside(&self.catalog.folder_of(&name), "incoming");
        let taken = tokio::task::spawn_blocking(move || append(&to, offset, &piece));
        taken.await.map_err(|_| failed("keeping the piece broke off"))?
    }

    /// Makes a workspace of the pieces that came. It is suspended.
    pub(crate) async fn take_in(self: &Arc<Self>, name: &str) -> Result<Told, Refusal> {
        let name = WorkspaceName::parse(name)?;
        self.must_be_files()?;
        self.to_the_end(|this| async move { this.taken_in(name).await }).await?
    }

    async fn taken_in(self: Arc<Self>, name: WorkspaceName) -> Result<Told, Refusal> {
        let replaced = self.may_come(&name).await?;
        let _alone = self.moving.lock().await;
        let folder = self.catalog.folder_of(&name);
        let from = beside(&folder, "incoming");
        if !from.exists() {
            let why = format!("no copy of {name} has come; send it first");
            return Err(Refusal::new(Code::Conflict, why));
        }
        if replaced.is_some() {
            self.remove(&name).await;
        }
        self.add(&name, State::Suspended).await?;
        let restored = tokio::task::spawn_blocking(move || {
            let restored = restore(&from, &folder);
            backup::remove(&from);
            restored
        });
        let restored = restored.await.map_err(|_| failed("taking it in broke off"));
        if let Err(refusal) = restored.and_then(|restored| restored) {
            self.remove(&name).await;
            return Err(refusal);
        }
        tracing::info!(workspace = %name, "a workspace has come from another host");
        self.told_of(&name).await
    }

    /// Lets a suspended workspace go that is at another address from here on. Until its grace is over, it can be resumed.
    pub(crate) async fn moved_to(self: &Arc<Self>, name: &str, to: &str) -> Result<Told, Refusal> {
        let _alone = self.changing.lock().await;
        let mut entry = self.must_be_suspended(name).await?;
        self.must_be_as_copied(&entry)?;
        self.copied().remove(&entry.name);
        let grace = i64::try_from(self.keeping.grace.as_millis()).unwrap_or(i64::MAX);
        entry.state = State::Deleted;
        entry.removal_at = Some(self.clock.now().plus(grace));
        entry.moved_to = Some(to.to_owned());
        self.set_state(&entry).await?;
        tracing::info!(workspace = name, to, "a workspace has moved");
        self.told_of(name).await
    }

    /// Whoever writes in it resumes it first, and it is not taken for copied any more.
    fn must_be_as_copied(&self, entry: &Entry) -> Result<(), Refusal> {
        if self.copied().contains(&entry.name) {
            return Ok(());
        }
        let why = format!(
            "the workspace {} may have changed since its copy was taken; take another one: run `chorus workspace move` \
             again",
            entry.name
        );
        Err(Refusal::new(Code::Conflict, why))
    }

    pub(super) fn copied(&self) -> MutexGuard<'_, HashSet<WorkspaceName>> {
        self.copied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that was to come from another host and did not come whole is not begun as an empty one.
    pub(super) fn must_be_there(&self, entry: &Entry) -> Result<(), Refusal> {
        let is_there = || Folder::database_in(&self.catalog.folder(entry)).exists();
        if entry.state == State::Suspended
            && !entry.is_made
            && !self.catalog.is_shared()
            && !is_there()
        {
            let why = format!(
                "the workspace {} did not come whole from the host where it was; move it from there again",
                entry.name
            );
            return Err(Refusal::new(Code::Conflict, why));
        }
        Ok(())
    }

    async fn must_be_suspended(&self, name: &str) -> Result<Entry, Refusal> {
        let entry = self.entry(name).await?;
        match entry.state {
            State::Suspended => Ok(entry),
            State::Deleted => Err(super::gone(&entry)),
            State::Active => {
                let why = format!("the workspace {name} is in use; suspend it first");
                Err(Refusal::new(Code::Conflict, why))
            }
        }
    }

    /// Whether a copy may come under a name; gives the one that came before and that nobody has used.
    async fn may_come(&self, name: &WorkspaceName) -> Result<Option<Entry>, Refusal> {
        let of = name.clone();
        match self.ask(move |catalog| catalog.find(&of)).await? {
            None => {
                self.must_have_no_folder(name).await?;
                self.must_not_look_like_another(name).await.map(|()| None)
            }
            Some(entry) if entry.state == State::Suspended && !entry.is_made => Ok(Some(entry)),
            // It was here before, and comes back.
            Some(entry) if entry.moved_to.is_some() => Ok(Some(entry)),
            Some(_) => Err(super::taken(name)),
        }
    }

    fn must_be_files(&self) -> Result<(), Refusal> {
        if self.catalog.is_shared() {
            let why =
                "workspaces of a database do not move by themselves, only those that are folders";
            return Err(Refusal::new(Code::Conflict, why));
        }
        Ok(())
    }
}

/// A file beside the folder of a workspace. No workspace has a name with a dot.
fn beside(folder: &Path, what: &str) -> PathBuf {
    folder.with_extension(what)
}

fn make_copy(
    folder: &Path,
    to: &Path,
    objects: &dyn ReadObjects,
    now: Timestamp,
) -> Result<(), Refusal> {
    backup::take(folder, to, objects, now).map_err(unfit)?;
    let keys = folder.join("keys");
    let mut files = Vec::new();
    for file in fs::read_dir(&keys).map_err(|why| at(&keys, &why))? {
        let path = file.map_err(|why| at(&keys, &why))?.path();
        if let Some(name) = path.file_name().and_then(|name| name.to_str())
            && path.is_file()
        {
            files.push((name.to_owned(), fs::read(&path).map_err(|why| at(&path, &why))?));
        }
    }
    backup::add_keys(to, &files).map_err(unfit)
}

fn append(to: &Path, offset: u64, piece: &[u8]) -> Result<u64, Refusal> {
    let io = |why: io::Error| at(to, &why);
    if piece.is_empty() && offset == 0 {
        // It was only asked whether one may come.
        backup::remove(to);
        return Ok(0);
    }
    if let Some(folder) = to.parent() {
        fs::DirBuilder::new().recursive(true).create(folder).map_err(io)?;
    }
    let elsewhere = |there: u64| {
        let why =
            format!("the piece begins at {offset}, and {there} bytes are there; go on from there");
        Err(Refusal::new(Code::Conflict, why))
    };
    let mut options = OpenOptions::new();
    options.create(offset == 0).append(true).mode(0o600);
    let mut file = match options.open(to) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return elsewhere(0),
        file => file.map_err(io)?,
    };
    if offset == 0 {
        file.set_len(0).map_err(io)?;
    }
    let there = file.metadata().map_err(io)?.len();
    if there != offset {
        return elsewhere(there);
    }
    if let Err(why) = file.write_all(piece).and_then(|()| file.sync_data()) {
        // Nothing of a piece that did not come whole.
        let _ = file.set_len(there);
        return Err(io(why));
    }
    Ok(there + piece.len() as u64)
}

fn restore(from: &Path, folder: &Path) -> Result<(), Refusal> {
    let restored = backup::restore(from, folder).map_err(unfit)?;
    if restored.keys.is_empty() {
        return Err(Refusal::invalid("the copy has no keys; take it with `chorus workspace move`"));
    }
    Ok(())
}

fn unfit(why: BackupError) -> Refusal {
    match why {
        BackupError::Unfit(why) => Refusal::invalid(why),
        BackupError::Folder(why) => Refusal::new(Code::Conflict, why),
        BackupError::Open(OpenError::Folder(_)) => {
            let why =
                "it is being closed, or another copy of it is being made; try again in a moment";
            Refusal::new(Code::Conflict, why)
        }
        why => failed(why),
    }
}

fn at(path: &Path, why: &io::Error) -> Refusal {
    failed(format!("{}: {why}", path.display()))
}

fn failed(why: impl std::fmt::Display) -> Refusal {
    Refusal::new(Code::Unavailable, why.to_string())
}
