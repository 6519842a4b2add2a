//! The keys that an issuer publishes: fetched when they are needed, kept while they are fresh, and a while longer
//! when the issuer cannot be reached.
//!
//! Bounded: one fetch at a time, at most one in [`AGAIN_MS`], each in time and size.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::{fetch, unauthorized};
use crate::config::issuers::Issuer;

/// Between two fetches: an unknown key id costs the issuer no more than this.
const AGAIN_MS: i64 = 30_000;

pub(super) struct Published {
    url: String,
    refresh_ms: i64,
    stale_ms: i64,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    keys: Vec<Jwk>,
    /// When they were had.
    since: Option<Timestamp>,
    /// When they were last asked for.
    asked: Option<Timestamp>,
}

impl Published {
    pub(super) fn new(settings: &Issuer) -> Self {
        Self {
            url: settings.jwks_url.clone(),
            refresh_ms: settings.refresh.ms(),
            stale_ms: settings.stale.ms(),
            known: Mutex::default(),
        }
    }

    /// The key of this id for this algorithm.
    pub(super) async fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
        now: Timestamp,
    ) -> Result<Arc<DecodingKey>, Refusal> {
        let mut known = self.known.lock().await;
        let age = |known: &Known| known.since.map(|since| now.since(since));
        let fresh =
            |known: &Known| age(known).is_some_and(|age| (0..self.refresh_ms).contains(&age));
        if !fresh(&known) {
            self.ask(&mut known, now).await;
        }
        if known.pick(id).is_none() {
            self.ask(&mut known, now).await;
        }
        let longest = self.refresh_ms.saturating_add(self.stale_ms);
        if age(&known).is_none_or(|age| age >= longest) {
            let why = "the keys of the token's issuer cannot be had; try again in a moment";
            return Err(Refusal::new(Code::Unavailable, why));
        }
        let key = known.pick(id).ok_or_else(|| {
            unauthorized("the token is signed with a key that its issuer does not publish")
        })?;
        let stated = key.common.key_algorithm.map(|stated| stated.to_string());
        if stated.is_some_and(|stated| stated != format!("{algorithm:?}")) {
            return Err(unauthorized("the token's key is for another algorithm"));
        }
        let key = without_leading_zeros(key.clone());
        DecodingKey::from_jwk(&key)
            .map(Arc::new)
            .map_err(|e| unauthorized(format!("the token's key cannot be used: {e}")))
    }

    /// Asks for the keys, unless that was done a moment ago. What is known stays when it fails.
    async fn ask(&self, known: &mut Known, now: Timestamp) {
        if known.asked.is_some_and(|asked| (0..AGAIN_MS).contains(&now.since(asked))) {
            return;
        }
        known.asked = Some(now);
        match self.fetch().await {
            Ok(keys) => {
                known.keys = keys;
                known.since = Some(now);
            }
            Err(why) => tracing::warn!(url = self.url, why, "the keys of an issuer cannot be had"),
        }
    }

    async fn fetch(&self) -> Result<Vec<Jwk>, String> {
        // Keys that are not understood are somebody else's.
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<serde_json::Value>,
        }
        let set: Set = fetch::get(&self.url).await?;
        let keys = set.keys.into_iter().filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
        Ok(keys.filter(is_public).collect())
    }
}

impl Known {
    /// The key of an id; a token without one may only mean the only key.
    fn pick(&self, id: Option<&str>) -> Option<&Jwk> {
        match (id, self.keys.as_slice()) {
            (Some(id), keys) => keys.iter().find(|key| key.common.key_id.as_deref() == Some(id)),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }
}

/// Some issuers write the modulus of RSA with zero bytes before it, which RFC 7518 does without.
fn without_leading_zeros(mut key: Jwk) -> Jwk {
    if let AlgorithmParameters::RSA(rsa) = &mut key.algorithm
        && let Ok(modulus) = BASE64.decode(&rsa.n)
    {
        let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
        rsa.n = BASE64.encode(&modulus[zeros..]);
    }
    key
}

/// A key for signatures, of a kind that is known, whose other half is secret.
fn is_public(key: &Jwk) -> bool {
    let for_signatures =
        key.common.public_key_use.as_ref().is_none_or(|u| *u == PublicKeyUse::Signature);
    let unfit =
        matches!(key.algorithm, AlgorithmParameters::OctetKey(_) | AlgorithmParameters::Other(_));
    for_signatures && !unfit
}
