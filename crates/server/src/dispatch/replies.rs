//! What goes back to services that have delivered to an inbox: what their agent says, and how it gets on (webhook spec
//! section 3).
//!
//! What was said is owed: the log has it, a cursor in the database says up to where it was sent, and a worker for each
//! conversation sends one message after the other until it was taken, refused, or is too old. After a crash a message may be
//! sent again, under the same id. All else is soft: sent once, and lost with the host.

pub(crate) mod handles;
pub(crate) mod pending;
mod post;
mod worker;

use std::collections::HashMap;
use std::sync::Arc;

use chorus_core::model::ids::Uid;
use chorus_core::state::effect::RemoteNews;
use tokio::sync::{Semaphore, watch};
use worker::Worker;

use crate::dispatch::replies::handles::Handles;

/// How many workers of each inbox may post at once: one service that hangs holds up its own inbox.
type Places = HashMap<Uid, Arc<Semaphore>>;

/// Sends back what there is until the host stops.
pub(crate) async fn serve(host: Arc<Handles>, mut stopped: watch::Receiver<bool>) {
    let mut places = Places::new();
    // What was owed when the host was last here.
    host.replies.look_everywhere();
    loop {
        let look = std::mem::take(&mut host.replies.lock().look);
        if look {
            match host.inboxes.owing().await {
                Ok(owing) => {
                    owing.into_iter().for_each(|key| host.replies.put(key, RemoteNews::Said));
                }
                Err(refusal) => tracing::warn!(%refusal, "what is to be sent back is not known"),
            }
        }
        for (key, wake) in host.replies.take_idle() {
            keep_places(&mut places, &host);
            let worker = Worker::of(host.clone(), key, wake, places.clone());
            tokio::spawn(worker.run(stopped.clone()));
        }
        tokio::select! {
            () = host.replies.wake.notified() => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
    }
}

fn keep_places(places: &mut Places, host: &Handles) {
    let directory = host.directory.load();
    places.retain(|inbox, _| directory.inboxes.contains_key(inbox));
    for inbox in directory.inboxes.keys() {
        let fresh = || Arc::new(Semaphore::new(host.webhooks.concurrency));
        places.entry(*inbox).or_insert_with(fresh);
    }
}
