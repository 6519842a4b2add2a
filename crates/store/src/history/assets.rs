//! Files in an export and an import.

use std::sync::Arc;

use chorus_core::model::asset::{Asset, Kept, Media, file_name, object};
use chorus_core::model::event::Hash;
use chorus_core::model::limits::ASSET_BYTES;
use sha2::{Digest, Sha256};

use super::{Reading, Refused, Writing, unfit};
use crate::asset;
use crate::backup::{BackupError, Result};

impl Reading {
    /// The files, in the order of their ids.
    pub fn assets(&self) -> Result<Vec<Asset>> {
        Ok(asset::all(&*self.db, self.workspace)?)
    }

    /// A file with its bytes; none when it was dropped meanwhile.
    pub fn kept(&self, asset: Asset) -> Result<Option<Kept>> {
        let found = asset::data(&*self.db, self.workspace, &asset.hash)?;
        let Some((data, thumbnail)) = found else { return Ok(None) };
        let data = match object(&data) {
            None => data,
            Some(name) => self.objects.read(name).map_err(BackupError::Folder)?,
        };
        let thumbnail = thumbnail.map(Into::into);
        Ok(Some(Kept { asset: Arc::new(asset), data: data.into(), thumbnail }))
    }
}

impl Writing {
    /// Writes a file; before the conversations that refer to it.
    pub fn asset(&mut self, kept: &Kept) -> std::result::Result<(), Refused> {
        let asset = &kept.asset;
        self.known(asset.by)?;
        let hash: Hash = Sha256::digest(&kept.data).into();
        let named = file_name(&asset.name).is_ok_and(|name| name == asset.name);
        if hash != asset.hash || kept.data.len() as u64 != asset.bytes || !named {
            return unfit("a file does not match its description");
        }
        if Media::of(&kept.data) != Some(asset.media) || kept.data.len() > ASSET_BYTES {
            return unfit("a file has a type or size that is not accepted");
        }
        asset::put(self.db()?, self.tenant.key, kept)?;
        self.wrote()
    }
}
