//! What the doctor checks about listings.

use std::collections::BTreeSet;

use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::registry::{Listing, Reputation, Why};

use super::{LISTING, REPUTATION, SKILL, read, read_reputation};
use crate::db::Result;
use crate::doctor::report::Report;
use crate::family::Whole;
use crate::row::uid;

/// Each listing can be read, its skills are those that are found, and its reputation is what its
/// history made of it.
pub(super) fn check(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let (db, workspace) = (whole.db, whole.tenant.key);
    let here = "WHERE workspace = $1";
    let mut wrong = |agent: Uid, what: &str| {
        report.found(format!("the listing of agent {} {what}", agent.show(Prefix::Uuid)));
    };
    let sql = format!("{} {here} ORDER BY agent", SKILL.select());
    let mut skills = BTreeSet::new();
    db.query(&sql, &[workspace.into()], &mut |row| {
        skills.insert((uid(row, 2)?, row.text(1)?.to_owned(), row.int::<i64>(3)?));
        Ok(())
    })?;
    let sql = format!("{} {here} ORDER BY agent", LISTING.select());
    let listings = db.all(&sql, &[workspace.into()], |row| Ok((uid(row, 1)?, read(row).ok())))?;
    for (agent, listing) in listings {
        let Some(listing) = listing else {
            wrong(agent, "cannot be read");
            continue;
        };
        let known: BTreeSet<_> = listed(&listing).collect();
        let theirs = skills.range((agent, String::new(), i64::MIN)..);
        let found: BTreeSet<_> = theirs.take_while(|(of, ..)| *of == agent).cloned().collect();
        if known != found {
            wrong(agent, "is found by other skills than it has");
        }
        skills.retain(|(of, ..)| *of != agent);
        if whole.everybody.member(listing.by).is_none() {
            wrong(agent, "was registered by nobody who is here");
        }
        let sql = format!("{} {here} AND agent = $2 ORDER BY number", REPUTATION.select());
        let key = agent.0.to_be_bytes();
        let changes =
            db.all(&sql, &[workspace.into(), (&key).into()], |row| Ok(read_reputation(row).ok()))?;
        let (mut score, mut count, mut successes, mut failures) = (Reputation::NEW, 0, 0_u64, 0);
        for change in &changes {
            let Some(change) = change.filter(|c| (c.number, c.before) == (count + 1, score)) else {
                wrong(agent, "has a history of its reputation that does not follow from itself");
                break;
            };
            (score, count) = (change.after, change.number);
            match change.why {
                Why::Success => successes += 1,
                Why::Failure => failures += 1,
                Why::Reversal => {
                    successes = successes.saturating_sub(1);
                    failures += 1;
                }
            }
        }
        let has = (listing.reputation, listing.changes, listing.successes, listing.failures);
        if has != (score, count, successes, failures) {
            wrong(agent, "has another reputation than its history gives it");
        }
    }
    if let Some((agent, ..)) = skills.first() {
        wrong(*agent, "is missing, and its skills are not");
    }
    Ok(())
}

fn listed(listing: &Listing) -> impl Iterator<Item = (Uid, String, i64)> {
    let skills = listing.skills.iter().filter(|_| !listing.is_removed());
    skills.map(|s| (listing.agent, s.name.to_string(), -listing.reputation.bits()))
}
