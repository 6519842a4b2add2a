//! Files of certificates: the host's own, taken anew when they are renewed without dropping anybody, and those of further
//! authorities that it trusts where it posts to.
//!
//! Invariant: connections that stand keep the certificate they began with. Hands are shaken in [`crate::listen`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig};
use tokio::signal::unix::{SignalKind, signal};
use x509_cert::der::Decode;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Where the certificate and its key are.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// A file that cannot be used, and why.
#[derive(Debug)]
pub struct TlsError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for TlsError {}

/// The certificate in use.
pub(crate) struct Tls {
    files: Files,
    current: ArcSwap<ServerConfig>,
}

impl Tls {
    /// Reads the files. One that has expired is used all the same, and complained of.
    pub(crate) fn open(files: Files) -> Result<Arc<Self>, TlsError> {
        let config = read(&files)?;
        Ok(Arc::new(Self { files, current: ArcSwap::from_pointee(config) }))
    }

    /// What a connection begins with now.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        self.current.load_full()
    }

    /// Takes renewed files: on SIGHUP, and when they have changed. Files that cannot be used change nothing.
    pub(crate) async fn watch(self: Arc<Self>) {
        let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
        let mut seen = self.changed();
        loop {
            tokio::select! {
                _ = hangup.recv() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {
                    if self.changed() == seen {
                        continue;
                    }
                }
            }
            seen = self.changed();
            match read(&self.files) {
                Ok(config) => {
                    self.current.store(Arc::new(config));
                    tracing::info!(cert = %self.files.cert.display(), "the certificate was read again");
                }
                // A renewal that is half written is whole a moment later.
                Err(why) => tracing::error!(%why, "the certificate in use stays"),
            }
        }
    }

    fn changed(&self) -> [Option<SystemTime>; 2] {
        [&self.files.cert, &self.files.key].map(|path| path.metadata().ok()?.modified().ok())
    }
}

/// The authorities in a file. One that cannot be used is an error: who names a file wants all that is in it.
pub(crate) fn roots(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certs = certificates(path)?;
    for (at, cert) in certs.iter().enumerate() {
        let usable = RootCertStore::empty().add(cert.clone());
        let why = |e| format!("certificate {} is none that can be trusted: {e}", at + 1);
        usable.map_err(|e| wrong(path, why(e)))?;
    }
    Ok(certs)
}

/// The certificates in a file, of which there is at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certs: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes(path)?).collect();
    let certs = certs.map_err(|e| wrong(path, format!("is no PEM: {e}")))?;
    match certs.is_empty() {
        true => Err(wrong(path, "holds no certificate".to_owned())),
        false => Ok(certs),
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|e| wrong(path, e.to_string()))
}

fn wrong(path: &Path, why: String) -> TlsError {
    TlsError { path: path.to_owned(), why }
}

fn read(files: &Files) -> Result<ServerConfig, TlsError> {
    let certs = certificates(&files.cert)?;
    if let Some(first) = certs.first() {
        complain_if_expired(&files.cert, first);
    }
    let key = PrivateKeyDer::from_pem_slice(&bytes(&files.key)?)
        .map_err(|e| wrong(&files.key, format!("holds no private key: {e}")))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| wrong(&files.cert, e.to_string()))?
        .with_no_client_auth()
        .with_single_cert(certs, key);
    let mut config = config.map_err(|e| match e {
        rustls::Error::InconsistentKeys(_) => {
            wrong(&files.key, format!("does not belong to {}", files.cert.display()))
        }
        other => wrong(&files.cert, other.to_string()),
    })?;
    // WebSockets are an upgrade of HTTP/1.1.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn complain_if_expired(path: &Path, cert: &CertificateDer<'_>) {
    let Ok(cert) = x509_cert::Certificate::from_der(cert) else { return };
    let ends = cert.tbs_certificate.validity.not_after.to_system_time();
    if ends < SystemTime::now() {
        tracing::warn!(cert = %path.display(), "the certificate has expired; clients will refuse it");
    }
}
