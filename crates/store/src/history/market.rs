//! Agents for hire, jobs and the ledger, in an export and in an import.
//!
//! Invariant: an imported ledger follows from its own entries. Accounts that they do not make are
//! refused.

use std::collections::BTreeMap;

use chorus_core::codec;
use chorus_core::model::ids::Uid;
use chorus_core::model::job::Job;
use chorus_core::model::ledger::{Account, Credits, Entry, EntryKind, Head, MINT, Spending};
use chorus_core::model::registry::{Listing, ReputationChange};

use super::{PAGE, Reading, Refused, Result, Writing, unfit};
use crate::{job, ledger, listing};

/// The ledger as far as it was written.
#[derive(Default)]
pub(super) struct Ledger {
    head: Head,
    /// What entries have made of the accounts that have not come yet.
    balances: BTreeMap<String, i64>,
}

impl Reading {
    /// Agents after an id; none at the end, and none in a folder that is older than they are.
    pub fn agents(&self, after: Uid) -> Result<Vec<Listing>> {
        match self.has(&listing::FAMILY) {
            true => Ok(listing::page(&*self.db, self.workspace, None, after, PAGE)?),
            false => Ok(Vec::new()),
        }
    }

    /// What changed an agent's reputation after the change with this number.
    pub fn reputation_changes(&self, agent: Uid, after: u64) -> Result<Vec<ReputationChange>> {
        Ok(listing::reputation(&*self.db, self.workspace, agent, after, PAGE)?)
    }

    pub fn jobs(&self, after: Uid) -> Result<Vec<Job>> {
        match self.has(&job::FAMILY) {
            true => Ok(job::after(&*self.db, self.workspace, after, PAGE)?),
            false => Ok(Vec::new()),
        }
    }

    pub fn ledger_entries(&self, after: u64) -> Result<Vec<Entry>> {
        match self.has(&ledger::FAMILY) {
            true => Ok(ledger::entries(&*self.db, self.workspace, after, PAGE)?),
            false => Ok(Vec::new()),
        }
    }

    pub fn accounts(&self, after: &str) -> Result<Vec<Account>> {
        match self.has(&ledger::FAMILY) {
            true => Ok(ledger::accounts(&*self.db, self.workspace, after, PAGE)?),
            false => Ok(Vec::new()),
        }
    }

    pub fn spending_limits(&self) -> Result<Vec<Spending>> {
        match self.has(&ledger::FAMILY) {
            true => Ok(ledger::all_spending(&*self.db, self.workspace)?),
            false => Ok(Vec::new()),
        }
    }
}

impl Writing {
    pub fn agent(&mut self, of: Listing) -> std::result::Result<(), Refused> {
        self.known(of.by)?;
        if let Some(member) = of.member {
            self.known(member)?;
        }
        listing::put(self.db()?, self.tenant.key, &of, true)?;
        self.wrote()
    }

    pub fn reputation_change(&mut self, of: ReputationChange) -> std::result::Result<(), Refused> {
        let db = self.db()?;
        if listing::get(db, self.tenant.key, of.agent)?.is_none() {
            return unfit("a reputation is of an agent that is not there");
        }
        listing::put_reputation(db, self.tenant.key, &of)?;
        self.wrote()
    }

    pub fn job(&mut self, of: Job) -> std::result::Result<(), Refused> {
        self.known(of.hirer)?;
        if let Some(flaw) = job::flaw(&of) {
            return unfit(format!("a job {flaw}"));
        }
        job::put(self.db()?, self.tenant.key, &of)?;
        self.wrote()
    }

    pub fn ledger_entry(&mut self, of: Entry) -> std::result::Result<(), Refused> {
        let ledger = &mut self.ledger;
        let follows = of.number == ledger.head.number + 1
            && of.hash == codec::entry_hash(&ledger.head.hash, &of);
        let mints = &*of.from == MINT;
        if !follows || of.amount.0 <= 0 || mints != (of.kind == EntryKind::Mint) {
            return unfit(format!("entry {} of the ledger does not follow", of.number));
        }
        for (owner, by) in [(&of.from, -of.amount.0), (&of.to, of.amount.0)] {
            let balance = ledger.balances.entry(owner.to_string()).or_default();
            *balance = balance.saturating_add(by);
            if *balance < 0 && &**owner != MINT {
                return unfit(format!("entry {} takes more than there was", of.number));
            }
        }
        (ledger.head.number, ledger.head.hash) = (of.number, of.hash);
        if mints {
            ledger.head.minted = Credits(ledger.head.minted.0.saturating_add(of.amount.0));
        }
        ledger::put_entry(self.db()?, self.tenant.key, &of)?;
        self.wrote()
    }

    /// An account; after all entries.
    pub fn account(&mut self, of: Account) -> std::result::Result<(), Refused> {
        let made = self.ledger.balances.remove(&*of.owner).unwrap_or_default();
        if made != of.balance.0 {
            return unfit(format!("the account of {} is not what its entries make", of.owner));
        }
        ledger::put_account(self.db()?, self.tenant.key, &of)?;
        self.wrote()
    }

    pub fn spending_limit(&mut self, of: Spending) -> std::result::Result<(), Refused> {
        self.known(of.member)?;
        ledger::put_spending(self.db()?, self.tenant.key, &of)?;
        self.wrote()
    }

    /// Writes where the ledger ends.
    pub(super) fn close_ledger(&mut self) -> std::result::Result<(), Refused> {
        if let Some((owner, _)) = self.ledger.balances.first_key_value() {
            return unfit(format!("{owner} has entries in the ledger and no account"));
        }
        if self.ledger.head.number > 0 {
            ledger::put_head(self.db()?, self.tenant.key, &self.ledger.head)?;
        }
        Ok(())
    }
}
