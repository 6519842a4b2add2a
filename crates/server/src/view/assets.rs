//! Files.

use chorus_core::model::asset;
use chorus_core::model::ids::Prefix;
use chorus_core::state::directory::Directory;
use chorus_wire::rest::assets::Asset;

use super::id;

pub(crate) fn asset(directory: &Directory, asset: &asset::Asset) -> Asset {
    Asset {
        asset_id: asset.uid.show(Prefix::Asset),
        name: asset.name.to_string(),
        media_type: asset.media.name().to_owned(),
        bytes: asset.bytes,
        sha256: asset.hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        created_by: id(directory, asset.by),
        created_at: asset.at.into(),
    }
}
