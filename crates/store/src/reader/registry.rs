//! Reading the registry, jobs and the ledger, for display.

use std::sync::Arc;

use chorus_core::model::ids::{MemberKey, Timestamp, Uid};
use chorus_core::model::job::Job;
use chorus_core::model::ledger::{Account, Entry, Head, Spending};
use chorus_core::model::registry::{Listing, ReputationChange};

use super::Readers;
use crate::db::Result;
use crate::job::{self, JobsOf};
use crate::listing::discover::{self, Discovery, Found, SkillCount};
use crate::{ledger, listing};

impl Readers {
    /// An agent for hire, even if it was removed, and when it was last heard of.
    pub fn listing(&self, agent: Uid) -> Result<Option<(Arc<Listing>, Option<Timestamp>)>> {
        self.read(|db, ws| {
            let Some(found) = listing::get(db, ws, agent)? else { return Ok(None) };
            Ok(Some((found, listing::heartbeat(db, ws, agent)?)))
        })
    }

    /// The agent that a member is in the registry.
    pub fn agent_of(&self, member: MemberKey) -> Result<Option<Uid>> {
        self.read(|db, ws| listing::of_member(db, ws, member))
    }

    /// Agents by id, with when they were last heard of; those of one owner, if it is given.
    pub fn listings(
        &self,
        owner: Option<&str>,
        after: Uid,
        limit: usize,
    ) -> Result<Vec<(Listing, Option<Timestamp>)>> {
        self.read(|db, ws| {
            let page = listing::page(db, ws, owner, after, limit)?;
            page.into_iter()
                .map(|found| {
                    let seen = listing::heartbeat(db, ws, found.agent)?;
                    Ok((found, seen))
                })
                .collect()
        })
    }

    pub fn discover(&self, asked: &Discovery) -> Result<Vec<Found>> {
        self.read(|db, ws| discover::discover(db, ws, asked))
    }

    pub fn skills(&self, after: &str, limit: usize) -> Result<Vec<SkillCount>> {
        self.read(|db, ws| discover::skills(db, ws, after, limit))
    }

    /// Agents whose endpoints are to be challenged.
    pub fn listings_to_check(&self, now: Timestamp, limit: usize) -> Result<Vec<Listing>> {
        self.read(|db, ws| listing::to_check(db, ws, now, limit))
    }

    pub fn reputation_changes(
        &self,
        agent: Uid,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ReputationChange>> {
        self.read(|db, ws| listing::reputation(db, ws, agent, after, limit))
    }

    pub fn job(&self, job: Uid) -> Result<Option<Arc<Job>>> {
        self.read(|db, ws| job::get(db, ws, job))
    }

    /// Jobs before a place, newest first.
    pub fn jobs(
        &self,
        of: &JobsOf,
        before: Option<(Timestamp, Uid)>,
        limit: usize,
    ) -> Result<Vec<Job>> {
        self.read(|db, ws| job::page(db, ws, of, before, limit))
    }

    /// Jobs that have not ended and were asked for in a message.
    pub fn asked_jobs(&self) -> Result<Vec<Job>> {
        self.read(job::asked)
    }

    pub fn account(&self, owner: &str) -> Result<Option<Account>> {
        self.read(|db, ws| ledger::account(db, ws, owner))
    }

    pub fn accounts(&self, after: &str, limit: usize) -> Result<Vec<Account>> {
        self.read(|db, ws| ledger::accounts(db, ws, after, limit))
    }

    pub fn spending(&self, member: MemberKey) -> Result<Option<Spending>> {
        self.read(|db, ws| ledger::spending(db, ws, member))
    }

    pub fn ledger_head(&self) -> Result<Head> {
        self.read(ledger::head)
    }

    /// Entries after a number, in order.
    pub fn ledger_entries(&self, after: u64, limit: usize) -> Result<Vec<Entry>> {
        self.read(|db, ws| ledger::entries(db, ws, after, limit))
    }

    /// Entries of one account before a number, newest first.
    pub fn statement(&self, owner: &str, before: u64, limit: usize) -> Result<Vec<Entry>> {
        self.read(|db, ws| ledger::statement(db, ws, owner, before, limit))
    }

    pub fn entries_of_job(&self, job: Uid) -> Result<Vec<Entry>> {
        self.read(|db, ws| ledger::of_job(db, ws, job))
    }
}
