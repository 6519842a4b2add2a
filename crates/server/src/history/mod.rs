//! Exports and imports: a workspace's history as lines of JSON, signed, and a data folder made of them.
//!
//! Neither holds more than a page of a log in memory. Nothing that lets anybody in is carried: no tokens, no
//! keys, nobody's authority; and nothing that is owed, so that an import wakes nobody.

mod archive;
mod export;
mod import;
mod line;
mod read;

use std::path::Path;

use chorus_core::codec;
use chorus_core::model::conversation::Settings;
use chorus_core::model::ids::{Seq, Timestamp};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};

use crate::auth::{Keys, KeysError};
pub(crate) use archive::{Stretch, Unwritten, archive};
pub use export::{Exported, export};
pub use import::{Imported, Wrong, import};
pub use line::Counts;
use line::Line;

/// The form of the lines. A program refuses a newer one than it knows; the second came with bases, the
/// third with work in threads, with files, schedules and projects.
const FORMAT: u32 = 3;

/// Reads a line of an export, with what is packed in it, and writes it again.
pub(crate) fn read_again(line: &[u8]) -> Result<Vec<u8>, String> {
    let line = import::read(line)?;
    let unfit = |_| "what is packed in it cannot be read".to_owned();
    match &line {
        Line::Conversation(c) => {
            let mut settings = Settings::default();
            let later = c.settings.as_ref();
            later
                .map_or(Ok(()), |l| codec::read_later_settings(&l.0, &mut settings))
                .map_err(unfit)?;
        }
        Line::Base(b) => {
            let (seq, hash, at) = (Seq(b.seq), b.hash.array()?, Timestamp(b.at));
            codec::read_base(seq, hash, at, &b.state.0).map_err(unfit)?;
        }
        Line::Event(e) => drop(read::event(e)?),
        Line::Thread(t) => drop(read::thread(t)?),
        Line::Schedule(s) => drop(codec::read_schedule(&s.state.0).map_err(unfit)?),
        Line::Project(p) => drop(read::project(p)?),
        _ => {}
    }
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
        self.0.verifying_key().to_bytes()
    }

    fn sign(&self, header: &[u8], lines: &[u8; 32]) -> [u8; 64] {
        self.0.sign(&signed(header, lines)).to_bytes()
    }
}

fn verifies(key: &[u8; 32], header: &[u8], lines: &[u8; 32], signature: &[u8; 64]) -> bool {
    let signature = Signature::from_bytes(signature);
    let key = VerifyingKey::from_bytes(key);
    key.is_ok_and(|key| key.verify_strict(&signed(header, lines), &signature).is_ok())
}

/// What the signature is over: which protocol, the header as it stands, and everything between.
fn signed(header: &[u8], lines: &[u8; 32]) -> Vec<u8> {
    let mut signed = b"chorus export 1\n".to_vec();
    signed.extend_from_slice(&Sha256::digest(header));
    signed.extend_from_slice(lines);
    signed
}
