//! Tokens whose signature was checked, by their hash, so that a request costs no signature check.
//!
//! Only what cannot change is kept. The cache is bounded: the token that was checked longest ago gives way, and is
//! checked once more when it comes again.

use std::sync::{Arc, PoisonError, RwLock};

use hashlink::LruCache;
use sha2::{Digest, Sha256};

use super::token::Claims;

/// Tokens remembered; about 300 bytes each.
const TOKENS: usize = 20_000;

pub(super) type Key = [u8; 32];

/// What a token is known by here; the token itself is not kept.
pub(super) fn key(token: &str) -> Key {
    Sha256::digest(token.as_bytes()).into()
}

pub(super) struct Cache(RwLock<LruCache<Key, Arc<Claims>>>);

impl Default for Cache {
    fn default() -> Self {
        Self(RwLock::new(LruCache::new(TOKENS)))
    }
}

impl Cache {
    pub(super) fn get(&self, key: &Key) -> Option<Arc<Claims>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).peek(key).cloned()
    }

    pub(super) fn put(&self, key: Key, claims: Arc<Claims>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, claims);
    }

    /// Every token is checked again.
    pub(super) fn clear(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) fn forget(&self, key: &Key) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}
