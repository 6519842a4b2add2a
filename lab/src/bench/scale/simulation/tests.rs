#![allow(clippy::unwrap_used)]
use std::hash::{DefaultHasher, Hash, Hasher};

use chorus_server::placement::{Candidate, bound, choose};

use super::figures::{Line, figures};
use super::fleet::{Fleet, Place};
use super::load::Population;
use super::{SMALL, Scenario};

/// Few workspaces, of which many are open, on some small hosts.
const TINY: Scenario = Scenario {
    name: "tiny",
    workspaces: 4_000,
    messages: 2e6,
    kept_open: 0.5,
    host_gb: 2.0,
    ..SMALL
};

fn of(lines: &[Line], metric: &str) -> f64 {
    lines.iter().find(|line| line.metric == metric).unwrap().value
}

fn with(place: Place) -> Vec<Line> {
    figures(&TINY, place).unwrap()
}

/// What is wrong with a placement, as its figures show it.
fn faults(lines: &[Line]) -> Vec<&'static str> {
    let hosts = of(lines, "hosts.needed");
    let mut faults = Vec::new();
    if of(lines, "owned.max_over_mean") > 1.26 {
        faults.push("a host owns more than the bound");
    }
    if of(lines, "owned.min_over_mean") < 0.5 {
        faults.push("a host owns next to nothing");
    }
    if of(lines, "join.moved") > 2.0 / hosts || of(lines, "leave.moved") > 2.0 / hosts {
        faults.push("more is moved than the host had or gets");
    }
    faults
}

fn rank(workspace: &str, host: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    (workspace, host).hash(&mut hash);
    hash.finish()
}

/// Rendezvous hashing in which one host's rank is too high and nothing bounds what it owns.
fn without_bound<'a>(workspace: &str, hosts: &[Candidate<'a>]) -> Option<&'a str> {
    let high = |host: &str| rank(workspace, host).max(rank(host, workspace));
    let of = |host: &Candidate<'_>| match host.host {
        "host-1" => high(host.host),
        other => rank(workspace, other),
    };
    hosts.iter().max_by_key(|host| of(host)).map(|host| host.host)
}

/// The same with the bound.
fn with_bound<'a>(workspace: &str, hosts: &[Candidate<'a>]) -> Option<&'a str> {
    let most = bound(hosts);
    let free: Vec<Candidate<'a>> = hosts.iter().filter(|host| host.owned < most).copied().collect();
    without_bound(workspace, &free)
}

/// All workspaces rank the hosts alike.
fn without_name<'a>(_: &str, hosts: &[Candidate<'a>]) -> Option<&'a str> {
    choose("", hosts)
}

/// A hash modulo the number of hosts.
fn modulo<'a>(workspace: &str, hosts: &[Candidate<'a>]) -> Option<&'a str> {
    let at = rank(workspace, "") % hosts.len() as u64;
    hosts.get(at as usize).map(|host| host.host)
}

#[test]
fn the_same_seed_has_the_same_figures_and_another_has_others() {
    let lines = with(choose);
    assert_eq!(lines, with(choose));
    let other = figures(&Scenario { seed: 2, ..TINY }, choose).unwrap();
    assert_ne!(lines, other);
}

#[test]
fn a_fault_of_the_placement_shows_in_the_figures() {
    assert_eq!(faults(&with(choose)), Vec::<&str>::new());
    assert_eq!(faults(&with(without_bound)), ["a host owns more than the bound"]);
    assert!(of(&with(with_bound), "owned.max_over_mean") <= 1.26);
    assert!(faults(&with(without_name)).contains(&"a host owns next to nothing"));
    assert_eq!(faults(&with(modulo)), ["more is moved than the host had or gets"]);
}

#[test]
fn a_workspace_waits_for_the_lease_only_where_its_host_was_lost() {
    let lines = with(choose);
    let (lost, drained) = (of(&lines, "lost.pause_max_s"), of(&lines, "drained.pause_max_s"));
    assert!((lost - drained - 5.0).abs() < 1e-9, "{lost} and {drained}");
    assert!(drained > 0.032 && of(&lines, "lost.pause_p99_s") <= lost);
    assert!((of(&lines, "lost.moved") * of(&lines, "hosts.needed") - 1.0).abs() < 0.3);
}

#[test]
fn everybody_writes_as_much_as_the_scenario_says() {
    let scenario = Scenario { workspaces: 5_000, messages: 5e6, ..SMALL };
    let day = Population::new(&scenario).day();
    let messages = day.messages.iter().sum::<f64>() * 300.0;
    assert!((messages / 5e6 - 1.0).abs() < 0.05, "{messages}");
    let (most, least) = (day.open.iter().max().unwrap(), day.open.iter().min().unwrap());
    assert!(*most < 5_000 && least * 5 < most * 4, "{least} to {most} of 5,000 are open");
}

#[test]
fn who_comes_seldom_or_stays_changes_how_many_are_open() {
    let open = |scenario: &Scenario| *Population::new(scenario).day().open.iter().max().unwrap();
    let few = Scenario { workspaces: 2_000, messages: 2e5, ..SMALL };
    let many_visits = Scenario { per_visit: 1.0, ..few.clone() };
    let kept = Scenario { kept_open: 1.0, ..few.clone() };
    assert!(open(&few) < open(&many_visits));
    assert_eq!(open(&kept), 2_000);
}

#[test]
fn what_a_host_owned_is_owned_by_others_and_what_is_closed_by_nobody() {
    let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    let all: Vec<usize> = (0..90).collect();
    let before = Fleet::new(choose, &names, 90).with(&all);
    let mut fleet = before.clone();
    let moved = fleet.leave("b");
    assert_eq!(fleet.owned().iter().sum::<f64>() as usize + moved.len(), 90);
    for workspace in &moved {
        fleet.open(*workspace).unwrap();
    }
    assert!(all.iter().all(|workspace| fleet.owns(*workspace)));
    assert!((before.moved(&fleet) - moved.len() as f64 / 90.0).abs() < 1e-9);
    all.iter().for_each(|workspace| fleet.close(*workspace));
    assert_eq!(fleet.owned(), [0.0, 0.0]);
}
