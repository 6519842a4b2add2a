//! Exports and imports: a workspace's history as lines of JSON, signed, and a data folder made of them.
//!
//! Neither holds more than a page of a log in memory. Nothing that lets anybody in is carried: no tokens, no
//! keys, nobody's authority; and nothing that is owed, so that an import wakes nobody.

mod archive;
mod error;
mod export;
mod field;
mod import;
mod lines;

use std::path::Path;

pub(crate) use archive::{Stretch, Unwritten, archive};
pub use error::Wrong;
pub use export::{Exported, export};
pub use import::{Imported, import};
pub use lines::Counts;
use sha2::{Digest, Sha256};

use crate::auth::signing_key::{SigningKey, is_signed};
use crate::auth::{Keys, KeysError};

/// The form of the lines. A program refuses a newer one than it knows; the second came with bases, the
/// third with work in threads, with files, schedules and projects.
const FORMAT: u32 = 4;
/// The form of an export without agents for hire and a ledger, which came with the fourth.
const FORMAT_WITHOUT_MARKET: u32 = 3;

/// Reads a line of an export, with what is packed in it, and writes it again.
pub(crate) fn read_again(line: &[u8]) -> Result<Vec<u8>, String> {
    let line = import::read(line)?;
    line.check()?;
    serde_json::to_vec(&line).map_err(|e| e.to_string())
}

/// Who signs exports: the host's own key.
pub struct Signing(SigningKey);

impl Signing {
    pub(crate) fn with(keys: &Keys) -> Self {
        Self(keys.signer())
    }

    /// The key of a folder without a host.
    pub fn open(keys: &Path) -> Result<Self, KeysError> {
        Ok(Self::with(&Keys::open(keys)?))
    }

    fn key(&self) -> [u8; 32] {
        self.0.public()
    }

    fn sign(&self, header: &[u8], lines: &[u8; 32]) -> [u8; 64] {
        self.0.sign(&signed(header, lines))
    }
}

fn verifies(key: &[u8; 32], header: &[u8], lines: &[u8; 32], signature: &[u8; 64]) -> bool {
    is_signed(key, &signed(header, lines), signature)
}

/// What the signature is over: which protocol, the header as it stands, and everything between.
fn signed(header: &[u8], lines: &[u8; 32]) -> Vec<u8> {
    let mut signed = b"chorus export 1\n".to_vec();
    signed.extend_from_slice(&Sha256::digest(header));
    signed.extend_from_slice(lines);
    signed
}
