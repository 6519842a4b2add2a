//! Credits come into being.

use std::sync::Arc;

use super::posting::{Posting, check_owner};
use crate::commands::command::{Command, Done, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::caller::Authority;
use crate::model::error::{Code, Refusal};
use crate::model::ids::Uid;
use crate::model::ledger::{Credits, Entry, EntryKind, MINT};
use crate::model::limits;

/// An operator gives new credits to an owner. Idempotent by the transfer's id.
#[derive(Clone)]
pub struct Mint {
    pub transfer: Uid,
    pub to: Arc<str>,
    pub amount: Credits,
    pub memo: Option<Arc<str>>,
}

impl Command for Mint {
    type Output = Entry;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::MintCredits).subject(self.transfer).name(&*self.to)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.memo)
    }

    // Operators mint, and they are people.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<Entry> {
        if run.by.authority < Authority::Operator {
            let why = "only an operator brings credits into being; ask one for a transfer";
            return Err(Refusal::new(Code::InsufficientAuthority, why).into());
        }
        check_owner(&self.to)?;
        check_amount(self.amount)?;
        check_memo(self.memo.as_deref())?;
        let posting = Posting {
            kind: EntryKind::Mint,
            from: MINT.into(),
            to: self.to,
            amount: self.amount,
            job: None,
            transfer: Some(self.transfer),
            memo: self.memo,
        };
        if let Some(known) = run.known_transfer(&posting)? {
            return Ok(known);
        }
        let minted = run.ledger_head()?.minted;
        if minted.plus(self.amount).is_none() {
            let most = Credits::MOST;
            let why = format!("at most {most} credits can be minted in all, and {minted} are");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        run.post_entry(posting)
    }
}

impl Context<'_> {
    /// The entry of a transfer that was made before under the same id, if it says the same.
    pub(super) fn known_transfer(&mut self, asked: &Posting) -> Result<Option<Entry>> {
        let Some(uid) = asked.transfer else { return Ok(None) };
        let recent = self.ws.changes.entries.iter().find(|e| e.transfer == Some(uid)).cloned();
        let known = match recent {
            Some(entry) => Some(entry),
            None => self.facts.transfer(uid)?,
        };
        let Some(known) = known else { return Ok(None) };
        let is_same = (&known.from, &known.to, known.amount, known.job, &known.memo)
            == (&asked.from, &asked.to, asked.amount, asked.job, &asked.memo);
        if !is_same {
            let why = "this transfer_id was used for another transfer; use a new one";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        Ok(Some(known))
    }
}

pub(super) fn check_amount(amount: Credits) -> Result<(), Refusal> {
    if amount.is_zero() {
        return Err(Refusal::invalid("amount is more than 0"));
    }
    Ok(())
}

pub(super) fn check_memo(memo: Option<&str>) -> Result<(), Refusal> {
    if memo.is_some_and(|memo| memo.len() > limits::JOB_NOTE_BYTES) {
        let most = limits::JOB_NOTE_BYTES;
        return Err(Refusal::invalid(format!("memo has at most {most} bytes")));
    }
    Ok(())
}
