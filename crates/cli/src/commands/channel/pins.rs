//! Files at the top of a channel.

use std::path::Path;

use chorus_client::Client;
use chorus_wire::rest::channels::ChannelPatch;

use crate::commands::asset;
use crate::failure::Result;

/// Pins files after those that are: ids, or paths of files that are brought first.
pub(super) async fn pin(client: &Client, channel: &str, files: &[String]) -> Result {
    let mut pins = pinned(client, channel).await?;
    for file in files {
        let id = match file.starts_with("ast_") {
            true => file.clone(),
            false => {
                let (name, data) = asset::read(Path::new(file), None)?;
                client.add_asset(&name, data).await?.asset_id
            }
        };
        pins.push(id);
    }
    set(client, channel, pins).await
}

pub(super) async fn unpin(client: &Client, channel: &str, ids: &[String]) -> Result {
    let mut pins = pinned(client, channel).await?;
    pins.retain(|pin| !ids.contains(pin));
    set(client, channel, pins).await
}

async fn pinned(client: &Client, channel: &str) -> Result<Vec<String>> {
    let pinned = client.channel(channel).await?.pinned_assets;
    Ok(pinned.into_iter().map(|asset| asset.asset_id).collect())
}

async fn set(client: &Client, channel: &str, pins: Vec<String>) -> Result {
    let patch = ChannelPatch { pinned_assets: Some(pins), ..ChannelPatch::default() };
    client.change_channel(channel, &patch).await?;
    Ok(())
}
