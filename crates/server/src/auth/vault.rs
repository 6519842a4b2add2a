//! Secrets of others that the host must be able to use: callback URLs, tools' headers, signing secrets. They are kept
//! under a key that is not in the database, so that a copy of it gives none of them away.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use chorus_core::model::endpoint::Secret;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Uid;
use sha2::{Digest, Sha256};

use super::keys::Keys;

/// CommandSeed at random for each: so long that none comes twice.
const NONCE: usize = 24;
/// What a sealed text begins with.
const PREFIX: &str = "sealed1:";

/// Seals and opens, for one workspace.
pub(crate) struct Vault {
    cipher: XChaCha20Poly1305,
    workspace: [u8; 16],
}

impl Vault {
    /// Of a key of the keys folder, which is used for other things too.
    pub(super) fn of(key: &[u8; 32], workspace: Uid) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"chorus vault");
        hasher.update(key);
        let cipher = XChaCha20Poly1305::new(&hasher.finalize());
        Self { cipher, workspace: workspace.0.to_be_bytes() }
    }

    /// Of the keys in a folder; none where they are not there, or are none.
    pub(crate) fn there(folder: &Path, workspace: Uid) -> Option<Self> {
        let whole = Keys::FILES.iter().all(|file| folder.join(file).is_file());
        let keys = whole.then(|| Keys::open(folder).ok())??;
        Some(Self::of(&keys.data, workspace))
    }

    pub(crate) fn seal(&self, text: &str) -> Result<Secret, Refusal> {
        let failed = || Refusal::new(Code::Internal, "a secret could not be sealed");
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| failed())?;
        let payload = Payload { msg: text.as_bytes(), aad: &self.workspace };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| failed())?;
        let bytes = [&nonce[..], &sealed].concat();
        Ok(Secret(format!("{PREFIX}{}", BASE64.encode(bytes)).into()))
    }

    /// None for what was sealed under another key, or is not what was sealed.
    pub(crate) fn open(&self, secret: &Secret) -> Option<String> {
        let bytes = BASE64.decode(secret.0.strip_prefix(PREFIX)?).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: sealed, aad: &self.workspace };
        let text = self.cipher.decrypt(&XNonce::from(*nonce), payload).ok()?;
        String::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // covers: WHK-79
    #[test]
    fn what_is_sealed_opens_with_its_own_key_alone() {
        let vault = Vault::of(&[1; 32], Uid(1));
        let sealed = vault.seal("https://a.example/cb/tok_1").unwrap();
        assert_eq!(vault.open(&sealed).as_deref(), Some("https://a.example/cb/tok_1"));
        assert_ne!(vault.seal("https://a.example/cb/tok_1").unwrap(), sealed);
        assert_eq!(Vault::of(&[2; 32], Uid(1)).open(&sealed), None);
        assert_eq!(Vault::of(&[1; 32], Uid(2)).open(&sealed), None, "of another workspace");
        for bad in ["", "sealed1:", "sealed1:AAAA", "https://a.example/"] {
            assert_eq!(vault.open(&Secret(bad.into())), None, "{bad}");
        }
        let cut = &sealed.0[..sealed.0.len() - 4];
        assert_eq!(vault.open(&Secret(cut.into())), None);
    }
}
