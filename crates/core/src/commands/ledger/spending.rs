//! What a member may spend of its owner's credits.

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::{Action, Audit};
use crate::model::caller::Authority;
use crate::model::error::{Code, Refusal};
use crate::model::ids::MemberKey;
use crate::model::ledger::{Credits, Spending};

/// Sets the limits of a member; a limit of none means that there is no limit.
#[derive(Clone)]
pub struct LimitSpending {
    pub member: MemberKey,
    pub per_job: Option<Credits>,
    pub per_day: Option<Credits>,
}

impl Command for LimitSpending {
    type Output = Spending;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::LimitSpending).member(self.member)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Spending> {
        if run.by.authority < Authority::Operator {
            let why = "only an operator limits what members spend";
            return Err(Refusal::new(Code::InsufficientAuthority, why).into());
        }
        if run.directory().member(self.member).is_none_or(|m| m.removed) {
            return Err(Refusal::not_found("member").into());
        }
        let spending = run.spending(self.member)?;
        let spending = Spending { per_job: self.per_job, per_day: self.per_day, ..spending };
        run.ws.changes.spending.insert(self.member, spending);
        Ok(spending)
    }
}
