//! Transfers, accounts and the ledger (registry spec section 3.5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::Amount;
use crate::time::Time;

/// `POST /transfer` -> 201 [`Transferred`].
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// A UUID of your choice: the same again is the same transfer.
    pub transfer_id: String,
    /// The owner of your token.
    pub from_owner: String,
    pub to_owner: String,
    /// More than 0.
    pub amount: Amount,
    /// The direct job that it pays.
    pub job_id: Option<String>,
    /// `chorus_credits_v1`.
    pub currency: Option<String>,
    pub timestamp_utc: Option<Time>,
    /// `0.1`.
    pub version: Option<String>,
    /// At most 1,024 bytes.
    #[redact(fixed = 3)]
    pub memo: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transferred {
    pub transfer_id: String,
    /// `settled`
    #[redact(fixed = 3)]
    pub status: String,
    pub from_owner: String,
    pub to_owner: String,
    pub amount: Amount,
    pub job_id: Option<String>,
    /// What the account that paid has now.
    pub balance: Amount,
    /// The number of its entry in the ledger.
    pub entry: u64,
    /// The same transfer had been made before.
    pub duplicate: bool,
    /// The payment, signed by the host: a JWS that its published key verifies.
    pub receipt: String,
}

/// `POST /accounts/{owner}/mint` -> 201 [`Account`]. Operators only.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mint {
    /// A UUID of your choice: the same again is the same. The host draws one by default.
    pub transfer_id: Option<String>,
    /// More than 0.
    pub amount: Amount,
    /// At most 1,024 bytes.
    #[redact(fixed = 3)]
    pub memo: Option<String>,
}

/// The account of an owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    pub owner_id: String,
    pub balance: Amount,
    /// `chorus_credits_v1`
    pub currency: String,
    pub opened_at: Time,
}

/// A page of accounts, by owner. An operator sees all of them, others their own.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Accounts {
    pub accounts: Vec<Account>,
    /// Give it as `after` for the next page.
    pub next: Option<String>,
}

/// One entry of the ledger.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerEntry {
    /// Counted from 1, without a gap.
    pub entry: u64,
    pub at: Time,
    /// `mint`, `transfer`, `hold`, `pay`, `refund` or `reverse`.
    pub kind: String,
    /// An owner, or `@mint` or `@escrow`.
    pub from_owner: String,
    pub to_owner: String,
    pub amount: Amount,
    pub job_id: Option<String>,
    pub transfer_id: Option<String>,
    #[redact(fixed = 3)]
    pub memo: Option<String>,
    /// Over the hash of the entry before it and its own content, in hexadecimal digits.
    pub hash: String,
}

/// `GET /accounts/{owner}/statement` -> the entries of an account, newest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statement {
    pub owner_id: String,
    pub balance: Amount,
    pub entries: Vec<LedgerEntry>,
    /// Give it as `after` for the next page.
    pub next: Option<String>,
}

/// `GET /audit` -> the ledger from its beginning, for operators and auditors.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerPage {
    pub entries: Vec<LedgerEntry>,
    pub ledger: Audited,
    /// Give it as `after` for the next page.
    pub next: Option<String>,
}

/// The end of the ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Audited {
    /// How many entries there are.
    pub entries: u64,
    /// The hash of the newest.
    pub hash: String,
    /// What was minted: the sum over all other accounts.
    pub minted: Amount,
}

/// `PUT /spending/{member}` -> the same. What a member may spend of its owner's credits; a limit
/// that is absent is none.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpendingLimit {
    pub per_job: Option<Amount>,
    /// By days in UTC.
    pub per_day: Option<Amount>,
}

/// `GET /jobs/{job}/receipts` -> what the host signs about a job, as far as it has come. Each is a
/// JWS (EdDSA) that the keys at `/.well-known/jwks.json` verify.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Receipts {
    pub job_id: String,
    /// What was asked for, of whom, at what price.
    pub offer: String,
    /// What the agent delivered.
    pub result: Option<String>,
    /// What was paid, and by which entries of the ledger.
    pub payment: Option<String>,
}
