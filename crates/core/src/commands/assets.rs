//! Storing files and dropping unused ones.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::redact::Redact;
use crate::model::asset::{Asset, Kept, Media, file_name, object};
use crate::model::audit::{Action, Audit};
use crate::model::error::{Code, Refusal};
use crate::model::event::{Hash, Message};
use crate::model::ids::{ConversationKey, MemberKey, Uid};
use crate::model::limits::{ASSET_BYTES, ASSET_GRACE_MS, PINS};

/// Stores a file. The same member uploading the same file again gets the same file.
#[derive(Clone)]
pub struct KeepAsset {
    pub hash: Hash,
    pub name: String,
    pub media: Media,
    /// Its size.
    pub bytes: u64,
    /// Its bytes, or the name of the object that has them.
    pub data: Arc<[u8]>,
}

impl Command for KeepAsset {
    type Output = Arc<Asset>;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        Audit::firm(Action::KeepAsset).subject(done.ok().map(|asset| asset.uid))
    }

    // File contents are not scanned.
    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.string(&mut self.name)
    }

    // Nobody sees the file before something refers to it.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Asset>> {
        run.keep_asset(self)
    }
}

/// Stores the thumbnail of an image; an empty one says that none can be made. For the host's own
/// use.
#[derive(Clone)]
pub struct KeepThumbnail {
    pub hash: Hash,
    pub thumbnail: Arc<[u8]>,
}

impl Command for KeepThumbnail {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // It belongs to the upload, which is audited.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.keep_thumbnail(self.hash, self.thumbnail)
    }
}

/// Forgets objects that had the bytes of files, which were dropped with them. For the host's own use.
#[derive(Clone)]
pub struct ForgetObjects {
    /// The hash of each file, and the name of its object.
    pub objects: Vec<(Hash, String)>,
}

impl Command for ForgetObjects {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // The files were dropped before.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        if run.by.member != MemberKey::HOST {
            return Err(Refusal::new(Code::Forbidden, "the host itself drops objects").into());
        }
        run.ws.changes.forgotten_objects.extend(self.objects);
        Ok(())
    }
}

/// Drops files that nothing refers to any more. For the host's own use.
#[derive(Clone)]
pub struct SweepAssets;

impl Command for SweepAssets {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // Dropped files belonged to nobody any more.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.sweep_assets()
    }
}

impl Context<'_> {
    fn keep_asset(&mut self, keep: KeepAsset) -> Result<Arc<Asset>> {
        let KeepAsset { hash, name, media, bytes, data } = keep;
        let by = self.me()?.key;
        let name = file_name(&name)?;
        if object(&data).is_none() && data.len() as u64 != bytes {
            return Err(Refusal::invalid("the file has another size than is said").into());
        }
        if bytes > ASSET_BYTES as u64 {
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
        let (uid, at) = (self.drawn.uid, self.now);
        let asset = Arc::new(Asset { uid, hash, name, media, bytes, by, at });
        self.ws.changes.assets.push(Kept { asset: asset.clone(), data, thumbnail: None });
        Ok(asset)
    }

    /// The thumbnail is made after the upload, which does not wait for it.
    fn keep_thumbnail(&mut self, hash: Hash, thumbnail: Arc<[u8]>) -> Result<()> {
        if self.by.member != MemberKey::HOST {
            let what = "the host itself makes small pictures";
            return Err(Refusal::new(Code::Forbidden, what).into());
        }
        self.ws.changes.thumbnails.push((hash, thumbnail));
        Ok(())
    }

    /// Unused files are determined when the batch is written, after the references of the batch
    /// are.
    fn sweep_assets(&mut self) -> Result<()> {
        if self.by.member != MemberKey::HOST {
            return Err(Refusal::new(Code::Forbidden, "the host itself drops files").into());
        }
        self.ws.changes.sweep = Some(self.now.plus(-ASSET_GRACE_MS));
        Ok(())
    }

    /// Refuses references to files that the caller may not see, because readers of the message get
    /// access to the file.
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

    /// The files to pin to a conversation, each once: those pinned already, and those that the
    /// caller may see.
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
        let old = self.room(key).conversation().settings.pins.clone();
        once.iter()
            .filter(|pin| !old.contains(pin))
            .try_for_each(|pin| self.must_see_asset(*pin))?;
        Ok(once)
    }
}
