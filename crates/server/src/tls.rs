//! HTTPS by certificate files, which are taken anew when they are renewed without dropping anybody.
//!
//! Invariant: connections that stand keep the certificate they began with. Hands are shaken in [`crate::listen`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
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

fn read(files: &Files) -> Result<ServerConfig, TlsError> {
    let wrong = |path: &Path, why: String| TlsError { path: path.to_owned(), why };
    let text = |path: &Path| std::fs::read(path).map_err(|e| wrong(path, e.to_string()));
    let certs: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text(&files.cert)?).collect();
    let certs = certs.map_err(|e| wrong(&files.cert, format!("is no PEM: {e}")))?;
    let first =
        certs.first().ok_or_else(|| wrong(&files.cert, "holds no certificate".to_owned()))?;
    complain_if_expired(&files.cert, first);
    let key = PrivateKeyDer::from_pem_slice(&text(&files.key)?)
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
