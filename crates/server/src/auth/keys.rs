//! The host's own keys: one signs member tokens (Ed25519), one makes turn tokens (HMAC-SHA256).
//!
//! Both are files of mode 0600 in the keys folder, made at the first start. Whoever reads them can speak as
//! anybody, so they are never logged and never leave the folder.
//!
//! Both are exchanged together. The public half of the old signing key is kept until the last token that it has signed
//! has ended; the old key itself is gone. The old turn key verifies nothing any more. What others' secrets are sealed
//! under stays: the first turn key of the folder, which the first exchange keeps as a file of its own.

use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs};

use chorus_core::model::ids::Timestamp;
use jsonwebtoken::{DecodingKey, EncodingKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::signing_key::SigningKey;

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
    /// What tokens call the key that signs them.
    pub(super) kid: Arc<str>,
    /// Keys that have signed before, and until when their tokens are looked at.
    pub(super) retired: Vec<Retired>,
    folder: PathBuf,
    pub(super) turn: [u8; 32],
    /// Tells turn keys apart, and nothing of them.
    pub(super) turn_id: TurnKeyId,
    /// The turn key as the folder has it, the same in every life of the workspace.
    kept_turn: [u8; 32],
    epoch: u64,
    /// What secrets of others are sealed under.
    pub(super) data: [u8; 32],
    signer: SigningKey,
}

/// Which key a turn's token was made with.
pub(crate) type TurnKeyId = [u8; 8];

/// The public half of a key that signs no more, as the folder has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Retired {
    pub kid: String,
    /// In hexadecimal.
    key: String,
    /// When the last of its tokens ends, in milliseconds since the Unix epoch.
    until: i64,
}

/// Keys that were read, and those that were drawn and are not in their folder yet.
pub(crate) struct Unkept {
    keys: Keys,
    new: Vec<(PathBuf, Vec<u8>)>,
}

/// Keys of which one is to take the place of another.
pub(crate) struct Rotation {
    keys: Keys,
    retired: Vec<u8>,
    signing: Vec<u8>,
}

impl Retired {
    pub(super) fn verifying(&self) -> Option<DecodingKey> {
        Some(DecodingKey::from_ed_der(&self.public()?))
    }

    /// The bytes of the key.
    pub(super) fn public(&self) -> Option<Vec<u8>> {
        let pairs = self.key.as_bytes().chunks_exact(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        pairs.map(byte).collect()
    }

    pub(crate) fn until(&self) -> Timestamp {
        Timestamp(self.until)
    }
}

impl Unkept {
    /// As [`Keys::in_epoch`].
    pub(crate) fn in_epoch(self, epoch: u64) -> Self {
        Self { keys: self.keys.in_epoch(epoch), ..self }
    }

    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        self.keys.fingerprint()
    }

    pub(crate) fn peer_secret(&self) -> [u8; 32] {
        self.keys.peer_secret()
    }

    /// Whether any of them were drawn just now.
    pub(crate) fn are_new(&self) -> bool {
        !self.new.is_empty()
    }

    /// Writes what is new. Until then nothing was made.
    pub(crate) fn keep(self) -> Result<Keys, KeysError> {
        let folder = &self.keys.folder;
        let failed = |path: &Path, e: io::Error| failed(path, e.to_string());
        if !self.new.is_empty() {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|e| failed(folder, e))?;
        }
        for (path, bytes) in &self.new {
            write_private(path, bytes).map_err(|e| failed(path, e))?;
        }
        Ok(self.keys)
    }
}

impl Rotation {
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        self.keys.fingerprint()
    }

    pub(crate) fn peer_secret(&self) -> [u8; 32] {
        self.keys.peer_secret()
    }

    /// What would be lost with an old key first: its public half, and what is sealed under it.
    pub(crate) fn keep(self) -> io::Result<Keys> {
        let Self { keys, retired, signing } = self;
        write_private(&keys.folder.join(RETIRED), &retired)?;
        write_private(&keys.folder.join(SEALING), &keys.data)?;
        write_private(&keys.folder.join(TURN), &keys.kept_turn)?;
        write_private(&keys.folder.join(SIGNING), &signing)?;
        Ok(keys)
    }
}

const SIGNING: &str = "signing.pem";
const TURN: &str = "turn.key";
/// The public halves of keys that sign no more; not there before the first was exchanged.
const RETIRED: &str = "retired.json";
/// What secrets of others are sealed under; before the first exchange that is the turn key itself.
const SEALING: &str = "sealing.key";

impl Keys {
    /// The files that every folder has.
    pub(crate) const FILES: [&str; 2] = [SIGNING, TURN];

    /// Reads the keys of a folder, and makes those that are not there.
    pub(crate) fn open(folder: &Path) -> Result<Self, KeysError> {
        Self::read(folder)?.keep()
    }

    /// Reads the keys of a folder, and draws those that are not there, which are in no folder yet.
    pub(crate) fn read(folder: &Path) -> Result<Unkept, KeysError> {
        let mut new = Vec::new();
        let path = folder.join(SIGNING);
        let pem = match there(&path)? {
            Some(pem) => pem,
            None => {
                let seed = random().map_err(|e| failed(&path, e.to_string()))?;
                let pem = SigningKey::of(seed).to_pem().into_bytes();
                new.push((path.clone(), pem.clone()));
                pem
            }
        };
        let key = SigningKey::from_pem(&pem).map_err(|why| failed(&path, why))?;

        let path = folder.join(TURN);
        let bytes = match there(&path)? {
            Some(bytes) => bytes,
            None => {
                let bytes = random().map_err(|e| failed(&path, e.to_string()))?.to_vec();
                new.push((path.clone(), bytes.clone()));
                bytes
            }
        };
        let turn = thirty_two(&path, &bytes)?;

        let path = folder.join(SEALING);
        let data = there(&path)?.map_or(Ok(turn), |bytes| thirty_two(&path, &bytes))?;

        let path = folder.join(RETIRED);
        let retired = match there(&path)? {
            Some(json) => {
                serde_json::from_slice(&json).map_err(|e| failed(&path, e.to_string()))?
            }
            None => Vec::new(),
        };
        let keys = Self::of(key, turn, data, retired, folder);
        Ok(Unkept { keys, new })
    }

    fn of(
        signer: SigningKey,
        turn: [u8; 32],
        data: [u8; 32],
        retired: Vec<Retired>,
        folder: &Path,
    ) -> Self {
        let public = signer.public();
        Self {
            signing: EncodingKey::from_ed_der(&signer.to_der()),
            verifying: DecodingKey::from_ed_der(&public),
            kid: hex(&Sha256::digest(public)[..8]).into(),
            retired,
            folder: folder.to_owned(),
            turn,
            turn_id: turn_id(&turn),
            kept_turn: turn,
            epoch: 1,
            data,
            signer,
        }
    }

    /// With other keys for tokens and turns. Tokens of the present one are looked at until `until`; turns of the present
    /// one end.
    pub(crate) fn rotated(&self, until: Timestamp, now: Timestamp) -> Result<Rotation, KeysError> {
        let path = self.folder.join(SIGNING);
        let why = |e: io::Error| failed(&path, e.to_string());
        let signer = SigningKey::of(random().map_err(why)?);
        let turn = random().map_err(why)?;
        let signing = signer.to_pem().into_bytes();
        let mut retired: Vec<_> =
            self.retired.iter().filter(|old| old.until() > now).cloned().collect();
        retired.push(Retired {
            kid: self.kid.to_string(),
            key: hex(&self.signer.public()),
            until: until.0,
        });
        let json = serde_json::to_vec(&retired).map_err(|e| failed(&path, e.to_string()))?;
        let keys = Self::of(signer, turn, self.data, retired, &self.folder);
        Ok(Rotation { keys: keys.in_epoch(self.epoch), retired: json, signing })
    }

    /// Signs what others are to verify without this host.
    pub(crate) fn signer(&self) -> SigningKey {
        self.signer.clone()
    }

    /// What is the same for the same keys, and tells nothing of them.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(b"chorus keys");
        hasher.update(self.signer.public());
        hasher.update(self.kept_turn);
        if self.data != self.kept_turn {
            hasher.update(self.data);
        }
        hasher.finalize().into()
    }

    /// What all hosts with these keys know and nobody else does: by it they know each other.
    pub(crate) fn peer_secret(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(b"chorus hosts");
        hasher.update(self.signer.seed());
        hasher.update(self.kept_turn);
        hasher.finalize().into()
    }

    /// The keys as they are in one life of the workspace: a restore begins another, in which turns granted
    /// before are nobody's. Tokens of members stay what they are; without the keys they end too.
    pub(crate) fn in_epoch(mut self, epoch: u64) -> Self {
        if epoch > 1 {
            let mut hasher = Sha256::new();
            hasher.update(self.kept_turn);
            hasher.update(epoch.to_be_bytes());
            self.turn = hasher.finalize().into();
            self.turn_id = turn_id(&self.turn);
        }
        self.epoch = epoch;
        self
    }
}

fn turn_id(turn: &[u8; 32]) -> TurnKeyId {
    let mut hasher = Sha256::new();
    hasher.update(b"chorus turn key");
    hasher.update(turn);
    let hash: [u8; 32] = hasher.finalize().into();
    let mut id = TurnKeyId::default();
    id.copy_from_slice(&hash[..8]);
    id
}

fn thirty_two(path: &Path, bytes: &[u8]) -> Result<[u8; 32], KeysError> {
    bytes.try_into().map_err(|_| failed(path, "it does not hold 32 bytes".to_owned()))
}

fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

fn failed(path: &Path, why: String) -> KeysError {
    KeysError { path: path.to_owned(), why }
}

/// What stands in a file, if it is there.
fn there(path: &Path) -> Result<Option<Vec<u8>>, KeysError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed(path, e.to_string())),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
