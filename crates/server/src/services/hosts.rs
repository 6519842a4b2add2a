//! The hosts of the database, and which of them owns the workspace.

use std::sync::Arc;

use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Timestamp;
use chorus_store::Tenant;
use chorus_wire::rest::hosts::{HostInfo, Hosts};

use super::audit::may_audit;
use crate::auth::Caller;
use crate::cluster::Cluster;

/// Which hosts are up.
pub(crate) struct HostService {
    pub(super) cluster: Arc<Cluster>,
    pub(super) public_url: Arc<str>,
}

impl HostService {
    /// `GET /v1/hosts`.
    pub(crate) fn hosts(&self, caller: &Caller) -> Result<Hosts, Refusal> {
        may_audit(caller)?;
        let Some(view) = self.cluster.view() else {
            let alone = HostInfo {
                url: self.public_url.to_string(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                owner: true,
                ..HostInfo::default()
            };
            return Ok(Hosts { hosts: vec![alone], epoch: None });
        };
        let owner = view.owner(Tenant::OWN).map(|owner| owner.id.clone());
        let epoch = view.owners.get(&Tenant::OWN).map(|owner| owner.epoch);
        // A program that serves nobody is no host.
        let hosts = view.hosts.iter().filter(|host| !host.peer.is_empty()).cloned();
        let shown = hosts.map(|host| HostInfo {
            owner: owner.as_ref() == Some(&host.id),
            workspaces: Some(view.owned_by(&host.id) as u64),
            id: Some(host.id),
            url: host.url,
            peer: Some(host.peer),
            version: host.version,
            since: Some(Timestamp(host.joined_at).into()),
            lease_ms: Some(u64::try_from(host.left).unwrap_or(0)),
        });
        Ok(Hosts { hosts: shown.collect(), epoch })
    }
}
