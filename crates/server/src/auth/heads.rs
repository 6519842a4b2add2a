//! Signing the ends of the chains with the key that signs tokens. The audience is another, so that none is
//! ever taken for the other.

use std::borrow::Cow;

use chorus_core::model::error::{Code, Refusal};
use chorus_wire::rest::audit::{Heads, SignedHeads};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation};
use serde::{Deserialize, Serialize};

use super::Auth;

const AUDIENCE: &str = "chorus-heads";

#[derive(Serialize, Deserialize)]
struct Payload<'a> {
    aud: Cow<'a, str>,
    #[serde(flatten)]
    heads: Cow<'a, Heads>,
}

impl Auth {
    /// The heads as a JSON Web Signature.
    pub(crate) fn sign_heads(&self, heads: &Heads) -> Result<String, Refusal> {
        let payload = Payload { aud: AUDIENCE.into(), heads: Cow::Borrowed(heads) };
        jsonwebtoken::encode(&Header::new(Algorithm::EdDSA), &payload, &self.keys.load().signing)
            .map_err(|e| Refusal::new(Code::Internal, format!("the heads are not signed: {e}")))
    }

    /// The key with which a signature of this host is checked.
    pub(crate) fn public_key(&self) -> [u8; 32] {
        self.keys.load().signer().public()
    }
}

/// Whether the signature is over the heads it stands beside, by the key it names.
pub(crate) fn check_heads_signature(signed: &SignedHeads) -> bool {
    let pairs = signed.key.as_bytes().chunks_exact(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let Some(key) = pairs.map(byte).collect::<Option<Vec<u8>>>() else { return false };
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.validate_exp = false;
    validation.required_spec_claims.clear();
    validation.set_audience(&[AUDIENCE]);
    let key = DecodingKey::from_ed_der(&key);
    let read = jsonwebtoken::decode::<Payload<'static>>(&signed.signed, &key, &validation);
    read.is_ok_and(|read| *read.claims.heads == signed.heads)
}
