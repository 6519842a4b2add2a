//! Deliveries to agents behind connection strings (webhook spec section 2).
//!
//! An endpoint is served like a connection: the host holds a session of its agent, is offered what any harness is
//! offered, composes fragments, and POSTs. A worker does that for one endpoint; [`serve`] keeps a worker for each
//! endpoint that is active. What a worker holds is bounded, and nothing is lost with it: what was not taken is offered
//! again, here or after a restart.

mod acceptances;
mod health;
pub(crate) mod payload;
mod queue;
mod runs;
mod worker;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chorus_core::attention::compose;
use chorus_core::model::endpoint::{Endpoint, State};
use chorus_core::model::ids::{MemberKey, Timestamp};
use rustls::pki_types::CertificateDer;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::config::webhook::Webhook;
use crate::egress::{Allowed, Egress, FairSemaphore, is_local};
use crate::services::App;
use acceptances::Acceptances;
pub(crate) use health::{Breaker, Health};
use runs::Runs;
use worker::Worker;

/// How deliveries go out, and how the endpoints are.
pub(crate) struct Webhooks {
    pub(crate) egress: Egress,
    /// For connection strings that an operator types.
    pub(crate) allowed: Allowed,
    /// For addresses that anybody else names: callbacks of services, connection strings of agents.
    pub(crate) strangers: Allowed,
    pub(crate) timeout: Duration,
    /// Channels of one endpoint that are posted to at once.
    pub(crate) concurrency: usize,
    /// For posts to all of them.
    pub(crate) places: FairSemaphore,
    /// How long one author's fragments are waited for; none posts each at once.
    pub(crate) compose: Option<compose::Settings>,
    /// Runs that may still be joined.
    pub(crate) runs: Runs,
    health: Mutex<HashMap<MemberKey, Arc<Health>>>,
    taken: Acceptances,
}

impl Webhooks {
    /// As the operator has said it; `roots` are the authorities in the file that was named, and `url` is where the host
    /// itself is reached, with the address on which it listens.
    pub(crate) fn open(
        config: &Webhook,
        roots: &[CertificateDer<'_>],
        (listens, url): (IpAddr, &str),
    ) -> Result<Self, reqwest::Error> {
        let allowed = Allowed {
            // Behind a proxy it listens on loopback too, and whoever reaches it there is anybody.
            loopback: listens.is_loopback() && is_local(url),
            networks: config.allow.iter().map(|network| network.0).collect(),
        };
        let (quiet, unfinished) = (config.quiet.ms(), config.quiet_unfinished.ms());
        let compose = compose::Settings {
            quiet_ms: quiet,
            unfinished_ms: unfinished.max(quiet),
            cap_ms: config.quiet_cap.ms().max(unfinished).max(quiet),
        };
        Ok(Self {
            egress: Egress::new(allowed.clone(), roots)?,
            strangers: allowed.for_strangers(),
            allowed,
            timeout: config.timeout.0,
            concurrency: config.concurrency,
            places: FairSemaphore::new(config.posts),
            compose: (quiet > 0).then_some(compose),
            runs: Runs::default(),
            health: Mutex::default(),
            taken: Acceptances::default(),
        })
    }

    /// How a member's endpoint is.
    pub(crate) fn health(&self, member: MemberKey) -> Arc<Health> {
        self.lock().entry(member).or_default().clone()
    }

    /// Its agent has answered to a test.
    pub(crate) fn tried(&self, member: MemberKey, now: Timestamp) {
        self.health(member).tried(now);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<MemberKey, Arc<Health>>> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
