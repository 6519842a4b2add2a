//! Endpoints of agents that are reached by a connection string. They are part of the directory.

use std::sync::Arc;

use chorus_core::codec::Coded;
use chorus_core::model::endpoint::{Endpoint, Secret};
use chorus_core::model::ids::{MemberKey, Timestamp};
use chorus_core::state::directory::Directory;

use crate::db::{Db, Result, Row, Table};
use crate::row::code;

pub(crate) static ENDPOINT: Table = Table::new(
    "endpoint",
    2,
    &["workspace", "member", "url", "signing", "state", "epoch", "added_at"],
);

/// Loads the endpoints of the workspace into its directory.
pub(crate) fn load(db: &dyn Db, workspace: i64, directory: &mut Directory) -> Result<()> {
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

pub(crate) fn put(db: &dyn Db, workspace: i64, endpoint: &Endpoint) -> Result<()> {
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
