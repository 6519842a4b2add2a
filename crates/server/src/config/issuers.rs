//! `[issuers.NAME]`: whose tokens are honoured beside the host's own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chorus_core::model::caller::Authority;

use super::kind::Span;
use super::section::{section, words};

words! {
    /// How a token may be signed: by a key whose other half is public, never by a shared secret and never not at all.
    Algorithm {
        "RS256" = Rs256,
        "RS384" = Rs384,
        "RS512" = Rs512,
        "PS256" = Ps256,
        "PS384" = Ps384,
        "PS512" = Ps512,
        "ES256" = Es256,
        "ES384" = Es384,
        "EdDSA" = EdDsa,
    }
}

words! {
    /// The most that a token may ask for.
    HighestRole {
        "worker" = Worker,
        /// Reads all, writes nothing.
        "auditor" = Auditor,
        "orchestrator" = Orchestrator,
    }
}

impl HighestRole {
    /// An orchestrator may be an auditor too; nobody from outside is an operator.
    pub(crate) fn allows(self, asked: Authority) -> bool {
        match asked {
            Authority::Worker => true,
            Authority::Auditor => self != Self::Worker,
            Authority::Orchestrator => self == Self::Orchestrator,
            Authority::Operator => false,
        }
    }
}

words! {
    /// What shows that a token was made for calling a service, and not for telling an application who has signed in.
    AccessTokens {
        /// Its header (RFC 9068).
        "typed" = Typed,
        /// Its header, or else its claims.
        "recognized" = Recognized,
        /// Nothing: the issuer gives no other tokens.
        "any" = Any,
    }
}

section! {
    /// An issuer whose tokens are honoured besides the host's own: an OpenID provider, or anybody
    /// else who signs JWTs and publishes the keys. One section per issuer, under a name of your
    /// choice.
    Issuer ["issuers.NAME"] {
        /// The exact `iss` of its tokens.
        issuer: String = String::new();
        /// Where its keys are published (a JWK set), over https. http is accepted from this machine
        /// only.
        jwks_url: String = String::new();
        /// What the token's `aud` must contain.
        audience: String = "chorus".to_owned();
        /// The id of the only workspace that these tokens are for; by default the host's own. A
        /// token that names another in `workspace_id` is refused in any case.
        workspace: Option<String> = None;
        /// The id under which the issuer knows this host as an application. With it people sign in
        /// to the page through the issuer (`/signin`); there they are sent back to
        /// `PUBLIC_URL/signin/back`, which the issuer must know.
        client_id: Option<String> = None;
        /// A file with the secret that goes with `client_id`. Without it the host is a public client,
        /// which PKCE alone protects.
        client_secret_file: Option<PathBuf> = None;
        /// How these tokens may be signed.
        algorithms: Vec<Algorithm> = vec![Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa];
        /// Which of the issuer's tokens are honoured. `typed`: access tokens whose header says so
        /// (`typ`: `at+jwt`, RFC 9068). `recognized`: those, and tokens whose header says nothing
        /// but whose claims show it, as with Keycloak, Entra, Okta, Auth0 and Cognito
        /// (docs/tokens.md); never ID tokens. `any`: ID tokens too, for an issuer that gives
        /// workloads nothing else.
        access_tokens: AccessTokens = AccessTokens::Recognized;
        /// The highest role that a token may ask for. A token that asks for more is refused.
        highest_role: HighestRole = HighestRole::Worker;
        /// The claim with the role. A token without it is a worker's.
        role_claim: String = "role".to_owned();
        /// The claim with the id of the member, who must exist already.
        member_claim: String = "sub".to_owned();
        /// The members that these tokens may speak for. An empty list means everybody except the
        /// operator and the members that another issuer names. Only one of several issuers may
        /// leave it empty: otherwise the same id with two of them would be one member.
        members: Vec<String> = Vec::new();
        /// How old keys may be before they are fetched again.
        refresh: Span = Span::minutes(10), Span::seconds(30) => Span::days(1);
        /// How long old keys are used while the issuer cannot be reached.
        stale: Span = Span::hours(1), Span::seconds(0) => Span::days(7);
    }
    check |issuer| {
        let mut wrong = Vec::new();
        if issuer.issuer.is_empty() {
            wrong.push(("issuer", "is needed: what the token's iss says".to_owned()));
        }
        if !is_safe(&issuer.jwks_url) {
            let why = "must be an https address; http only from 127.0.0.1, [::1] or localhost";
            wrong.push(("jwks_url", why.to_owned()));
        }
        if issuer.client_secret_file.is_some() && issuer.client_id.is_none() {
            wrong.push(("client_secret_file", "needs client_id beside it".to_owned()));
        }
        if issuer.client_id.is_some() && !is_safe(&issuer.issuer) {
            let why = "must be an https address where people sign in with it (client_id)";
            wrong.push(("issuer", why.to_owned()));
        }
        if issuer.algorithms.is_empty() {
            wrong.push(("algorithms", "must name one at least".to_owned()));
        }
        wrong
    };
}

/// Issuers that do not fit beside each other: the name, the key, and what is wrong.
pub(super) fn check_all(issuers: &BTreeMap<String, Issuer>) -> Vec<(String, &'static str, String)> {
    let mut wrong = Vec::new();
    let mut open = None;
    let mut known = BTreeMap::new();
    for (name, issuer) in issuers {
        if let Some(other) = known.insert(&issuer.issuer, name) {
            let why = format!("is that of [issuers.{other}] too; one section has all of an issuer");
            wrong.push((name.clone(), "issuer", why));
        }
        if issuer.members.is_empty()
            && let Some(other) = open.replace(name)
        {
            let why = format!(
                "must name the members it speaks for, since [issuers.{other}] names none: whoever has the same id \
                 with both would be one member"
            );
            wrong.push((name.clone(), "members", why));
        }
    }
    wrong
}

/// Whether what is had from there is the issuer's own.
pub(crate) fn is_safe(url: &str) -> bool {
    let Ok(url) = url.parse::<reqwest::Url>() else { return false };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let loopback =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    !host.is_empty() && (url.scheme() == "https" || url.scheme() == "http" && loopback)
}
