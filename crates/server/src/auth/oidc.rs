//! Signing in through an issuer of the settings: the authorization code flow of OpenID Connect, with
//! PKCE (RFC 7636).
//!
//! Invariant: a code is redeemed only for the browser that was sent out for it, once, and the ID
//! token counts only for the nonce that went with that browser.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::model::caller::Authority;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

use super::foreign::Trusted;
use super::token::Claims;
use super::{Auth, fetch, unauthorized};
use crate::config::issuers::is_safe;

/// How long somebody has to sign in with the issuer.
pub(crate) const SENT_OUT_MS: i64 = 10 * 60_000;
/// Browsers that are out at once; the oldest gives way.
const SENT_OUT: usize = 1_000;

/// Browsers that were sent to an issuer and have not come back.
#[derive(Default)]
pub(crate) struct SentOut(Mutex<Vec<Browser>>);

/// One of them.
pub(crate) struct Browser {
    state: [u8; 32],
    /// The name of the issuer in the settings.
    pub issuer: String,
    verifier: String,
    nonce: String,
    until: Timestamp,
}

/// Where a browser is to go, and the secret by which it is known when it comes back.
pub(crate) struct Way {
    pub url: Url,
    pub state: String,
}

impl SentOut {
    fn put(&self, browser: Browser, now: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|browser| now < browser.until);
        if all.len() >= SENT_OUT {
            all.remove(0);
        }
        all.push(browser);
    }

    /// The browser that was sent out with this state; it comes back once.
    pub(crate) fn take(&self, state: &str, now: Timestamp) -> Option<Browser> {
        let hash = hash(state);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|browser| browser.state == hash)?;
        Some(all.remove(at)).filter(|browser| now < browser.until)
    }
}

impl Auth {
    /// The names of the issuers through which people sign in to the page.
    pub(crate) fn ways_to_sign_in(&self) -> impl Iterator<Item = &str> {
        self.foreign.for_sign_in().map(Trusted::name)
    }

    /// One of them.
    fn way_to_sign_in(&self, name: &str) -> Result<&Trusted, Refusal> {
        let mut ways = self.foreign.for_sign_in();
        ways.find(|way| way.name() == name).ok_or_else(|| Refusal::not_found("way to sign in"))
    }

    /// Sends a browser to an issuer, to come back to the address `back`.
    pub(crate) async fn send_out(
        &self,
        sent_out: &SentOut,
        issuer: &str,
        random: [[u8; 32]; 3],
        back: &str,
        now: Timestamp,
    ) -> Result<Way, Refusal> {
        self.way_to_sign_in(issuer)?.send_out(sent_out, random, back, now).await
    }

    /// The id of the member whom the issuer names for the code that a browser has brought back, and
    /// with which authority.
    pub(crate) async fn redeem(
        &self,
        sent_out: &SentOut,
        state: &str,
        code: &str,
        back: &str,
        now: Timestamp,
    ) -> Result<(Arc<str>, Authority), Refusal> {
        let browser = sent_out.take(state, now).ok_or_else(|| {
            unauthorized("this sign-in was ended, or its ten minutes are over; begin again")
        })?;
        let issuer = self.way_to_sign_in(&browser.issuer)?;
        let claims = issuer.redeem(&browser, code, back, &self.workspace_id, now).await?;
        Ok((claims.agent, claims.authority))
    }
}

/// What an issuer publishes about itself (OpenID Connect Discovery).
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
}

#[derive(Deserialize)]
struct TokenAnswer {
    id_token: Option<String>,
    error: Option<String>,
}

impl Trusted {
    /// Where a browser signs in, and by what it is known when it comes back to `back`.
    pub(crate) async fn send_out(
        &self,
        sent_out: &SentOut,
        random: [[u8; 32]; 3],
        back: &str,
        now: Timestamp,
    ) -> Result<Way, Refusal> {
        let client_id = self.client_id()?;
        let [state, verifier, nonce] = random.map(|bytes| BASE64.encode(bytes));
        let metadata = self.metadata().await?;
        let mut url = endpoint(&metadata.authorization_endpoint)?;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", client_id)
            .append_pair("redirect_uri", back)
            .append_pair("scope", "openid")
            .append_pair("state", &state)
            .append_pair("nonce", &nonce)
            .append_pair("code_challenge", &BASE64.encode(hash(&verifier)))
            .append_pair("code_challenge_method", "S256");
        let issuer = self.name().to_owned();
        let until = now.plus(SENT_OUT_MS);
        sent_out.put(Browser { state: hash(&state), issuer, verifier, nonce, until }, now);
        Ok(Way { url, state })
    }

    /// Whom the issuer names for the code that a browser has brought back.
    pub(crate) async fn redeem(
        &self,
        browser: &Browser,
        code: &str,
        back: &str,
        workspace: &str,
        now: Timestamp,
    ) -> Result<Claims, Refusal> {
        let client_id = self.client_id()?;
        let metadata = self.metadata().await?;
        let url = endpoint(&metadata.token_endpoint)?;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", back),
            ("code_verifier", &*browser.verifier),
        ];
        let mut request = fetch::client().map_err(unavailable)?.post(url);
        match self.client_secret()? {
            // Both are written as in a form before they are joined (RFC 6749, 2.3.1).
            Some(secret) => {
                let [id, secret] = [client_id, &*secret].map(as_in_a_form);
                request = request.basic_auth(id, Some(secret));
            }
            None => form.push(("client_id", client_id)),
        }
        let body = serde_urlencoded::to_string(&form).map_err(|e| unavailable(e.to_string()))?;
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let asked = fetch::answer::<TokenAnswer>(request.body(body)).await.map_err(unavailable)?;
        let Some(id_token) = asked.1.id_token else {
            let why = asked.1.error.unwrap_or_else(|| format!("HTTP {}", asked.0));
            let name = self.name();
            return Err(unauthorized(format!("{name} gave no token for this sign-in: {why}")));
        };
        let opened = self.open(&id_token, client_id, now).await?;
        let text = |name: &str| opened.claims.get(name).and_then(Value::as_str);
        if text("nonce") != Some(&*browser.nonce) {
            return Err(unauthorized("the issuer's answer is for another sign-in; begin again"));
        }
        // A token for several must say for whom it was made.
        let is_for_several = opened.claims.get("aud").is_some_and(Value::is_array);
        if text("azp").map_or(is_for_several, |azp| azp != client_id) {
            return Err(unauthorized("the issuer's answer was made for another application"));
        }
        let claims = self.judge(&opened.claims, &id_token, workspace, now)?;
        if claims.expires.plus(super::SKEW_MS) <= now {
            return Err(unauthorized("the issuer's answer has expired; begin again"));
        }
        Ok(claims)
    }

    async fn metadata(&self) -> Result<Metadata, Refusal> {
        let issuer = self.issuer();
        let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        if !is_safe(&url) {
            let why = "issuer is no https address, so that nobody can sign in with it";
            return Err(unavailable(why.to_owned()));
        }
        let metadata: Metadata = fetch::get(&url).await.map_err(|why| {
            tracing::warn!(url, why, "what an issuer says of itself cannot be had");
            unavailable(why)
        })?;
        if metadata.issuer != issuer {
            return Err(unavailable(format!("it calls itself {}", metadata.issuer)));
        }
        Ok(metadata)
    }

    /// The id by which the issuer knows this host.
    fn client_id(&self) -> Result<&str, Refusal> {
        self.settings().client_id.as_deref().ok_or_else(|| Refusal::not_found("way to sign in"))
    }

    fn client_secret(&self) -> Result<Option<String>, Refusal> {
        let Some(file) = &self.settings().client_secret_file else { return Ok(None) };
        let text = std::fs::read_to_string(file).map_err(|e| {
            tracing::error!(file = %file.display(), why = %e, "the secret cannot be read");
            unavailable("the host cannot read its client_secret_file".to_owned())
        })?;
        Ok(Some(text.trim().to_owned()))
    }
}

fn endpoint(url: &str) -> Result<Url, Refusal> {
    let parsed = Url::parse(url).ok().filter(|_| is_safe(url));
    parsed.ok_or_else(|| unavailable(format!("{url} is no https address")))
}

fn unavailable(why: String) -> Refusal {
    let why = format!("the issuer cannot be asked now: {why}; try again in a moment");
    Refusal::new(Code::Unavailable, why)
}

fn as_in_a_form(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_browser_comes_back_once_in_its_ten_minutes() {
        let out = SentOut::default();
        let browser = |state: &str| Browser {
            state: hash(state),
            issuer: "corp".into(),
            verifier: "v".into(),
            nonce: "n".into(),
            until: Timestamp(SENT_OUT_MS),
        };
        out.put(browser("a"), Timestamp(0));
        out.put(browser("b"), Timestamp(0));
        assert_eq!(out.take("a", Timestamp(1)).unwrap().issuer, "corp");
        assert!(out.take("a", Timestamp(1)).is_none(), "it came back");
        assert!(out.take("c", Timestamp(1)).is_none(), "nobody was sent out so");
        assert!(out.take("b", Timestamp(SENT_OUT_MS)).is_none(), "its time is over");
        for n in 0..=SENT_OUT {
            out.put(browser(&n.to_string()), Timestamp(0));
        }
        assert!(out.take("0", Timestamp(1)).is_none(), "the oldest gave way");
        assert!(out.take("1", Timestamp(1)).is_some());
    }

    #[test]
    fn the_challenge_is_that_of_the_rfc() {
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert_eq!(BASE64.encode(hash(verifier)), challenge);
    }
}
