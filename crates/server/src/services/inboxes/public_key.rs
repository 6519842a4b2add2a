//! The public key of an agent's owner, in PEM, that tokens of services are verified with.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, ParsedPublicKey,
    RSA_PKCS1_2048_8192_SHA256,
};
use jsonwebtoken::{Algorithm, DecodingKey};
use x509_cert::Certificate;
use x509_cert::der::asn1::{ObjectIdentifier, UintRef};
use x509_cert::der::{Decode, Reader, SliceReader};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

/// Kinds of keys and curves (RFC 8410, RFC 5480, RFC 8017).
const OF_ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const OF_EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const OF_P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const OF_P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const OF_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// Lengths of a modulus that signatures are verified with.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2_048..=8_192;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ed25519,
    P256,
    P384,
    Rsa,
}

pub(super) struct PublicKey {
    kind: Kind,
    /// As JSON Web Tokens are verified with it: without what says its kind.
    bytes: Vec<u8>,
}

impl PublicKey {
    /// The first key of a text: one of any kind, one of RSA alone (PKCS #1), or that of a certificate.
    pub(super) fn read(text: &str) -> Option<Self> {
        let block = pem::parse(text).ok()?;
        let key = match block.tag() {
            "PUBLIC KEY" => SubjectPublicKeyInfoOwned::from_der(block.contents()).ok()?,
            "CERTIFICATE" => {
                let certificate = Certificate::from_der(block.contents()).ok()?;
                certificate.tbs_certificate.subject_public_key_info
            }
            "RSA PUBLIC KEY" => {
                return Some(Self { kind: Kind::Rsa, bytes: block.into_contents() });
            }
            _ => return None,
        };
        let curve = || key.algorithm.parameters.as_ref()?.decode_as().ok();
        let kind = match key.algorithm.oid {
            OF_ED25519 => Kind::Ed25519,
            OF_RSA => Kind::Rsa,
            OF_EC => match curve()? {
                OF_P256 => Kind::P256,
                OF_P384 => Kind::P384,
                _ => return None,
            },
            _ => return None,
        };
        Some(Self { kind, bytes: key.subject_public_key.as_bytes()?.to_vec() })
    }

    /// Whether a signature can be verified with it: RSA from 2,048 bits on (RFC 7518 section 3.3), a point of its curve.
    pub(super) fn is_usable(&self) -> bool {
        let bytes = &self.bytes;
        match self.kind {
            Kind::Ed25519 => ParsedPublicKey::new(&ED25519, bytes),
            Kind::P256 => ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, bytes),
            Kind::P384 => ParsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, bytes),
            Kind::Rsa if modulus_bits(bytes).is_none_or(|bits| !RSA_BITS.contains(&bits)) => {
                return false;
            }
            Kind::Rsa => ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, bytes),
        }
        .is_ok()
    }

    /// For tokens of this algorithm; none if the key is of another kind.
    pub(super) fn decoding(&self, algorithm: Algorithm) -> Option<DecodingKey> {
        match (algorithm, self.kind) {
            (Algorithm::EdDSA, Kind::Ed25519) => Some(DecodingKey::from_ed_der(&self.bytes)),
            (Algorithm::ES256, Kind::P256) | (Algorithm::ES384, Kind::P384) => {
                Some(DecodingKey::from_ec_der(&self.bytes))
            }
            (
                Algorithm::RS256
                | Algorithm::RS384
                | Algorithm::RS512
                | Algorithm::PS256
                | Algorithm::PS384
                | Algorithm::PS512,
                Kind::Rsa,
            ) => Some(DecodingKey::from_rsa_der(&self.bytes)),
            _ => None,
        }
    }
}

/// How long the modulus of an RSA key is (RFC 8017 appendix A.1.1).
fn modulus_bits(key: &[u8]) -> Option<usize> {
    let mut reader = SliceReader::new(key).ok()?;
    let modulus = reader.sequence(|key| {
        let modulus = UintRef::decode(key)?;
        UintRef::decode(key)?;
        Ok(modulus)
    });
    let bytes = modulus.ok()?.as_bytes();
    Some(bytes.len() * 8 - bytes.first()?.leading_zeros() as usize)
}

/// Whether a secret key is in a text: it must not be kept, nor shown to who looks at the settings.
pub(super) fn has_private_key(text: &str) -> bool {
    text.contains("PRIVATE KEY-----")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519};

    use super::*;

    fn is_usable(text: &str) -> bool {
        PublicKey::read(text).is_some_and(|key| key.is_usable())
    }

    // covers: WHK-67
    #[test]
    fn keys_are_read_as_people_paste_them_and_what_verifies_nothing_is_refused() {
        for kind in [&PKCS_ED25519, &PKCS_ECDSA_P256_SHA256] {
            let pair = KeyPair::generate_for(kind).unwrap();
            let pem = pair.public_key_pem();
            let certificate =
                CertificateParams::new(Vec::new()).unwrap().self_signed(&pair).unwrap();
            let indented: Vec<_> = pem.lines().map(|line| format!("   {line}")).collect();
            for text in [
                pem.clone(),
                certificate.pem(),
                pem.replace('\n', "\r\n"),
                format!("a key:\n{pem}\nthat was it"),
                indented.join("\n"),
                pem.lines().collect(),
            ] {
                assert!(is_usable(&text), "{text}");
            }
            assert!(!is_usable(&pair.serialize_pem()), "a private key");
            assert!(has_private_key(&format!("{pem}{}", pair.serialize_pem())));
            assert!(!is_usable(&pem.replace("PUBLIC", "RSA PUBLIC")), "another kind");
        }
        assert!(is_usable(OF_2048_BITS));
        for text in ["", "-----BEGIN PUBLIC KEY-----", OF_1024_BITS] {
            assert!(!is_usable(text), "{text}");
        }
    }

    /// RSA alone.
    const OF_2048_BITS: &str = "-----BEGIN RSA PUBLIC KEY-----\n\
        MIIBCgKCAQEA3YY19XJlUBQNQQX1FzRwlP3tKsFATktzWB81SVCI6oAewmYWGNW/\n\
        BRUXYZA75yodTXjW5BCkdB7Jl3lRTE/az8L9kNkSH5urAg6hBCyOJ2JqZrJ/oDY1\n\
        dbjt08vy8zHj+YciC7cF1dSB/sEMMBQrPRdkcn3Nc5sZsO26zz6e+qmV4QQDKkgT\n\
        w5TOjQiBtGcPg6msdWxaE26WsNOP90EybPe0hrP97BDlRVlnX6BqcdiWOowEVSVj\n\
        cbrkNUM+cxz/PnOG454nB+i0Vl8WPEKLwq1wTNDvLgtIDmDDA0e3At7VDQTIgyUg\n\
        Xo19vt3uqYlF667qJe4lUaYrDtaB7qecrwIDAQAB\n\
        -----END RSA PUBLIC KEY-----\n";
    /// RSA, and too short.
    const OF_1024_BITS: &str = "-----BEGIN PUBLIC KEY-----\n\
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDYidNX1WtjsLIu2pjvIsY4i5hd\n\
        HJA0RoyxymRlCNjAU2j6Ha/wd/N4CLhUdtbRTgNoosXqxVcGUvp4Cd/9Ak5sxd2n\n\
        NCOhnrDc3Qg7KqZELvp6UmTrgO0TmFf4O1EhzTA3XhAHlm+3JWA227tV82I0Ci4c\n\
        BAEhrsWcc3WgzSdM7QIDAQAB\n\
        -----END PUBLIC KEY-----\n";
}
