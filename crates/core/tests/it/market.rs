//! What a store has of the registry, jobs and the ledger, in memory; and what must always be true of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::ids::{MemberKey, Timestamp, Uid};
use chorus_core::model::job::{Job, JobState, Payment};
use chorus_core::model::ledger::{Account, Credits, ESCROW, Entry, Head, MINT, Spending};
use chorus_core::model::registry::{Listing, Reputation, ReputationChange};
use chorus_core::state::workspace::Changes;

#[derive(Clone, Debug, Default)]
pub(crate) struct Market {
    pub(crate) listings: BTreeMap<Uid, Arc<Listing>>,
    pub(crate) heartbeats: BTreeMap<Uid, Timestamp>,
    pub(crate) jobs: BTreeMap<Uid, Arc<Job>>,
    pub(crate) accounts: BTreeMap<Arc<str>, Account>,
    pub(crate) spending: BTreeMap<MemberKey, Spending>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) reputations: Vec<ReputationChange>,
    pub(crate) head: Head,
}

impl Market {
    pub(crate) fn write(&mut self, changes: &Changes) {
        self.listings.extend(changes.listings.iter().map(|(k, v)| (*k, v.clone())));
        self.heartbeats.extend(&changes.heartbeats);
        self.jobs.extend(changes.jobs.iter().map(|(k, v)| (*k, v.clone())));
        self.accounts.extend(changes.accounts.iter().map(|(k, v)| (k.clone(), v.clone())));
        self.spending.extend(changes.spending.iter().map(|(k, v)| (*k, *v)));
        self.entries.extend(changes.entries.iter().cloned());
        self.reputations.extend(&changes.reputations);
        self.head = changes.ledger.unwrap_or(self.head);
    }

    /// Every balance is the sum of its entries, the chain is whole, escrow has what jobs hold, and every
    /// reputation is what its history made of it.
    pub(crate) fn check(&self) {
        let mut balances: BTreeMap<&str, i64> = BTreeMap::new();
        let mut previous = [0; 32];
        for (n, entry) in self.entries.iter().enumerate() {
            assert_eq!(entry.number, n as u64 + 1);
            assert_eq!(entry.hash, codec::entry_hash(&previous, entry));
            previous = entry.hash;
            assert!(entry.amount.0 > 0);
            *balances.entry(&entry.from).or_default() -= entry.amount.0;
            *balances.entry(&entry.to).or_default() += entry.amount.0;
            for (owner, balance) in &balances {
                assert!(*balance >= 0 || *owner == MINT, "{owner} spent what it did not have");
            }
        }
        assert_eq!((self.head.number, self.head.hash), (self.entries.len() as u64, previous));
        for (owner, account) in &self.accounts {
            let made = balances.get(&**owner).copied().unwrap_or_default();
            assert_eq!(account.balance, Credits(made), "{owner}");
        }
        let sum: i64 = self.accounts.values().map(|account| account.balance.0).sum();
        assert_eq!(sum, 0, "what was minted is somewhere");
        let held: i64 = self.jobs.values().map(|job| job.held.0).sum();
        assert_eq!(balances.get(ESCROW).copied().unwrap_or_default(), held);
        for job in self.jobs.values() {
            let holds = job.payment == Payment::Escrow && !job.state.has_ended();
            assert_eq!(job.held, if holds { job.budget } else { Credits(0) }, "{job:?}");
            assert_eq!(job.outcome.is_some(), job.state.has_ended(), "{job:?}");
            assert!(job.paid <= job.budget && job.paid <= job.price, "{job:?}");
            assert!(job.paid.0 == 0 || job.state == JobState::Completed, "{job:?}");
        }
        for listing in self.listings.values() {
            let changes = self.reputations.iter().filter(|c| c.agent == listing.agent);
            let mut score = Reputation::NEW;
            for (n, change) in changes.enumerate() {
                assert_eq!((change.number, change.before), (n as u64 + 1, score));
                score = change.after;
            }
            assert_eq!(listing.reputation, score);
        }
    }
}
