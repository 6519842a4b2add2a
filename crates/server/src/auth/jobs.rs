//! What the registry is trusted by: the tokens of callbacks, which are good for one job or one challenge, and
//! receipts and agent cards, which the host signs.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Timestamp, Uid};
use chorus_wire::registry::{CardSignature, KeySet, PublicKey};
use hmac::{Hmac, KeyInit, Mac};
use jsonwebtoken::{Algorithm, Header};
use serde::Serialize;
use sha2::Sha256;

use super::Auth;

/// What a callback's token begins with, so that it is known for a secret wherever it is seen.
const PREFIX: &str = "tok_";
/// How long an endpoint has to answer a challenge.
const CHALLENGE_MS: i64 = 10 * 60_000;
const AUDIENCE: &str = "chorus-receipt";

#[derive(Serialize)]
struct Payload<'a, T> {
    aud: &'static str,
    iss: &'a str,
    #[serde(flatten)]
    receipt: &'a T,
}

impl Auth {
    /// The token with which the result of a job is delivered.
    pub(crate) fn write_job_token(&self, job: Uid) -> String {
        self.write_token("job", job, Timestamp::default())
    }

    pub(crate) fn is_job_token(&self, token: &str, job: Uid) -> bool {
        self.reads_token(token, "job", job).is_some()
    }

    /// The token with which an agent answers a challenge of this endpoint.
    pub(crate) fn write_challenge(&self, agent: Uid, endpoint: &str, now: Timestamp) -> String {
        self.write_token(&format!("challenge {endpoint} "), agent, now.plus(CHALLENGE_MS))
    }

    pub(crate) fn is_challenge(
        &self,
        token: &str,
        agent: Uid,
        endpoint: &str,
        now: Timestamp,
    ) -> bool {
        let until = self.reads_token(token, &format!("challenge {endpoint} "), agent);
        until.is_some_and(|until| until > now)
    }

    fn write_token(&self, purpose: &str, of: Uid, until: Timestamp) -> String {
        let until = until.0.to_be_bytes();
        let mac = self.mac(purpose, of, until).finalize().into_bytes();
        let mut bytes = until.to_vec();
        bytes.extend_from_slice(&mac);
        format!("{PREFIX}{}", BASE64.encode(bytes))
    }

    fn reads_token(&self, token: &str, purpose: &str, of: Uid) -> Option<Timestamp> {
        let bytes = BASE64.decode(token.strip_prefix(PREFIX)?).ok()?;
        let (until, tag) = bytes.split_first_chunk::<8>()?;
        self.mac(purpose, of, *until).verify_slice(tag).ok()?;
        Some(Timestamp(i64::from_be_bytes(*until)))
    }

    /// With words of its own before it, so that no other token of this key is one of these.
    fn mac(&self, purpose: &str, of: Uid, until: [u8; 8]) -> Hmac<Sha256> {
        #[allow(clippy::expect_used, reason = "HMAC takes a key of any length")]
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.keys.load().turn).expect("HMAC takes any key");
        mac.update(b"registry ");
        mac.update(purpose.as_bytes());
        mac.update(&self.workspace.0.to_be_bytes());
        mac.update(&of.0.to_be_bytes());
        mac.update(&until);
        mac
    }

    /// A receipt as a JSON Web Signature. The same receipt is signed the same way.
    pub(crate) fn sign_receipt(&self, receipt: &impl Serialize) -> Result<String, Refusal> {
        let payload = Payload { aud: AUDIENCE, iss: &self.workspace_id, receipt };
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(self.kid().to_string());
        jsonwebtoken::encode(&header, &payload, &self.keys.load().signing)
            .map_err(|e| Refusal::new(Code::Internal, format!("the receipt is not signed: {e}")))
    }

    /// A signature over a card in its canonical form (RFC 7515 section 3, without the payload).
    /// `jku` is where the keys are. No card is a token: its payload has no claims.
    pub(crate) fn sign_card(&self, card: &str, jku: &str) -> CardSignature {
        let keys = self.keys.load();
        let header = serde_json::json!({
            "alg": "EdDSA", "jku": jku, "kid": &*keys.kid, "typ": "JOSE"
        });
        let protected = BASE64.encode(header.to_string());
        let signed = format!("{protected}.{}", BASE64.encode(card));
        let signature = BASE64.encode(keys.signer().sign(signed.as_bytes()));
        CardSignature { protected, signature }
    }

    /// The keys that verify what the host signs: its present one, and those that signed before it
    /// until their tokens have ended.
    pub(crate) fn published_keys(&self, now: Timestamp) -> KeySet {
        let mut keys = vec![published(&self.kid(), &self.public_key())];
        let retired = self.retired(now);
        keys.extend(retired.iter().filter_map(|old| Some(published(&old.kid, &old.public()?))));
        KeySet { keys }
    }
}

fn published(kid: &str, key: &[u8]) -> PublicKey {
    PublicKey {
        kty: "OKP".to_owned(),
        crv: "Ed25519".to_owned(),
        alg: "EdDSA".to_owned(),
        purpose: "sig".to_owned(),
        kid: kid.to_owned(),
        x: BASE64.encode(key),
    }
}
