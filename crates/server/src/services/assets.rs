//! Files: brought, put into messages, shown to those who may see them, and let go.

mod coming;
mod incoming;
pub(crate) mod picture;
pub(super) mod reading;
mod thumbnails;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use chorus_core::commands::assets::{ForgetObjects, KeepAsset, SweepAssets};
use chorus_core::model::asset::{self, Media, file_name};
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Hash;
use chorus_core::model::ids::{ConversationKey, Prefix};
use chorus_core::model::limits::ASSET_BYTES;
use chorus_wire::part::Part;
use coming::Coming;
use incoming::Whole;
use sha2::{Digest, Sha256};
pub(crate) use thumbnails::Thumbnails;
use tokio::sync::{Notify, Semaphore, watch};

use super::clock::HostClock;
use super::commands::Commands;
use super::ids;
use super::quotas::{Quotas, Reserved};
use super::reads::Reads;
use crate::auth::Caller;
use crate::objects::Objects;

/// Files that are whole at once, each of them in memory until it is kept.
const WHOLE: usize = 4;

/// It is looked this often whether objects are without a file, also where nobody has dropped any.
const CLEANED: Duration = Duration::from_secs(3_600);

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

/// Files: kept, shown, and made smaller.
pub(crate) struct AssetService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) body_time: Duration,
    pub(super) clock: Arc<HostClock>,
    pub(super) data: Arc<Path>,
    pub(super) objects: Option<Arc<Objects>>,
    pub(super) quotas: Arc<Quotas>,
    pub(super) workspace_id: Arc<str>,
    /// Objects may be without a file now.
    pub(super) dropped: Arc<Notify>,
    pub(super) thumbnails: Thumbnails,
    pub(super) uploads: Uploads,
}

impl AssetService {
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
        let room = self.reserve(by, data.len()).await?;
        let hashed = tokio::task::spawn_blocking(move || {
            let hash = hash.unwrap_or_else(|| Sha256::digest(&data).into());
            (hash, data)
        });
        let (hash, data) = hashed.await.map_err(|_| {
            Refusal::new(Code::Internal, "the host made a mistake while it read the file")
        })?;
        let bytes = data.len() as u64;
        let placed = match &self.objects {
            Some(objects) if objects.takes(data.len()) && !self.has(by, hash, name).await? => {
                Some(objects.put(&self.workspace_id, &hash, data.clone()).await?)
            }
            _ => None,
        };
        let data = placed.as_deref().map_or(data, asset::in_object);
        let keep = KeepAsset { hash, name: name.to_owned(), media, bytes, data };
        let kept = self.commands.submit(by, keep);
        // Whoever sent it may hang up from here on, and it is kept all the same.
        let counted = room.keep();
        let kept = kept.await;
        if let Some(name) = placed {
            self.keep_or_drop(hash, name, kept.as_ref().err()).await;
        }
        match kept {
            Ok(asset) => Ok(asset),
            Err(refusal) => {
                self.quotas.give_back(by.member, counted);
                Err(refusal)
            }
        }
    }

    /// Drops the object of a file that was refused, or whose bytes were there already.
    async fn keep_or_drop(&self, hash: Hash, name: String, refused: Option<&Refusal>) {
        let Some(objects) = &self.objects else { return };
        if refused.is_some_and(|why| why.code == Code::OutcomeUnknown) {
            return;
        }
        let of = name.clone();
        let named = self.reads.read(move |readers| readers.is_named(&hash, &of)).await;
        if matches!(named, Ok(false)) {
            objects.remove(&name).await;
        }
    }

    /// Whether a member has brought the same file before, so that nothing more is kept of it.
    async fn has(&self, by: By, hash: Hash, name: &str) -> Result<bool, Refusal> {
        let name = file_name(name)?;
        self.reads.read(move |readers| readers.has_asset(by.member, &hash, &name)).await
    }

    async fn reserve(&self, by: By, bytes: usize) -> Result<Reserved<'_>, Refusal> {
        let member = by.member;
        let stored = self.reads.read(move |readers| readers.stored_by(member));
        self.quotas.reserve(by, bytes, self.clock.now(), stored).await
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

    /// The conversation that a call reaches the files of: the one it names, else that of its turn; none for all that
    /// the caller may see.
    async fn scope_of_files(
        &self,
        caller: &Caller,
        named: Option<&str>,
    ) -> Result<Option<ConversationKey>, Refusal> {
        let uid = match (named, caller.turn) {
            (Some(id), _) => ids::conversation(id)?,
            (None, Some(turn)) => turn.conversation,
            (None, None) => {
                let Some(turn) = caller.by.turn else { return Ok(None) };
                let key = turn.conversation;
                let found =
                    self.reads.read(move |readers| readers.conversation_by_key(key)).await?;
                found.ok_or_else(|| Refusal::not_found("conversation"))?.uid
            }
        };
        Ok(Some(self.reads.place(caller, uid).await?.conversation.key))
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
            .reads
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
        let what = if thumbnail { "thumbnail" } else { "asset" };
        let (asset, data) = found.ok_or_else(|| Refusal::not_found(what))?;
        let data = match data {
            Some(data) if !thumbnail => Some(self.whole(data).await?),
            data => data,
        };
        Ok((asset, data))
    }

    /// The bytes of a file, of which its row has these.
    async fn whole(&self, data: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        match (asset::object(&data), &self.objects) {
            (None, _) => Ok(data),
            (Some(name), Some(objects)) => objects.get(name).await,
            (Some(_), None) => {
                let why = "the file is in an object store, and this host was started without one ([files] store)";
                Err(Refusal::new(Code::Unavailable, why))
            }
        }
    }

    /// Drops the objects of files that were dropped: when that happens, and every hour what was left then.
    pub(crate) async fn keep_objects(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        let Some(objects) = self.objects.clone() else { return };
        loop {
            if let Err(refusal) = self.drop_objects(&objects).await {
                tracing::warn!(%refusal, "objects of dropped files could not be dropped");
            }
            tokio::select! {
                _ = stopped.wait_for(|stopped| *stopped) => return,
                () = self.dropped.notified() => {}
                () = tokio::time::sleep(CLEANED) => {}
            }
        }
    }

    async fn drop_objects(&self, objects: &Objects) -> Result<(), Refusal> {
        loop {
            let dropped = self.reads.read(|readers| readers.dropped_objects()).await?;
            let mut gone = Vec::new();
            for (hash, name) in dropped {
                if objects.remove(&name).await {
                    gone.push((hash, name));
                }
            }
            if gone.is_empty() {
                return Ok(());
            }
            self.commands.submit(By::host(), ForgetObjects { objects: gone }).await?;
        }
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
        if let Err(refusal) = self.commands.submit(By::host(), SweepAssets).await {
            tracing::warn!(%refusal, "files that nobody refers to could not be dropped");
        }
        self.dropped.notify_one();
    }
}

fn too_large() -> Refusal {
    Refusal::new(Code::PayloadTooLarge, format!("a file has at most {ASSET_BYTES} bytes"))
}

fn stopping() -> Refusal {
    Refusal::new(Code::Unavailable, "the host is stopping")
}
