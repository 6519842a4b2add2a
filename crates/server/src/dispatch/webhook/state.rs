//! How deliveries go out, and how the endpoints are: what the rest of the host knows of them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chorus_core::attention::compose;
use chorus_core::model::ids::{MemberKey, Timestamp};
use rustls::pki_types::CertificateDer;

use super::acceptances::Acceptances;
use super::health::Health;
use super::runs::Runs;
use crate::config::webhook::Webhook;
use crate::dispatch::connections::Connections;
use crate::egress::{Allowed, Egress, To, is_local};
use crate::fair_semaphore::FairSemaphore;

/// The service that the host is, as agents are told.
pub(crate) const SERVICE: &str = "Chorus";

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
    pub(crate) places: FairSemaphore<To>,
    /// How long one author's fragments are waited for; none posts each at once.
    pub(crate) compose: Option<compose::Settings>,
    /// Runs that may still be joined.
    pub(crate) runs: Runs,
    health: Mutex<HashMap<MemberKey, Arc<Health>>>,
    pub(super) acceptances: Acceptances,
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
            acceptances: Acceptances::default(),
        })
    }

    /// Whether nothing waits to be posted to these endpoints, and nobody is connected beside them.
    pub(crate) fn are_idle(
        &self,
        endpoints: &[MemberKey],
        connections: &Connections,
        now: Timestamp,
    ) -> bool {
        let health = self.lock();
        let is_idle = |of: &MemberKey| health.get(of).is_some_and(|health| health.is_idle(now));
        endpoints.iter().all(is_idle)
            && connections.all().iter().all(|one| endpoints.contains(&one.member) && one.is_free())
    }

    /// How a member's endpoint is.
    pub(crate) fn health(&self, member: MemberKey) -> Arc<Health> {
        self.lock().entry(member).or_default().clone()
    }

    /// Its agent has answered to a test.
    pub(crate) fn tried(&self, member: MemberKey, now: Timestamp) {
        self.health(member).tried(now);
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<MemberKey, Arc<Health>>> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
