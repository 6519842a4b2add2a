//! Tokens whose signature was checked, by their hash, so that a request costs no signature check.
//!
//! Only what cannot change is kept. The cache is bounded: when it is full, what has expired goes, and when
//! nothing has, all of it does; each token is then checked once more.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use chorus_core::model::ids::Timestamp;
use sha2::{Digest, Sha256};

use super::token::Claims;

/// Tokens remembered; about 300 bytes each.
const TOKENS: usize = 20_000;

pub(super) type Key = [u8; 32];

/// What a token is known by here; the token itself is not kept.
pub(super) fn key(token: &str) -> Key {
    Sha256::digest(token.as_bytes()).into()
}

#[derive(Default)]
pub(super) struct Cache(RwLock<HashMap<Key, Arc<Claims>>>);

impl Cache {
    pub(super) fn get(&self, key: &Key) -> Option<Arc<Claims>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(super) fn put(&self, key: Key, claims: Arc<Claims>, now: Timestamp) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= TOKENS {
            known.retain(|_, claims| claims.expires > now);
        }
        if known.len() >= TOKENS {
            known.clear();
        }
        known.insert(key, claims);
    }

    /// Every token is checked again.
    pub(super) fn clear(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) fn forget(&self, key: &Key) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}
