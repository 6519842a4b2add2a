//! The proof that the ledger is right: its chain is whole, every balance is the sum of its entries,
//! nothing was spent that was not there, and escrow holds what the jobs under way say.

use std::collections::BTreeMap;

use chorus_core::codec;
use chorus_core::model::ledger::{Credits, ESCROW, Entry, EntryKind, Head, MINT};

use super::{ACCOUNT, ENTRY, head, read_account, read_entry};
use crate::db::Result;
use crate::doctor::report::Report;
use crate::family::Whole;
use crate::job;

/// The ledger as its entries make it.
#[derive(Default)]
struct Replayed {
    head: Head,
    balances: BTreeMap<String, i64>,
    /// The first thing that is wrong with the entries.
    wrong: Option<String>,
}

impl Replayed {
    fn add(&mut self, entry: &Entry) {
        let number = entry.number;
        let mut wrong = |what: &str| {
            self.wrong.get_or_insert_with(|| format!("entry {number} of the ledger {what}"));
        };
        if number != self.head.number + 1 {
            wrong("does not follow the one before it");
        }
        if entry.hash != codec::entry_hash(&self.head.hash, entry) {
            wrong("has another hash than its content gives it");
        }
        if entry.amount.0 <= 0 || entry.from == entry.to {
            wrong("moves nothing");
        }
        if (entry.kind == EntryKind::Mint) != (&*entry.from == MINT) {
            wrong("brings credits into being that were not minted");
        }
        for (owner, by) in [(&entry.from, -entry.amount.0), (&entry.to, entry.amount.0)] {
            let balance = self.balances.entry(owner.to_string()).or_default();
            *balance += by;
            if *balance < 0 && &**owner != MINT {
                wrong("takes more than there was");
            }
        }
        if &*entry.from == MINT {
            self.head.minted = Credits(self.head.minted.0 + entry.amount.0);
        }
        (self.head.number, self.head.hash) = (number, entry.hash);
    }
}

pub(super) fn check(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let (db, workspace) = (whole.db, whole.tenant.key);
    let mut replayed = Replayed::default();
    let sql = format!("{} WHERE workspace = $1 ORDER BY number", ENTRY.select());
    db.query(&sql, &[workspace.into()], &mut |row| {
        match read_entry(row) {
            Ok(entry) => replayed.add(&entry),
            Err(_) => {
                let number: u64 = row.int(1)?;
                let wrong = format!("entry {number} of the ledger cannot be read");
                replayed.wrong.get_or_insert(wrong);
            }
        }
        Ok(())
    })?;
    if let Some(wrong) = replayed.wrong.take() {
        report.found(wrong);
    }
    let stored = head(db, workspace)?;
    if stored != replayed.head {
        report.found("the ledger ends elsewhere than its entries do".to_owned());
    }
    let mut escrow = 0;
    let mut sum = 0;
    let sql = format!("{} WHERE workspace = $1 ORDER BY owner", ACCOUNT.select());
    for account in db.all(&sql, &[workspace.into()], read_account)? {
        let made = replayed.balances.remove(&*account.owner).unwrap_or_default();
        if made != account.balance.0 {
            let (owner, balance, made) = (&account.owner, account.balance, Credits(made));
            report.found(format!(
                "the account of {owner} has {balance}, and its entries make {made}"
            ));
        }
        sum += account.balance.0;
        if &*account.owner == ESCROW {
            escrow = account.balance.0;
        }
    }
    if let Some((owner, _)) = replayed.balances.first_key_value() {
        report.found(format!("{owner} has entries in the ledger and no account"));
    }
    if sum != 0 {
        let sum = Credits(sum);
        report.found(format!("the accounts sum up to {sum} more than was minted"));
    }
    let held = held(whole)?;
    if held != escrow {
        let (held, escrow) = (Credits(held), Credits(escrow));
        report.found(format!("escrow has {escrow}, and the jobs under way hold {held}"));
    }
    Ok(())
}

/// What the jobs hold. One that cannot be read is a finding of its own.
fn held(whole: &Whole<'_>) -> Result<i64> {
    let mut held = 0;
    let sql = format!("{} WHERE workspace = $1 ORDER BY job", job::JOB.select());
    whole.db.query(&sql, &[whole.tenant.key.into()], &mut |row| {
        held += codec::read_job(row.blob(9)?).map_or(0, |job| job.held.0);
        Ok(())
    })?;
    Ok(held)
}
