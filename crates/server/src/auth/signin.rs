//! The sign-in link that `chorus serve` prints: a secret that works once, for ten minutes. Only its hash is
//! kept.

use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::model::ids::Timestamp;
use sha2::{Digest, Sha256};

const LIFE_MS: i64 = 10 * 60_000;

#[derive(Default)]
pub(crate) struct SignIn(Mutex<Option<([u8; 32], Timestamp)>>);

impl SignIn {
    /// A new secret; one given out before is void.
    pub(crate) fn open(&self, random: [u8; 32], now: Timestamp) -> String {
        let secret = BASE64.encode(random);
        let hash = Sha256::digest(secret.as_bytes()).into();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((hash, now.plus(LIFE_MS)));
        secret
    }

    /// Whether the secret is the one given out; it is used up by this.
    pub(crate) fn take(&self, secret: &str, now: Timestamp) -> bool {
        let hash: [u8; 32] = Sha256::digest(secret.as_bytes()).into();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = open.is_some_and(|(expected, until)| expected == hash && now < until);
        if fits {
            *open = None;
        }
        fits
    }
}
