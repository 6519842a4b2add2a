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

/// Why a workspace is where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why<'a> {
    /// Of all hosts its name ranks this one first.
    First,
    /// The host that its name ranks first has no room.
    FirstIsFull { first: &'a str, owned: usize, bound: usize },
    /// The host that its name ranks first was not up, or had no room, when it was taken; and nobody is asked to give one
    /// up who has no more than its share.
    TakenBefore { first: &'a str },
}

/// Why a host owns a workspace; none where there is no host.
pub fn why<'a>(workspace: &str, owner: &str, hosts: &[Candidate<'a>]) -> Option<Why<'a>> {
    let first = hosts.iter().max_by_key(|host| rank(workspace, host.host))?;
    let bound = bound(hosts);
    Some(match first {
        first if first.host == owner => Why::First,
        Candidate { host: first, owned } if *owned >= bound => {
            Why::FirstIsFull { first, owned: *owned, bound }
        }
        Candidate { host: first, .. } => Why::TakenBefore { first },
    })
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

    // covers: OPS-170
    #[test]
    fn it_can_be_told_why_a_workspace_is_where_it_is() {
        let hosts = |a, b| [Candidate { host: "a", owned: a }, Candidate { host: "b", owned: b }];
        let first = choose("one", &hosts(0, 0)).unwrap();
        let other = if first == "a" { "b" } else { "a" };
        assert_eq!(why("one", first, &hosts(3, 3)), Some(Why::First));
        assert_eq!(why("one", other, &hosts(3, 3)), Some(Why::TakenBefore { first }));
        let full = if first == "a" { hosts(9, 0) } else { hosts(0, 9) };
        let is_full = Why::FirstIsFull { first, owned: 9, bound: 7 };
        assert_eq!(why("one", other, &full), Some(is_full));
        assert_eq!(why("one", "a", &[]), None);
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
