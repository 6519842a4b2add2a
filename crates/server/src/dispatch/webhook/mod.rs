//! Deliveries to agents behind connection strings (webhook spec section 2).
//!
//! An endpoint is served like a connection: the host holds a session of its agent, is offered what any harness is
//! offered, composes fragments, and POSTs. A worker does that for one endpoint; [`serve`] keeps a worker for each
//! endpoint that is active. What a worker holds is bounded, and nothing is lost with it: what was not taken is offered
//! again, here or after a restart.

mod acceptances;
pub(crate) mod health;
mod payload;
mod queue;
mod runs;
pub(crate) mod state;
mod thought;
mod worker;

use std::collections::HashMap;
use std::sync::Arc;

use chorus_core::model::endpoint::{Endpoint, State};
use chorus_core::model::ids::MemberKey;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::services::App;
use worker::Worker;

/// A worker at work.
struct Running {
    endpoint: Arc<Endpoint>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Serves every endpoint there is, until the host stops. `moved` changes with the directory.
pub(crate) async fn serve(
    app: Arc<App>,
    mut moved: watch::Receiver<()>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut workers = Workers { app, running: HashMap::new(), ending: HashMap::new() };
    loop {
        moved.borrow_and_update();
        workers.keep();
        tokio::select! {
            changed = moved.changed() => if changed.is_err() { break },
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    for worker in workers.running.values() {
        worker.stop.send_replace(true);
    }
}

struct Workers {
    app: Arc<App>,
    running: HashMap<MemberKey, Running>,
    /// Those that were told to end. The next of the same member begins when that is over: it is one session.
    ending: HashMap<MemberKey, JoinHandle<()>>,
}

impl Workers {
    /// Brings the workers in step with the endpoints.
    fn keep(&mut self) {
        let directory = self.app.directory();
        let gone: Vec<MemberKey> = self
            .running
            .iter()
            .filter(|(member, worker)| {
                let same = directory.endpoints.get(member).is_some_and(|e| *e == worker.endpoint);
                !same || worker.task.is_finished()
            })
            .map(|(member, _)| *member)
            .collect();
        for member in gone {
            if let Some(worker) = self.running.remove(&member) {
                worker.stop.send_replace(true);
                self.ending.insert(member, worker.task);
            }
        }
        self.ending.retain(|_, task| !task.is_finished());
        if self.app.drain.is_draining() {
            return;
        }
        for (member, endpoint) in directory.endpoints.iter() {
            if endpoint.state != State::Active || self.running.contains_key(member) {
                continue;
            }
            let (stop, stopping) = watch::channel(false);
            let worker = Worker::of(self.app.clone(), endpoint.clone(), stopping);
            let before = self.ending.remove(member);
            let task = tokio::spawn(async move {
                if let Some(before) = before {
                    // Whether it ended well is nothing to the next.
                    let _ = before.await;
                }
                worker.run().await;
            });
            self.running.insert(*member, Running { endpoint: endpoint.clone(), stop, task });
        }
        let endpoints = &directory.endpoints;
        self.app.webhooks.lock().retain(|member, _| endpoints.contains_key(member));
    }
}
