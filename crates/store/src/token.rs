//! Issued tokens, and members whose tokens were all ended. They are part of the directory; the
//! tokens themselves are not stored.

use std::sync::Arc;

use chorus_core::codec::Coded;
use chorus_core::model::ids::{MemberKey, Timestamp};
use chorus_core::model::limits;
use chorus_core::model::token::Issued;
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Result, Row, Table};
use crate::family::Family;
use crate::row::{code, maybe_uid};
use crate::schema::Since;

pub(crate) static ISSUED: Table = Table::new(
    "issued",
    3,
    &[
        "workspace",
        "member",
        "jti",
        "role",
        "session",
        "issued_at",
        "expires_at",
        "kid",
        "revoked",
        "proof",
    ],
);

pub(crate) static CUT_OFF: Table = Table::new("cut_off", 2, &["workspace", "member", "at"]);

pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 9, postgres: 4 }, &[&ISSUED, &CUT_OFF])
        .recorded(record)
        .loaded(load);

fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    for (member, jti, issued) in &changes.issued {
        match issued {
            Some(issued) => put(db, workspace, issued)?,
            None => remove(db, workspace, *member, jti)?,
        }
    }
    for (member, at) in &changes.cut_offs {
        cut_off(db, workspace, *member, *at)?;
    }
    changes.sweep_expired.map_or(Ok(()), |now| sweep(db, workspace, now))
}

/// Loads the tokens of the workspace into its directory, also those that have expired: that they
/// were ended is remembered longer.
fn load(db: &dyn Db, workspace: i64, directory: &mut Directory, _: Timestamp) -> Result<()> {
    let sql = format!("{} WHERE workspace = $1", ISSUED.select());
    directory.issued = Default::default();
    for token in db.all(&sql, &[workspace.into()], read)? {
        directory.put_issued(Arc::new(token));
    }
    let sql = format!("{} WHERE workspace = $1", CUT_OFF.select());
    directory.cut_offs = Default::default();
    let all = db.all(&sql, &[workspace.into()], |row| {
        Ok((MemberKey(row.int(1)?), Timestamp(row.int(2)?)))
    })?;
    for (member, at) in all {
        directory.cut_offs.insert_mut(member, at);
    }
    Ok(())
}

fn put(db: &dyn Db, workspace: i64, token: &Issued) -> Result<()> {
    let session = token.session.map(|uid| uid.0.to_be_bytes());
    db.put(
        &ISSUED,
        &[
            workspace.into(),
            token.member.0.into(),
            (&*token.jti).into(),
            token.authority.code().into(),
            session.as_ref().into(),
            token.issued.0.into(),
            token.expires.0.into(),
            (&*token.kid).into(),
            token.revoked.into(),
            token.proof.as_ref().into(),
        ],
    )
}

fn remove(db: &dyn Db, workspace: i64, member: MemberKey, jti: &str) -> Result<()> {
    db.remove(&ISSUED, &[workspace.into(), member.0.into(), jti.into()])
}

/// Tokens that expired by then are over by the clock of every machine.
fn over(now: Timestamp) -> i64 {
    now.plus(-limits::TOKEN_SKEW_MS).0
}

/// Drops what is to be forgotten (`Issued::is_forgotten`): issued and ended tokens.
fn sweep(db: &dyn Db, workspace: i64, now: Timestamp) -> Result<()> {
    let sql = "DELETE FROM issued WHERE workspace = $1 AND expires_at <= $2 AND revoked = 0";
    db.execute(sql, &[workspace.into(), over(now).into()])?;
    let sql = "DELETE FROM issued WHERE workspace = $1 AND expires_at <= $2";
    let ended = over(now.plus(-limits::ENDED_TOKEN_MS));
    db.execute(sql, &[workspace.into(), ended.into()])?;
    let sql = "DELETE FROM token WHERE workspace = $1 AND expires <= $2";
    db.execute(sql, &[workspace.into(), now.0.into()]).map(drop)
}

/// Ends all tokens that the member had by then.
pub(crate) fn cut_off(db: &dyn Db, workspace: i64, member: MemberKey, at: Timestamp) -> Result<()> {
    db.put(&CUT_OFF, &[workspace.into(), member.0.into(), at.0.into()])
}

/// Ends all tokens of the member, including those that are not in the list.
pub(crate) fn end_all(db: &dyn Db, workspace: i64, member: MemberKey, at: Timestamp) -> Result<()> {
    let sql = "UPDATE issued SET revoked = 1 WHERE workspace = $1 AND member = $2";
    db.execute(sql, &[workspace.into(), member.0.into()])?;
    cut_off(db, workspace, member, at)
}

fn read(row: &dyn Row) -> Result<Issued> {
    Ok(Issued {
        member: MemberKey(row.int(1)?),
        jti: row.text(2)?.into(),
        authority: code(row, 3)?,
        session: maybe_uid(row, 4)?,
        issued: Timestamp(row.int(5)?),
        expires: Timestamp(row.int(6)?),
        kid: row.text(7)?.into(),
        revoked: row.flag(8)?,
        proof: row.maybe_array(9)?,
    })
}
