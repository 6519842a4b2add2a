//! Stopping: nobody new, then what is under way, then what waits, then the folder (design section 3).
//!
//! What was acknowledged is on the disk before it was; so a stop that is cut short loses nothing either.

use std::time::Duration;

use tokio::time::Instant;

use super::{GOODBYE, Running, host_file};
use crate::dispatch::connections::STOPPING;
use crate::services::copies::PARTIAL;

/// How often it is looked whether the last request was answered.
const LOOK_EVERY: Duration = Duration::from_millis(5);

impl Running {
    /// Refuses new requests, answers those under way, tells sessions to come back, writes what is open, and lets
    /// the folder go; within `drain_seconds` and a few more.
    pub async fn stop(self) {
        let app = &self.app;
        let until = Instant::now() + self.drain;
        tracing::info!(
            under_way = app.shared.drain.under_way(),
            sessions = app.shared.connections.len(),
            "draining"
        );
        app.shared.drain.begin();
        app.shared.feed.close();
        for connection in app.shared.connections.all() {
            connection.close(STOPPING);
        }
        while app.shared.drain.under_way() + app.shared.connections.len() > 0
            && Instant::now() < until
        {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        host_file::remove(&self.data, &self.local);
        let _ = self.stop.send(true);
        let mut server = self.server;
        if tokio::time::timeout(GOODBYE, &mut server).await.is_err() {
            tracing::warn!(left = app.shared.drain.under_way(), "connections were cut off");
            server.abort();
        }
        app.shared.searching.hints.stop();
        let (writer, indexer, verifier) = (self.writer, self.indexer, self.verifier.end());
        let stopped = tokio::task::spawn_blocking(move || {
            // First who reads: the write-ahead log is copied back whole only while nobody does.
            let joined = indexer.join().and(verifier.join());
            writer.stop();
            joined
        });
        let stopped = stopped.await.map_err(drop).and_then(|joined| joined.map_err(drop));
        if stopped.is_err() {
            tracing::error!("the writer, or who keeps the index, could not be stopped");
        }
        // The sink went with the writer's thread, and the dispatcher ends with it.
        if tokio::time::timeout(GOODBYE, self.dispatcher).await.is_err() {
            tracing::warn!("the dispatcher did not end");
        }
        let traces = self.app.shared.traces.clone();
        let _ = tokio::task::spawn_blocking(move || traces.close()).await;
        chorus_store::backup::remove(&self.data.join(PARTIAL));
        if let Some(watching) = self.watching {
            watching.abort();
        }
    }
}
