//! Verification of the server's certificate according to `sslmode`, with rustls.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{Proof, Tls};
use crate::db::{Error, Result};

pub(super) fn connector(tls: &Tls) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|why| Error::Engine(why.to_string()))?;
    let builder = match tls.proof {
        Proof::Name => builder.with_root_certificates(roots(tls)?),
        proof => {
            let by = match proof {
                Proof::Nothing => None,
                _ => {
                    let roots = Arc::new(roots(tls)?);
                    let by = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
                    Some(by.build().map_err(|why| Error::Engine(why.to_string()))?)
                }
            };
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Lenient { by, provider }))
        }
    };
    let config = match &tls.own {
        None => builder.with_no_client_auth(),
        Some((cert, key)) => {
            let certs: std::result::Result<Vec<_>, _> =
                CertificateDer::pem_slice_iter(&read(cert)?).collect();
            let certs = certs.map_err(|why| wrong(cert, why))?;
            let secret =
                PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|why| wrong(key, why))?;
            builder.with_client_auth_cert(certs, secret).map_err(|why| wrong(key, why))?
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

fn roots(tls: &Tls) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    let Some(path) = &tls.roots else {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(store);
    };
    for cert in CertificateDer::pem_slice_iter(&read(path)?) {
        let cert = cert.map_err(|why| wrong(path, why))?;
        store.add(cert).map_err(|why| wrong(path, why))?;
    }
    if store.is_empty() {
        return Err(wrong(path, "holds no certificate"));
    }
    Ok(store)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|why| wrong(path, why))
}

fn wrong(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::Engine(format!("{}: {why}", path.display()))
}

/// Accepts a certificate that the roots confirm, whatever its name; without roots, any. The peer
/// must still prove that it has the certificate's key.
#[derive(Debug)]
struct Lenient {
    by: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(by) = &self.by else { return Ok(ServerCertVerified::assertion()) };
        match by.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(
                NotValidForName | NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
