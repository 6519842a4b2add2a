//! All that is killed on the host's side: one host with its folder, or two and the database they share.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use chorus_cluster::{Cluster, Durability};

use super::balance::balance;
use super::chance::Chance;
use super::host::Host;
use super::plan::Plan;

pub(super) struct House {
    /// How it is reached, whichever host that is.
    pub(super) addr: SocketAddr,
    hosts: Vec<Host>,
    cluster: Option<Cluster>,
}

/// What a blow has killed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blow {
    pub(super) hosts: usize,
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
            let mut house = Self { addr: host.addr, hosts: vec![host], cluster: None };
            house.hosts[0].start()?;
            return Ok(house);
        }
        let cluster = Cluster::start(Durability::Durable, &[])?;
        let addr = Host::on(&plan.folder, &plan.chorus, chance)?.addr;
        let mut hosts = Vec::new();
        for name in ["one", "other"] {
            let folder = plan.folder.join(name);
            std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            let mut host = Host::on(&folder, &plan.chorus, chance)?;
            host.database = Some((cluster.url("postgres"), plan.folder.join("keys")));
            host.settings.clone_from(&settings);
            host.settings.push(("CHORUS_PUBLIC_URL", format!("http://{addr}")));
            host.start()?;
            // The first one makes the workspace and the keys.
            host.ready()?;
            hosts.push(host);
        }
        balance(addr, hosts.iter().map(|host| host.addr).collect())?;
        Ok(Self { addr, hosts, cluster: Some(cluster) })
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

    /// Kills the host; of two one, or both, or the database under them, which is begun again.
    pub(super) fn strike(&mut self, chance: &mut Chance) -> Result<Blow, String> {
        let Some(cluster) = &mut self.cluster else {
            self.hosts[0].kill()?;
            return Ok(Blow { hosts: 1, database: false });
        };
        let (what, first) = (chance.within(0..6), chance.index(2));
        let mut blow = Blow::default();
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
