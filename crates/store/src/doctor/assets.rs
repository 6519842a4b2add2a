//! Checks that the references to files match the log.

use std::collections::BTreeSet;

use chorus_core::model::conversation::Settings;
use chorus_core::model::event::{Change, Event};
use chorus_core::model::ids::{Prefix, Seq, Uid};

use super::Look;
use crate::asset;
use crate::db::Result;

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
        if !self.has(&asset::FAMILY) {
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
