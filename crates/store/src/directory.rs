//! The workspace and its directory: members, roles, streams, sessions, revoked tokens, the lead.

use std::sync::Arc;

use chorus_core::codec::Coded;
use chorus_core::model::ids::{MemberKey, RoleKey, SessionKey, StreamKey, Timestamp};
use chorus_core::model::member::{Member, Role, Session, Stream};
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Changes;

use crate::approval;
use crate::db::{Db, Error, Result, Row, Table, Value};
use crate::family::Family;
use crate::row::{code, uid};
use crate::schema::Since;
use crate::tenant::Tenant;

pub(crate) static WORKSPACE: Table =
    Table::new("workspace", 1, &["workspace", "uid", "name", "epoch", "lead", "created_at"]);

pub(crate) static MEMBER: Table = Table::new(
    "member",
    2,
    &[
        "workspace",
        "member",
        "id",
        "kind",
        "handle",
        "display_name",
        "owner",
        "identities",
        "removed",
    ],
);

pub(crate) static ROLE: Table = Table::new("role", 2, &["workspace", "role", "name", "removed"]);

pub(crate) static ROLE_MEMBER: Table =
    Table::new("role_member", 3, &["workspace", "role", "member"]);

pub(crate) static STREAM: Table =
    Table::new("stream", 2, &["workspace", "stream", "uid", "name", "owner"]);

pub(crate) static SESSION: Table = Table::new(
    "session",
    2,
    &["workspace", "session", "uid", "member", "runtime", "managed", "resumable", "seen_at"],
);

pub(crate) static TOKEN: Table = Table::new("token", 2, &["workspace", "jti", "expires"]);

pub(crate) static FAMILY: Family = Family::of(
    Since::FIRST,
    &[&WORKSPACE, &MEMBER, &ROLE, &ROLE_MEMBER, &STREAM, &SESSION, &TOKEN],
)
.recorded(record);

fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    for member in &changes.members {
        put_member(db, workspace, member)?;
    }
    for role in &changes.roles {
        put_role(db, workspace, role)?;
    }
    for stream in &changes.streams {
        put_stream(db, workspace, stream)?;
    }
    for session in &changes.sessions {
        put_session(db, workspace, session)?;
    }
    if let Some(lead) = changes.lead {
        set_lead(db, workspace, lead)?;
    }
    for (jti, expires) in &changes.revoked {
        put_revoked(db, workspace, jti, *expires)?;
    }
    Ok(())
}

/// The workspace of this key.
pub(crate) fn tenant(db: &dyn Db, key: i64) -> Result<Option<Tenant>> {
    db.get(&WORKSPACE, &[key.into()], |row| {
        Ok(Tenant {
            key: row.int(0)?,
            uid: uid(row, 1)?,
            name: row.text(2)?.into(),
            epoch: row.int(3)?,
            lead: row.maybe_int(4)?.map(MemberKey),
        })
    })
}

pub(crate) fn add_tenant(db: &dyn Db, tenant: &Tenant, now: Timestamp) -> Result<()> {
    let lead: Option<u32> = tenant.lead.map(|l| l.0);
    db.insert(
        &WORKSPACE,
        &[
            tenant.key.into(),
            (&tenant.uid.0.to_be_bytes()).into(),
            (&*tenant.name).into(),
            tenant.epoch.into(),
            lead.into(),
            now.0.into(),
        ],
    )
}

pub(crate) fn set_lead(db: &dyn Db, workspace: i64, lead: Option<MemberKey>) -> Result<()> {
    db.execute(
        "UPDATE workspace SET lead = $1 WHERE workspace = $2",
        &[lead.map(|l| l.0).into(), workspace.into()],
    )
    .map(drop)
}

/// The directory without what other families load, with all sessions disconnected.
pub(crate) fn load(db: &dyn Db, tenant: &Tenant, now: Timestamp) -> Result<Directory> {
    let mut directory = Directory::default();
    directory.lead = tenant.lead;
    let at = [tenant.key.into()];
    for member in all(db, &MEMBER, "member", &at, read_member)? {
        check_dense("member", member.key.0, directory.members.len())?;
        directory.restore_member(Arc::new(member));
    }
    let seats = all(db, &ROLE_MEMBER, "role, member", &at, |row| {
        Ok((RoleKey(row.int(1)?), MemberKey(row.int(2)?)))
    })?;
    for mut role in all(db, &ROLE, "role", &at, read_role)? {
        check_dense("role", role.key.0, directory.roles.len())?;
        role.members = seats.iter().filter(|(r, _)| *r == role.key).map(|(_, m)| *m).collect();
        directory.restore_role(Arc::new(role));
    }
    directory.streams = all(db, &STREAM, "stream", &at, |row| read_stream(row).map(Arc::new))?;
    for session in all(db, &SESSION, "session", &at, read_session)? {
        directory.put_session(session);
    }
    let sql = "SELECT jti, expires FROM token WHERE workspace = $1 AND expires > $2";
    let revoked = db.all(sql, &[tenant.key.into(), now.0.into()], |row| {
        Ok((Arc::from(row.text(0)?), Timestamp(row.int(1)?)))
    })?;
    for (jti, expires) in revoked {
        directory.revoked.insert_mut(jti, expires);
    }
    for approval in approval::all(db, tenant.key)? {
        directory.approvals.insert_mut(approval.uid, approval);
    }
    Ok(directory)
}

pub(crate) fn put_member(db: &dyn Db, workspace: i64, member: &Member) -> Result<()> {
    db.put(
        &MEMBER,
        &[
            workspace.into(),
            member.key.0.into(),
            (&*member.id).into(),
            member.kind.code().into(),
            (&*member.handle).into(),
            (&*member.display_name).into(),
            member.owner.as_deref().into(),
            member.identities.as_deref().into(),
            member.removed.into(),
        ],
    )
}

/// Writes the role and replaces its members with the present ones.
pub(crate) fn put_role(db: &dyn Db, workspace: i64, role: &Role) -> Result<()> {
    let key = role.key.0;
    db.put(&ROLE, &[workspace.into(), key.into(), (&*role.name).into(), role.removed.into()])?;
    db.execute(
        "DELETE FROM role_member WHERE workspace = $1 AND role = $2",
        &[workspace.into(), key.into()],
    )?;
    for member in &role.members {
        db.insert(&ROLE_MEMBER, &[workspace.into(), key.into(), member.0.into()])?;
    }
    Ok(())
}

pub(crate) fn put_stream(db: &dyn Db, workspace: i64, stream: &Stream) -> Result<()> {
    db.put(
        &STREAM,
        &[
            workspace.into(),
            stream.key.0.into(),
            (&stream.uid.0.to_be_bytes()).into(),
            (&*stream.name).into(),
            stream.owner.map(|o| o.0).into(),
        ],
    )
}

pub(crate) fn put_session(db: &dyn Db, workspace: i64, session: &Session) -> Result<()> {
    db.put(
        &SESSION,
        &[
            workspace.into(),
            session.key.0.into(),
            (&session.uid.0.to_be_bytes()).into(),
            session.member.0.into(),
            (&*session.runtime).into(),
            session.managed.into(),
            session.resumable.into(),
            session.seen_at.0.into(),
        ],
    )
}

fn put_revoked(db: &dyn Db, workspace: i64, jti: &str, expires: Timestamp) -> Result<()> {
    db.put(&TOKEN, &[workspace.into(), jti.into(), expires.0.into()])
}

/// All rows of one workspace's table in the order given.
fn all<T>(
    db: &dyn Db,
    table: &Table,
    order: &str,
    at: &[Value<'_>],
    read: impl FnMut(&dyn Row) -> Result<T>,
) -> Result<Vec<T>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY {order}", table.select());
    db.all(&sql, at, read)
}

/// Keys are indexes into the directory's lists: a gap would shift all later members.
fn check_dense(what: &str, key: u32, before: usize) -> Result<()> {
    if key as usize == before + 1 {
        return Ok(());
    }
    Err(Error::corrupt(format!("{what} {key} is at position {}", before + 1)))
}

fn read_member(row: &dyn Row) -> Result<Member> {
    Ok(Member {
        key: MemberKey(row.int(1)?),
        id: row.text(2)?.into(),
        kind: code(row, 3)?,
        handle: row.text(4)?.into(),
        display_name: row.text(5)?.into(),
        owner: row.maybe_text(6)?.map(Into::into),
        identities: row.maybe_text(7)?.map(Into::into),
        removed: row.flag(8)?,
        pause: None,
    })
}

fn read_role(row: &dyn Row) -> Result<Role> {
    Ok(Role {
        key: RoleKey(row.int(1)?),
        name: row.text(2)?.into(),
        members: Vec::new(),
        removed: row.flag(3)?,
    })
}

fn read_stream(row: &dyn Row) -> Result<Stream> {
    Ok(Stream {
        key: StreamKey(row.int(1)?),
        uid: uid(row, 2)?,
        name: row.text(3)?.into(),
        owner: row.maybe_int(4)?.map(MemberKey),
    })
}

fn read_session(row: &dyn Row) -> Result<Session> {
    let (key, member) = (SessionKey(row.int(1)?), MemberKey(row.int(3)?));
    let seen_at = Timestamp(row.int(7)?);
    Ok(Session {
        runtime: row.text(4)?.into(),
        managed: row.flag(5)?,
        resumable: row.flag(6)?,
        ..Session::unconnected(key, uid(row, 2)?, member, seen_at)
    })
}
