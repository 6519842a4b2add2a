//! Transfers between owners (registry spec section 3.5).

use std::sync::Arc;

use super::mint::{check_amount, check_memo};
use super::posting::{Posting, check_owner};
use crate::commands::command::{Command, Done};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Readers, Shown, plain};
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::error::{Code, Refusal};
use crate::model::ids::Uid;
use crate::model::job::{JobState, Outcome, Payment};
use crate::model::ledger::{Credits, Entry, EntryKind};
use crate::model::registry::owner_of;

/// Moves credits from the caller's owner to another. Idempotent by the transfer's id.
#[derive(Clone)]
pub struct Transfer {
    pub transfer: Uid,
    pub from: Arc<str>,
    pub to: Arc<str>,
    pub amount: Credits,
    /// The direct job that it pays.
    pub job: Option<Uid>,
    pub memo: Option<Arc<str>>,
}

/// The entry, what the account that paid has now, and whether the transfer was made before.
pub struct Transferred {
    pub entry: Entry,
    pub balance: Credits,
    pub duplicate: bool,
}

impl Command for Transfer {
    type Output = Transferred;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::TransferCredits).subject(self.transfer).name(&*self.to)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.memo)
    }

    fn shown(&self, _: &mut Context<'_>) -> Result<Option<Shown>> {
        let Some(memo) = &self.memo else { return Ok(None) };
        let fields = vec![("memo", memo.to_string()), ("to", self.to.to_string())];
        Ok(Some(plain("transfer", Readers::everybody(), fields)))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Transferred> {
        let me = run.me()?;
        let mine = owner_of(&me);
        check_owner(&self.from)?;
        check_owner(&self.to)?;
        check_amount(self.amount)?;
        check_memo(self.memo.as_deref())?;
        // Nobody else can move what an owner left who has no member here any more.
        let is_left = run.is_operator() && run.is_nobodys(&self.from);
        if self.from != mine && !is_left {
            let why = format!("your token spends the credits of {mine}, not of {}", self.from);
            return Err(Refusal::new(Code::ClaimMismatch, why).into());
        }
        if self.from == self.to {
            return Err(Refusal::invalid("from_owner and to_owner are the same").into());
        }
        let posting = Posting {
            kind: EntryKind::Transfer,
            from: self.from,
            to: self.to,
            amount: self.amount,
            job: self.job,
            transfer: Some(self.transfer),
            memo: self.memo,
        };
        if let Some(entry) = run.known_transfer(&posting)? {
            return run.transferred(entry, true);
        }
        if run.account(&posting.to)?.is_none() {
            let why = format!("no account of {}; it is opened by registering an agent", posting.to);
            return Err(Refusal::new(Code::NotFound, why).into());
        }
        let job = match self.job {
            Some(job) => run.job_to_pay(job, &posting)?,
            None => None,
        };
        run.must_have(&posting.from, posting.amount)?;
        let spending = run.may_spend(posting.amount)?;
        let entry = run.post_entry(posting)?;
        run.put_spending(spending);
        if let Some(mut job) = job {
            job.paid = entry.amount;
            run.end_job(job, Outcome::Paid)?;
        }
        run.transferred(entry, false)
    }
}

impl Context<'_> {
    /// Whether no member is there who could spend what an owner has.
    fn is_nobodys(&self, owner: &str) -> bool {
        let mut present = self.directory().members.iter().filter(|member| !member.removed);
        !present.any(|member| *owner_of(member) == *owner)
    }

    fn transferred(&mut self, entry: Entry, duplicate: bool) -> Result<Transferred> {
        let balance = self.account(&entry.from)?.map_or(Credits(0), |account| account.balance);
        Ok(Transferred { entry, balance, duplicate })
    }

    /// The direct job that a transfer completes. A job that this host does not know is somebody's
    /// own affair.
    fn job_to_pay(
        &mut self,
        uid: Uid,
        posting: &Posting,
    ) -> Result<Option<crate::model::job::Job>> {
        let Some(job) = self.maybe_job(uid)? else { return Ok(None) };
        if job.payment == Payment::Escrow {
            let why = "the host settles this job from what it holds; it needs no transfer";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        if (&job.hirer_owner, &job.agent_owner) != (&posting.from, &posting.to) {
            let why = "from_owner and to_owner are not the parties of this job";
            return Err(Refusal::new(Code::Forbidden, why).into());
        }
        match job.state {
            JobState::Submitted => {}
            JobState::Open => {
                let why = "the job has no result yet; pay it once it has one";
                return Err(Refusal::new(Code::Conflict, why).into());
            }
            _ => {
                let why = format!("the job is {} already", job.state.name());
                return Err(Refusal::new(Code::Conflict, why).into());
            }
        }
        let due = job.result.as_ref().map_or(Credits(0), |result| job.payable(result));
        if posting.amount != due {
            let amount = posting.amount;
            let why = format!("the result of this job costs {due}, and this would pay {amount}");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        Ok(Some((*job).clone()))
    }
}
