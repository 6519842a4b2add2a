//! Inboxes, the external channels that deliver to them, and the callbacks for answers.
//!
//! Inboxes are part of the directory. A channel and its callbacks belong to the conversation that
//! mirrors it. Invariant: a row's `owed` says whether the packed cursor is behind the newest
//! message.

mod check;

use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::endpoint::Secret;
use chorus_core::model::event::Hash;
use chorus_core::model::ids::{ConversationKey, Prefix, Seq, Timestamp, Uid};
use chorus_core::model::inbox::{Callback, Inbox, Remote};
use chorus_core::state::directory::Directory;
use chorus_core::state::room::{Dirty, Room};
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Error, Result, Row, Table};
use crate::family::Family;
use crate::row::uid;
use crate::schema::Since;

pub(crate) static INBOX: Table = Table::new("inbox", 2, &["workspace", "uid", "packed"]);

pub(crate) static REMOTE: Table =
    Table::new("remote", 2, &["workspace", "conversation", "inbox", "channel", "owed", "packed"]);

pub(crate) static CALLBACK: Table =
    Table::new("callback", 3, &["workspace", "conversation", "seq", "at", "sealed"]);

pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 6, postgres: 1 }, &[&INBOX, &REMOTE, &CALLBACK])
        .recorded_in_rooms(record_room)
        .loaded(load)
        .checked(check::look);

fn record_room(db: &dyn Db, workspace: i64, room: &Room, dirty: &Dirty) -> Result<()> {
    if let Some(remote) = room.remote().filter(|_| dirty.remote) {
        put_remote(db, workspace, room.key(), remote)?;
    }
    for (of, callback) in &dirty.callbacks {
        put_callback(db, workspace, room.key(), *of, callback.as_ref())?;
    }
    Ok(())
}

/// After the rooms, so that nothing is written for channels of a removed inbox. Removed rows are
/// zeroed.
pub(crate) fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    if changes.inboxes.is_empty() && changes.sweep_callbacks.is_none() {
        return Ok(());
    }
    db.thoroughly(&mut || {
        for (uid, inbox) in &changes.inboxes {
            match inbox {
                Some(inbox) => put(db, workspace, inbox)?,
                None => remove(db, workspace, *uid)?,
            }
        }
        changes.sweep_callbacks.map_or(Ok(()), |before| sweep(db, workspace, before))
    })
}

/// Loads the inboxes of the workspace into its directory.
pub(crate) fn load(
    db: &dyn Db,
    workspace: i64,
    directory: &mut Directory,
    _: Timestamp,
) -> Result<()> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY uid", INBOX.select());
    let inboxes = db.all(&sql, &[workspace.into()], |row| {
        let of = uid(row, 1)?;
        let inbox = codec::read_inbox(row.blob(2)?).ok().filter(|i| i.uid == of);
        inbox.ok_or_else(|| Error::corrupt(format!("{} cannot be read", of.show(Prefix::Inbox))))
    })?;
    for inbox in inboxes {
        directory.set_inbox(inbox.uid, Some(Arc::new(inbox)));
    }
    Ok(())
}

/// The ids of all inboxes, and each inbox as far as it can be read.
pub(crate) fn each(db: &dyn Db, workspace: i64) -> Result<Vec<(Uid, Option<Inbox>)>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY uid", INBOX.select());
    db.all(&sql, &[workspace.into()], |row| {
        let of = uid(row, 1)?;
        let inbox = row.blob(2).ok().and_then(|bytes| codec::read_inbox(bytes).ok());
        Ok((of, inbox.filter(|inbox| inbox.uid == of)))
    })
}

pub(crate) fn put(db: &dyn Db, workspace: i64, inbox: &Inbox) -> Result<()> {
    let bytes = codec::inbox(inbox);
    db.put(&INBOX, &[workspace.into(), (&inbox.uid.0.to_be_bytes()).into(), (&*bytes).into()])
}

/// Removes an inbox and the state of its channels. Their conversations stay.
pub(crate) fn remove(db: &dyn Db, workspace: i64, inbox: Uid) -> Result<()> {
    let uid = inbox.0.to_be_bytes();
    let sql = "DELETE FROM callback WHERE workspace = $1 AND conversation IN (
        SELECT conversation FROM remote WHERE workspace = $1 AND inbox = $2)";
    db.execute(sql, &[workspace.into(), (&uid).into()])?;
    let sql = "DELETE FROM remote WHERE workspace = $1 AND inbox = $2";
    db.execute(sql, &[workspace.into(), (&uid).into()])?;
    db.remove(&INBOX, &[workspace.into(), (&uid).into()])
}

pub(crate) fn put_remote(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    remote: &Remote,
) -> Result<()> {
    let bytes = codec::remote(remote);
    let inbox = remote.inbox.0.to_be_bytes();
    db.put(
        &REMOTE,
        &[
            workspace.into(),
            key.0.into(),
            (&inbox).into(),
            (&remote.channel).into(),
            remote.owes().into(),
            (&*bytes).into(),
        ],
    )
}

/// Writes or removes a callback.
pub(crate) fn put_callback(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    of: Seq,
    callback: Option<&Callback>,
) -> Result<()> {
    let (room, seq) = (key.0.into(), of.0.into());
    match callback {
        Some(Callback { at, sealed: Secret(text) }) => {
            db.put(&CALLBACK, &[workspace.into(), room, seq, at.0.into(), (&**text).into()])
        }
        None => db.remove(&CALLBACK, &[workspace.into(), room, seq]),
    }
}

/// Drops callbacks from before `before`.
pub(crate) fn sweep(db: &dyn Db, workspace: i64, before: Timestamp) -> Result<()> {
    let sql = "DELETE FROM callback WHERE workspace = $1 AND at <= $2";
    db.execute(sql, &[workspace.into(), before.0.into()]).map(drop)
}

/// The external channel that a conversation mirrors, with its callbacks, if it mirrors one.
pub(crate) fn remote(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Option<Remote>> {
    let found = db.get(&REMOTE, &[workspace.into(), key.0.into()], read)?;
    let Some((_, mut remote)) = found else { return Ok(None) };
    let sql = format!("{} WHERE workspace = $1 AND conversation = $2", CALLBACK.select());
    let callbacks = db.all(&sql, &[workspace.into(), key.0.into()], |row| {
        let sealed = Secret(row.text(4)?.into());
        Ok((Seq(row.int(2)?), Callback { at: Timestamp(row.int(3)?), sealed }))
    })?;
    remote.callbacks = callbacks.into_iter().collect();
    Ok(Some(remote))
}

/// The conversation that mirrors a channel of an inbox.
pub(crate) fn find(
    db: &dyn Db,
    workspace: i64,
    inbox: Uid,
    channel: &Hash,
) -> Result<Option<ConversationKey>> {
    let sql =
        "SELECT conversation FROM remote WHERE workspace = $1 AND inbox = $2 AND channel = $3";
    let uid = inbox.0.to_be_bytes();
    let values = [workspace.into(), (&uid).into(), channel.into()];
    db.one(sql, &values, |row| Ok(ConversationKey(row.int(0)?)))
}

/// The conversations whose channels have messages still to be sent back.
pub(crate) fn owing(db: &dyn Db, workspace: i64) -> Result<Vec<ConversationKey>> {
    let sql =
        "SELECT conversation FROM remote WHERE workspace = $1 AND owed = 1 ORDER BY conversation";
    db.all(sql, &[workspace.into()], |row| Ok(ConversationKey(row.int(0)?)))
}

/// All channels, without their callbacks.
pub(crate) fn all(db: &dyn Db, workspace: i64) -> Result<Vec<(ConversationKey, Remote)>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY conversation", REMOTE.select());
    db.all(&sql, &[workspace.into()], read)
}

/// A channel as far as it can be read, and whether its row's columns match it.
pub(crate) type Readable = (Option<Remote>, bool);

/// All channels, with their inboxes.
pub(crate) fn each_remote(
    db: &dyn Db,
    workspace: i64,
) -> Result<Vec<(ConversationKey, Uid, Readable)>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY conversation", REMOTE.select());
    db.all(&sql, &[workspace.into()], |row| {
        let (key, of, channel) = (ConversationKey(row.int(1)?), uid(row, 2)?, row.array(3)?);
        let read = row.blob(5).ok().and_then(|bytes| codec::read_remote(bytes).ok());
        let remote = read.map(|(said, sent)| Remote { said, sent, ..Remote::new(of, channel) });
        let fits = remote.as_ref().is_some_and(|r| row.flag(4).is_ok_and(|owed| owed == r.owes()));
        Ok((key, of, (remote, fits)))
    })
}

/// A conversation no longer mirrors a channel.
pub(crate) fn remove_remote(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<()> {
    db.remove(&REMOTE, &[workspace.into(), key.0.into()])
}

/// Counts everything up to `head` as sent.
pub(crate) fn reset_remote(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    head: Seq,
) -> Result<()> {
    let sql = "SELECT inbox, channel FROM remote WHERE workspace = $1 AND conversation = $2";
    let of =
        db.one(sql, &[workspace.into(), key.0.into()], |row| Ok((uid(row, 0)?, row.array(1)?)))?;
    let Some((inbox, channel)) = of else { return Ok(()) };
    let remote = Remote { said: head, sent: head, ..Remote::new(inbox, channel) };
    put_remote(db, workspace, key, &remote)
}

/// Selects callbacks of conversations that mirror no channel, or for events that do not exist.
const STRAY: &str = "callback.workspace = $1
    AND (NOT EXISTS (SELECT 1 FROM remote r WHERE r.workspace = $1 AND r.conversation = callback.conversation)
        OR NOT EXISTS (SELECT 1 FROM head h WHERE h.workspace = $1 AND h.conversation = callback.conversation
            AND h.seq >= callback.seq))";

/// Drops stray callbacks; returns how many there were.
pub(crate) fn remove_stray_callbacks(db: &dyn Db, workspace: i64) -> Result<usize> {
    let strays = stray_callbacks(db, workspace)?;
    if strays > 0 {
        db.execute(&format!("DELETE FROM callback WHERE {STRAY}"), &[workspace.into()])?;
    }
    Ok(strays)
}

/// All sealed secrets of endpoints and inboxes, each with a description.
pub(crate) fn sealed(db: &dyn Db, workspace: i64) -> Result<Vec<(String, Secret)>> {
    let mut all = Vec::new();
    for (member, endpoint) in crate::endpoint::each(db, workspace)? {
        let Some(endpoint) = endpoint else { continue };
        all.push((format!("the string of the endpoint of member {member}"), endpoint.url));
        let signing = endpoint.signing.into_iter();
        all.extend(
            signing.map(|s| (format!("what the endpoint of member {member} signs with"), s)),
        );
    }
    for (uid, inbox) in each(db, workspace)? {
        let signing = inbox.and_then(|inbox| inbox.checks.signing).into_iter();
        let of = uid.show(Prefix::Inbox);
        all.extend(signing.map(|s| (format!("what the inbox {of} is signed with"), s)));
    }
    let sql = "SELECT conversation, sealed FROM callback WHERE workspace = $1
        ORDER BY conversation, seq";
    all.extend(db.all(sql, &[workspace.into()], |row| {
        let of = format!("a callback of conversation {}", row.int::<i64>(0)?);
        Ok((of, Secret(row.text(1)?.into())))
    })?);
    Ok(all)
}

/// The number of callbacks of conversations that mirror no channel, or for events that do not
/// exist.
pub(crate) fn stray_callbacks(db: &dyn Db, workspace: i64) -> Result<usize> {
    let sql = format!("SELECT count(*) FROM callback WHERE {STRAY}");
    Ok(db.one(&sql, &[workspace.into()], |row| row.int(0))?.unwrap_or_default())
}

fn read(row: &dyn Row) -> Result<(ConversationKey, Remote)> {
    let key = ConversationKey(row.int(1)?);
    let unread = || Error::corrupt(format!("the channel of conversation {key} cannot be read"));
    let (said, sent) = codec::read_remote(row.blob(5)?).map_err(|_| unread())?;
    let remote = Remote { said, sent, ..Remote::new(uid(row, 2)?, row.array(3)?) };
    if remote.owes() == row.flag(4)? { Ok((key, remote)) } else { Err(unread()) }
}
