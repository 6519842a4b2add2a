//! Posting entries: the one place where balances change.

use std::sync::Arc;

use crate::codec;
use crate::commands::context::{Context, Result};
use crate::model::error::{Code, Refusal};
use crate::model::event::Hash;
use crate::model::ids::{MemberKey, Uid};
use crate::model::ledger::{Account, Credits, Entry, EntryKind, Exceeded, Head, MINT, Spending};
use crate::model::limits;

/// An entry to be posted.
pub(crate) struct Posting {
    pub(crate) kind: EntryKind,
    pub(crate) from: Arc<str>,
    pub(crate) to: Arc<str>,
    pub(crate) amount: Credits,
    pub(crate) job: Option<Uid>,
    pub(crate) transfer: Option<Uid>,
    pub(crate) memo: Option<Arc<str>>,
}

impl Posting {
    pub(crate) fn of_job(kind: EntryKind, job: Uid, from: &str, to: &str, amount: Credits) -> Self {
        let (from, to) = (from.into(), to.into());
        Self { kind, from, to, amount, job: Some(job), transfer: None, memo: None }
    }
}

impl Context<'_> {
    pub(crate) fn account(&mut self, owner: &str) -> Result<Option<Account>> {
        match self.ws.changes.accounts.get(owner) {
            Some(account) => Ok(Some(account.clone())),
            None => Ok(self.facts.account(owner)?),
        }
    }

    /// Opens the account of an owner, if it has none.
    pub(crate) fn open_account(&mut self, owner: &Arc<str>) -> Result<()> {
        if self.account(owner)?.is_none() {
            let account = Account::new(owner, self.now);
            self.ws.changes.accounts.insert(owner.clone(), account);
        }
        Ok(())
    }

    pub(crate) fn ledger_head(&mut self) -> Result<Head> {
        match self.ws.changes.ledger {
            Some(head) => Ok(head),
            None => Ok(self.facts.ledger_head()?),
        }
    }

    /// Refuses to take more from an owner's account than there is.
    pub(crate) fn must_have(&mut self, owner: &str, amount: Credits) -> Result<()> {
        let balance = self.account(owner)?.map_or(Credits(0), |account| account.balance);
        if balance < amount {
            let why = format!("the account of {owner} has {balance}, and this takes {amount}");
            return Err(Refusal::new(Code::TransferFailed, why).into());
        }
        Ok(())
    }

    /// Posts an entry. Both accounts must be known to be able to take part: whoever calls has asked
    /// [`Self::must_have`] before it changed anything.
    pub(crate) fn post_entry(&mut self, posting: Posting) -> Result<Entry> {
        let Posting { kind, from, to, amount, job, transfer, memo } = posting;
        if kind != EntryKind::Mint {
            self.must_have(&from, amount)?;
        }
        let mut head = self.ledger_head()?;
        self.change_balance(&from, -amount.0)?;
        self.change_balance(&to, amount.0)?;
        let mut entry = Entry {
            number: head.number + 1,
            at: self.now,
            kind,
            from,
            to,
            amount,
            job,
            transfer,
            by: self.by.member,
            memo,
            hash: Hash::default(),
        };
        entry.hash = codec::entry_hash(&head.hash, &entry);
        (head.number, head.hash) = (entry.number, entry.hash);
        if &*entry.from == MINT {
            head.minted = Credits(head.minted.0 + amount.0);
        }
        self.ws.changes.ledger = Some(head);
        self.ws.changes.entries.push(entry.clone());
        Ok(entry)
    }

    fn change_balance(&mut self, owner: &Arc<str>, by: i64) -> Result<()> {
        let account = self.account(owner)?;
        let mut account = account.unwrap_or_else(|| Account::new(owner, self.now));
        account.balance = Credits(account.balance.0 + by);
        self.ws.changes.accounts.insert(owner.clone(), account);
        Ok(())
    }

    pub(crate) fn spending(&mut self, member: MemberKey) -> Result<Spending> {
        let known = match self.ws.changes.spending.get(&member) {
            Some(spending) => Some(*spending),
            None => self.facts.spending(member)?,
        };
        Ok(known.unwrap_or_else(|| Spending::of(member)))
    }

    /// What the caller will have spent; refused where it exceeds a limit.
    pub(crate) fn may_spend(&mut self, amount: Credits) -> Result<Spending> {
        let spending = self.spending(self.by.member)?;
        let exceeded = match spending.after(amount, self.now) {
            Ok(after) => return Ok(after),
            Err(exceeded) => exceeded,
        };
        let why = match exceeded {
            Exceeded::Job(most) => format!("you may spend at most {most} at once"),
            Exceeded::Day(most, left) => {
                format!("you may spend {most} on a day, and {left} of it is left")
            }
        };
        let why = format!("{why}; an operator can change the limit");
        Err(Refusal::new(Code::Forbidden, why).into())
    }

    pub(crate) fn put_spending(&mut self, spending: Spending) {
        let counts = spending.per_day.is_some() || spending.per_job.is_some();
        if counts || self.ws.changes.spending.contains_key(&spending.member) {
            self.ws.changes.spending.insert(spending.member, spending);
        }
    }
}

/// An owner's id: a line, and none of the host's own accounts.
pub(crate) fn check_owner(owner: &str) -> Result<(), Refusal> {
    let most = limits::TITLE_BYTES;
    let is_plain = !owner.trim().is_empty() && !owner.chars().any(char::is_control);
    if !is_plain || owner.len() > most || owner.starts_with('@') {
        return Err(Refusal::invalid(format!(
            "an owner's id is a line of 1 to {most} bytes that does not begin with @"
        )));
    }
    Ok(())
}
