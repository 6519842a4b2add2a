//! Jobs for hire, under way and ended (registry spec sections 3.3 and 3.4).

use std::sync::Arc;

use chorus_core::codec::{self, Coded};
use chorus_core::model::ids::{Prefix, Timestamp, Uid};
use chorus_core::model::job::{Job, JobState, Outcome, Payment};
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Error, Result, Row, Table};
use crate::doctor::report::Report;
use crate::family::{Family, Whole};
use crate::row::uid;
use crate::schema::Since;

pub(crate) static JOB: Table = Table::new(
    "job",
    2,
    &[
        "workspace",
        "job",
        "hirer_owner",
        "agent_owner",
        "agent",
        "state",
        "made_at",
        "due_at",
        "contested",
        "packed",
    ],
);

pub(crate) static FAMILY: Family =
    Family::of(Since::shared(2), &[&JOB]).recorded(record).checked(check);

fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    changes.jobs.values().try_for_each(|job| put(db, workspace, job))
}

pub(crate) fn put(db: &dyn Db, workspace: i64, job: &Job) -> Result<()> {
    let packed = codec::job(job);
    db.put(
        &JOB,
        &[
            workspace.into(),
            (&job.uid.0.to_be_bytes()).into(),
            (&*job.hirer_owner).into(),
            (&*job.agent_owner).into(),
            (&job.agent.0.to_be_bytes()).into(),
            job.state.code().into(),
            job.made_at.0.into(),
            job.due().map(|due| due.0).into(),
            i64::from(is_contested(job)).into(),
            (&*packed).into(),
        ],
    )
}

/// An operator is to decide about it.
fn is_contested(job: &Job) -> bool {
    job.dispute.as_ref().is_some_and(|dispute| dispute.decided.is_none())
}

pub(crate) fn get(db: &dyn Db, workspace: i64, job: Uid) -> Result<Option<Arc<Job>>> {
    let job = job.0.to_be_bytes();
    db.get(&JOB, &[workspace.into(), (&job).into()], |row| read(row).map(Arc::new))
}

/// How many jobs of an owner have not ended.
pub(crate) fn open(db: &dyn Db, workspace: i64, hirer_owner: &str) -> Result<u64> {
    let sql = "SELECT COUNT(*) FROM job WHERE workspace = $1 AND hirer_owner = $2 AND state < $3";
    let ended = JobState::Completed.code();
    let count =
        db.one(sql, &[workspace.into(), hirer_owner.into(), ended.into()], |row| row.int(0))?;
    Ok(count.unwrap_or_default())
}

pub(crate) fn due(db: &dyn Db, workspace: i64, now: Timestamp, limit: usize) -> Result<Vec<Uid>> {
    let sql = "SELECT job FROM job WHERE workspace = $1 AND due_at <= $2 ORDER BY due_at LIMIT $3";
    db.all(sql, &[workspace.into(), now.0.into(), (limit as u64).into()], |row| uid(row, 0))
}

pub(crate) fn next_due(db: &dyn Db, workspace: i64, now: Timestamp) -> Result<Option<Timestamp>> {
    let sql = "SELECT MIN(due_at) FROM job WHERE workspace = $1 AND due_at > $2";
    let next = db.one(sql, &[workspace.into(), now.0.into()], |row| row.maybe_int(0))?;
    Ok(next.flatten().map(Timestamp))
}

/// Jobs that have not ended and were asked for in a message.
pub(crate) fn asked(db: &dyn Db, workspace: i64) -> Result<Vec<Job>> {
    let sql = format!("{} WHERE workspace = $1 AND due_at > 0 ORDER BY due_at", JOB.select());
    let mut due = db.all(&sql, &[workspace.into()], read)?;
    due.retain(|job| job.asked_in.is_some() && job.state == JobState::Funded);
    Ok(due)
}

/// Whose jobs are listed.
#[derive(Clone, Debug)]
pub enum JobsOf {
    Everybody,
    /// Those of everybody that are contested, and not decided about.
    Contested,
    /// Those that an owner has asked for.
    Hirer(String),
    /// Those that agents of an owner are to do.
    Worker(String),
}

/// Jobs before a place, newest first.
pub(crate) fn page(
    db: &dyn Db,
    workspace: i64,
    of: &JobsOf,
    before: Option<(Timestamp, Uid)>,
    limit: usize,
) -> Result<Vec<Job>> {
    let (at, job) = before.map_or((i64::MAX, u128::MAX), |(at, job)| (at.0, job.0));
    let job = job.to_be_bytes();
    let (workspace, at, limit) = (workspace.into(), at.into(), (limit as u64).into());
    let (of, owner) = match of {
        JobsOf::Everybody | JobsOf::Contested => {
            let which = if matches!(of, JobsOf::Contested) { "AND contested = 1" } else { "" };
            let sql = format!(
                "{} WHERE workspace = $1 {which} AND (made_at, job) < ($2, $3) \
                 ORDER BY made_at DESC, job DESC LIMIT $4",
                JOB.select()
            );
            return db.all(&sql, &[workspace, at, (&job).into(), limit], read);
        }
        JobsOf::Hirer(owner) => ("hirer_owner", owner),
        JobsOf::Worker(owner) => ("agent_owner", owner),
    };
    let sql = format!(
        "{} WHERE workspace = $1 AND {of} = $2 AND (made_at, job) < ($3, $4) \
         ORDER BY made_at DESC, job DESC LIMIT $5",
        JOB.select()
    );
    db.all(&sql, &[workspace, owner.as_str().into(), at, (&job).into(), limit], read)
}

/// Jobs after an id, for an export.
pub(crate) fn after(db: &dyn Db, workspace: i64, job: Uid, limit: usize) -> Result<Vec<Job>> {
    let sql = format!("{} WHERE workspace = $1 AND job > $2 ORDER BY job LIMIT $3", JOB.select());
    let job = job.0.to_be_bytes();
    db.all(&sql, &[workspace.into(), (&job).into(), (limit as u64).into()], read)
}

fn read(row: &dyn Row) -> Result<Job> {
    let (id, job) = (uid(row, 1)?, codec::read_job(row.blob(9)?)?);
    if job.uid != id {
        return Err(Error::corrupt(format!("the job {id:?} is another")));
    }
    Ok(job)
}

/// Each job can be read, and is where its row says that it is.
fn check(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY job", JOB.select());
    whole.db.query(&sql, &[whole.tenant.key.into()], &mut |row| {
        let id = uid(row, 1)?;
        let found = read(row).ok();
        let fits = |job: &Job| {
            let (state, due) = (row.int::<u8>(5).ok(), row.maybe_int::<i64>(7).ok().flatten());
            let contested = row.int::<i64>(8).is_ok_and(|contested| contested == 1);
            state == Some(job.state.code())
                && due == job.due().map(|due| due.0)
                && contested == is_contested(job)
        };
        let what = match &found {
            None => "cannot be read",
            Some(job) if !fits(job) => "has another state than its row says",
            Some(job) => match flaw(job) {
                Some(flaw) => flaw,
                None => return Ok(()),
            },
        };
        report.found(format!("the job {} {what}", id.show(Prefix::Uuid)));
        Ok(())
    })
}

/// What no job can be.
pub(crate) fn flaw(job: &Job) -> Option<&'static str> {
    let holds = job.payment == Payment::Escrow && !job.state.has_ended();
    if job.held.0 != if holds { job.budget.0 } else { 0 } {
        return Some("holds another amount than its budget");
    }
    if (job.outcome == Some(Outcome::Paid)) != (job.state == JobState::Completed) {
        return Some("has ended in another way than its state says");
    }
    if job.paid.0 < 0 || (job.paid.0 > 0 && job.state != JobState::Completed) {
        return Some("was paid though it was not completed");
    }
    if job.state == JobState::Completed && job.result.is_none() {
        return Some("was completed without a result");
    }
    None
}
