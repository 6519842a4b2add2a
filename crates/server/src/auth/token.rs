//! Member tokens: EdDSA JWTs with the claims of the threads spec, section 4.
//!
//! One algorithm is accepted, whatever the header says; time is checked by the caller against the host's own
//! clock, not here.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::model::caller::Authority;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Hash;
use chorus_core::model::ids::{Prefix, Timestamp, Uid};
use chorus_core::model::token;
use jsonwebtoken::{Algorithm, Header, Validation};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::keys::{Keys, Retired};

/// What a token is good for, as its audience says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The credentials of whoever bears it.
    Bearer,
    /// It can be accepted, and nothing else.
    Invitation,
    /// The session of a browser, which only pages read: other servers of the same machine are sent its cookie too.
    Browser,
}

impl Use {
    const ALL: [Self; 3] = [Self::Bearer, Self::Invitation, Self::Browser];

    fn audience(self) -> &'static str {
        match self {
            Self::Bearer => "chorus",
            Self::Invitation => "chorus-invitation",
            Self::Browser => "chorus-browser",
        }
    }
}

/// A token from which another one stems, and ends with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parent {
    pub jti: Arc<str>,
    /// When it was made, in milliseconds since the Unix epoch.
    #[serde(with = "milliseconds")]
    pub iat_ms: Timestamp,
}

mod milliseconds {
    use chorus_core::model::ids::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(at.0)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(from).map(Timestamp)
    }
}

const UNKNOWN_KEY: &str = "the token is signed with a key that this host does not sign with, or not any more; ask \
                           the operator for a new one";

/// What a verified token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claims {
    pub agent: Arc<str>,
    pub authority: Authority,
    pub session: Option<Uid>,
    pub jti: Arc<str>,
    /// When it was made; of one that does not say it, long ago.
    pub issued: Timestamp,
    pub expires: Timestamp,
    pub used: Use,
    /// What it stems from, the first one first.
    pub parents: Arc<[Parent]>,
    /// The SHA-256 of a token that is signed with a key that signs no more.
    pub retired: Option<Hash>,
    /// When the signature of another issuer's token is to be checked again; its key may be withdrawn.
    pub verify_again: Option<Timestamp>,
}

impl Claims {
    /// Whether this is the token that stands in the list. Of those of older versions the list has no hash: then all that
    /// it says of them is compared.
    pub(super) fn is(&self, listed: &token::Issued, proof: Hash) -> bool {
        let seconds = |at: Timestamp| at.0.div_euclid(1000) * 1000;
        match listed.proof {
            Some(listed) => listed == proof,
            None => {
                (self.authority, self.session) == (listed.authority, listed.session)
                    && (self.issued.0, self.expires.0)
                        == (seconds(listed.issued), seconds(listed.expires))
            }
        }
    }
}

/// What a new token is to say.
#[derive(Clone, Debug)]
pub(crate) struct Issued<'a> {
    pub agent: &'a str,
    pub authority: Authority,
    pub session: Option<Uid>,
    pub owner: Option<&'a str>,
    pub jti: &'a str,
    /// What nobody sees who is shown the list of tokens, so that a token cannot be made again of what that says.
    pub nonce: Uid,
    pub at: Timestamp,
    pub expires: Timestamp,
    pub used: Use,
    pub parents: &'a [Parent],
}

#[derive(Serialize, Deserialize)]
struct Payload<'a> {
    agent_id: std::borrow::Cow<'a, str>,
    workspace_id: std::borrow::Cow<'a, str>,
    role: std::borrow::Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// Seconds since the Unix epoch, as JWT has them.
    iat: i64,
    exp: i64,
    jti: std::borrow::Cow<'a, str>,
    aud: std::borrow::Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner_id: Option<std::borrow::Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nonce: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parents: Vec<Parent>,
}

pub(super) fn encode(issued: &Issued<'_>, keys: &Keys, workspace: &str) -> Result<String, Refusal> {
    let payload = Payload {
        agent_id: issued.agent.into(),
        workspace_id: workspace.into(),
        role: issued.authority.name().into(),
        session_id: issued.session.map(|s| s.show(Prefix::Session)),
        iat: issued.at.0.div_euclid(1000),
        exp: issued.expires.0.div_euclid(1000),
        jti: issued.jti.into(),
        aud: issued.used.audience().into(),
        owner_id: issued.owner.map(Into::into),
        nonce: Some(format!("{:032x}", issued.nonce.0)),
        parents: issued.parents.to_vec(),
    };
    let header = Header { kid: Some(keys.kid.to_string()), ..Header::new(Algorithm::EdDSA) };
    jsonwebtoken::encode(&header, &payload, &keys.signing)
        .map_err(|e| Refusal::new(Code::Internal, format!("the token could not be signed: {e}")))
}

/// The claims of a token whose signature, audience and workspace are right.
pub(super) fn decode(
    token: &str,
    keys: &Keys,
    workspace: &str,
    now: Timestamp,
) -> Result<Claims, Refusal> {
    let refused = |why: String| Refusal::new(Code::Unauthorized, why);
    let kid = check(token).map_err(&refused)?;
    let retired = kid.as_deref().filter(|kid| **kid != *keys.kid).map(|kid| {
        let old = keys.retired.iter().find(|old| *old.kid == *kid && old.until() > now);
        old.and_then(Retired::verifying).ok_or_else(|| refused(UNKNOWN_KEY.to_owned()))
    });
    let retired = retired.transpose()?;
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.validate_exp = false;
    validation.required_spec_claims.clear();
    validation.set_audience(&Use::ALL.map(Use::audience));
    validation.required_spec_claims.insert("aud".to_owned());
    let key = retired.as_ref().unwrap_or(&keys.verifying);
    let payload = jsonwebtoken::decode::<Payload<'static>>(token, key, &validation)
        .map_err(|e| refused(why_not(&e)))?
        .claims;
    if payload.workspace_id != workspace {
        return Err(Refusal::new(Code::OutOfScopeWorkspace, "the token is for another workspace"));
    }
    let used = Use::ALL.into_iter().find(|used| payload.aud == used.audience());
    let used = used.ok_or_else(|| refused("the token is for another service (aud)".to_owned()))?;
    let authority = Authority::from_name(&payload.role)
        .ok_or_else(|| refused("the token's role is unknown".to_owned()))?;
    let session = payload.session_id.as_deref().map(|id| {
        Uid::read(Prefix::Session, id)
            .ok_or_else(|| refused("the token's session id is malformed".to_owned()))
    });
    Ok(Claims {
        agent: payload.agent_id.as_ref().into(),
        authority,
        session: session.transpose()?,
        jti: payload.jti.as_ref().into(),
        issued: Timestamp(payload.iat.saturating_mul(1000)),
        expires: Timestamp(payload.exp.saturating_mul(1000)),
        used,
        parents: payload.parents.into(),
        retired: retired.map(|_| Sha256::digest(token).into()),
        verify_again: None,
    })
}

/// What stands before the signature of a token, as far as that alone shows that it is none of ours; gives the name of
/// the key that it says it is signed with.
fn check(token: &str) -> Result<Option<String>, String> {
    #[derive(Deserialize)]
    struct Stated {
        #[serde(default)]
        alg: String,
        #[serde(default)]
        kid: Option<String>,
        #[serde(default)]
        iss: Option<String>,
    }
    let parts: Vec<_> = token.split('.').collect();
    let read = |part: &str| {
        let bytes = BASE64.decode(part).ok()?;
        serde_json::from_slice::<Stated>(&bytes).ok()
    };
    let [header, payload, _] = parts[..] else { return Err(NO_TOKEN.to_owned()) };
    let header = read(header).ok_or(NO_TOKEN)?;
    if header.alg.eq_ignore_ascii_case("none") {
        return Err(UNSIGNED.to_owned());
    }
    let payload = read(payload).ok_or(NO_TOKEN)?;
    if payload.iss.is_some() {
        return Err("the token is of an issuer that this host does not trust; the operator names issuers in \
                    [issuers.NAME]"
            .to_owned());
    }
    if header.alg != "EdDSA" {
        return Err("the token is not signed as this host's are (alg: EdDSA)".to_owned());
    }
    Ok(header.kid)
}

pub(super) const UNSIGNED: &str =
    "the token says that it is not signed (alg: none); such a token is never honoured";
const NO_TOKEN: &str = "this is no token; `chorus token issue` gives one";

/// Why a signed token is not honoured, in words.
pub(super) fn why_not(error: &jsonwebtoken::errors::Error) -> String {
    use jsonwebtoken::errors::ErrorKind;
    match error.kind() {
        ErrorKind::InvalidSignature => {
            "the token's signature is not that of the key it names: it was changed, or \
                                        signed by somebody else"
                .to_owned()
        }
        ErrorKind::InvalidAudience => "the token is for another service (aud)".to_owned(),
        ErrorKind::InvalidIssuer => "the token is of another issuer (iss)".to_owned(),
        ErrorKind::MissingRequiredClaim(claim) => format!("the token does not say its {claim}"),
        ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName => {
            "the token is signed in a way that is not honoured here (alg)".to_owned()
        }
        ErrorKind::Json(_) => "the token does not say what a token must".to_owned(),
        _ => NO_TOKEN.to_owned(),
    }
}
