//! Receipts: what the host signs about jobs and payments, to be verified without it.

use chorus_core::model::ids::Prefix;
use chorus_core::model::job::{CURRENCY, Job, JobResult};
use chorus_core::model::ledger::Entry;
use chorus_wire::registry::Amount;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::view::registry::{hex, payment_identifier};

/// What was asked for, of whom, at what price. Data is in it by its hash.
#[derive(Serialize)]
pub(super) struct Offer {
    r#type: &'static str,
    job_id: String,
    payment_identifier: String,
    agent_id: String,
    payer: String,
    payee: String,
    skill_name: String,
    input_sha256: String,
    budget: Amount,
    price: Amount,
    currency: &'static str,
    at: String,
}

impl Offer {
    pub(super) fn of(job: &Job) -> Self {
        Self {
            r#type: "offer",
            job_id: job.uid.show(Prefix::Uuid),
            payment_identifier: payment_identifier(job),
            agent_id: job.agent.show(Prefix::Uuid),
            payer: job.hirer_owner.to_string(),
            payee: job.agent_owner.to_string(),
            skill_name: job.skill.to_string(),
            input_sha256: sha256(&job.input),
            budget: job.budget.into(),
            price: job.price.into(),
            currency: CURRENCY,
            at: chorus_wire::time::format(job.made_at),
        }
    }
}

/// What the agent delivered.
#[derive(Serialize)]
pub(super) struct Delivered {
    r#type: &'static str,
    job_id: String,
    agent_id: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_sha256: Option<String>,
    execution_cost: Amount,
    at: Option<String>,
}

impl Delivered {
    pub(super) fn of(job: &Job, result: &JobResult) -> Self {
        Self {
            r#type: "result",
            job_id: job.uid.show(Prefix::Uuid),
            agent_id: job.agent.show(Prefix::Uuid),
            status: if result.success { "SUCCESS" } else { "FAILURE" },
            output_sha256: result.output.as_deref().map(sha256),
            execution_cost: result.cost.into(),
            at: job.submitted_at.map(chorus_wire::time::format),
        }
    }
}

/// What was paid, by an entry of the ledger.
#[derive(Serialize)]
pub(super) struct Paid {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transfer_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_identifier: Option<String>,
    payer: String,
    payee: String,
    amount: Amount,
    currency: &'static str,
    entry: u64,
    entry_hash: String,
    at: String,
}

impl Paid {
    /// A payment out of escrow is its hirer's.
    pub(super) fn of(entry: &Entry, job: Option<&Job>) -> Self {
        let payer = job.map_or(&entry.from, |job| &job.hirer_owner);
        Self {
            r#type: "payment",
            job_id: entry.job.map(|uid| uid.show(Prefix::Uuid)),
            transfer_id: entry.transfer.map(|uid| uid.show(Prefix::Uuid)),
            payment_identifier: job.map(payment_identifier),
            payer: payer.to_string(),
            payee: entry.to.to_string(),
            amount: entry.amount.into(),
            currency: CURRENCY,
            entry: entry.number,
            entry_hash: hex(&entry.hash),
            at: chorus_wire::time::format(entry.at),
        }
    }
}

fn sha256(json: &str) -> String {
    hex(&Sha256::digest(json.as_bytes()))
}
