//! Standard Webhooks (standardwebhooks.com): what is posted is signed with a secret that both sides have, over its id, the
//! time and the body to the byte.

use std::fmt;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use chorus_core::model::ids::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const PREFIX: &str = "whsec_";
const VERSION: &str = "v1,";
/// What the scheme says of a secret's length.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// How far the two clocks may be apart, and how old a repetition may be: what the scheme's own libraries take.
const TOLERANCE_S: i64 = 5 * 60;
/// More signatures than a sender has keys.
const SIGNATURES: usize = 16;

static ID: HeaderName = HeaderName::from_static("webhook-id");
static TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
static SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// What signs: shown only where it is asked for by [`Secret::reveal`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// Why something is not taken for signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsigned {
    /// One of the three headers is not there, or is there twice, or cannot be read.
    Headers,
    /// The time is too far from now, in either direction.
    Time,
    /// No signature is by this secret over this.
    Signature,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl Secret {
    /// Of bytes that were just drawn.
    pub fn new(random: [u8; 32]) -> Self {
        Self(random.to_vec())
    }

    /// As it is passed around: `whsec_` and base64.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text.trim().strip_prefix(PREFIX)?).ok()?;
        SECRET_BYTES.contains(&bytes.len()).then_some(Self(bytes))
    }

    /// The same, for whoever is to check the signatures.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", BASE64.encode(&self.0))
    }

    fn mac(&self, id: &[u8], at: &[u8], body: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        for part in [id, b".", at, b".", body] {
            mac.update(part);
        }
        Some(mac)
    }
}

/// The headers that say so. `id` is the same for every attempt at one delivery; it is of visible ASCII, as all our ids are, and
/// one that is not gives no headers, which nobody takes for signed.
pub fn sign(secret: &Secret, id: &str, at: Timestamp, body: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let seconds = at.0.div_euclid(1_000);
    let at = seconds.to_string();
    let mac = secret.mac(id.as_bytes(), at.as_bytes(), body);
    let signature =
        mac.map(|mac| format!("{VERSION}{}", BASE64.encode(mac.finalize().into_bytes())));
    if let (Ok(id), Some(Ok(signature))) =
        (HeaderValue::from_str(id), signature.map(HeaderValue::try_from))
    {
        headers.reserve(3);
        headers.insert(ID.clone(), id);
        headers.insert(TIMESTAMP.clone(), HeaderValue::from(seconds));
        headers.insert(SIGNATURE.clone(), signature);
    }
    headers
}

/// Whether that is signed, and lately. Gives the id, by which a repetition is known.
pub fn verify<'a>(
    secret: &Secret,
    headers: &'a HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<&'a str, Unsigned> {
    let one = |name: &HeaderName| {
        let mut all = headers.get_all(name).iter();
        let first = all.next().and_then(|value| value.to_str().ok());
        first.filter(|_| all.next().is_none()).ok_or(Unsigned::Headers)
    };
    let (id, at, signatures) = (one(&ID)?, one(&TIMESTAMP)?, one(&SIGNATURE)?);
    let seconds: i64 = at.parse().map_err(|_| Unsigned::Headers)?;
    if now.0.div_euclid(1_000).abs_diff(seconds) > TOLERANCE_S.unsigned_abs() {
        return Err(Unsigned::Time);
    }
    let mac = secret.mac(id.as_bytes(), at.as_bytes(), body).ok_or(Unsigned::Signature)?;
    // Several while the sender changes its secret; those of versions we do not know are passed over.
    let known = signatures.split(' ').take(SIGNATURES).filter_map(|s| s.strip_prefix(VERSION));
    let mut given = known.filter_map(|signature| BASE64.decode(signature).ok());
    if given.any(|signature| mac.clone().verify_slice(&signature).is_ok()) {
        Ok(id)
    } else {
        Err(Unsigned::Signature)
    }
}
