//! Writes a batch's changes, family by family. Where the order matters it is written out here.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use chorus_core::model::event::Change;
use chorus_core::model::ids::{ConversationKey, EventRef, Uid};
use chorus_core::model::log_snapshot::LogSnapshot;
use chorus_core::state::workspace::{Changes, RoomChanges, Workspace};

use crate::db::{Db, Result};
use crate::{asset, conversation, digest, event, families, inbox, log_snapshot, open};

/// Writes every row of `changes`. The rows of a room are read from the room itself.
pub(crate) fn record(
    db: &dyn Db,
    workspace: i64,
    rooms: &Workspace,
    changes: &Changes,
) -> Result<()> {
    for record in families::ALL.iter().filter_map(|family| family.record) {
        record(db, workspace, changes)?;
    }
    for changed in &changes.rooms {
        conversation::put_head(db, workspace, changed.key, &changed.head)?;
    }
    for changed in &changes.rooms {
        for event in &changed.dirty.events {
            event::append(db, workspace, event)?;
        }
    }
    let files = files_of_erased(db, workspace, changes)?;
    record_erased(db, workspace, changes)?;
    record_assets(db, workspace, changes, &files)?;
    for changed in &changes.rooms {
        record_open(db, workspace, rooms, changed)?;
    }
    for changed in &changes.rooms {
        if let Some(room) = rooms.room(changed.key) {
            for record in families::ALL.iter().filter_map(|family| family.record_room) {
                record(db, workspace, room, &changed.dirty)?;
            }
        }
        record_digests(db, workspace, rooms, changed)?;
    }
    inbox::record(db, workspace, changes)?;
    record_bases(db, workspace, changes)
}

/// The files that the events to be erased refer to.
fn files_of_erased(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<BTreeSet<Uid>> {
    let mut files = BTreeSet::new();
    for changed in &changes.rooms {
        for seq in &changed.dirty.erased {
            let at = EventRef { conversation: changed.key, seq: *seq };
            let said = event::get(db, workspace, at)?.map(|event| event.change);
            if let Some(Change::Posted(message) | Change::Edited { content: message, .. }) = said {
                files.extend(message.assets());
            }
        }
    }
    Ok(files)
}

/// Writes files before references to them. Drops unreferenced files afterwards: those of `erased`
/// messages at once, others a day later.
fn record_assets(
    db: &dyn Db,
    workspace: i64,
    changes: &Changes,
    erased: &BTreeSet<Uid>,
) -> Result<()> {
    for kept in &changes.assets {
        asset::put(db, workspace, kept)?;
    }
    for (hash, thumbnail) in &changes.thumbnails {
        asset::put_thumbnail(db, workspace, hash, thumbnail)?;
    }
    for event in changes.rooms.iter().flat_map(|changed| &changed.dirty.events) {
        asset::log(db, workspace, event)?;
    }
    if !erased.is_empty() {
        db.thoroughly(&mut || {
            erased.iter().try_for_each(|file| asset::drop_unless_shown(db, workspace, *file))
        })?;
    }
    for (hash, name) in &changes.forgotten_objects {
        asset::forget_object(db, workspace, hash, name)?;
    }
    match changes.sweep {
        Some(before) => db.thoroughly(&mut || asset::sweep(db, workspace, before)),
        None => Ok(()),
    }
}

/// Last of all, so that nothing is written for dropped events. The freed pages are zeroed, because
/// a backup is a copy of the pages.
fn record_bases(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    let bases = || changes.rooms.iter().filter_map(|r| Some((r.key, r.dirty.base.as_ref()?)));
    if bases().next().is_none() {
        return Ok(());
    }
    db.thoroughly(&mut || bases().try_for_each(|(key, base)| trim(db, workspace, key, base)))
}

/// Records the new start of the log, and removes earlier rows from every table that is trimmed.
fn trim(db: &dyn Db, workspace: i64, key: ConversationKey, base: &LogSnapshot) -> Result<()> {
    log_snapshot::put(db, workspace, key, base)?;
    for table in families::tables() {
        let Some(condition) = table.trimmed else { continue };
        let sql = format!(
            "DELETE FROM {} WHERE workspace = $1 AND conversation = $2 AND {condition}",
            table.name
        );
        db.execute(&sql, &[workspace.into(), key.0.into(), base.seq.0.into()])?;
    }
    Ok(())
}

/// Overwrites events of earlier batches. Those of this batch were written without their content.
fn record_erased(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    if changes.erases_nothing() {
        return Ok(());
    }
    db.thoroughly(&mut || {
        for changed in &changes.rooms {
            for seq in &changed.dirty.erased {
                let at = EventRef { conversation: changed.key, seq: *seq };
                event::erase(db, workspace, at)?;
            }
        }
        Ok(())
    })
}

/// After the message states, which say what is deleted.
fn record_digests(
    db: &dyn Db,
    workspace: i64,
    rooms: &Workspace,
    changed: &RoomChanges,
) -> Result<()> {
    let (key, dirty) = (changed.key, &changed.dirty);
    if !dirty.unsaid.is_empty() {
        db.thoroughly(&mut || {
            dirty.unsaid.iter().try_for_each(|seq| digest::forget_texts(db, workspace, key, *seq))
        })?;
    }
    for made in &dirty.digests {
        digest::put(db, workspace, key, made)?;
    }
    if let Some(room) = rooms.room(key).filter(|_| dirty.digested) {
        digest::put_digested(db, workspace, key, room.tally().after)?;
    }
    for written in &dirty.written {
        digest::put_text(db, workspace, key, written)?;
    }
    Ok(())
}

/// Removed receipts are deleted before new ones are written, because an event may close, reopen and
/// close again within a batch.
fn record_open(
    db: &dyn Db,
    workspace: i64,
    rooms: &Workspace,
    changed: &RoomChanges,
) -> Result<()> {
    let key = changed.key;
    for seq in &changed.dirty.reopened {
        open::remove_receipt(db, workspace, EventRef { conversation: key, seq: *seq })?;
    }
    for receipt in &changed.dirty.receipts {
        open::put_receipt(db, workspace, key, receipt)?;
    }
    let Some(room) = rooms.room(key) else { return Ok(()) };
    for open in changed.dirty.pending.iter().filter_map(|seq| room.open().get(seq)) {
        open::put_pending(db, workspace, key, open)?;
    }
    Ok(())
}
