//! All that is killed on the host's side: one host with its folder, or two and the database they share, to which one of
//! them comes through a pooler.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use chorus_cluster::{Cluster, Durability, Mode, Pooler};

use super::balance::balance;
use super::chance::Chance;
use super::host::Host;
use super::plan::Plan;

pub(super) struct House {
    /// How it is reached, whichever host that is.
    pub(super) addr: SocketAddr,
    hosts: Vec<Host>,
    _pooler: Option<Pooler>,
    cluster: Option<Cluster>,
}

/// Longer than a lease, so that the other host takes over.
const FROZEN: std::ops::Range<u64> = 5_500..8_000;
/// Connections of the pooler to the database: fewer than a host has to it.
const POOLED: usize = 4;

/// What a blow has killed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blow {
    pub(super) hosts: usize,
    /// Hosts that stood still.
    pub(super) frozen: usize,
    pub(super) database: bool,
}

impl House {
    /// `settings` are variables of each host.
    pub(super) fn build(
        plan: &Plan,
        settings: &[(&'static str, &str)],
        chance: &mut Chance,
    ) -> Result<Self, String> {
        let settings: Vec<_> = settings.iter().map(|(n, v)| (*n, (*v).to_owned())).collect();
        if !plan.two_hosts {
            let mut host = Host::on(&plan.folder, &plan.chorus, chance)?;
            host.settings = settings;
            let mut house =
                Self { addr: host.addr, hosts: vec![host], _pooler: None, cluster: None };
            house.hosts[0].start()?;
            return Ok(house);
        }
        let cluster = Cluster::start(Durability::Durable, &[])?;
        let pooler = Pooler::start(&cluster, Mode::Transaction, POOLED)?;
        let addr = Host::on(&plan.folder, &plan.chorus, chance)?.addr;
        let mut hosts = Vec::new();
        for (name, url) in [("one", cluster.url("postgres")), ("other", pooler.url().to_owned())] {
            let folder = plan.folder.join(name);
            std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            let mut host = Host::on(&folder, &plan.chorus, chance)?;
            host.database = Some((url, plan.folder.join("keys")));
            host.settings.clone_from(&settings);
            host.settings.push(("CHORUS_PUBLIC_URL", format!("http://{addr}")));
            host.start()?;
            // The first one makes the workspace and the keys.
            host.ready()?;
            hosts.push(host);
        }
        balance(addr, hosts.iter().map(|host| host.addr).collect())?;
        Ok(Self { addr, hosts, _pooler: Some(pooler), cluster: Some(cluster) })
    }

    /// The folder of the first host, with the operator's token.
    pub(super) fn data(&self) -> PathBuf {
        self.hosts[0].data()
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Waits until all of it takes work; gives how long that took at most.
    pub(super) fn ready(&mut self) -> Result<Duration, String> {
        let each = self.hosts.iter_mut().map(Host::ready);
        each.collect::<Result<Vec<_>, _>>().map(|all| all.into_iter().max().unwrap_or_default())
    }

    /// Kills the host; of two one, or both, or the database under them, which is begun again, or lets one of them stand
    /// still.
    pub(super) fn strike(&mut self, chance: &mut Chance) -> Result<Blow, String> {
        let Some(cluster) = &mut self.cluster else {
            self.hosts[0].kill()?;
            return Ok(Blow { hosts: 1, ..Blow::default() });
        };
        let (what, first) = (chance.within(0..7), chance.index(2));
        let mut blow = Blow::default();
        if what > 5 {
            self.hosts[first].freeze(chance.millis(FROZEN))?;
            blow.frozen += 1;
            return Ok(blow);
        }
        if what != 0 {
            self.hosts[first].kill()?;
            blow.hosts += 1;
        }
        if what == 1 {
            self.hosts[1 - first].kill()?;
            blow.hosts += 1;
        }
        if what == 0 || what == 2 {
            blow.database = true;
            if chance.one_in(2) {
                cluster.kill();
            } else {
                cluster.stop();
            }
            std::thread::sleep(chance.millis(0..300));
            cluster.run()?;
        }
        Ok(blow)
    }

    /// Starts the hosts that do not run, and does not wait.
    pub(super) fn start(&mut self) -> Result<(), String> {
        self.hosts.iter_mut().filter(|host| !host.runs()).try_for_each(Host::start)
    }

    /// Kills every host.
    pub(super) fn kill_all(&mut self) -> Result<(), String> {
        self.hosts.iter_mut().try_for_each(Host::kill)
    }

    pub(super) fn stop(&mut self) -> Result<(), String> {
        self.hosts.iter_mut().try_for_each(Host::stop)
    }

    pub(super) fn doctor(&self) -> Result<(), String> {
        self.hosts[0].doctor()
    }
}
