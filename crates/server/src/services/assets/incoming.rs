//! A file that comes in. Until all of it is there it stands in an unnamed file of the data folder, so that it takes no
//! memory however slowly it comes; what is refused, broken off or cut short by a crash is gone with it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use chorus_core::model::asset;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Hash;
use chorus_core::model::limits::ASSET_BYTES;
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedSemaphorePermit;

use super::coming::Place;
use super::{stopping, too_large};
use crate::auth::Caller;
use crate::services::assets::AssetService;

/// A file that is wholly there, with the hash of its bytes. It is one of a few, until it is dropped.
pub(crate) struct Whole {
    pub(super) hash: Hash,
    pub(super) data: Arc<[u8]>,
    pub(super) place: OwnedSemaphorePermit,
}

/// What has come so far.
struct Incoming {
    file: File,
    bytes: usize,
    hash: Sha256,
}

impl AssetService {
    /// Takes in what a request brings, and refuses it as soon as it is too much.
    pub(crate) async fn take_in(
        &self,
        caller: &Caller,
        name: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Whole, Refusal> {
        caller.must_not_be_a_turn()?;
        asset::file_name(name)?;
        let stated = headers.get(header::CONTENT_LENGTH);
        let stated = stated.and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
        if stated.is_some_and(|length| length > ASSET_BYTES) {
            return Err(too_large());
        }
        let place = self.uploads.coming.place(caller.by.member, self.body_time).await?;
        let folder = self.data.clone();
        let incoming = blocking(move || Incoming::in_folder(&folder)).await?;
        let come = tokio::time::timeout(self.body_time, incoming.all_of(body, &place));
        let come = tokio::select! {
            come = come => come,
            cut_off = place.cut_off() => return Err(cut_off),
        };
        let incoming = come.map_err(|_| {
            let seconds = self.body_time.as_secs();
            Refusal::invalid(format!("the file did not come within {seconds} s; send it at once"))
        })??;
        drop(place);
        let place = self.uploads.whole.clone().acquire_owned().await.map_err(|_| stopping())?;
        let (hash, data) = blocking(move || incoming.whole()).await?;
        Ok(Whole { hash, data, place })
    }
}

impl Incoming {
    fn in_folder(folder: &Path) -> std::io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        Ok(Self { file, bytes: 0, hash: Sha256::new() })
    }

    async fn all_of(mut self, body: Body, place: &Place) -> Result<Self, Refusal> {
        let mut parts = body.into_data_stream();
        while let Some(part) = parts.next().await {
            let part = part.map_err(|_| Refusal::invalid("the body broke off"))?;
            if self.bytes + part.len() > ASSET_BYTES {
                return Err(too_large());
            }
            let bytes = part.len();
            self = blocking(move || self.with(&part)).await?;
            place.heard(bytes, Instant::now());
        }
        Ok(self)
    }

    fn with(mut self, part: &Bytes) -> std::io::Result<Self> {
        self.file.write_all(part)?;
        self.hash.update(part);
        self.bytes += part.len();
        Ok(self)
    }

    fn whole(mut self) -> std::io::Result<(Hash, Arc<[u8]>)> {
        let mut data = Vec::with_capacity(self.bytes);
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut data)?;
        Ok((self.hash.finalize().into(), data.into()))
    }
}

/// Work with a file, off the threads that answer requests.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|_| Refusal::new(Code::Internal, "the host made a mistake"))?;
    done.map_err(|why| {
        tracing::warn!(%why, "a file that was brought could not be taken in");
        Refusal::new(Code::Unavailable, "the host cannot take the file in now; try again")
    })
}
