//! Files: brought, put into messages, shown to those who may see them, and let go.

mod coming;
mod incoming;
pub(crate) mod picture;
mod reading;
mod thumbnails;

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use chorus_core::commands::assets::{KeepAsset, SweepAssets};
use chorus_core::model::asset::{self, Media, file_name};
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Hash;
use chorus_core::model::ids::{ConversationKey, Prefix};
use chorus_core::model::limits::ASSET_BYTES;
use chorus_wire::part::Part;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::{App, ids};
use crate::auth::Caller;
use coming::Coming;
use incoming::Whole;
pub(crate) use thumbnails::Thumbnails;

/// Files that are whole at once, each of them in memory until it is kept.
const WHOLE: usize = 4;

/// How many more may come in, and be whole.
pub(crate) struct Uploads {
    coming: Coming,
    whole: Arc<Semaphore>,
}

impl Default for Uploads {
    fn default() -> Self {
        Self { coming: Coming::default(), whole: Arc::new(Semaphore::new(WHOLE)) }
    }
}

impl App {
    /// Keeps a file that was taken in.
    pub(crate) async fn keep_whole(
        &self,
        by: By,
        name: &str,
        stated: Option<&str>,
        whole: Whole,
    ) -> Result<Arc<asset::Asset>, Refusal> {
        let Whole { hash, data, place } = whole;
        let kept = self.keep_asset(by, name, stated, data, Some(hash)).await;
        drop(place);
        kept
    }

    /// Keeps a file. What it is, its bytes say; `stated` is what the sender says, and must agree. Its hash is made unless it
    /// is known.
    async fn keep_asset(
        &self,
        by: By,
        name: &str,
        stated: Option<&str>,
        data: Arc<[u8]>,
        hash: Option<Hash>,
    ) -> Result<Arc<asset::Asset>, Refusal> {
        file_name(name)?;
        if data.len() > ASSET_BYTES {
            return Err(too_large());
        }
        let media = Media::of(&data).ok_or_else(|| {
            Refusal::invalid("a file is a picture (PNG, JPEG, GIF, WebP), a PDF, ZIP or gzip file, or UTF-8 text")
        })?;
        if stated.is_some_and(|stated| !media.fits(stated)) {
            let what = media.name();
            return Err(Refusal::invalid(format!(
                "the file is {what}, and is stated to be something else"
            )));
        }
        let room = self.may_store(by, data.len()).await?;
        let hashed = tokio::task::spawn_blocking(move || {
            let hash = hash.unwrap_or_else(|| Sha256::digest(&data).into());
            (hash, data)
        });
        let (hash, data) = hashed.await.map_err(|_| {
            Refusal::new(Code::Internal, "the host made a mistake while it read the file")
        })?;
        let keep = KeepAsset { hash, name: name.to_owned(), media, data };
        let kept = self.submit(by, keep);
        // Whoever sent it may hang up from here on, and it is kept all the same.
        let counted = room.keep();
        match kept.await {
            Ok(asset) => Ok(asset),
            Err(refusal) => {
                self.quotas.give_back(by.member, counted);
                Err(refusal)
            }
        }
    }

    /// A file and its bytes, for whoever may see it.
    pub(crate) async fn asset(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<(asset::Asset, Vec<u8>), Refusal> {
        let scope = self.scope_of_files(caller, None).await?;
        self.asset_within(caller, id, scope).await
    }

    /// The small picture of a picture, for whoever may see it; made now where that was not done yet.
    pub(crate) async fn thumbnail(&self, caller: &Caller, id: &str) -> Result<Vec<u8>, Refusal> {
        let scope = self.scope_of_files(caller, None).await?;
        let (asset, kept) = self.read_within(caller, id, scope, true).await?;
        let small = match kept {
            None if asset.media.is_image() => {
                self.thumbnails.made(&asset, caller.by.member).await?
            }
            kept => kept,
        };
        // An empty one says that none could be made.
        let small = small.filter(|small| !small.is_empty());
        small.ok_or_else(|| Refusal::not_found("thumbnail"))
    }

    /// The same; with a `scope`, only where a message of that conversation brought it.
    async fn asset_within(
        &self,
        caller: &Caller,
        id: &str,
        scope: Option<ConversationKey>,
    ) -> Result<(asset::Asset, Vec<u8>), Refusal> {
        let (asset, data) = self.read_within(caller, id, scope, false).await?;
        data.map(|data| (asset, data)).ok_or_else(|| Refusal::not_found("asset"))
    }

    /// A file with its bytes, or with its small picture as far as there is one.
    async fn read_within(
        &self,
        caller: &Caller,
        id: &str,
        scope: Option<ConversationKey>,
        thumbnail: bool,
    ) -> Result<(asset::Asset, Option<Vec<u8>>), Refusal> {
        let (uid, viewer) = (ids::asset(id)?, caller.viewer());
        let found = self
            .read(move |readers| {
                let asset = match scope {
                    Some(key) => readers.asset_in(uid, key, viewer)?,
                    None => readers.asset(uid, viewer)?,
                };
                let Some(asset) = asset else { return Ok(None) };
                let Some((data, small)) = readers.asset_data(&asset.hash)? else { return Ok(None) };
                Ok(Some((asset, if thumbnail { small } else { Some(data) })))
            })
            .await?;
        found.ok_or_else(|| Refusal::not_found(if thumbnail { "thumbnail" } else { "asset" }))
    }

    /// What is uploaded within a message is kept, and referred to in its place; ids are written in their one form.
    pub(super) async fn keep_uploads(
        &self,
        by: By,
        content: Option<Vec<Part>>,
    ) -> Result<Option<Vec<Part>>, Refusal> {
        let Some(mut parts) = content else { return Ok(None) };
        for part in &mut parts {
            match part {
                Part::Upload { name, media_type, data } => {
                    let bytes = BASE64.decode(data.as_bytes()).map_err(|_| {
                        Refusal::invalid(
                            "the data of an upload is base64 with the standard alphabet",
                        )
                    })?;
                    let kept =
                        self.keep_asset(by, name, Some(media_type), bytes.into(), None).await?;
                    *part = Part::Asset { asset_id: kept.uid.show(Prefix::Asset) };
                }
                Part::Asset { asset_id } => drop(ids::asset(asset_id)?),
                Part::Text { .. } | Part::BoardReference { .. } => {}
            }
        }
        Ok(Some(parts))
    }

    /// Drops files that nothing points at any more.
    pub(crate) async fn sweep_assets(&self) {
        if let Err(refusal) = self.submit(By::host(), SweepAssets).await {
            tracing::warn!(%refusal, "files that nobody refers to could not be dropped");
        }
    }
}

fn too_large() -> Refusal {
    Refusal::new(Code::PayloadTooLarge, format!("a file has at most {ASSET_BYTES} bytes"))
}

fn stopping() -> Refusal {
    Refusal::new(Code::Unavailable, "the host is stopping")
}
