//! `chat.read_asset`: files for agents. A turn's token reaches the files that its conversation shows to its member,
//! and no others (channels spec section 7).

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use chorus_core::model::asset::{Asset, Media};
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{ConversationKey, Prefix, Uid};
use chorus_core::model::limits::ASSET_SHOWN_BYTES;
use chorus_wire::attention::files::{AssetShown, Assets, ReadAsset};

use crate::auth::Caller;
use crate::services::assets::AssetService;
use crate::services::identity::Identity;
use crate::services::messages::MessageService;
use crate::services::reads::Reads;

/// Files, as those who see their messages read them.
pub(crate) struct AssetReader {
    pub(in crate::services) identity: Arc<Identity>,
    pub(in crate::services) reads: Arc<Reads>,
    pub(in crate::services) assets: Arc<AssetService>,
    pub(in crate::services) messages: Arc<MessageService>,
    pub(in crate::services) public_url: Arc<str>,
}

impl AssetReader {
    /// `chat.read_asset`.
    pub(crate) async fn read_asset(
        &self,
        caller: &Caller,
        args: ReadAsset,
    ) -> Result<Assets, Refusal> {
        let caller = self.identity.in_turn(caller, args.turn.as_deref())?;
        let scope = self.assets.scope_of_files(&caller, args.conversation.as_deref()).await?;
        let Some(id) = args.asset_id else {
            if args.offset.is_some() {
                return Err(Refusal::invalid("offset is for reading a file: give its assetId"));
            }
            return self.list_assets(&caller, scope, args.event_id.as_deref()).await;
        };
        if args.event_id.is_some() {
            return Err(Refusal::invalid("give assetId to read a file or eventId to list files"));
        }
        let (asset, data) = self.assets.asset_within(&caller, &id, scope).await?;
        let offset = args.offset.unwrap_or(0);
        let Some(rest) = usize::try_from(offset).ok().and_then(|at| data.get(at..)) else {
            return Err(Refusal::invalid(format!("the file has {} bytes", asset.bytes)));
        };
        let mut shown = self.shown_asset(&asset, None);
        let read = match asset.media {
            Media::Text => text_of(rest, &mut shown)?,
            _ => {
                let part = &rest[..rest.len().min(ASSET_SHOWN_BYTES)];
                shown.data = Some(BASE64.encode(part));
                part.len()
            }
        };
        shown.next_offset = (read < rest.len()).then_some(offset + read as u64);
        Ok(Assets { assets: vec![shown] })
    }

    async fn list_assets(
        &self,
        caller: &Caller,
        scope: Option<ConversationKey>,
        event: Option<&str>,
    ) -> Result<Assets, Refusal> {
        let (key, only) = match event {
            Some(event) => {
                let shown = self.messages.shown(caller, event).await?.event;
                if scope.is_some_and(|scope| scope != shown.conversation) {
                    return Err(Refusal::not_found("message"));
                }
                (shown.conversation, Some(shown.seq))
            }
            None => {
                let what = "give assetId, or turn, conversation or eventId to list files";
                (scope.ok_or_else(|| Refusal::invalid(what))?, None)
            }
        };
        let viewer = caller.viewer();
        let found = self.reads.read(move |readers| readers.assets_in(key, only, viewer)).await?;
        let assets = found.iter().map(|(event, asset)| self.shown_asset(asset, *event));
        Ok(Assets { assets: assets.collect() })
    }

    fn shown_asset(&self, asset: &Asset, event: Option<Uid>) -> AssetShown {
        let id = asset.uid.show(Prefix::Asset);
        AssetShown {
            event_id: event.map(|event| event.show(Prefix::Event)),
            name: asset.name.to_string(),
            media_type: asset.media.name().to_owned(),
            bytes: asset.bytes,
            url: format!("{}/v1/assets/{id}", self.public_url),
            asset_id: id,
            text: None,
            data: None,
            next_offset: None,
        }
    }
}

/// Puts the beginning of a text into what is shown; gives how many bytes that were.
fn text_of(rest: &[u8], shown: &mut AssetShown) -> Result<usize, Refusal> {
    let text = match std::str::from_utf8(rest) {
        Ok(text) => text,
        Err(_) => return Err(Refusal::invalid("offset is within a character; use nextOffset")),
    };
    let mut end = text.len().min(ASSET_SHOWN_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    shown.text = Some(text[..end].to_owned());
    Ok(end)
}
