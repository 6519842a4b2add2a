//! The host's Ed25519 key: what it signs with, and its file.

use std::sync::Arc;

use aws_lc_rs::encoding::AsBigEndian;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;

/// An Ed25519 key as PKCS #8 (RFC 8410 section 7), but for its 32 bytes, which are its end.
const DER: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// A private key, and the key pair that it gives.
#[derive(Clone)]
pub(crate) struct SigningKey {
    seed: [u8; 32],
    pair: Arc<Ed25519KeyPair>,
}

impl SigningKey {
    /// Every 32 bytes are a key.
    #[allow(clippy::expect_used, reason = "only another length is refused")]
    pub(crate) fn of(seed: [u8; 32]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("32 bytes are a key");
        Self { seed, pair: pair.into() }
    }

    /// Reads a key from PKCS #8, of either version.
    pub(super) fn from_pem(pem: &[u8]) -> Result<Self, String> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem).map_err(|e| e.to_string())?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der());
        let pair = pair.map_err(|e| format!("no Ed25519 key: {e}"))?;
        let seed = pair.seed().and_then(|seed| seed.as_be_bytes());
        let seed = seed.map_err(|e| e.to_string())?;
        let seed = seed.as_ref().try_into().map_err(|_| "no Ed25519 key".to_owned())?;
        Ok(Self { seed, pair: pair.into() })
    }

    pub(crate) fn to_der(&self) -> Vec<u8> {
        [&DER[..], &self.seed].concat()
    }

    pub(super) fn to_pem(&self) -> String {
        let der = BASE64.encode(self.to_der());
        format!("-----BEGIN PRIVATE KEY-----\n{der}\n-----END PRIVATE KEY-----\n")
    }

    pub(super) fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    #[allow(clippy::expect_used, reason = "it has no other length")]
    pub(crate) fn public(&self) -> [u8; 32] {
        self.pair.public_key().as_ref().try_into().expect("32 bytes")
    }

    #[allow(clippy::expect_used, reason = "it has no other length")]
    pub(crate) fn sign(&self, text: &[u8]) -> [u8; 64] {
        self.pair.sign(text).as_ref().try_into().expect("64 bytes")
    }
}

/// Whether whoever has the other half of `key` has signed `text`.
pub(crate) fn is_signed(key: &[u8; 32], text: &[u8], signature: &[u8; 64]) -> bool {
    UnparsedPublicKey::new(&ED25519, key).verify(text, signature).is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The first key of RFC 8032 section 7.1, as other programs write it with its public half (RFC 5958).
    const WITH_PUBLIC: &str = "-----BEGIN PRIVATE KEY-----\n\
        MFECAQEwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
        gSEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PRIVATE KEY-----\n";

    #[test]
    fn a_key_is_read_with_and_without_its_public_half() {
        let key = SigningKey::from_pem(WITH_PUBLIC.as_bytes()).unwrap();
        assert_eq!(key.public()[..4], [0xd7, 0x5a, 0x98, 0x01]);
        assert_eq!(key.sign(b"")[..4], [0xe5, 0x56, 0x43, 0x00]);
        let again = SigningKey::from_pem(key.to_pem().as_bytes()).unwrap();
        assert_eq!((again.seed(), again.public()), (key.seed(), key.public()));
        assert!(is_signed(&key.public(), b"text", &again.sign(b"text")));
        assert!(!is_signed(&key.public(), b"other", &again.sign(b"text")));
        assert!(
            SigningKey::from_pem(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
                .is_err()
        );
    }
}
