//! The host's own keys: one signs member tokens (Ed25519), one makes turn tokens (HMAC-SHA256).
//!
//! Both are files of mode 0600 in the keys folder, made at the first start. Whoever reads them can speak as
//! anybody, so they are never logged and never leave the folder.

use std::fmt;
use std::fs;
use std::io;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey};
use jsonwebtoken::{DecodingKey, EncodingKey};
use sha2::{Digest, Sha256};

/// Why the keys cannot be had.
#[derive(Debug)]
pub struct KeysError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key file {}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for KeysError {}

pub(crate) struct Keys {
    pub(super) signing: EncodingKey,
    pub(super) verifying: DecodingKey,
    pub(super) turn: [u8; 32],
    /// What secrets of others are kept under: the same in every life of the workspace.
    pub(super) data: [u8; 32],
    signer: SigningKey,
}

impl Keys {
    /// The files of the folder.
    pub(crate) const FILES: [&str; 2] = ["signing.pem", "turn.key"];

    /// Reads the keys of a folder, and makes those that are not there.
    pub(crate) fn open(folder: &Path) -> Result<Self, KeysError> {
        let failed = |path: &Path, why: String| KeysError { path: path.to_owned(), why };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|e| failed(folder, e.to_string()))?;
        let path = folder.join("signing.pem");
        let pem = read_or_make(&path, || {
            let key = SigningKey::from_bytes(&random()?);
            let pem = key.to_pkcs8_pem(LineEnding::LF).map_err(io::Error::other)?;
            Ok(pem.as_bytes().to_vec())
        })
        .map_err(|e| failed(&path, e.to_string()))?;
        let pem = String::from_utf8(pem).map_err(|e| failed(&path, e.to_string()))?;
        let key = SigningKey::from_pkcs8_pem(&pem).map_err(|e| failed(&path, e.to_string()))?;
        let der = key.to_pkcs8_der().map_err(|e| failed(&path, e.to_string()))?;

        let path = folder.join("turn.key");
        let bytes = read_or_make(&path, || Ok(random()?.to_vec()))
            .map_err(|e| failed(&path, e.to_string()))?;
        let turn = <[u8; 32]>::try_from(bytes.as_slice())
            .map_err(|_| failed(&path, "it does not hold 32 bytes".to_owned()))?;
        Ok(Self {
            signing: EncodingKey::from_ed_der(der.as_bytes()),
            verifying: DecodingKey::from_ed_der(key.verifying_key().as_bytes()),
            turn,
            data: turn,
            signer: key,
        })
    }

    /// Signs what others are to verify without this host.
    pub(crate) fn signer(&self) -> SigningKey {
        self.signer.clone()
    }

    /// What is the same for the same keys, and tells nothing of them.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(b"chorus keys");
        hasher.update(self.signer.verifying_key().as_bytes());
        hasher.update(self.turn);
        hasher.finalize().into()
    }

    /// The keys as they are in one life of the workspace: a restore begins another, in which turns granted
    /// before are nobody's. Tokens of members stay what they are; without the keys they end too.
    pub(crate) fn in_epoch(mut self, epoch: u64) -> Self {
        if epoch > 1 {
            let mut hasher = Sha256::new();
            hasher.update(self.turn);
            hasher.update(epoch.to_be_bytes());
            self.turn = hasher.finalize().into();
        }
        self
    }
}

fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

fn read_or_make(path: &Path, make: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let bytes = make()?;
            write_private(path, &bytes)?;
            Ok(bytes)
        }
        other => other,
    }
}

/// Writes a file that only its owner can read, whole or not at all, and on the disk before it returns.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    // A left-over from a crash could have other permissions.
    match fs::remove_file(&beside) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}
