//! Checks that every file has its bytes, and that they match its hash.

use chorus_core::model::asset::object;
use chorus_core::model::ids::Prefix;
use sha2::{Digest, Sha256};

use crate::db::Result;
use crate::doctor::report::Report;
use crate::family::Whole;

pub(super) fn look(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let (db, workspace) = (whole.db, whole.tenant.key);
    for asset in super::all(db, workspace)? {
        let id = asset.uid.show(Prefix::Asset);
        match super::data(db, workspace, &asset.hash)? {
            None => report.found(format!("the bytes of {id} are missing")),
            // Whoever reads them from the object store looks at their hash.
            Some((data, _)) if object(&data).is_some() => {}
            Some((data, _)) => {
                let hash: [u8; 32] = Sha256::digest(&data).into();
                if hash != asset.hash || data.len() as u64 != asset.bytes {
                    report.found(format!("the bytes of {id} do not match their hash"));
                }
            }
        }
    }
    Ok(())
}
