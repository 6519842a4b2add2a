//! What goes back to services that have delivered to an inbox: what their agent says, and how it gets on (webhook spec
//! section 3).
//!
//! What was said is owed: the log has it, a cursor in the database says up to where it was sent, and a worker for each
//! conversation sends one message after the other until it was taken, refused, or is too old. After a crash a message may be
//! sent again, under the same id. All else is soft: sent once, and lost with the host.

pub(crate) mod pending;
mod post;
mod worker;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chorus_core::model::ids::Uid;
use chorus_core::state::effect::RemoteNews;
use tokio::sync::{Semaphore, watch};

use crate::services::App;
use worker::Worker;

/// How many workers of each inbox may post at once: one service that hangs holds up its own inbox.
type Places = HashMap<Uid, Arc<Semaphore>>;

/// How often a host that shares its database looks for what others have left.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Sends back what there is until the host stops.
pub(crate) async fn serve(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let mut places = Places::new();
    // What was owed when the host was last here.
    app.replies.look_everywhere();
    let look_again = app.wait(LOOK_EVERY);
    tokio::pin!(look_again);
    loop {
        let look = std::mem::take(&mut app.replies.lock().look);
        if look {
            match app.owing().await {
                Ok(owing) => {
                    owing.into_iter().for_each(|key| app.replies.put(key, RemoteNews::Said));
                }
                Err(refusal) => tracing::warn!(%refusal, "what is to be sent back is not known"),
            }
        }
        for (key, wake) in app.replies.take_idle() {
            keep_places(&mut places, &app);
            let worker = Worker::of(app.clone(), key, wake, places.clone());
            tokio::spawn(worker.run(stopped.clone()));
        }
        tokio::select! {
            () = app.replies.wake.notified() => {}
            () = &mut look_again => {
                look_again.set(app.wait(LOOK_EVERY));
                // What another host was at when it went.
                app.replies.lock().look |= app.writer.has_company();
            }
            _ = stopped.wait_for(|stop| *stop) => return,
        }
    }
}

fn keep_places(places: &mut Places, app: &App) {
    let directory = app.directory();
    places.retain(|inbox, _| directory.inboxes.contains_key(inbox));
    for inbox in directory.inboxes.keys() {
        let fresh = || Arc::new(Semaphore::new(app.webhooks.concurrency));
        places.entry(*inbox).or_insert_with(fresh);
    }
}
