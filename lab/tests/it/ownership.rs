//! The rules of owning a workspace, as a model: every order of what two hosts can do is tried, as far as they come in a few
//! leases.
//!
//! A host that stands still, is cut off or is slow is one that does nothing for a while, so that all of those are among
//! the orders. The model takes the steps of `store/src/membership` apart where another host can come in between.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use stateright::{Checker, HasDiscoveries, Model, Property};

/// How long a lease is, and how long the model goes on.
const LEASE: u8 = 2;
const END: u8 = 3;
const HOSTS: usize = 2;
/// How many ids a host can have, one after the other.
const LIVES: u8 = 2;

const COMMITS: &str = "an owner that was replaced commits nothing";
const ANSWERS: &str = "an owner that was replaced answers nothing";
const TAKES_OVER: &str = "another host takes over and writes";

/// What is left out, to see that the model finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Without {
    Nothing,
    /// A transaction does not check its epoch.
    EpochCheck,
    /// A lease is counted from the answer, and not from before it was asked for.
    AskedFirst,
    /// Whoever takes a workspace does not look whether it is still the one that was read.
    SameEpoch,
    /// A host that was given up goes on with its id.
    NewId,
    /// A host answers without looking at its lease.
    LeaseCheck,
}

/// An id: which host, and which of its lives.
type Id = (usize, u8);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Database {
    now: u8,
    /// Until when each live host has its lease.
    live: [Option<(u8, u8)>; HOSTS],
    owner: Option<Id>,
    epoch: u8,
    /// The highest epoch that something was committed in.
    committed: u8,
}

impl Database {
    fn is_live(&self, id: Id) -> bool {
        self.live[id.0].is_some_and(|(life, _)| life == id.1)
    }
}

/// What a host has asked, and not heard of yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Taking {
    No,
    /// It has read who the owner is, and in which epoch.
    Read(Option<Id>, u8),
    /// That one is not live.
    Free(u8),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Host {
    life: u8,
    /// When a renewal was sent, whose answer is under way.
    asked: Option<u8>,
    /// What the database has done about it, or could not do because the host was given up.
    renewed: Option<bool>,
    /// Until when it believes that its lease holds.
    until: u8,
    owns: Option<u8>,
    taking: Taking,
    /// A transaction that was begun in this epoch.
    writes: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    database: Database,
    hosts: [Host; HOSTS],
    /// Something was committed that a later owner did not know of.
    late_commit: bool,
    /// Something was answered from memory that was not up to date.
    stale_answer: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Action {
    Tick,
    AskRenewal(usize),
    Renew(usize),
    HearRenewal(usize),
    GiveUp(usize),
    ReadOwner(usize),
    LookForOwner(usize),
    Take(usize),
    Begin(usize),
    Commit(usize),
    Answer(usize),
}

struct Ownership(Without);

impl Ownership {
    fn may_take(state: &State, host: usize) -> bool {
        let me = &state.hosts[host];
        me.owns.is_none() && state.database.is_live((host, me.life))
    }
}

impl Model for Ownership {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let host = Host {
            life: 0,
            asked: None,
            renewed: None,
            until: LEASE,
            owns: None,
            taking: Taking::No,
            writes: None,
        };
        let database = Database {
            now: 0,
            live: [Some((0, LEASE)); HOSTS],
            owner: None,
            epoch: 0,
            committed: 0,
        };
        let hosts = [host.clone(), host];
        vec![State { database, hosts, late_commit: false, stale_answer: false }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.database.now < END {
            actions.push(Action::Tick);
        }
        for host in 0..HOSTS {
            let me = &state.hosts[host];
            match (me.asked, me.renewed) {
                (None, _) => actions.push(Action::AskRenewal(host)),
                (Some(_), None) => actions.push(Action::Renew(host)),
                (Some(_), Some(_)) => actions.push(Action::HearRenewal(host)),
            }
            let other = 1 - host;
            if state.database.live[other].is_some_and(|(_, until)| until <= state.database.now) {
                actions.push(Action::GiveUp(other));
            }
            match me.taking {
                Taking::No if Self::may_take(state, host) => actions.push(Action::ReadOwner(host)),
                Taking::No => {}
                Taking::Read(..) => actions.push(Action::LookForOwner(host)),
                Taking::Free(_) => actions.push(Action::Take(host)),
            }
            match (me.owns, me.writes) {
                (Some(_), None) => actions.push(Action::Begin(host)),
                (_, Some(_)) => actions.push(Action::Commit(host)),
                _ => {}
            }
            let holds = state.database.now < me.until || self.0 == Without::LeaseCheck;
            if me.owns.is_some() && holds {
                actions.push(Action::Answer(host));
            }
        }
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        let State { database, hosts, late_commit, stale_answer } = &mut state;
        match action {
            Action::Tick => database.now += 1,
            Action::AskRenewal(host) => hosts[host].asked = Some(database.now),
            Action::Renew(host) => {
                let me = &mut hosts[host];
                let renews = database.is_live((host, me.life)) || self.0 == Without::NewId;
                me.renewed = Some(renews);
                if renews {
                    database.live[host] = Some((me.life, database.now + LEASE));
                }
            }
            Action::HearRenewal(host) => {
                let me = &mut hosts[host];
                let (asked, renewed) = (me.asked.take()?, me.renewed.take()?);
                if renewed {
                    let from = if self.0 == Without::AskedFirst { database.now } else { asked };
                    me.until = from + LEASE;
                } else {
                    // It was given up: it joins as another, and owns nothing.
                    me.life += 1;
                    if me.life >= LIVES {
                        return None;
                    }
                    database.live[host] = Some((me.life, database.now + LEASE));
                    (me.until, me.owns, me.taking) = (0, None, Taking::No);
                }
            }
            Action::GiveUp(host) => database.live[host] = None,
            Action::ReadOwner(host) => {
                hosts[host].taking = Taking::Read(database.owner, database.epoch);
            }
            Action::LookForOwner(host) => {
                let Taking::Read(owner, epoch) = hosts[host].taking else { return None };
                let is_free = owner.is_none_or(|owner| !database.is_live(owner));
                hosts[host].taking = if is_free { Taking::Free(epoch) } else { Taking::No };
            }
            Action::Take(host) => {
                let Taking::Free(epoch) = hosts[host].taking else { return None };
                hosts[host].taking = Taking::No;
                if database.epoch == epoch || self.0 == Without::SameEpoch {
                    database.epoch += 1;
                    database.owner = Some((host, hosts[host].life));
                    hosts[host].owns = Some(database.epoch);
                }
            }
            Action::Begin(host) => hosts[host].writes = hosts[host].owns,
            Action::Commit(host) => {
                let epoch = hosts[host].writes.take()?;
                if epoch == database.epoch || self.0 == Without::EpochCheck {
                    *late_commit |= epoch < database.epoch;
                    database.committed = database.committed.max(epoch);
                } else {
                    hosts[host].owns = None;
                }
            }
            Action::Answer(host) => {
                let is_owner = hosts[host].owns == Some(database.epoch);
                *stale_answer |= !is_owner;
                if is_owner {
                    return None;
                }
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(COMMITS, |_, state: &State| !state.late_commit),
            Property::always(ANSWERS, |_, state: &State| !state.stale_answer),
            Property::sometimes(TAKES_OVER, |_, state: &State| state.database.committed > 1),
        ]
    }
}

/// What breaks first, if anything does.
fn broken(without: Without) -> Option<&'static str> {
    let checker = Ownership(without).checker().threads(2);
    let checker = checker.finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    eprintln!("{without:?}: {} states", checker.unique_state_count());
    let found = |name| checker.discovery(name).is_some();
    if without == Without::Nothing {
        assert!(found(TAKES_OVER), "no host takes over");
    }
    [COMMITS, ANSWERS].into_iter().find(|name| found(name))
}

// covers: OPS-150
#[test]
fn no_order_of_events_gives_a_workspace_two_owners() {
    assert_eq!(broken(Without::Nothing), None);
}

// covers: OPS-150
#[test]
fn each_rule_of_owning_a_workspace_is_needed() {
    for (without, breaks) in [
        (Without::EpochCheck, COMMITS),
        (Without::AskedFirst, ANSWERS),
        (Without::SameEpoch, ANSWERS),
        (Without::NewId, ANSWERS),
        (Without::LeaseCheck, ANSWERS),
    ] {
        assert_eq!(broken(without), Some(breaks), "{without:?}");
    }
}
