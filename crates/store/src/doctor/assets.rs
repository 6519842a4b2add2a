//! Checks that files match their hashes, and that their references match the log.

use std::collections::BTreeSet;

use chorus_core::model::conversation::Settings;
use chorus_core::model::event::{Change, Event};
use chorus_core::model::ids::{Prefix, Seq, Uid};
use sha2::{Digest, Sha256};

use super::{Check, Look, Problem, Report, Whole};
use crate::asset;
use crate::db::Result;
use crate::schema::Since;

/// Every file has its bytes.
pub(super) const CHECK: Check = Check { since: Since { sqlite: 5, postgres: 1 }, look };

fn look(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let (db, workspace) = (whole.db, whole.tenant.key);
    let mut found = |what| report.problems.push(Problem { conversation: None, seq: None, what });
    for asset in asset::all(db, workspace)? {
        let id = asset.uid.show(Prefix::Asset);
        match asset::data(db, workspace, &asset.hash)? {
            None => found(format!("the bytes of {id} are missing")),
            Some((data, _)) => {
                let hash: [u8; 32] = Sha256::digest(&data).into();
                if hash != asset.hash || data.len() as u64 != asset.bytes {
                    found(format!("the bytes of {id} do not match their hash"));
                }
            }
        }
    }
    Ok(())
}

/// Applies an event to the set of references.
pub(super) fn apply(refs: &mut BTreeSet<(Seq, Uid)>, event: &Event) {
    let (message, content) = match &event.change {
        Change::Posted(content) => (event.seq, Some(content)),
        Change::Edited { message, content } => (*message, Some(content)),
        Change::Deleted { message } | Change::Erased { message, .. } => (*message, None),
        Change::SettingsChanged(settings) => {
            refs.retain(|(seq, _)| *seq != asset::PINNED);
            refs.extend(pinned(settings));
            return;
        }
        _ => return,
    };
    refs.retain(|(seq, _)| *seq != message);
    refs.extend(content.into_iter().flat_map(|c| c.assets()).map(|asset| (message, asset)));
}

/// The pinned files of a conversation, as references without a message.
pub(super) fn pinned(settings: &Settings) -> impl Iterator<Item = (Seq, Uid)> {
    settings.pins.iter().map(|pin| (asset::PINNED, *pin))
}

impl Look<'_> {
    /// Checks that the references of the replayed log equal the table's, and that the files exist.
    pub(super) fn check_assets(
        &mut self,
        base: Seq,
        expected: &BTreeSet<(Seq, Uid)>,
    ) -> Result<()> {
        if !self.has(CHECK.since) {
            return Ok(());
        }
        let expected: BTreeSet<_> =
            expected.iter().copied().filter(|(seq, _)| asset::is_kept(*seq, base)).collect();
        let stored: BTreeSet<_> =
            asset::refs(self.db, self.workspace, self.key)?.into_iter().collect();
        for (seq, asset) in stored.symmetric_difference(&expected) {
            let id = asset.show(Prefix::Asset);
            self.found(Some(*seq), format!("the record of whether it refers to {id} is wrong"));
        }
        for (seq, uid) in &expected {
            if asset::get(self.db, self.workspace, *uid)?.is_none() {
                self.found(
                    Some(*seq),
                    format!("it refers to {}, which does not exist", uid.show(Prefix::Asset)),
                );
            }
        }
        Ok(())
    }
}
