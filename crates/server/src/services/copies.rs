//! Copies of the whole workspace, for whoever operates it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use chorus_core::model::error::{Code, Refusal};
use chorus_store::{Place, Writer, backup};
use tokio::sync::{mpsc, oneshot};

use super::clock::HostClock;
use crate::auth::{Auth, Caller};
use crate::history;
use crate::history::Signing;
use crate::objects::{self, Objects};

/// Where a backup is made before it is sent, in the data folder. A host that starts removes what one that was
/// killed has left.
pub(crate) const PARTIAL: &str = "backup.partial";

/// Bytes of an export handed on at a time, and how many of them may wait for a slow reader.
const PIECE: usize = 64 * 1024;
const PIECES: usize = 4;

/// Backups and exports.
pub(crate) struct CopyService {
    pub(super) auth: Arc<Auth>,
    pub(super) clock: Arc<HostClock>,
    pub(super) copying: tokio::sync::Mutex<()>,
    pub(super) data: Arc<Path>,
    pub(super) objects: Option<Arc<Objects>>,
    pub(super) place: Place,
    pub(super) writer: Writer,
}

impl CopyService {
    /// The history of the workspace as lines of JSON, made as it is read.
    pub(crate) fn export(
        &self,
        caller: &Caller,
    ) -> Result<mpsc::Receiver<io::Result<Bytes>>, Refusal> {
        caller.must_operate()?;
        let (tell, told) = mpsc::channel(PIECES);
        let (place, sign, now) =
            (self.place.clone(), Signing::with(&self.auth.keys()), self.clock.now());
        let objects = self.objects.clone();
        tokio::task::spawn_blocking(move || {
            let mut out = BufWriter::with_capacity(PIECE, Pieces(tell.clone()));
            if let Err(error) = history::export(&place, &sign, now, objects, &mut out) {
                tracing::error!(%error, "an export broke off");
                // The reader sees an answer without an end, and no last line.
                let _ = tell.blocking_send(Err(io::Error::other(error)));
            }
        });
        Ok(told)
    }

    /// A sealed backup, open to be read; its file has no name any more, so that nothing of it stays.
    pub(crate) async fn back_up(self: &Arc<Self>, caller: &Caller) -> Result<File, Refusal> {
        caller.must_operate()?;
        if let Place::Postgres(_) = self.place {
            return Err(Refusal::new(
                Code::Conflict,
                "the workspace is in PostgreSQL: back that up, with pg_dump or by its archive",
            ));
        }
        // It comes to its end though whoever asked is gone, so that no copy stays.
        let app = self.clone();
        tokio::spawn(async move { app.copy().await }).await.map_err(failed)?
    }

    async fn copy(&self) -> Result<File, Refusal> {
        let _alone = self.copying.try_lock().map_err(|_| {
            Refusal::new(Code::Conflict, "another backup is being made; wait for its end")
        })?;
        let path = self.data.join(PARTIAL);
        let made = self.make_backup(&path).await;
        let opened = made.and_then(|()| {
            File::open(&path).map_err(|e| failed(format!("the copy cannot be read: {e}")))
        });
        backup::remove(&path);
        opened
    }

    async fn make_backup(&self, path: &Path) -> Result<(), Refusal> {
        backup::remove(path);
        backup::make(path).map_err(failed)?;
        let (tell, told) = oneshot::channel();
        self.writer.copy_to(path.to_owned(), move |copied| {
            // The host may be stopping.
            let _ = tell.send(copied);
        });
        let copied = told.await.map_err(|_| failed("the host is stopping"))?;
        copied.map_err(failed)?;
        let (path, now) = (path.to_owned(), self.clock.now());
        let objects = objects::of(&self.objects);
        let sealed = tokio::task::spawn_blocking(move || backup::seal(&path, &*objects, now)).await;
        sealed.map_err(failed)?.map_err(failed)
    }
}

/// Nothing else has come to harm.
fn failed(why: impl std::fmt::Display) -> Refusal {
    Refusal::new(Code::Unavailable, format!("no backup was made: {why}"))
}

/// Writes into a channel; whoever reads slowly is waited for.
struct Pieces(mpsc::Sender<io::Result<Bytes>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map(|()| bytes.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
