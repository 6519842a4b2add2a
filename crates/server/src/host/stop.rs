//! Stopping: nobody new, then what is under way, then what waits, then the folder (design section 3). Where other hosts
//! are up, one of them takes over first.
//!
//! What was acknowledged is on the disk before it was; so a stop that is cut short loses nothing either.

use std::time::Duration;

use super::{GOODBYE, Running, host_file};

/// How long a host goes on to tell others that it does not own what they send it.
const LINGER: Duration = Duration::from_millis(250);

impl Running {
    /// Refuses new requests, answers those under way, tells sessions to come back, writes what is open, and lets
    /// the folder go; within `drain_seconds` and a few more.
    pub async fn stop(self) {
        self.ownership.ends.send_replace(true);
        self.ownership.retire().await;
        let handed_over = self.ownership.hand_over(self.drain).await;
        let serving = self.ownership.serving.borrow().clone().filter(|_| !handed_over);
        if let Some(serving) = &serving {
            serving.drain(self.drain).await;
        }
        if let Some(workspaces) = &self.ownership.context.workspaces {
            workspaces.stop(self.drain).await;
        }
        host_file::remove(&self.data, &self.local);
        if self.ownership.context.cluster.has_others() {
            // Whoever has not heard of it yet is told, instead of finding the door shut.
            tokio::time::sleep(LINGER).await;
        }
        let _ = self.stop.send(true);
        let mut server = self.server;
        if tokio::time::timeout(GOODBYE, &mut server).await.is_err() {
            tracing::warn!("connections were cut off");
            server.abort();
        }
        if let Some(serving) = &serving {
            serving.end().await;
        }
        drop(serving);
        self.ownership.forget();
        for task in self.tasks {
            task.abort();
            // What it held is let go before this returns.
            let _ = task.await;
        }
        let traces = self.ownership.context.traces.clone();
        let ownership = self.ownership;
        // The lease is given back, which waits for the database.
        let closed = tokio::task::spawn_blocking(move || {
            traces.close();
            ownership.context.cluster.leave();
        });
        let _ = closed.await;
    }
}
