//! A file with its bytes.

use std::borrow::Cow;
use std::sync::Arc;

use chorus_core::codec::Coded;
use chorus_core::model::asset::{self, Kept};
use chorus_core::model::ids::{MemberKey, Prefix, Timestamp};
use chorus_store::history::{Reading, Snapshot};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfWorkspace, Out, Written};
use crate::history::error::Bad;
use crate::history::field::{Bytes, coded, id};

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Asset<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    media: u8,
    by: u32,
    at: i64,
    sha256: Bytes,
    data: Bytes,
    /// A small picture of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thumbnail: Option<Bytes>,
}

impl OfWorkspace for Asset<'_> {
    /// One after the other: each is in memory while it is written.
    fn export(out: &mut Out<'_>, reading: &Reading, _: &Snapshot) -> Written {
        for asset in reading.assets()? {
            let Some(kept) = reading.kept(asset)? else { continue };
            let asset = &kept.asset;
            let thumbnail = kept.thumbnail.as_deref().filter(|small| !small.is_empty());
            out.put(&Line::Asset(Asset {
                id: asset.uid.show(Prefix::Asset).into(),
                name: (&*asset.name).into(),
                media: asset.media.code(),
                by: asset.by.0,
                at: asset.at.0,
                sha256: Bytes::of(&asset.hash),
                data: Bytes::of(&kept.data),
                thumbnail: thumbnail.map(Bytes::of),
            }))?;
        }
        Ok(())
    }
}

impl Kind for Asset<'_> {
    fn import(self, import: &mut Import) -> Result<(), Bad> {
        let asset = asset::Asset {
            uid: id(Prefix::Asset, &self.id)?,
            hash: self.sha256.array()?,
            name: (*self.name).into(),
            media: coded(self.media)?,
            bytes: self.data.0.len() as u64,
            by: MemberKey(self.by),
            at: Timestamp(self.at),
        };
        let thumbnail = self.thumbnail.map(|small| small.0.into());
        let kept = Kept { asset: Arc::new(asset), data: self.data.0.into(), thumbnail };
        Ok(import.writing.asset(&kept)?)
    }
}
