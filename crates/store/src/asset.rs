//! Files, their bytes, and the messages that refer to them.
//!
//! The bytes are in the database like everything else, so that backups and exports have them.
//! References are a projection of the log: [`log`] derives them event by event.

mod check;

use std::sync::Arc;

use chorus_core::codec::Coded;
pub(crate) use chorus_core::model::asset::PINNED;
use chorus_core::model::asset::{Asset, Kept, OBJECT, in_object, object};
use chorus_core::model::conversation::Visibility;
use chorus_core::model::event::{Change, Event, Hash, Message};
use chorus_core::model::ids::{ConversationKey, EventRef, MemberKey, Seq, Timestamp, Uid};

use crate::db::{Db, Error, Result, Row, Table, Value};
use crate::family::Family;
use crate::objects::ReadObjects;
use crate::row::{code, uid};
use crate::schema::Since;
use crate::{conversation, event};

pub(crate) static ASSET: Table =
    Table::new("asset", 2, &["workspace", "uid", "hash", "name", "media", "bytes", "member", "at"]);

pub(crate) static BLOB: Table = Table::new("blob", 2, &["workspace", "hash", "data", "thumbnail"]);

pub(crate) static REF: Table =
    Table::new("asset_ref", 4, &["workspace", "conversation", "seq", "asset"])
        .trimmed_where("seq > 0 AND seq <= $3");

/// Recorded in `record`: files before references to them.
pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 5, postgres: 1 }, &[&ASSET, &BLOB, &REF]).checked(check::look);

/// Messages examined to find one that a member may see.
const LOOKED_AT: u64 = 256;
/// Files dropped by one sweep.
const SWEPT: u64 = 200;
/// What stands in place of the bytes that an object has is no longer than this.
const OBJECT_DATA: u64 = 512;

pub(crate) fn put(db: &dyn Db, workspace: i64, kept: &Kept) -> Result<()> {
    let asset = &kept.asset;
    // The bytes of another file with this hash stay where they are: an object of them is in use.
    if !is_kept_of(db, workspace, &asset.hash)? {
        let thumbnail = kept.thumbnail.as_deref();
        let data = &*kept.data;
        let values = [workspace.into(), (&asset.hash).into(), data.into(), thumbnail.into()];
        db.put(&BLOB, &values)?;
    }
    db.put(
        &ASSET,
        &[
            workspace.into(),
            (&asset.uid.0.to_be_bytes()).into(),
            (&asset.hash).into(),
            (&*asset.name).into(),
            asset.media.code().into(),
            asset.bytes.into(),
            asset.by.0.into(),
            asset.at.0.into(),
        ],
    )
}

fn is_kept_of(db: &dyn Db, workspace: i64, hash: &Hash) -> Result<bool> {
    let sql = "SELECT COUNT(*) FROM (
        SELECT 1 FROM asset WHERE workspace = $1 AND hash = $2 LIMIT 1) AS one";
    Ok(db.one(sql, &[workspace.into(), hash.into()], |row| row.flag(0))?.unwrap_or(false))
}

/// Has no effect if the bytes were dropped meanwhile.
pub(crate) fn put_thumbnail(
    db: &dyn Db,
    workspace: i64,
    hash: &Hash,
    thumbnail: &[u8],
) -> Result<()> {
    let sql = "UPDATE blob SET thumbnail = $1 WHERE workspace = $2 AND hash = $3";
    db.execute(sql, &[thumbnail.into(), workspace.into(), hash.into()]).map(drop)
}

/// The total size of the files that a member has uploaded.
pub(crate) fn stored_by(db: &dyn Db, workspace: i64, member: MemberKey) -> Result<u64> {
    let sql = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM asset
        WHERE workspace = $1 AND member = $2";
    let bytes = db.one(sql, &[workspace.into(), member.0.into()], |row| row.int(0))?;
    Ok(bytes.unwrap_or_default())
}

/// The total size of all files.
pub(crate) fn stored(db: &dyn Db, workspace: i64) -> Result<u64> {
    let sql = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM asset WHERE workspace = $1";
    Ok(db.one(sql, &[workspace.into()], |row| row.int(0))?.unwrap_or_default())
}

pub(crate) fn get(db: &dyn Db, workspace: i64, uid: Uid) -> Result<Option<Asset>> {
    db.get(&ASSET, &[workspace.into(), (&uid.0.to_be_bytes()).into()], read)
}

/// The file with this name and these bytes that a member has uploaded.
pub(crate) fn of(
    db: &dyn Db,
    workspace: i64,
    by: MemberKey,
    hash: &Hash,
    name: &str,
) -> Result<Option<Asset>> {
    let sql = format!(
        "{} WHERE workspace = $1 AND hash = $2 AND member = $3 AND name = $4 ORDER BY uid LIMIT 1",
        ASSET.select()
    );
    db.one(&sql, &[workspace.into(), hash.into(), by.0.into(), name.into()], read)
}

/// All files, in the order of their ids.
pub(crate) fn all(db: &dyn Db, workspace: i64) -> Result<Vec<Asset>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY uid", ASSET.select());
    db.all(&sql, &[workspace.into()], read)
}

/// The bytes of files with this hash, and their thumbnail.
#[allow(clippy::type_complexity, reason = "the bytes, and perhaps others")]
pub(crate) fn data(
    db: &dyn Db,
    workspace: i64,
    hash: &Hash,
) -> Result<Option<(Vec<u8>, Option<Vec<u8>>)>> {
    db.get(&BLOB, &[workspace.into(), hash.into()], |row| {
        Ok((row.blob(2)?.to_vec(), row.maybe_blob(3)?.map(<[u8]>::to_vec)))
    })
}

/// Whether the bytes of files with this hash are in this object.
pub(crate) fn is_named(db: &dyn Db, workspace: i64, hash: &Hash, name: &str) -> Result<bool> {
    let named = db.get(&BLOB, &[workspace.into(), hash.into()], |row| {
        Ok(object(row.blob(2)?) == Some(name))
    })?;
    Ok(named == Some(true))
}

/// Objects of files that were dropped, each with the hash of its file.
pub(crate) fn dropped_objects(db: &dyn Db, workspace: i64) -> Result<Vec<(Hash, String)>> {
    let sql = "SELECT hash, data FROM blob WHERE workspace = $1 AND length(data) <= $2
        AND substr(data, 1, 8) = $3 AND NOT EXISTS (
            SELECT 1 FROM asset a WHERE a.workspace = $1 AND a.hash = blob.hash)
        LIMIT $4";
    let values = [workspace.into(), OBJECT_DATA.into(), OBJECT.into(), SWEPT.into()];
    objects(db, sql, &values)
}

/// All objects of a workspace, each with the hash of its file.
pub(crate) fn all_objects(db: &dyn Db, workspace: i64) -> Result<Vec<(Hash, String)>> {
    let sql = "SELECT hash, data FROM blob WHERE workspace = $1 AND length(data) <= $2
        AND substr(data, 1, 8) = $3";
    objects(db, sql, &[workspace.into(), OBJECT_DATA.into(), OBJECT.into()])
}

fn objects(db: &dyn Db, sql: &str, values: &[Value<'_>]) -> Result<Vec<(Hash, String)>> {
    db.all(sql, values, |row| {
        let name = object(row.blob(1)?).map(str::to_owned);
        Ok((row.array(0)?, name.ok_or_else(|| Error::corrupt("an object without a name"))?))
    })
}

/// An object is gone, and so is the file that it had the bytes of.
pub(crate) fn forget_object(db: &dyn Db, workspace: i64, hash: &Hash, name: &str) -> Result<()> {
    let sql = "DELETE FROM blob WHERE workspace = $1 AND hash = $2 AND data = $3 AND NOT EXISTS (
        SELECT 1 FROM asset a WHERE a.workspace = $1 AND a.hash = blob.hash)";
    let data = in_object(name);
    db.execute(sql, &[workspace.into(), hash.into(), (&*data).into()]).map(drop)
}

/// Writes the bytes of files into the database that are in objects. Gives how many there were.
pub(crate) fn take_in(db: &dyn Db, workspace: i64, objects: &dyn ReadObjects) -> Result<u64> {
    // An older program's copy may have no files.
    let there = "SELECT count(*) FROM sqlite_schema WHERE name = 'asset'";
    if !db.one(there, &[], |row| row.flag(0))?.unwrap_or(false) {
        return Ok(0);
    }
    let mut taken = 0;
    for (hash, name) in all_objects(db, workspace)? {
        if !is_kept_of(db, workspace, &hash)? {
            // Of a file that was dropped.
            forget_object(db, workspace, &hash, &name)?;
            continue;
        }
        let data = objects.read(&name).map_err(Error::Engine)?;
        let sql = "UPDATE blob SET data = $1 WHERE workspace = $2 AND hash = $3";
        db.execute(sql, &[data.as_slice().into(), workspace.into(), (&hash).into()])?;
        taken += 1;
    }
    Ok(taken)
}

/// Applies the changes of references that an event makes.
pub(crate) fn log(db: &dyn Db, workspace: i64, event: &Event) -> Result<()> {
    let key = event.conversation;
    match &event.change {
        Change::Posted(message) => refer(db, workspace, key, event.seq, message),
        Change::Edited { message, content } => {
            forget(db, workspace, key, *message)?;
            refer(db, workspace, key, *message, content)
        }
        Change::Deleted { message } | Change::Erased { message, .. } => {
            forget(db, workspace, key, *message)
        }
        Change::SettingsChanged(settings) => pin(db, workspace, key, &settings.pins),
        _ => Ok(()),
    }
}

/// Whether a reference belongs to a part of the log that is kept.
pub(crate) fn is_kept(seq: Seq, base: Seq) -> bool {
    seq > base || seq == PINNED
}

/// Sets the pinned files of a conversation.
pub(crate) fn pin(db: &dyn Db, workspace: i64, key: ConversationKey, pins: &[Uid]) -> Result<()> {
    forget(db, workspace, key, PINNED)?;
    pins.iter().try_for_each(|asset| set_ref(db, workspace, key, PINNED, *asset, true))
}

fn refer(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    seq: Seq,
    message: &Message,
) -> Result<()> {
    let mut assets = message.assets().into_iter();
    assets.try_for_each(|asset| set_ref(db, workspace, key, seq, asset, true))
}

/// Adds or removes the reference of a message to a file.
pub(crate) fn set_ref(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    seq: Seq,
    asset: Uid,
    on: bool,
) -> Result<()> {
    let asset = asset.0.to_be_bytes();
    let values = [workspace.into(), key.0.into(), seq.0.into(), (&asset).into()];
    if on { db.put(&REF, &values) } else { db.remove(&REF, &values) }
}

fn forget(db: &dyn Db, workspace: i64, key: ConversationKey, seq: Seq) -> Result<()> {
    let sql = "DELETE FROM asset_ref WHERE workspace = $1 AND conversation = $2 AND seq = $3";
    db.execute(sql, &[workspace.into(), key.0.into(), seq.0.into()]).map(drop)
}

/// The references in a conversation, in order.
pub(crate) fn refs(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Vec<(Seq, Uid)>> {
    let sql = "SELECT seq, asset FROM asset_ref WHERE workspace = $1 AND conversation = $2
        ORDER BY seq, asset";
    db.all(sql, &[workspace.into(), key.0.into()], |row| Ok((Seq(row.int(0)?), uid(row, 1)?)))
}

/// Whether a member uploaded the file, sees a conversation that it is pinned to, or may see a
/// message that refers to it. Without a viewer: whether it exists.
pub(crate) fn is_seen(
    db: &dyn Db,
    workspace: i64,
    asset: &Asset,
    viewer: Option<MemberKey>,
) -> Result<bool> {
    let Some(viewer) = viewer.filter(|viewer| *viewer != asset.by) else { return Ok(true) };
    Ok(!seen_at(db, workspace, asset, viewer, 1)?.is_empty())
}

/// Where a member can see a file, at most this many places.
pub(crate) fn seen_at(
    db: &dyn Db,
    workspace: i64,
    asset: &Asset,
    viewer: MemberKey,
    most: usize,
) -> Result<Vec<EventRef>> {
    let sql =
        "SELECT conversation, seq FROM asset_ref WHERE workspace = $1 AND asset = $2 LIMIT $3";
    let id = asset.uid.0.to_be_bytes();
    let values = [workspace.into(), (&id).into(), LOOKED_AT.into()];
    let refs = db.all(sql, &values, |row| {
        Ok(EventRef { conversation: ConversationKey(row.int(0)?), seq: Seq(row.int(1)?) })
    })?;
    let mut seen = Vec::new();
    for at in refs {
        let Some(home) = conversation::get(db, workspace, at.conversation)? else { continue };
        let may_read = home.settings.visibility == Visibility::Public
            || conversation::sits(db, workspace, at.conversation, viewer)?;
        let shown = |event: Event| event.is_shown_to(viewer);
        if may_read && (at.seq == PINNED || event::get(db, workspace, at)?.is_some_and(shown)) {
            seen.push(at);
            if seen.len() == most {
                break;
            }
        }
    }
    Ok(seen)
}

/// Whether a member may see a message of the conversation that refers to the file, or the file is
/// pinned to it.
pub(crate) fn is_shown_in(
    db: &dyn Db,
    workspace: i64,
    asset: &Asset,
    key: ConversationKey,
    viewer: Option<MemberKey>,
) -> Result<bool> {
    let sql = "SELECT seq FROM asset_ref WHERE workspace = $1 AND asset = $2 AND conversation = $3
        ORDER BY seq DESC LIMIT $4";
    let id = asset.uid.0.to_be_bytes();
    let values = [workspace.into(), (&id).into(), key.0.into(), LOOKED_AT.into()];
    for seq in db.all(sql, &values, |row| Ok(Seq(row.int(0)?)))? {
        let at = EventRef { conversation: key, seq };
        let shown = |event: Event| viewer.is_none_or(|viewer| event.is_shown_to(viewer));
        if seq == PINNED || event::get(db, workspace, at)?.is_some_and(shown) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The newest files of a conversation, or of one of its messages, with the messages that the member
/// may see with them; the newest message first.
pub(crate) fn shown_in(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    only: Option<Seq>,
    viewer: Option<MemberKey>,
) -> Result<Vec<(Option<Uid>, Asset)>> {
    let sql = "SELECT seq, asset FROM asset_ref WHERE workspace = $1 AND conversation = $2
        AND seq >= $3 AND seq <= $4 ORDER BY seq DESC, asset LIMIT $5";
    let (least, most) = only.map_or((0, i64::MAX as u64), |seq| (seq.0, seq.0));
    let values = [workspace.into(), key.0.into(), least.into(), most.into(), LOOKED_AT.into()];
    let refs = db.all(sql, &values, |row| Ok((Seq(row.int(0)?), uid(row, 1)?)))?;
    let mut found = Vec::new();
    for (seq, id) in refs {
        let at = EventRef { conversation: key, seq };
        let message = match seq {
            PINNED => None,
            _ => match event::get(db, workspace, at)? {
                Some(event) if viewer.is_none_or(|viewer| event.is_shown_to(viewer)) => {
                    Some(event.uid)
                }
                _ => continue,
            },
        };
        found.extend(get(db, workspace, id)?.map(|asset| (message, asset)));
    }
    Ok(found)
}

/// Drops files uploaded before `before` that no message refers to and that are pinned nowhere, and
/// bytes without a file. The references of this batch are written before.
pub(crate) fn sweep(db: &dyn Db, workspace: i64, before: Timestamp) -> Result<()> {
    let sql = "DELETE FROM asset WHERE workspace = $1 AND uid IN (
        SELECT a.uid FROM asset a WHERE a.workspace = $1 AND a.at < $2 AND NOT EXISTS (
            SELECT 1 FROM asset_ref r WHERE r.workspace = $1 AND r.asset = a.uid
        ) ORDER BY a.uid LIMIT $3)";
    let dropped = db.execute(sql, &[workspace.into(), before.0.into(), SWEPT.into()])?;
    match dropped {
        0 => Ok(()),
        _ => drop_bytes(db, workspace),
    }
}

/// Drops a file that no message refers to and that is pinned nowhere.
pub(crate) fn drop_unless_shown(db: &dyn Db, workspace: i64, uid: Uid) -> Result<()> {
    let sql = "DELETE FROM asset WHERE workspace = $1 AND uid = $2 AND NOT EXISTS (
        SELECT 1 FROM asset_ref r WHERE r.workspace = $1 AND r.asset = $2)";
    match db.execute(sql, &[workspace.into(), (&uid.0.to_be_bytes()).into()])? {
        0 => Ok(()),
        _ => drop_bytes(db, workspace),
    }
}

/// Drops bytes without a file. The name of an object stays until the object is gone.
fn drop_bytes(db: &dyn Db, workspace: i64) -> Result<()> {
    let sql = "DELETE FROM blob WHERE workspace = $1 AND NOT EXISTS (
        SELECT 1 FROM asset a WHERE a.workspace = $1 AND a.hash = blob.hash)
        AND (length(data) > $2 OR substr(data, 1, 8) <> $3)";
    db.execute(sql, &[workspace.into(), OBJECT_DATA.into(), OBJECT.into()]).map(drop)
}

fn read(row: &dyn Row) -> Result<Asset> {
    Ok(Asset {
        uid: uid(row, 1)?,
        hash: row.array(2)?,
        name: Arc::from(row.text(3)?),
        media: code(row, 4)?,
        bytes: row.int(5)?,
        by: MemberKey(row.int(6)?),
        at: Timestamp(row.int(7)?),
    })
}
