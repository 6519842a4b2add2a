//! The ledger: its entries in order, packed, then accounts, and what members may spend.

use chorus_core::codec;
use chorus_core::model::ledger;
use chorus_store::history::{Reading, Snapshot};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfWorkspace, Out, Written};
use crate::history::error::Bad;
use crate::history::field::Bytes;

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct LedgerEntry {
    entry: Bytes,
}

impl LedgerEntry {
    fn read(&self) -> Result<ledger::Entry, String> {
        codec::read_entry(&self.entry.0).map_err(|_| "the entry cannot be read".to_owned())
    }
}

impl OfWorkspace for LedgerEntry {
    fn export(out: &mut Out<'_>, reading: &Reading, _: &Snapshot) -> Written {
        let mut after = 0;
        loop {
            let page = reading.ledger_entries(after)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.number;
            for entry in &page {
                out.put(&Line::LedgerEntry(Self { entry: Bytes(codec::entry(entry)) }))?;
            }
        }
    }
}

impl Kind for LedgerEntry {
    fn check(&self) -> Result<(), String> {
        self.read().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        Ok(import.writing.ledger_entry(self.read()?)?)
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Account {
    account: Bytes,
}

impl Account {
    fn read(&self) -> Result<ledger::Account, String> {
        codec::read_account(&self.account.0).map_err(|_| "the account cannot be read".to_owned())
    }
}

impl OfWorkspace for Account {
    fn export(out: &mut Out<'_>, reading: &Reading, _: &Snapshot) -> Written {
        let mut after = String::new();
        loop {
            let page = reading.accounts(&after)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.owner.to_string();
            for account in &page {
                out.put(&Line::Account(Self { account: Bytes(codec::account(account)) }))?;
            }
        }
    }
}

impl Kind for Account {
    fn check(&self) -> Result<(), String> {
        self.read().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        Ok(import.writing.account(self.read()?)?)
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Spending {
    spending: Bytes,
}

impl Spending {
    fn read(&self) -> Result<ledger::Spending, String> {
        codec::read_spending(&self.spending.0).map_err(|_| "the limit cannot be read".to_owned())
    }
}

impl OfWorkspace for Spending {
    fn export(out: &mut Out<'_>, reading: &Reading, _: &Snapshot) -> Written {
        for spending in reading.spending_limits()? {
            out.put(&Line::Spending(Self { spending: Bytes(codec::spending(&spending)) }))?;
        }
        Ok(())
    }
}

impl Kind for Spending {
    fn check(&self) -> Result<(), String> {
        self.read().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        Ok(import.writing.spending_limit(self.read()?)?)
    }
}
