//! Keeping files, and letting them go.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::redact::Redact;
use crate::model::asset::{Asset, Kept, Media, file_name};
use crate::model::audit::{Action, Audit};
use crate::model::error::{Code, Refusal};
use crate::model::event::{Hash, Message};
use crate::model::ids::{ConversationKey, MemberKey, Uid};
use crate::model::limits::{ASSET_BYTES, ASSET_GRACE_MS, PINS};

/// Keeps a file; the same of the same member again is the same file.
#[derive(Clone)]
pub struct KeepAsset {
    pub hash: Hash,
    pub name: String,
    pub media: Media,
    pub data: Arc<[u8]>,
}

impl Command for KeepAsset {
    type Output = Arc<Asset>;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        Audit::firm(Action::KeepAsset).subject(done.ok().map(|asset| asset.uid))
    }

    // What is in a file is not read.
    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.string(&mut self.name)
    }

    // Nobody sees it before something refers to it.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Asset>> {
        run.keep_asset(self.hash, &self.name, self.media, self.data)
    }
}

/// Keeps the small picture of a picture; an empty one says that none can be made. The host's.
#[derive(Clone)]
pub struct KeepThumbnail {
    pub hash: Hash,
    pub thumbnail: Arc<[u8]>,
}

impl Command for KeepThumbnail {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // A part of the file that was kept.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.keep_thumbnail(self.hash, self.thumbnail)
    }
}

/// Drops files that nothing points at any more. The host's.
#[derive(Clone)]
pub struct SweepAssets;

impl Command for SweepAssets {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // What goes was nobody's any more.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.sweep_assets()
    }
}

impl Context<'_> {
    fn keep_asset(
        &mut self,
        hash: Hash,
        name: &str,
        media: Media,
        data: Arc<[u8]>,
    ) -> Result<Arc<Asset>> {
        let by = self.me()?.key;
        let name = file_name(name)?;
        if data.len() > ASSET_BYTES {
            let what = format!("a file has at most {ASSET_BYTES} bytes");
            return Err(Refusal::new(Code::PayloadTooLarge, what).into());
        }
        let same = |kept: &&Kept| {
            kept.asset.by == by && kept.asset.hash == hash && kept.asset.name == name
        };
        let known = self.ws.changes.assets.iter().find(same).map(|kept| kept.asset.clone());
        let known = match known {
            None => self.facts.asset_of(by, &hash, &name)?,
            known => known,
        };
        if let Some(asset) = known {
            return Ok(asset);
        }
        let (uid, at, bytes) = (self.drawn.uid, self.now, data.len() as u64);
        let asset = Arc::new(Asset { uid, hash, name, media, bytes, by, at });
        self.ws.changes.assets.push(Kept { asset: asset.clone(), data, thumbnail: None });
        Ok(asset)
    }

    /// It was made after the file was kept, which did not wait for it.
    fn keep_thumbnail(&mut self, hash: Hash, thumbnail: Arc<[u8]>) -> Result<()> {
        if self.by.member != MemberKey::HOST {
            let what = "the host itself makes small pictures";
            return Err(Refusal::new(Code::Forbidden, what).into());
        }
        self.ws.changes.thumbnails.push((hash, thumbnail));
        Ok(())
    }

    /// What nothing points at is looked for when the batch is written, after what it refers to.
    fn sweep_assets(&mut self) -> Result<()> {
        if self.by.member != MemberKey::HOST {
            return Err(Refusal::new(Code::Forbidden, "the host itself drops files").into());
        }
        self.ws.changes.sweep = Some(self.now.plus(-ASSET_GRACE_MS));
        Ok(())
    }

    /// Nobody refers to a file that it may not see: whoever reads the message may see it then.
    pub(crate) fn check_assets(&mut self, message: &Message) -> Result<()> {
        message.assets().into_iter().try_for_each(|uid| self.must_see_asset(uid))
    }

    fn must_see_asset(&mut self, uid: Uid) -> Result<()> {
        let me = self.by.member;
        let new = |kept: &Kept| kept.asset.uid == uid && kept.asset.by == me;
        if !self.ws.changes.assets.iter().any(new) && !self.facts.may_see_asset(uid, me)? {
            return Err(Refusal::not_found("asset").into());
        }
        Ok(())
    }

    /// The files that are to be pinned to a conversation, each once: those that are already, and those that whoever
    /// pins them may see.
    pub(crate) fn checked_pins(
        &mut self,
        key: ConversationKey,
        pins: Vec<Uid>,
    ) -> Result<Vec<Uid>> {
        let mut once: Vec<Uid> = Vec::with_capacity(pins.len().min(PINS));
        for pin in pins {
            if !once.contains(&pin) {
                if once.len() == PINS {
                    let what = format!("a channel has at most {PINS} pinned files");
                    return Err(Refusal::new(Code::RateLimited, what).into());
                }
                once.push(pin);
            }
        }
        let old = self.room(key).conversation.settings.pins.clone();
        once.iter()
            .filter(|pin| !old.contains(pin))
            .try_for_each(|pin| self.must_see_asset(*pin))?;
        Ok(once)
    }
}
