//! What a delivery has to show beside the secret, where the agent's owner asks for it: its address, a signature, a token.
//!
//! Whatever fails, the answer is the same as for a secret that is nobody's.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, header};
use chorus_core::model::endpoint::Secret;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::inbox::Inbox;
use ipnet::IpNet;
use jsonwebtoken::Validation;
use serde_json::{Map, Value};

use super::public_key::{PublicKey, has_private_key};
use super::shown_id;
use crate::auth::SKEW_MS;
use crate::egress::{Secret as Signing, verify};
use crate::services::inboxes::InboxService;

/// Longest token that is looked at, in bytes.
const TOKEN_BYTES: usize = 8 * 1024;
/// Said of a secret that is nobody's, and of a delivery that does not show what it has to.
pub(super) fn unknown() -> Refusal {
    let why = "this is no connection string, or its owner asks for more than it came with";
    Refusal::new(Code::Unauthorized, why)
}

/// Networks and addresses, in their one way of being written.
pub(super) fn networks(texts: &[String]) -> Result<Vec<Arc<str>>, Refusal> {
    let read = |text: &String| {
        let found = network(text).ok_or_else(|| {
            // What was sent may be anything and long.
            let shown: String = text.chars().take(64).collect();
            Refusal::invalid(format!(
                "{shown:?} is no network or address, such as 192.0.2.0/24 or 2001:db8::1"
            ))
        })?;
        Ok(found.to_string().into())
    };
    texts.iter().map(read).collect()
}

fn network(text: &str) -> Option<IpNet> {
    let address = || text.parse::<IpAddr>().map(|ip| IpNet::from(ip.to_canonical()));
    let network = text.parse::<IpNet>().or_else(|_| address()).ok()?;
    (network.trunc() == network).then_some(network)
}

/// A public key that tokens can be verified with.
pub(super) fn public_key(pem: Option<&str>) -> Result<Option<Arc<str>>, Refusal> {
    let Some(pem) = pem else { return Ok(None) };
    if has_private_key(pem) {
        return Err(Refusal::invalid("jwt_key is a public key; keep the private one to yourself"));
    }
    if PublicKey::read(pem).is_none_or(|key| !key.is_usable()) {
        return Err(Refusal::invalid(
            "jwt_key is a public key in PEM: of Ed25519, of P-256 or P-384, or of RSA with 2048 to 8192 bits",
        ));
    }
    Ok(Some(pem.into()))
}

impl InboxService {
    pub(super) fn sealed_secret(&self, secret: Option<&str>) -> Result<Option<Secret>, Refusal> {
        let Some(secret) = secret else { return Ok(None) };
        if Signing::parse(secret).is_none() {
            return Err(Refusal::invalid(
                "signing_secret is whsec_ and the base64 of 24 to 64 bytes (Standard Webhooks)",
            ));
        }
        self.auth.vault().seal(secret).map(Some)
    }

    /// What can be looked at before the body is read.
    pub(crate) fn check_sender(
        &self,
        inbox: &Inbox,
        from: Option<IpAddr>,
        headers: &HeaderMap,
    ) -> Result<(), Refusal> {
        let allow = &inbox.checks.allow;
        let allowed = |text: &Arc<str>| {
            let network = text.parse::<IpNet>().ok();
            network.zip(from).is_some_and(|(network, ip)| network.contains(&ip.to_canonical()))
        };
        if !allow.is_empty() && !allow.iter().any(allowed) {
            return Err(unknown());
        }
        match &inbox.checks.key {
            Some(pem) if !is_token(headers, pem, &shown_id(inbox.uid), self.clock.now()) => {
                Err(unknown())
            }
            _ => Ok(()),
        }
    }

    /// Whether the body is signed, where it must be.
    pub(crate) fn check_signature(
        &self,
        inbox: &Inbox,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<(), Refusal> {
        let Some(sealed) = &inbox.checks.signing else { return Ok(()) };
        let secret = self.auth.vault().open(sealed);
        let secret = secret.and_then(|text| Signing::parse(&text));
        let signed = secret.is_some_and(|s| verify(&s, headers, body, self.clock.now()).is_ok());
        if signed { Ok(()) } else { Err(unknown()) }
    }
}

/// A bearer token for this inbox, verified with the owner's key, that has not ended.
fn is_token(headers: &HeaderMap, pem: &str, audience: &str, now: Timestamp) -> bool {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some((scheme, token)) = value.and_then(|value| value.split_once(' ')) else { return false };
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.len() > TOKEN_BYTES {
        return false;
    }
    let Ok(head) = jsonwebtoken::decode_header(token) else { return false };
    // An extension that must be understood (RFC 7515 section 4.1.11) is one that is not known here.
    let key = PublicKey::read(pem).filter(|_| head.crit.is_none());
    let Some(key) = key.and_then(|key| key.decoding(head.alg)) else { return false };
    let mut validation = Validation::new(head.alg);
    // Time is the host's own clock's, below.
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.required_spec_claims.clear();
    validation.required_spec_claims.insert("aud".to_owned());
    validation.set_audience(&[audience]);
    let Ok(read) = jsonwebtoken::decode::<Map<String, Value>>(token, &key, &validation) else {
        return false;
    };
    let time = |name: &str| {
        let seconds = read.claims.get(name).and_then(Value::as_f64)?;
        Some(Timestamp((seconds * 1000.0) as i64))
    };
    let begun = [time("nbf"), time("iat")].into_iter().flatten().all(|at| at <= now.plus(SKEW_MS));
    begun && time("exp").is_some_and(|end| now < end.plus(SKEW_MS))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // covers: WHK-66
    #[test]
    fn networks_are_written_one_way() {
        let read = |text: &str| networks(&[text.to_owned()]).map(|all| all[0].to_string());
        for (text, kept) in [
            ("192.0.2.0/24", "192.0.2.0/24"),
            ("192.0.2.7", "192.0.2.7/32"),
            ("::ffff:192.0.2.7", "192.0.2.7/32"),
            ("2001:db8::/32", "2001:db8::/32"),
        ] {
            assert_eq!(read(text).unwrap(), kept);
        }
        for bad in ["", "192.0.2.1/24", "example.com", "192.0.2.0/33", "*"] {
            assert_eq!(read(bad).unwrap_err().code, Code::ValidationError, "{bad}");
        }
    }
}
