//! A room of the demo as it is watched: its log, live over server-sent events, printed as it comes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chorus_client::Client;
use chorus_wire::rest::events::Event;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::show::Show;

/// Longest wait for anything; what takes longer has gone wrong.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) id: String,
    log: Arc<Mutex<Vec<Event>>>,
    grown: watch::Receiver<usize>,
    following: JoinHandle<()>,
}

impl Room {
    /// Follows the conversation from now on.
    pub(crate) fn follow(client: Client, id: String, title: String, show: Show) -> Self {
        let log = Arc::new(Mutex::new(Vec::new()));
        let (grow, grown) = watch::channel(0);
        let following = tokio::spawn(follow(client, id.clone(), title, show, log.clone(), grow));
        Self { id, log, grown, following }
    }

    /// Everything since the room was made.
    pub(crate) fn log(&self) -> Vec<Event> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Seq of the newest event seen.
    pub(crate) fn head(&self) -> u64 {
        self.log().last().map_or(0, |event| event.seq)
    }

    /// Messages of agents after a seq, oldest first.
    pub(crate) fn said_by_agents(&self, after: u64) -> Vec<Event> {
        let agent = chorus_core::model::member::MemberKind::Agent;
        let mut log = self.log();
        log.retain(|event| {
            event.seq > after && event.kind == "message_posted" && event.actor.kind == agent
        });
        log
    }

    /// Waits until an event is there that `wanted` accepts; none when it does not come in time.
    pub(crate) async fn wait(&self, wanted: impl Fn(&Event) -> bool) -> Option<Event> {
        let mut grown = self.grown.clone();
        let found = || self.log().into_iter().find(|event| wanted(event));
        tokio::time::timeout(PATIENCE, async {
            loop {
                grown.mark_unchanged();
                if let Some(event) = found() {
                    return Some(event);
                }
                if grown.changed().await.is_err() {
                    return None;
                }
            }
        })
        .await
        .ok()
        .flatten()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.following.abort();
    }
}

async fn follow(
    client: Client,
    id: String,
    title: String,
    show: Show,
    log: Arc<Mutex<Vec<Event>>>,
    grow: watch::Sender<usize>,
) {
    let mut after = 0;
    loop {
        if let Ok(mut stream) = client.events_stream(&id, Some(after)).await {
            while let Ok(Some(event)) = stream.next().await {
                if event.seq <= after {
                    continue;
                }
                after = event.seq;
                // Printed before it is known, so that what is concluded from it stands below it.
                show.event(&title, &event);
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.push(event);
                let length = log.len();
                drop(log);
                if grow.send(length).is_err() {
                    return;
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
