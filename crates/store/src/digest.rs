//! Digests of followed conversations, and the texts that commands wrote for them.
//!
//! Invariant: no text is stored for a range in which a message was deleted or erased. It is not
//! written then, and an existing one is removed with the message.

use chorus_core::codec;
use chorus_core::model::digest::{Digest, Written};
use chorus_core::model::ids::{ConversationKey, MemberKey, Seq, Timestamp};

use crate::db::{Db, Error, Result, Table};
use crate::family::Family;
use crate::schema::Since;

pub(crate) static DIGEST: Table =
    Table::new("digest", 3, &["workspace", "conversation", "through", "at", "packed"])
        .trimmed_where("through <= $3");

/// Texts that members' commands wrote for digests. A text whose range is partly dropped is removed
/// too.
pub(crate) static DIGEST_TEXT: Table = Table::new(
    "digest_text",
    4,
    &["workspace", "conversation", "through", "member", "after", "text"],
)
.trimmed_where("after < $3");

pub(crate) static DIGESTED: Table =
    Table::new("digested", 2, &["workspace", "conversation", "seq"]);

/// Recorded after the states of messages, which say what is deleted.
pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 2, postgres: 1 }, &[&DIGEST, &DIGEST_TEXT, &DIGESTED]);

pub(crate) fn put(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    digest: &Digest,
) -> Result<()> {
    let bytes = codec::digest(digest);
    let (through, at) = (digest.through.0.into(), digest.at.0.into());
    db.put(&DIGEST, &[workspace.into(), key.0.into(), through, at, (&*bytes).into()])
}

pub(crate) fn put_digested(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    seq: Seq,
) -> Result<()> {
    db.put(&DIGESTED, &[workspace.into(), key.0.into(), seq.0.into()])
}

pub(crate) fn digested(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Option<Seq>> {
    db.get(&DIGESTED, &[workspace.into(), key.0.into()], |row| Ok(Seq(row.int(2)?)))
}

/// Stores a text, unless part of its range was removed or its digest does not exist.
pub(crate) fn put_text(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    written: &Written,
) -> Result<()> {
    let sql = "INSERT INTO digest_text (workspace, conversation, through, member, after, text)
        SELECT $1, $2, $3, $4, $5, $6 WHERE NOT EXISTS (
            SELECT 1 FROM message WHERE workspace = $1 AND conversation = $2
                AND seq > $5 AND seq <= $3 AND deleted_at IS NOT NULL
        ) ON CONFLICT (workspace, conversation, through, member)
            DO UPDATE SET after = excluded.after, text = excluded.text";
    let values = [
        workspace.into(),
        key.0.into(),
        written.through.0.into(),
        written.member.0.into(),
        written.after.0.into(),
        (&*written.text).into(),
    ];
    db.execute(sql, &values).map(drop)
}

/// Removes the texts for the range of a removed message.
pub(crate) fn forget_texts(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    message: Seq,
) -> Result<()> {
    let sql = "DELETE FROM digest_text WHERE workspace = $1 AND conversation = $2
        AND after < $3 AND through >= $3";
    db.execute(sql, &[workspace.into(), key.0.into(), message.0.into()]).map(drop)
}

/// Every digest of a conversation, oldest first, with its end and time as stored; none where the
/// row cannot be read.
pub(crate) fn all(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(Seq, Timestamp, Option<Digest>)>> {
    let sql =
        format!("{} WHERE workspace = $1 AND conversation = $2 ORDER BY through", DIGEST.select());
    db.all(&sql, &[workspace.into(), key.0.into()], |row| {
        let digest = codec::read_digest(row.blob(4)?).ok();
        Ok((Seq(row.int(2)?), Timestamp(row.int(3)?), digest))
    })
}

/// The texts that commands wrote, without their words: the member and the range of each.
pub(crate) fn texts(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(MemberKey, Seq, Seq)>> {
    let sql = "SELECT member, after, through FROM digest_text
        WHERE workspace = $1 AND conversation = $2 ORDER BY through, member";
    db.all(sql, &[workspace.into(), key.0.into()], |row| {
        Ok((MemberKey(row.int(0)?), Seq(row.int(1)?), Seq(row.int(2)?)))
    })
}

/// Removes an invalid digest.
pub(crate) fn remove(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    through: Seq,
) -> Result<()> {
    db.remove(&DIGEST, &[workspace.into(), key.0.into(), through.0.into()])
}

/// Removes the text that a command wrote for a member's digest.
pub(crate) fn remove_text(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    through: Seq,
    member: MemberKey,
) -> Result<()> {
    let sql = "DELETE FROM digest_text WHERE workspace = $1 AND conversation = $2
        AND through = $3 AND member = $4";
    let values = [workspace.into(), key.0.into(), through.0.into(), member.0.into()];
    db.execute(sql, &values).map(drop)
}

/// The digests of a member in a conversation, newest first, each with its text.
pub(crate) fn of_member(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    member: MemberKey,
    before: Seq,
    limit: usize,
) -> Result<Vec<(Digest, Option<String>)>> {
    // Parameters are numbered in the order of first use.
    let sql = "SELECT d.packed, t.text FROM digest d
        LEFT JOIN digest_text t ON t.member = $1 AND t.workspace = d.workspace
            AND t.conversation = d.conversation AND t.through = d.through
        WHERE d.workspace = $2 AND d.conversation = $3 AND d.through < $4
        ORDER BY d.through DESC LIMIT $5";
    let before = before.0.min(i64::MAX as u64);
    let values =
        [member.0.into(), workspace.into(), key.0.into(), before.into(), (limit as u64).into()];
    let mut found = db.all(sql, &values, |row| {
        let digest = codec::read_digest(row.blob(0)?).map_err(|_| {
            Error::corrupt(format!("a digest of conversation {key} cannot be read"))
        })?;
        Ok((digest, row.maybe_text(1)?.map(str::to_owned)))
    })?;
    found.retain(|(digest, _)| digest.part(member).is_some());
    Ok(found)
}
