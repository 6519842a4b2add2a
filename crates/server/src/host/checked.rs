//! What is checked of the settings before a start makes anything.

use std::path::PathBuf;
use std::sync::Arc;

use chorus_core::model::ids::Uid;
use chorus_store::postgres::Address;
use rustls::pki_types::CertificateDer;

use super::{StartError, first};
use crate::auth::{Keys, Unkept};
use crate::config::{Config, Settings};
use crate::objects::Objects;
use crate::services::IdGenerator;
use crate::tls::{self, Files, Tls};
use crate::traces::Traces;

/// Settings that were read and found good.
pub(super) struct Checked {
    pub(super) storage: Storage,
    pub(super) traces: Arc<Traces>,
    pub(super) tls: Option<Arc<Tls>>,
    pub(super) objects: Option<Arc<Objects>>,
}

/// What the engine is started with.
pub(super) struct Storage {
    /// The authorities that endpoints are checked against, beside those of the system.
    pub(super) roots: Vec<CertificateDer<'static>>,
    /// PostgreSQL; none is the file in the data folder.
    pub(super) database: Option<Arc<Address>>,
    pub(super) keys: Unkept,
    pub(super) key_folder: PathBuf,
    pub(super) id_generator: IdGenerator,
    /// The workspace's, where it is made now.
    pub(super) uid: Uid,
}

impl Checked {
    pub(super) fn of(config: &Config) -> Result<Self, StartError> {
        let settings = &config.settings;
        let traces = Arc::new(Traces::open(&settings.otlp).map_err(StartError::Traces)?);
        let storage = Storage::of(config)?;
        let tls = match (&settings.tls.cert, &settings.tls.key) {
            (Some(cert), Some(key)) => {
                let files = Files { cert: cert.clone(), key: key.clone() };
                Some(Tls::open(files).map_err(StartError::Tls)?)
            }
            _ => None,
        };
        let objects = Objects::open(&settings.files).map_err(StartError::Objects)?;
        Ok(Self { storage, traces, tls, objects })
    }
}

impl Storage {
    pub(super) fn of(config: &Config) -> Result<Self, StartError> {
        let roots = config.settings.webhook.roots.as_deref().map(tls::roots).transpose();
        let roots = roots.map_err(StartError::Roots)?.unwrap_or_default();
        let id_generator = IdGenerator::default();
        let uid = id_generator.uid(config.clock.now()).map_err(StartError::First)?;
        let database = config.database.as_deref().map(Address::read).transpose();
        let database = database.map_err(StartError::Address)?.map(Arc::new);
        let key_folder = config.keys.clone().unwrap_or_else(|| config.data.join("keys"));
        first::must_be_whole(&config.data, &key_folder, database.is_none())?;
        let keys = Keys::read(&key_folder).map_err(StartError::Keys)?;
        Ok(Self { roots, database, keys, key_folder, id_generator, uid })
    }
}

/// Settings that are well written and cannot be used here: files that are not there or are no certificates, features that
/// this build does not have. Each with what is wrong.
pub fn unusable(settings: &Settings) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let (Some(cert), Some(key)) = (&settings.tls.cert, &settings.tls.key)
        && let Err(why) = Tls::open(Files { cert: cert.clone(), key: key.clone() })
    {
        found.push(("tls.cert".to_owned(), why.to_string()));
    }
    if let Some(Err(why)) = settings.webhook.roots.as_deref().map(tls::roots) {
        found.push(("webhook.roots".to_owned(), why.to_string()));
    }
    if let Err(why) = Traces::open(&settings.otlp) {
        found.push(("otlp.endpoint".to_owned(), why));
    }
    found
}
