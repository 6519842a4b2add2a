//! Endpoints of agents that are reached by a connection string. They are part of the directory.

use std::sync::Arc;

use chorus_core::codec::Coded;
use chorus_core::model::endpoint::{Endpoint, Secret};
use chorus_core::model::ids::{MemberKey, Timestamp};
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Result, Row, Table};
use crate::doctor::report::Report;
use crate::family::{Family, Whole};
use crate::row::code;
use crate::schema::Since;

pub(crate) static ENDPOINT: Table = Table::new(
    "endpoint",
    2,
    &["workspace", "member", "url", "signing", "state", "epoch", "added_at"],
);

pub(crate) static FAMILY: Family = Family::of(Since { sqlite: 6, postgres: 1 }, &[&ENDPOINT])
    .recorded(record)
    .loaded(load)
    .checked(check);

/// A removed connection string is zeroed, because it is a secret.
fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    if changes.endpoints.is_empty() {
        return Ok(());
    }
    db.thoroughly(&mut || {
        changes.endpoints.iter().try_for_each(|(member, endpoint)| match endpoint {
            Some(endpoint) => put(db, workspace, endpoint),
            None => remove(db, workspace, *member),
        })
    })
}

/// Loads the endpoints of the workspace into its directory.
fn load(db: &dyn Db, workspace: i64, directory: &mut Directory, _: Timestamp) -> Result<()> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY member", ENDPOINT.select());
    directory.endpoints = Default::default();
    for endpoint in db.all(&sql, &[workspace.into()], read)? {
        directory.endpoints.insert_mut(endpoint.member, Arc::new(endpoint));
    }
    Ok(())
}

/// The members with endpoints, and each endpoint as far as it can be read.
pub(crate) fn each(db: &dyn Db, workspace: i64) -> Result<Vec<(MemberKey, Option<Endpoint>)>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY member", ENDPOINT.select());
    db.all(&sql, &[workspace.into()], |row| Ok((MemberKey(row.int(1)?), read(row).ok())))
}

/// Each endpoint can be read and belongs to a present agent. Only the host has the key to check that
/// the strings can be decrypted.
fn check(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    for (member, read) in each(whole.db, whole.tenant.key)? {
        let found = whole.everybody.member(member).filter(|m| !m.removed);
        let what = match (read, found) {
            (None, _) => "cannot be read",
            (Some(_), Some(member)) if member.is_agent() => continue,
            _ => "is of nobody who is an agent here",
        };
        report.found(format!("the endpoint of member {member} {what}"));
    }
    Ok(())
}

fn put(db: &dyn Db, workspace: i64, endpoint: &Endpoint) -> Result<()> {
    db.put(
        &ENDPOINT,
        &[
            workspace.into(),
            endpoint.member.0.into(),
            (&*endpoint.url.0).into(),
            endpoint.signing.as_ref().map(|s| &*s.0).into(),
            endpoint.state.code().into(),
            endpoint.epoch.0.into(),
            endpoint.added_at.0.into(),
        ],
    )
}

pub(crate) fn remove(db: &dyn Db, workspace: i64, member: MemberKey) -> Result<()> {
    db.remove(&ENDPOINT, &[workspace.into(), member.0.into()])
}

fn read(row: &dyn Row) -> Result<Endpoint> {
    let secret = |text: &str| Secret(text.into());
    Ok(Endpoint {
        member: MemberKey(row.int(1)?),
        url: secret(row.text(2)?),
        signing: row.maybe_text(3)?.map(secret),
        state: code(row, 4)?,
        epoch: Timestamp(row.int(5)?),
        added_at: Timestamp(row.int(6)?),
    })
}
