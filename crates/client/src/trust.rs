//! Whom a TLS connection trusts: the authorities of the system and of the web, and those an operator added.
//!
//! Added once, before the first client is made: a process talks to hosts of one operator.

use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_tungstenite::Connector;

use crate::{Error, Result};

static ADDED: OnceLock<Vec<CertificateDer<'static>>> = OnceLock::new();

/// Trusts the authorities of a PEM text too, from now on.
pub fn trust(pem: &[u8]) -> Result<()> {
    let wrong = |why: String| Error::Protocol(format!("no certificates of authorities: {why}"));
    let certs: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certs = certs.map_err(|e| wrong(e.to_string()))?;
    if certs.is_empty() {
        return Err(wrong("none in it".to_owned()));
    }
    for cert in &certs {
        RootCertStore::empty().add(cert.clone()).map_err(|e| wrong(e.to_string()))?;
    }
    ADDED.set(certs).map_err(|_| wrong("they were given already".to_owned()))
}

/// The authorities for HTTP.
pub(crate) fn added() -> impl Iterator<Item = reqwest::Certificate> {
    let added = ADDED.get().into_iter().flatten();
    added.filter_map(|cert| reqwest::Certificate::from_der(cert).ok())
}

/// The authorities for a WebSocket.
pub(crate) fn connector() -> Result<Connector> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for cert in ADDED.get().into_iter().flatten() {
        roots.add(cert.clone()).map_err(|e| Error::Protocol(e.to_string()))?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::Protocol(e.to_string()))?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Ok(Connector::Rustls(Arc::new(config)))
}
