//! Accounts, transfers and the ledger (registry spec section 3.5).

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::ledger::{LimitSpending, Mint, Transfer};
use chorus_core::model::caller::Authority;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Prefix;
use chorus_core::model::registry::owner_of;
use chorus_core::state::directory::Directory;
use chorus_wire::registry::{
    Account, Accounts, Audited, LedgerPage, Mint as MintAsked, PageQuery, SpendingLimit, Statement,
    Transfer as TransferAsked, Transferred,
};

use super::agents::{AgentService, check_currency, check_version, must_not_be_negative};
use super::receipts::Paid;
use crate::auth::{Auth, Caller};
use crate::services::clock::HostClock;
use crate::services::commands::Commands;
use crate::services::pages;
use crate::services::reads::Reads;
use crate::services::{IdGenerator, ids};
use crate::view;

/// The ledger.
pub(crate) struct LedgerService {
    pub(in crate::services) agents: Arc<AgentService>,
    pub(in crate::services) commands: Arc<Commands>,
    pub(in crate::services) reads: Arc<Reads>,
    pub(in crate::services) auth: Arc<Auth>,
    pub(in crate::services) clock: Arc<HostClock>,
    pub(in crate::services) directory: Arc<ArcSwap<Directory>>,
    pub(in crate::services) id_generator: Arc<IdGenerator>,
}

impl LedgerService {
    pub(crate) async fn transfer(
        &self,
        caller: &Caller,
        asked: TransferAsked,
    ) -> Result<Transferred, Refusal> {
        caller.must_not_be_a_turn()?;
        check_version(asked.version.as_deref())?;
        check_currency(asked.currency.as_deref())?;
        self.agents.check_time(asked.timestamp_utc)?;
        let command = Transfer {
            transfer: ids::uuid(&asked.transfer_id, "transfer_id")?,
            from: asked.from_owner.into(),
            to: asked.to_owner.into(),
            amount: must_not_be_negative(asked.amount.0)?,
            job: asked.job_id.as_deref().map(|id| ids::uuid(id, "job_id")).transpose()?,
            memo: asked.memo.map(Into::into),
        };
        let done = self.commands.submit(caller.by, command).await?;
        Ok(Transferred {
            transfer_id: asked.transfer_id.to_lowercase(),
            status: "settled".to_owned(),
            from_owner: done.entry.from.to_string(),
            to_owner: done.entry.to.to_string(),
            amount: done.entry.amount.into(),
            job_id: done.entry.job.map(|uid| uid.show(Prefix::Uuid)),
            balance: done.balance.into(),
            entry: done.entry.number,
            duplicate: done.duplicate,
            receipt: self.auth.sign_receipt(&Paid::of(&done.entry, None))?,
        })
    }

    pub(crate) async fn mint(
        &self,
        caller: &Caller,
        owner: &str,
        asked: MintAsked,
    ) -> Result<Account, Refusal> {
        caller.must_operate()?;
        let transfer = match asked.transfer_id.as_deref() {
            Some(id) => ids::uuid(id, "transfer_id")?,
            None => self.id_generator.uid(self.clock.now())?,
        };
        let command = Mint {
            transfer,
            to: owner.into(),
            amount: must_not_be_negative(asked.amount.0)?,
            memo: asked.memo.map(Into::into),
        };
        self.commands.submit(caller.by, command).await?;
        self.read_account(owner).await
    }

    async fn read_account(&self, owner: &str) -> Result<Account, Refusal> {
        let asked = owner.to_owned();
        let found = self.reads.read(move |readers| readers.account(&asked)).await?;
        found.as_ref().map(view::registry::account).ok_or_else(|| Refusal::not_found("account"))
    }

    /// An owner's account, which its own members see, and who sees everything.
    fn may_see(caller: &Caller, owner: &str) -> Result<(), Refusal> {
        match sees_everything(caller) || *owner_of(&caller.member) == *owner {
            true => Ok(()),
            false => Err(Refusal::not_found("account")),
        }
    }

    pub(crate) async fn account(&self, caller: &Caller, owner: &str) -> Result<Account, Refusal> {
        let owner = own(caller, owner);
        Self::may_see(caller, &owner)?;
        self.read_account(&owner).await
    }

    pub(crate) async fn accounts(
        &self,
        caller: &Caller,
        query: PageQuery,
    ) -> Result<Accounts, Refusal> {
        let limit = pages::limit(query.limit)?;
        if !sees_everything(caller) {
            let owner = owner_of(&caller.member);
            let found = self.reads.read(move |readers| readers.account(&owner)).await?;
            let accounts = found.iter().map(view::registry::account).collect();
            return Ok(Accounts { accounts, next: None });
        }
        let after = query.after.unwrap_or_default();
        let mut found = self.reads.read(move |readers| readers.accounts(&after, limit + 1)).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.owner.to_string());
        Ok(Accounts { accounts: found.iter().map(view::registry::account).collect(), next })
    }

    pub(crate) async fn statement(
        &self,
        caller: &Caller,
        owner: &str,
        query: PageQuery,
    ) -> Result<Statement, Refusal> {
        let owner = own(caller, owner);
        Self::may_see(caller, &owner)?;
        let limit = pages::limit(query.limit)?;
        let before = number(query.after.as_deref(), i64::MAX as u64)?;
        let balance = self.read_account(&owner).await?.balance;
        let of = owner.clone();
        let read = move |readers: &chorus_store::Readers| readers.statement(&of, before, limit + 1);
        let mut entries = self.reads.read(read).await?;
        let more = entries.len() > limit;
        entries.truncate(limit);
        Ok(Statement {
            owner_id: owner,
            balance,
            next: entries.last().filter(|_| more).map(|last| last.number.to_string()),
            entries: entries.iter().map(view::registry::entry).collect(),
        })
    }

    /// The ledger from its beginning.
    pub(crate) async fn ledger(
        &self,
        caller: &Caller,
        query: PageQuery,
    ) -> Result<LedgerPage, Refusal> {
        if !sees_everything(caller) {
            let why = "the whole ledger is for operators and auditors; see your own account";
            return Err(Refusal::new(Code::InsufficientAuthority, why));
        }
        let limit = pages::limit(query.limit)?;
        let after = number(query.after.as_deref(), 0)?;
        let (mut entries, head) = self
            .reads
            .read(move |readers| {
                Ok((readers.ledger_entries(after, limit + 1)?, readers.ledger_head()?))
            })
            .await?;
        let more = entries.len() > limit;
        entries.truncate(limit);
        Ok(LedgerPage {
            next: entries.last().filter(|_| more).map(|last| last.number.to_string()),
            entries: entries.iter().map(view::registry::entry).collect(),
            ledger: Audited {
                entries: head.number,
                hash: view::registry::hex(&head.hash),
                minted: head.minted.into(),
            },
        })
    }

    pub(crate) async fn limit_spending(
        &self,
        caller: &Caller,
        member: &str,
        limit: SpendingLimit,
    ) -> Result<SpendingLimit, Refusal> {
        caller.must_operate()?;
        let member = ids::member_for(&self.directory.load(), caller, member)?.key;
        let amount = |asked: Option<chorus_wire::registry::Amount>| {
            asked.map(|amount| must_not_be_negative(amount.0)).transpose()
        };
        let (per_job, per_day) = (amount(limit.per_job)?, amount(limit.per_day)?);
        self.commands.submit(caller.by, LimitSpending { member, per_job, per_day }).await?;
        Ok(limit)
    }

    pub(crate) async fn spending_limit(
        &self,
        caller: &Caller,
        member: &str,
    ) -> Result<SpendingLimit, Refusal> {
        let member = ids::member_for(&self.directory.load(), caller, member)?.key;
        if member != caller.by.member && !sees_everything(caller) {
            let why = "the limits of others are for operators";
            return Err(Refusal::new(Code::InsufficientAuthority, why));
        }
        let found = self.reads.read(move |readers| readers.spending(member)).await?;
        let (per_job, per_day) = found.map(|s| (s.per_job, s.per_day)).unwrap_or_default();
        Ok(SpendingLimit { per_job: per_job.map(Into::into), per_day: per_day.map(Into::into) })
    }
}

/// Operators and auditors see the jobs and accounts of everybody. An orchestrator, which may be an
/// agent, sees its own.
pub(super) fn sees_everything(caller: &Caller) -> bool {
    caller.sees_all() && caller.authority() != Authority::Orchestrator
}

/// `me` is the caller's own owner.
fn own(caller: &Caller, owner: &str) -> String {
    match owner {
        "me" => owner_of(&caller.member).to_string(),
        owner => owner.to_owned(),
    }
}

fn number(after: Option<&str>, default: u64) -> Result<u64, Refusal> {
    let Some(after) = after else { return Ok(default) };
    after.parse().map_err(|_| Refusal::invalid("after is the next of the page before"))
}
