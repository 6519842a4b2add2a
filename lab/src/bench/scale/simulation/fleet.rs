//! Hosts, and which of them owns which workspace.

use chorus_server::placement::Candidate;

/// How a host is chosen for a workspace that nobody owns. That of the product is `choose`.
pub(super) type Place = for<'a> fn(&str, &[Candidate<'a>]) -> Option<&'a str>;

/// Workspaces that are open, each at one host.
#[derive(Clone)]
pub(super) struct Fleet<'a> {
    place: Place,
    /// The hosts that are up.
    hosts: Vec<Candidate<'a>>,
    /// The owner of each workspace, where there is one.
    owners: Vec<Option<&'a str>>,
}

impl<'a> Fleet<'a> {
    /// Hosts that own nothing yet.
    pub(super) fn new(place: Place, names: &'a [String], workspaces: usize) -> Self {
        let hosts = names.iter().map(|host| Candidate { host, owned: 0 }).collect();
        Self { place, hosts, owners: vec![None; workspaces] }
    }

    /// The same hosts after they have opened these workspaces.
    pub(super) fn with(mut self, workspaces: &[usize]) -> Self {
        for workspace in workspaces {
            self.open(*workspace);
        }
        self
    }

    /// Another host, which owns nothing yet.
    pub(super) fn join(&mut self, host: &'a str) {
        self.hosts.push(Candidate { host, owned: 0 });
    }

    /// Takes a host away, with the workspaces that it owned. These are owned by nobody then.
    pub(super) fn leave(&mut self, host: &str) -> Vec<usize> {
        self.hosts.retain(|candidate| candidate.host != host);
        let of_it = |(name, owner): (usize, &mut Option<&str>)| {
            owner.take_if(|owner| *owner == host).map(|_| name)
        };
        self.owners.iter_mut().enumerate().filter_map(of_it).collect()
    }

    /// Opens a workspace at the host that is chosen for it, and says which one of [`Fleet::hosts`] that is.
    pub(super) fn open(&mut self, workspace: usize) -> Option<usize> {
        let chosen = (self.place)(&format!("team-{workspace}"), &self.hosts)?;
        self.owners[workspace] = Some(chosen);
        let at = self.hosts.iter().position(|candidate| candidate.host == chosen)?;
        self.hosts[at].owned += 1;
        Some(at)
    }

    pub(super) fn close(&mut self, workspace: usize) {
        let owner = self.owners[workspace].take();
        let host = self.hosts.iter_mut().find(|candidate| Some(candidate.host) == owner);
        if let Some(host) = host {
            host.owned -= 1;
        }
    }

    pub(super) fn owns(&self, workspace: usize) -> bool {
        self.owners[workspace].is_some()
    }

    pub(super) fn hosts(&self) -> &[Candidate<'a>] {
        &self.hosts
    }

    /// The host that owns the most.
    pub(super) fn largest(&self) -> Option<&'a str> {
        self.hosts.iter().max_by_key(|candidate| candidate.owned).map(|candidate| candidate.host)
    }

    /// How much of something each host has, over the workspaces that it owns.
    pub(super) fn sums(&self, of: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.hosts.len()];
        for (workspace, owner) in self.owners.iter().enumerate() {
            let at = self.hosts.iter().position(|candidate| Some(candidate.host) == *owner);
            if let Some(at) = at {
                sums[at] += of(workspace);
            }
        }
        sums
    }

    /// How many workspaces each host owns.
    pub(super) fn owned(&self) -> Vec<f64> {
        self.hosts.iter().map(|candidate| candidate.owned as f64).collect()
    }

    /// The share of the open workspaces that another fleet has at another host.
    pub(super) fn moved(&self, other: &Fleet<'_>) -> f64 {
        let both = self.owners.iter().zip(&other.owners).filter(|(owner, _)| owner.is_some());
        let (open, moved) = both.fold((0_usize, 0_usize), |(open, moved), (owner, other)| {
            (open + 1, moved + usize::from(owner != other))
        });
        moved as f64 / open.max(1) as f64
    }
}
