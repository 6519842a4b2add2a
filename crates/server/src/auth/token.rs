//! Member tokens: EdDSA JWTs with the claims of the threads spec, section 4.
//!
//! One algorithm is accepted, whatever the header says; time is checked by the caller against the host's own
//! clock, not here.

use std::sync::Arc;

use chorus_core::command::Authority;
use chorus_core::error::{Code, Refusal};
use chorus_core::ids::{Prefix, Timestamp, Uid};
use jsonwebtoken::{Algorithm, Header, Validation};
use serde::{Deserialize, Serialize};

use super::keys::Keys;

const AUDIENCE: &str = "chorus";

/// What a verified token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claims {
    pub agent: Arc<str>,
    pub authority: Authority,
    pub session: Option<Uid>,
    pub jti: Arc<str>,
    pub expires: Timestamp,
    /// When the signature of another issuer's token is to be checked again; its key may be withdrawn.
    pub verify_again: Option<Timestamp>,
}

/// What a new token is to say.
#[derive(Clone, Debug)]
pub(crate) struct Issued<'a> {
    pub agent: &'a str,
    pub authority: Authority,
    pub session: Option<Uid>,
    pub owner: Option<&'a str>,
    pub jti: &'a str,
    pub at: Timestamp,
    pub expires: Timestamp,
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
        aud: AUDIENCE.into(),
        owner_id: issued.owner.map(Into::into),
    };
    jsonwebtoken::encode(&Header::new(Algorithm::EdDSA), &payload, &keys.signing)
        .map_err(|e| Refusal::new(Code::Internal, format!("the token could not be signed: {e}")))
}

/// The claims of a token whose signature, audience and workspace are right.
pub(super) fn decode(token: &str, keys: &Keys, workspace: &str) -> Result<Claims, Refusal> {
    let refused = |why: String| Refusal::new(Code::Unauthorized, why);
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.validate_exp = false;
    validation.required_spec_claims.clear();
    validation.set_audience(&[AUDIENCE]);
    validation.required_spec_claims.insert("aud".to_owned());
    let payload = jsonwebtoken::decode::<Payload<'static>>(token, &keys.verifying, &validation)
        .map_err(|e| refused(format!("the token is not valid here: {e}")))?
        .claims;
    if payload.workspace_id != workspace {
        return Err(Refusal::new(Code::OutOfScopeWorkspace, "the token is for another workspace"));
    }
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
        expires: Timestamp(payload.exp.saturating_mul(1000)),
        verify_again: None,
    })
}
