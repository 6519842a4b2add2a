//! Which host is to serve a workspace that nobody owns: rendezvous hashing with a bound on load.
//!
//! Every host ranks all hosts for a workspace in the same way, without asking anybody; so when one joins or goes, only
//! the workspaces move that it gets or had. The first in rank that is not full takes it. The one that owns a workspace
//! already is never asked to give it up by this: a table of the database says who owns what.

use sha2::{Digest, Sha256};

/// A host may own this many fourths of its even share.
const BOUND_FOURTHS: usize = 5;

/// A host, and how many workspaces it owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    pub host: &'a str,
    pub owned: usize,
}

/// The host that is to take a workspace; none where there is no host.
pub fn choose<'a>(workspace: &str, hosts: &[Candidate<'a>]) -> Option<&'a str> {
    let most = bound(hosts);
    let free = hosts.iter().filter(|host| host.owned < most);
    free.max_by_key(|host| rank(workspace, host.host)).map(|host| host.host)
}

/// How many workspaces each host may own, when there is one more than now.
pub fn bound(hosts: &[Candidate<'_>]) -> usize {
    let all: usize = hosts.iter().map(|host| host.owned).sum();
    ((all + 1) * BOUND_FOURTHS).div_ceil(4 * hosts.len().max(1))
}

fn rank(workspace: &str, host: &str) -> u64 {
    let mut hash = Sha256::new();
    hash.update(workspace);
    // Neither name holds it.
    hash.update([0]);
    hash.update(host);
    let hash: [u8; 32] = hash.finalize().into();
    hash.iter().take(8).fold(0, |rank, byte| rank << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn place<'a>(names: &[String], hosts: &[&'a str]) -> Vec<&'a str> {
        let mut owned = vec![0; hosts.len()];
        let place = |name: &String| {
            let now: Vec<_> = hosts.iter().zip(&owned).collect();
            let now: Vec<_> =
                now.iter().map(|(host, owned)| Candidate { host, owned: **owned }).collect();
            let chosen = choose(name, &now).unwrap();
            owned[hosts.iter().position(|host| *host == chosen).unwrap()] += 1;
            chosen
        };
        names.iter().map(place).collect()
    }

    // covers: OPS-170
    #[test]
    fn workspaces_spread_evenly_and_few_move_when_a_host_joins() {
        let names: Vec<String> = (0..4_000).map(|number| format!("team-{number}")).collect();
        let three = place(&names, &["a", "b", "c"]);
        for host in ["a", "b", "c"] {
            let owned = three.iter().filter(|at| **at == host).count();
            assert!((1_000..=4_000 * 5 / 12 + 1).contains(&owned), "{host} owns {owned}");
        }
        let four = place(&names, &["a", "b", "c", "d"]);
        let moved = three.iter().zip(&four).filter(|(before, after)| before != after).count();
        // A fourth goes to the newcomer, and few besides, which the bound had displaced.
        assert!((900..1_300).contains(&moved), "{moved} of 4,000 moved");
    }

    #[test]
    fn a_full_host_is_passed_over_and_none_is_chosen_of_none() {
        let hosts = [Candidate { host: "a", owned: 100 }, Candidate { host: "b", owned: 0 }];
        for name in ["one", "two", "three"] {
            assert_eq!(choose(name, &hosts), Some("b"));
        }
        assert_eq!(choose("one", &[]), None);
        assert_eq!(choose("one", &[Candidate { host: "a", owned: 7 }]), Some("a"));
    }
}
