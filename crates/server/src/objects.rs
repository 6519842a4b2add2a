//! The object store for the bytes of larger files (spec/operations.md, "Files in an object store").
//!
//! Bytes are there before the row that names them is written, under a name of their own, `WORKSPACE/HASH.ID`, which is
//! never written again. The row of a file that was dropped keeps the name until the object is gone.
//!
//! Invariant: an object is dropped only by its name, when the one row that had it has no file any more, or was not written.
//! Nothing is dropped because it is in the store and unknown here: another host may have it, which began as a copy.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use bytes::Bytes;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Hash;
use chorus_store::objects::NoObjects;
pub use chorus_store::objects::ReadObjects;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, PutPayload, RetryConfig};
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;

use crate::config::files::Files;

/// How long one request may take, and all its repetitions together.
const ONCE: Duration = Duration::from_secs(15);
const ALL: Duration = Duration::from_secs(25);
/// How long the store may take to answer while the host starts.
const AT_START: Duration = Duration::from_secs(5);

/// A store, as the settings name it.
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    /// Smaller files are in the database.
    least: usize,
    /// Waits for the store where nothing else can.
    runtime: Handle,
}

impl Objects {
    /// The store of the settings, if they name one. Call it within a tokio runtime.
    pub fn open(settings: &Files) -> Result<Option<Arc<Self>>, String> {
        let Some(url) = &settings.store else { return Ok(None) };
        let place = url.strip_prefix("s3://").unwrap_or(url);
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        let client = ClientOptions::new().with_timeout(ONCE).with_connect_timeout(AT_START);
        let retry = RetryConfig { retry_timeout: ALL, max_retries: 4, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::from_env()
            .with_client_options(client)
            .with_retry(retry)
            .with_bucket_name(bucket);
        for (key, value) in [
            (AmazonS3ConfigKey::Endpoint, settings.endpoint.as_ref()),
            (AmazonS3ConfigKey::Region, settings.region.as_ref()),
            (AmazonS3ConfigKey::AccessKeyId, settings.access_key.as_ref()),
            (
                AmazonS3ConfigKey::SecretAccessKey,
                settings.secret_key.as_ref().map(|secret| &secret.0),
            ),
        ] {
            if let Some(value) = value {
                builder = builder.with_config(key, value);
            }
        }
        let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint);
        let builder = builder.with_allow_http(endpoint.is_some_and(|at| at.starts_with("http://")));
        let store = builder.build().map_err(|why| format!("{url}: {}", said(&why)))?;
        Ok(Some(Self::over(Arc::new(store), prefix, settings.store_from_kib)))
    }

    fn over(store: Arc<dyn ObjectStore>, prefix: &str, from_kib: u32) -> Arc<Self> {
        Arc::new(Self {
            store,
            prefix: Path::from(prefix),
            least: from_kib as usize * 1_024,
            runtime: Handle::current(),
        })
    }

    /// Why it cannot be used, if that is for good. One that is away may be back when it is wanted.
    pub(crate) async fn check(&self) -> Result<(), String> {
        let probe = self.prefix.clone().join("probe");
        let looked = async {
            self.store.put(&probe, PutPayload::from_static(b"chorus")).await?;
            self.store.delete(&probe).await
        };
        match tokio::time::timeout(AT_START, looked).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) if is_for_good(&why) => Err(said(&why)),
            Ok(Err(why)) => {
                tracing::warn!(why = said(&why), "the object store cannot be used now");
                Ok(())
            }
            Err(_) => {
                tracing::warn!("the object store does not answer");
                Ok(())
            }
        }
    }

    /// Whether a file of so many bytes is kept there.
    pub(crate) fn takes(&self, bytes: usize) -> bool {
        bytes >= self.least
    }

    /// Keeps the bytes of a file under a new name, whose row is about to be written.
    pub(crate) async fn put(
        &self,
        workspace: &str,
        hash: &Hash,
        data: Arc<[u8]>,
    ) -> Result<String, Refusal> {
        let id = uuid::Uuid::now_v7().simple();
        let name = format!("{workspace}/{}.{id}", BASE64.encode(hash));
        let bytes = PutPayload::from(Bytes::from_owner(data));
        let put = self.store.put(&self.path(&name), bytes).await;
        put.map_err(|why| unavailable("the file was not kept", &why))?;
        Ok(name)
    }

    /// The bytes of a file.
    pub(crate) async fn get(&self, name: &str) -> Result<Vec<u8>, Refusal> {
        let got = async { self.store.get(&self.path(name)).await?.bytes().await };
        let bytes = match got.await {
            Err(object_store::Error::NotFound { .. }) => {
                tracing::error!(name, "an object is gone");
                let why = format!(
                    "the object store has no {name} any more, where the bytes of a file were; whoever runs the host can \
                     put it back, or the message with the file can be erased"
                );
                return Err(Refusal::new(Code::Unavailable, why));
            }
            got => got.map_err(|why| unavailable("the file cannot be read", &why))?,
        };
        if hash_in(name) != Some(Sha256::digest(&bytes).into()) {
            let why = "the object store has other bytes for the file than were kept; whoever runs the host can put \
                       them back";
            tracing::error!(name, "an object has other bytes than were kept");
            return Err(Refusal::new(Code::Unavailable, why));
        }
        Ok(bytes.to_vec())
    }

    /// Drops an object, whose file is gone or was not kept; false where it is still there.
    pub(crate) async fn remove(&self, name: &str) -> bool {
        match self.store.delete(&self.path(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => true,
            Err(why) => {
                tracing::warn!(name, why = said(&why), "an object could not be dropped");
                false
            }
        }
    }

    /// Drops objects; false where one is still there. Nobody waits long for that.
    pub(crate) async fn are_removed(&self, names: &[String]) -> bool {
        for name in names {
            let removed = tokio::time::timeout(AT_START, self.remove(name)).await;
            if removed != Ok(true) {
                return false;
            }
        }
        true
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').fold(self.prefix.clone(), |path, part| path.join(part))
    }
}

/// For what reads all files: the store, if there is one.
pub fn of(objects: &Option<Arc<Objects>>) -> Arc<dyn ReadObjects> {
    match objects {
        Some(objects) => objects.clone(),
        None => Arc::new(NoObjects),
    }
}

impl ReadObjects for Objects {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        self.runtime.block_on(self.get(name)).map_err(|refusal| refusal.message)
    }
}

/// The hash of the file in an object's name.
fn hash_in(name: &str) -> Option<Hash> {
    let (hash, _) = name.rsplit('/').next()?.split_once('.')?;
    BASE64.decode(hash).ok()?.try_into().ok()
}

/// What trying again does not mend.
fn is_for_good(why: &object_store::Error) -> bool {
    use object_store::Error;
    matches!(
        why,
        Error::NotFound { .. }
            | Error::PermissionDenied { .. }
            | Error::Unauthenticated { .. }
            | Error::InvalidPath { .. }
            | Error::NotSupported { .. }
    )
}

/// Its causes are at the end of its text, over several lines.
fn said(why: &object_store::Error) -> String {
    let text = why.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(400).collect()
}

/// What the store says may name what only whoever runs the host is to know.
fn unavailable(what: &str, why: &object_store::Error) -> Refusal {
    tracing::warn!(why = said(why), "the object store cannot be used");
    let why = format!("{what}: the object store cannot be used now; try again in a moment");
    Refusal::new(Code::Unavailable, why)
}
