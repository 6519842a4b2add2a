//! Copies of the whole workspace, for whoever operates it.

use std::fs::File;
use std::path::Path;

use chorus_core::error::{Code, Refusal};
use chorus_store::backup;
use tokio::sync::oneshot;

use super::App;
use crate::auth::Caller;

/// Where a backup is made before it is sent, in the data folder. A host that starts removes what one that was
/// killed has left.
pub(crate) const PARTIAL: &str = "backup.partial";

impl App {
    /// A sealed backup, open to be read; its file has no name any more, so that nothing of it stays.
    pub(crate) async fn back_up(&self, caller: &Caller) -> Result<File, Refusal> {
        caller.must_operate()?;
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
            // Whoever asked may have gone; the file is removed by the next one.
            let _ = tell.send(copied);
        });
        let copied = told.await.map_err(|_| failed("the host is stopping"))?;
        copied.map_err(failed)?;
        let (path, now) = (path.to_owned(), self.now());
        let sealed = tokio::task::spawn_blocking(move || backup::seal(&path, now)).await;
        sealed.map_err(failed)?.map_err(failed)
    }
}

/// Nothing else has come to harm.
fn failed(why: impl std::fmt::Display) -> Refusal {
    Refusal::new(Code::Unavailable, format!("no backup was made: {why}"))
}
