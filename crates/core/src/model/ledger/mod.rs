//! The ledger: accounts, and the entries that move credits between them (registry spec section
//! 3.5, design section 5 "Credits").
//!
//! Double entry: an entry takes from one account exactly what it gives to another, so that the sum
//! over all accounts never changes. Credits come into being by an entry from [`MINT`], whose
//! balance is what was minted, negative. No other account goes below zero.

mod credits;

use std::sync::Arc;

pub use credits::Credits;

use crate::model::event::Hash;
use crate::model::ids::{MemberKey, Timestamp, Uid};

/// The account that credits come from. It alone is negative.
pub const MINT: &str = "@mint";
/// The account that holds the budgets of jobs under way.
pub const ESCROW: &str = "@escrow";

/// The account of an owner, or of the host itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The owner's id, or [`MINT`] or [`ESCROW`].
    pub owner: Arc<str>,
    pub balance: Credits,
    pub opened_at: Timestamp,
}

impl Account {
    pub fn new(owner: &str, now: Timestamp) -> Self {
        Self { owner: owner.into(), balance: Credits(0), opened_at: now }
    }
}

/// Why credits move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// An operator brings credits into being.
    Mint,
    Transfer,
    /// The budget of a job is held.
    Hold,
    /// A job is paid.
    Pay,
    /// What a job did not cost returns.
    Refund,
    /// An operator has decided for the hirer of a contested job.
    Reverse,
}

impl EntryKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mint => "mint",
            Self::Transfer => "transfer",
            Self::Hold => "hold",
            Self::Pay => "pay",
            Self::Refund => "refund",
            Self::Reverse => "reverse",
        }
    }
}

/// One entry: never changed, never removed.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Entry {
    /// Counted from 1, without a gap.
    pub number: u64,
    pub at: Timestamp,
    pub kind: EntryKind,
    pub from: Arc<str>,
    pub to: Arc<str>,
    /// More than zero.
    pub amount: Credits,
    pub job: Option<Uid>,
    pub transfer: Option<Uid>,
    /// Who caused it; 0 is the host.
    pub by: MemberKey,
    #[redact(fixed = 3)]
    pub memo: Option<Arc<str>>,
    /// Over the hash of the entry before it and all the fields above.
    pub hash: Hash,
}

/// The end of the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The number of the newest entry.
    pub number: u64,
    pub hash: Hash,
    pub minted: Credits,
}

/// What a member may spend of its owner's credits; none where there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    pub member: MemberKey,
    pub per_job: Option<Credits>,
    pub per_day: Option<Credits>,
    /// The day that `spent` is of, counted from the Unix epoch in UTC.
    pub day: i64,
    pub spent: Credits,
}

/// A day in milliseconds.
const DAY_MS: i64 = 24 * 3_600_000;

/// Which limit spending would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    Job(Credits),
    /// The limit, and what of it is left today.
    Day(Credits, Credits),
}

impl Spending {
    pub fn of(member: MemberKey) -> Self {
        Self { member, ..Self::default() }
    }

    /// After spending `amount` at `now`.
    pub fn after(mut self, amount: Credits, now: Timestamp) -> Result<Self, Exceeded> {
        if let Some(most) = self.per_job.filter(|most| amount > *most) {
            return Err(Exceeded::Job(most));
        }
        let today = now.0.div_euclid(DAY_MS);
        if self.day != today {
            (self.day, self.spent) = (today, Credits(0));
        }
        let spent = self.spent.plus(amount).unwrap_or(Credits::MOST);
        if let Some(most) = self.per_day.filter(|most| spent > *most) {
            let left = Credits((most.0 - self.spent.0).max(0));
            return Err(Exceeded::Day(most, left));
        }
        self.spent = spent;
        Ok(self)
    }

    /// After `amount` that was spent at `then` has come back.
    #[must_use]
    pub fn returned(mut self, amount: Credits, then: Timestamp) -> Self {
        if self.day == then.0.div_euclid(DAY_MS) {
            self.spent = Credits((self.spent.0 - amount.0).max(0));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp(DAY_MS * 20_000 + DAY_MS / 2);

    // covers: REG-55
    #[test]
    fn a_member_spends_within_its_limits_of_a_job_and_of_a_day() {
        let per_job = Some(Credits(50));
        let limits = Spending { per_job, per_day: Some(Credits(80)), ..Default::default() };
        assert_eq!(limits.after(Credits(51), NOON), Err(Exceeded::Job(Credits(50))));
        let spent = limits.after(Credits(50), NOON).expect("within both");
        assert_eq!(spent.after(Credits(31), NOON), Err(Exceeded::Day(Credits(80), Credits(30))));
        assert!(spent.after(Credits(30), NOON).is_ok());
        assert!(spent.after(Credits(50), NOON.plus(DAY_MS)).is_ok(), "the next day is another");
        assert!(spent.returned(Credits(50), NOON).after(Credits(50), NOON).is_ok());
        let elsewhere = spent.returned(Credits(50), NOON.plus(-DAY_MS));
        assert_eq!(elsewhere.spent, Credits(50), "what came back of yesterday is not today's");
    }
}
