//! Tokens of other issuers: signed by whom the operator trusts, with keys that they publish, and pinned to a
//! workspace, algorithms and a highest role.
//!
//! Invariant: what such a token may do is decided by the settings, never by the token. Its header chooses among the
//! published keys and the allowed algorithms and nothing else; keys that cannot be had in time honour no token.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::model::caller::Authority;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::token::OPERATOR;
use jsonwebtoken::{Algorithm, Validation};
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::jwks::Published;
use super::token::{self, Claims, Use};
use super::ttl::LONGEST_TTL_S;
use super::{SKEW_MS, unauthorized};
use crate::config::issuers::{self, AccessTokens, Issuer};
use crate::config::kind::Kind;

/// The issuers of the settings, with the keys they publish.
#[derive(Default)]
pub(super) struct Foreign(Vec<Trusted>);

/// One of them.
pub(crate) struct Trusted {
    name: String,
    settings: Issuer,
    /// Members for whom other issuers speak.
    of_others: BTreeSet<String>,
    keys: Published,
}

impl Foreign {
    pub(super) fn new(all: &BTreeMap<String, Issuer>) -> Self {
        let trusted = all.iter().map(|(name, settings)| Trusted {
            name: name.clone(),
            settings: settings.clone(),
            of_others: all
                .iter()
                .filter(|(other, _)| *other != name)
                .flat_map(|(_, other)| other.members.iter().cloned())
                .collect(),
            keys: Published::new(settings),
        });
        Self(trusted.collect())
    }

    /// What the issuers call themselves.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|trusted| trusted.settings.issuer.clone()).collect()
    }

    /// The issuers through which people sign in to the page.
    pub(super) fn for_sign_in(&self) -> impl Iterator<Item = &Trusted> {
        self.0.iter().filter(|trusted| trusted.settings.client_id.is_some())
    }

    /// Whose the token says it is, when that is somebody trusted. Nothing of it is believed yet.
    pub(super) fn of(&self, token: &str) -> Option<&Trusted> {
        #[derive(Deserialize)]
        struct Stated {
            iss: String,
        }
        if self.0.is_empty() {
            return None;
        }
        let payload = BASE64.decode(token.split('.').nth(1)?).ok()?;
        let stated: Stated = serde_json::from_slice(&payload).ok()?;
        self.0.iter().find(|trusted| trusted.settings.issuer == stated.iss)
    }
}

/// What a token says whose signature and audience are right. It is not judged yet.
pub(super) struct Opened {
    typ: Option<String>,
    pub(super) claims: Map<String, Value>,
}

impl Trusted {
    /// Its name in the settings.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What it calls itself.
    pub(super) fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    pub(super) fn settings(&self) -> &Issuer {
        &self.settings
    }

    /// How long a token that was verified is not verified again: as long as its key may be withdrawn unnoticed.
    pub(super) fn trusted_for_ms(&self) -> i64 {
        self.settings.refresh.ms()
    }

    /// The claims of a token that is what it must be.
    pub(super) async fn verify(
        &self,
        token: &str,
        workspace: &str,
        now: Timestamp,
    ) -> Result<Claims, Refusal> {
        let opened = self.open(token, &self.settings.audience, now).await?;
        self.must_be_for_calls(opened.typ.as_deref(), &opened.claims)?;
        self.judge(&opened.claims, token, workspace, now)
    }

    /// The claims of a token that this issuer has signed for an audience.
    pub(super) async fn open(
        &self,
        token: &str,
        audience: &str,
        now: Timestamp,
    ) -> Result<Opened, Refusal> {
        let header = jsonwebtoken::decode_header(token).map_err(|e| {
            let none = unsigned(token);
            unauthorized(if none { token::UNSIGNED.to_owned() } else { token::why_not(&e) })
        })?;
        if !self.settings.algorithms.iter().any(|allowed| algorithm(*allowed) == header.alg) {
            let allowed = self.settings.algorithms.show();
            let why = format!("tokens of this issuer are signed with one of {allowed}");
            return Err(unauthorized(why));
        }
        if header.crit.is_some() {
            let why =
                "the token has an extension that must be understood (crit) and is not known here";
            return Err(unauthorized(why));
        }
        let key = self.keys.find(header.kid.as_deref(), header.alg, now).await?;
        let mut validation = Validation::new(header.alg);
        // Time is the host's own clock's, below.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.required_spec_claims.clear();
        validation.required_spec_claims.insert("aud".to_owned());
        validation.required_spec_claims.insert("iss".to_owned());
        validation.set_audience(&[audience]);
        validation.set_issuer(&[&self.settings.issuer]);
        let claims = jsonwebtoken::decode::<Map<String, Value>>(token, &key, &validation)
            .map_err(|e| unauthorized(token::why_not(&e)))?
            .claims;
        Ok(Opened { typ: header.typ, claims })
    }

    /// Refuses what was not made for calling a service: an ID token tells an application who has signed in, and others
    /// tell of sign-outs, changes or proofs.
    fn must_be_for_calls(
        &self,
        typ: Option<&str>,
        claims: &Map<String, Value>,
    ) -> Result<(), Refusal> {
        let shown = made_for(typ, claims);
        let taken = match self.settings.access_tokens {
            AccessTokens::Typed => shown == MadeFor::Typed,
            AccessTokens::Recognized => matches!(shown, MadeFor::Typed | MadeFor::Access),
            AccessTokens::Any => shown != MadeFor::Other,
        };
        let why = match shown {
            _ if taken => return Ok(()),
            MadeFor::Id => {
                "the token is an ID token, which says who has signed in; call with an access token"
            }
            MadeFor::Other => "the token is of another kind than an access token (typ)",
            MadeFor::Typed | MadeFor::Access | MadeFor::Unknown => {
                "the token does not show that it is an access token (typ: at+jwt); the operator says in \
                 [issuers.NAME] access_tokens which are taken"
            }
        };
        Err(unauthorized(why))
    }

    /// What the claims come to by the settings: for which member they speak, and with which role.
    pub(super) fn judge(
        &self,
        claims: &Map<String, Value>,
        token: &str,
        workspace: &str,
        now: Timestamp,
    ) -> Result<Claims, Refusal> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let time = |name: &str| {
            let seconds = claims.get(name).and_then(Value::as_f64)?;
            Some(Timestamp((seconds * 1000.0) as i64))
        };
        let expires = time("exp").ok_or_else(|| unauthorized("the token has no end (exp)"))?;
        let begins = [time("nbf"), time("iat")].into_iter().flatten().max();
        if begins.is_some_and(|begins| begins > now.plus(SKEW_MS)) {
            return Err(unauthorized("the token is not valid yet"));
        }
        let pinned = self.settings.workspace.as_deref().unwrap_or(workspace);
        if pinned != workspace || text("workspace_id").is_some_and(|stated| stated != workspace) {
            return Err(Refusal::new(
                Code::OutOfScopeWorkspace,
                "the token is for another workspace",
            ));
        }
        let claim = &self.settings.member_claim;
        let agent = text(claim).ok_or_else(|| unauthorized(format!("the token has no {claim}")))?;
        let listed = &self.settings.members;
        let may = match listed.is_empty() {
            true => agent != OPERATOR && !self.of_others.contains(agent),
            false => listed.iter().any(|member| member == agent),
        };
        if !may {
            return Err(Refusal::new(
                Code::Forbidden,
                "this issuer's tokens do not speak for that member",
            ));
        }
        // Revoked here by an id of our own, since another's may be anything.
        let named = text("jti").unwrap_or(token);
        let jti = Sha256::digest(format!("{}\n{named}", self.name).as_bytes());
        let jti: String = jti.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        // A revocation is remembered for so long.
        let latest = now.plus(LONGEST_TTL_S as i64 * 1000);
        Ok(Claims {
            agent: agent.into(),
            authority: self.role(claims)?,
            session: None,
            jti: jti.into(),
            issued: time("iat").unwrap_or_default(),
            expires: expires.min(latest),
            used: Use::Bearer,
            parents: [].into(),
            retired: None,
            verify_again: Some(now.plus(self.trusted_for_ms())),
        })
    }

    fn role(&self, claims: &Map<String, Value>) -> Result<Authority, Refusal> {
        let Some(stated) = claims.get(&self.settings.role_claim) else {
            return Ok(Authority::Worker);
        };
        let role = stated.as_str().and_then(Authority::from_name);
        let role = role.ok_or_else(|| unauthorized("the token's role is unknown"))?;
        if !self.settings.highest_role.allows(role) {
            return Err(Refusal::new(
                Code::InsufficientAuthority,
                "the token asks for a higher role than its issuer may give",
            ));
        }
        Ok(role)
    }
}

/// What a token was made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MadeFor {
    /// For calls, as its header says (RFC 9068).
    Typed,
    /// For calls, as its claims say.
    Access,
    /// To tell an application who has signed in.
    Id,
    /// Something else.
    Other,
    Unknown,
}

/// Claims that only tokens for calls have: what may be done (OAuth, Entra, Okta), and for which client they were made
/// (RFC 9068, Okta, Entra, Auth0).
const OF_ACCESS: [&str; 7] = ["scope", "scp", "client_id", "cid", "appid", "azpacr", "gty"];
/// Claims that only ID tokens have (OpenID Connect Core, 2 and 3.3.2.11).
const OF_ID: [&str; 4] = ["nonce", "at_hash", "c_hash", "s_hash"];

fn made_for(typ: Option<&str>, claims: &Map<String, Value>) -> MadeFor {
    let typ = typ.map(str::to_ascii_lowercase);
    match typ.as_deref().map(|typ| typ.strip_prefix("application/").unwrap_or(typ)) {
        Some("at+jwt") => return MadeFor::Typed,
        None | Some("jwt") => {}
        Some(_) => return MadeFor::Other,
    }
    // Keycloak and Cognito say it in a claim.
    for (claim, access, id) in [("typ", "Bearer", "ID"), ("token_use", "access", "id")] {
        match claims.get(claim).and_then(Value::as_str) {
            Some(stated) if stated == access => return MadeFor::Access,
            Some(stated) if stated == id => return MadeFor::Id,
            Some(_) => return MadeFor::Other,
            None => {}
        }
    }
    let has_one = |names: &[&str]| names.iter().any(|name| claims.contains_key(*name));
    match (has_one(&OF_ID), has_one(&OF_ACCESS)) {
        (true, _) => MadeFor::Id,
        (false, true) => MadeFor::Access,
        (false, false) => MadeFor::Unknown,
    }
}

/// Whether a token's header says that nobody has signed it.
fn unsigned(token: &str) -> bool {
    let header = token.split('.').next().and_then(|header| BASE64.decode(header).ok());
    let header: Option<Map<String, Value>> = header.and_then(|h| serde_json::from_slice(&h).ok());
    header.is_some_and(|h| h.get("alg").and_then(Value::as_str) == Some("none"))
}

fn algorithm(allowed: issuers::Algorithm) -> Algorithm {
    match allowed {
        issuers::Algorithm::Rs256 => Algorithm::RS256,
        issuers::Algorithm::Rs384 => Algorithm::RS384,
        issuers::Algorithm::Rs512 => Algorithm::RS512,
        issuers::Algorithm::Ps256 => Algorithm::PS256,
        issuers::Algorithm::Ps384 => Algorithm::PS384,
        issuers::Algorithm::Ps512 => Algorithm::PS512,
        issuers::Algorithm::Es256 => Algorithm::ES256,
        issuers::Algorithm::Es384 => Algorithm::ES384,
        issuers::Algorithm::EdDsa => Algorithm::EdDSA,
    }
}
