//! Writes a batch's changes, table by table.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use chorus_core::model::event::Change;
use chorus_core::model::ids::{EventRef, Uid};
use chorus_core::state::workspace::{Changes, RoomChanges, Workspace};

use crate::db::{Db, Result};
use crate::{
    approval, asset, conversation, departed, digest, directory, endpoint, event, inbox, message,
    open, project, read_cursor, schedule, shared, stimulus, tables, thread, token, told, turn,
};

/// Writes every row of `changes`. The rows of a room are read from the room itself.
pub(crate) fn record(
    db: &dyn Db,
    workspace: i64,
    rooms: &Workspace,
    changes: &Changes,
) -> Result<()> {
    record_directory(db, workspace, changes)?;
    if rooms.is_shared() {
        for session in &changes.sessions {
            shared::put_connection(db, workspace, session)?;
        }
    }
    for changed in &changes.rooms {
        conversation::put_head(db, workspace, changed.key, &changed.head)?;
    }
    for changed in &changes.rooms {
        for event in &changed.dirty.events {
            event::append(db, workspace, event)?;
        }
    }
    if let Some(now) = changes.sweep_expired {
        token::sweep(db, workspace, now)?;
        told::sweep(db, workspace, now)?;
    }
    let files = files_of_erased(db, workspace, changes)?;
    record_erased(db, workspace, changes)?;
    record_assets(db, workspace, changes, &files)?;
    for changed in &changes.rooms {
        record_open(db, workspace, rooms, changed)?;
    }
    for changed in &changes.rooms {
        record_projections(db, workspace, rooms, changed)?;
        record_digests(db, workspace, rooms, changed)?;
    }
    record_inboxes(db, workspace, changes)?;
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
    db.thoroughly(&mut || {
        bases().try_for_each(|(key, base)| tables::trim(db, workspace, key, base))
    })
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

fn record_directory(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    for member in &changes.members {
        directory::put_member(db, workspace, member)?;
    }
    for role in &changes.roles {
        directory::put_role(db, workspace, role)?;
    }
    for stream in &changes.streams {
        directory::put_stream(db, workspace, stream)?;
    }
    for session in &changes.sessions {
        directory::put_session(db, workspace, session)?;
    }
    for told in &changes.told {
        told::put(db, workspace, told)?;
    }
    if let Some(lead) = changes.lead {
        directory::set_lead(db, workspace, lead)?;
    }
    record_approvals(db, workspace, changes)?;
    record_projects(db, workspace, changes)?;
    record_endpoints(db, workspace, changes)?;
    for (member, jti, issued) in &changes.issued {
        match issued {
            Some(issued) => token::put(db, workspace, issued)?,
            None => token::remove(db, workspace, *member, jti)?,
        }
    }
    for (member, at) in &changes.cut_offs {
        token::cut_off(db, workspace, *member, *at)?;
    }
    for (jti, expires) in &changes.revoked {
        directory::put_revoked(db, workspace, jti, *expires)?;
    }
    Ok(())
}

/// A decided approval keeps none of its words; its previous row is zeroed.
fn record_approvals(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    if changes.approvals.is_empty() {
        return Ok(());
    }
    db.thoroughly(&mut || {
        for (uid, approval) in &changes.approvals {
            match approval {
                Some(approval) => approval::put(db, workspace, approval)?,
                None => approval::remove(db, workspace, *uid)?,
            }
        }
        Ok(())
    })
}

/// Removed and overwritten rows are zeroed with their words.
fn record_projects(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    if changes.projects.is_empty() && changes.tasks.is_empty() {
        return Ok(());
    }
    db.thoroughly(&mut || {
        for (uid, project) in &changes.projects {
            match project {
                Some(project) => project::put(db, workspace, project)?,
                None => project::remove(db, workspace, *uid)?,
            }
        }
        for (project, uid, task) in &changes.tasks {
            match task {
                Some(task) => project::put_task(db, workspace, *project, task)?,
                None => project::remove_task(db, workspace, *project, *uid)?,
            }
        }
        Ok(())
    })
}

/// A removed connection string is zeroed, because it is a secret.
fn record_endpoints(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    if changes.endpoints.is_empty() {
        return Ok(());
    }
    db.thoroughly(&mut || {
        changes.endpoints.iter().try_for_each(|(member, endpoint)| match endpoint {
            Some(endpoint) => endpoint::put(db, workspace, endpoint),
            None => endpoint::remove(db, workspace, *member),
        })
    })
}

/// After the rooms, so that nothing is written for channels of a removed inbox. Removed rows are
/// zeroed.
fn record_inboxes(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    if changes.inboxes.is_empty() && changes.sweep_callbacks.is_none() {
        return Ok(());
    }
    db.thoroughly(&mut || {
        for (uid, inbox) in &changes.inboxes {
            match inbox {
                Some(inbox) => inbox::put(db, workspace, inbox)?,
                None => inbox::remove(db, workspace, *uid)?,
            }
        }
        changes.sweep_callbacks.map_or(Ok(()), |before| inbox::sweep(db, workspace, before))
    })
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

fn record_projections(
    db: &dyn Db,
    workspace: i64,
    rooms: &Workspace,
    changed: &RoomChanges,
) -> Result<()> {
    let (key, dirty) = (changed.key, &changed.dirty);
    let Some(room) = rooms.room(key) else { return Ok(()) };
    if dirty.conversation {
        conversation::put(db, workspace, room.conversation())?;
    }
    for place in &dirty.gone {
        departed::set(db, workspace, key, *place, room.gone().contains(place))?;
    }
    for (member, participation) in &dirty.roster {
        conversation::put_seat(db, workspace, key, *member, *participation)?;
    }
    for thread in dirty.threads.iter().filter_map(|t| room.thread(*t)) {
        thread::put(db, workspace, key, thread)?;
    }
    for (seq, state) in dirty.messages.iter().filter_map(|s| Some((*s, room.messages().get(s)?))) {
        message::put(db, workspace, EventRef { conversation: key, seq }, state)?;
    }
    for subject in &dirty.turns {
        let live = room.turns().get(*subject).filter(|_| room.turns().is_live(*subject));
        turn::put(db, workspace, key, *subject, live)?;
    }
    for (uid, schedule) in &dirty.schedules {
        match schedule {
            Some(schedule) => schedule::put(db, workspace, key, schedule)?,
            None => schedule::remove(db, workspace, key, *uid)?,
        }
    }
    if let Some(remote) = room.remote().filter(|_| dirty.remote) {
        inbox::put_remote(db, workspace, key, remote)?;
    }
    for (of, callback) in &dirty.callbacks {
        inbox::put_callback(db, workspace, key, *of, callback.as_ref())?;
    }
    if !dirty.stimuli.is_empty() {
        // An ended stimulus keeps none of its content.
        db.thoroughly(&mut || {
            dirty.stimuli.iter().try_for_each(|(uid, stimulus)| match stimulus {
                Some(stimulus) => stimulus::put(db, workspace, key, stimulus),
                None => stimulus::remove(db, workspace, key, *uid),
            })
        })?;
    }
    for (of, cursor) in dirty.cursors.iter().filter_map(|m| Some((*m, *room.cursors().get(m)?))) {
        read_cursor::put(db, workspace, key, of, cursor)?;
    }
    Ok(())
}
