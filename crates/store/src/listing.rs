//! Agents for hire: their listings, skills, heartbeats, and the history of their reputation
//! (registry spec sections 3.1, 3.2 and 4).
//!
//! Invariant: an agent's rows of `skill` and `skill_word` are those of its listing, and none for a
//! removed one.

mod check;
pub(crate) mod discover;

use std::collections::BTreeSet;
use std::sync::Arc;

use chorus_core::codec::{self, Coded};
use chorus_core::language::search::words;
use chorus_core::model::ids::{MemberKey, Timestamp, Uid};
use chorus_core::model::registry::{Listing, Reputation, ReputationChange};
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Error, Result, Row, Table};
use crate::family::Family;
use crate::row::{code, uid};
use crate::schema::Since;

pub(crate) static LISTING: Table =
    Table::new("listing", 2, &["workspace", "agent", "member", "owner", "check_at", "packed"]);

pub(crate) static SKILL: Table = Table::new(
    "skill",
    3,
    &["workspace", "name", "agent", "rank", "cost", "recency", "verified", "settled"],
);

pub(crate) static WORD: Table =
    Table::new("skill_word", 4, &["workspace", "word", "name", "agent"]);

pub(crate) static HEARTBEAT: Table = Table::new("heartbeat", 2, &["workspace", "agent", "at"]);

pub(crate) static REPUTATION: Table = Table::new(
    "reputation",
    3,
    &["workspace", "agent", "number", "at", "job", "why", "before", "after"],
);

pub(crate) static FAMILY: Family =
    Family::of(Since::shared(2), &[&LISTING, &SKILL, &WORD, &HEARTBEAT, &REPUTATION])
        .recorded(record)
        .checked(check::check);

/// Words of one skill by which it is found: more than a description has that is read.
const WORDS: usize = 48;

fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    for (agent, listing) in &changes.listings {
        put(db, workspace, listing, changes.relisted.contains(agent))?;
    }
    for (agent, at) in &changes.heartbeats {
        let agent = agent.0.to_be_bytes();
        db.put(&HEARTBEAT, &[workspace.into(), (&agent).into(), at.0.into()])?;
    }
    changes.reputations.iter().try_for_each(|change| put_reputation(db, workspace, change))
}

/// Writes a listing; and all of its skills anew, if they changed.
pub(crate) fn put(db: &dyn Db, workspace: i64, listing: &Listing, relisted: bool) -> Result<()> {
    let agent = listing.agent.0.to_be_bytes();
    let packed = codec::listing(listing);
    db.put(
        &LISTING,
        &[
            workspace.into(),
            (&agent).into(),
            listing.member.map(|member| member.0).into(),
            (&*listing.owner).into(),
            listing.check.next_at.map(|at| at.0).into(),
            (&*packed).into(),
        ],
    )?;
    if relisted {
        for table in ["skill", "skill_word"] {
            let sql = format!("DELETE FROM {table} WHERE workspace = $1 AND agent = $2");
            db.execute(&sql, &[workspace.into(), (&agent).into()])?;
        }
    }
    if listing.is_removed() {
        return Ok(());
    }
    for skill in &listing.skills {
        let settled = listing.successes + listing.failures;
        db.put(
            &SKILL,
            &[
                workspace.into(),
                (&*skill.name).into(),
                (&agent).into(),
                (-listing.reputation.bits()).into(),
                skill.cost.0.into(),
                (-listing.last_success.map_or(0, |at| at.0)).into(),
                listing.check.verified_at.is_some().into(),
                settled.into(),
            ],
        )?;
        if !relisted {
            continue;
        }
        for word in words_of(&[&skill.name, &skill.description, &listing.name]) {
            let values =
                [workspace.into(), (&*word).into(), (&*skill.name).into(), (&agent).into()];
            db.put(&WORD, &values)?;
        }
    }
    Ok(())
}

/// The different words of some texts.
pub(crate) fn words_of(texts: &[&str]) -> BTreeSet<String> {
    let all = texts.iter().flat_map(|text| words(text)).map(|word| word.folded);
    let mut found = BTreeSet::new();
    for word in all {
        if found.len() >= WORDS {
            break;
        }
        found.insert(word);
    }
    found
}

pub(crate) fn put_reputation(db: &dyn Db, workspace: i64, change: &ReputationChange) -> Result<()> {
    db.insert(
        &REPUTATION,
        &[
            workspace.into(),
            (&change.agent.0.to_be_bytes()).into(),
            change.number.into(),
            change.at.0.into(),
            (&change.job.0.to_be_bytes()).into(),
            change.why.code().into(),
            change.before.bits().into(),
            change.after.bits().into(),
        ],
    )
}

pub(crate) fn get(db: &dyn Db, workspace: i64, agent: Uid) -> Result<Option<Arc<Listing>>> {
    let agent = agent.0.to_be_bytes();
    db.get(&LISTING, &[workspace.into(), (&agent).into()], |row| read(row).map(Arc::new))
}

pub(crate) fn of_member(db: &dyn Db, workspace: i64, member: MemberKey) -> Result<Option<Uid>> {
    let sql = "SELECT agent FROM listing WHERE workspace = $1 AND member = $2 ORDER BY agent";
    db.one(sql, &[workspace.into(), member.0.into()], |row| uid(row, 0))
}

pub(crate) fn heartbeat(db: &dyn Db, workspace: i64, agent: Uid) -> Result<Option<Timestamp>> {
    let agent = agent.0.to_be_bytes();
    db.get(&HEARTBEAT, &[workspace.into(), (&agent).into()], |row| Ok(Timestamp(row.int(2)?)))
}

/// Agents after `after`, by id; those of one owner, if it is given.
pub(crate) fn page(
    db: &dyn Db,
    workspace: i64,
    owner: Option<&str>,
    after: Uid,
    limit: usize,
) -> Result<Vec<Listing>> {
    let after = after.0.to_be_bytes();
    let (workspace, after, limit) = (workspace.into(), (&after).into(), (limit as u64).into());
    match owner {
        None => {
            let sql = format!(
                "{} WHERE workspace = $1 AND agent > $2 ORDER BY agent LIMIT $3",
                LISTING.select()
            );
            db.all(&sql, &[workspace, after, limit], read)
        }
        Some(owner) => {
            let sql = format!(
                "{} WHERE workspace = $1 AND owner = $2 AND agent > $3 ORDER BY agent LIMIT $4",
                LISTING.select()
            );
            db.all(&sql, &[workspace, owner.into(), after, limit], read)
        }
    }
}

/// Agents whose endpoints are to be challenged.
pub(crate) fn to_check(
    db: &dyn Db,
    workspace: i64,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<Listing>> {
    let sql = format!(
        "{} WHERE workspace = $1 AND check_at <= $2 ORDER BY check_at LIMIT $3",
        LISTING.select()
    );
    db.all(&sql, &[workspace.into(), now.0.into(), (limit as u64).into()], read)
}

/// The changes of an agent's reputation after the one with this number.
pub(crate) fn reputation(
    db: &dyn Db,
    workspace: i64,
    agent: Uid,
    after: u64,
    limit: usize,
) -> Result<Vec<ReputationChange>> {
    let sql = format!(
        "{} WHERE workspace = $1 AND agent = $2 AND number > $3 ORDER BY number LIMIT $4",
        REPUTATION.select()
    );
    let agent = agent.0.to_be_bytes();
    let values = [workspace.into(), (&agent).into(), after.into(), (limit as u64).into()];
    db.all(&sql, &values, read_reputation)
}

fn read(row: &dyn Row) -> Result<Listing> {
    let (agent, listing) = (uid(row, 1)?, codec::read_listing(row.blob(5)?)?);
    if listing.agent != agent {
        return Err(Error::corrupt(format!("the listing {agent:?} is of another agent")));
    }
    Ok(listing)
}

fn read_reputation(row: &dyn Row) -> Result<ReputationChange> {
    let score = |column| {
        let score = Reputation::of_bits(row.int(column)?);
        score.ok_or_else(|| Error::corrupt("a reputation is out of its bounds"))
    };
    Ok(ReputationChange {
        agent: uid(row, 1)?,
        number: row.int(2)?,
        at: Timestamp(row.int(3)?),
        job: uid(row, 4)?,
        why: code(row, 5)?,
        before: score(6)?,
        after: score(7)?,
    })
}
