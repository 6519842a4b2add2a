//! Who is calling, from the bearer token alone (design section 4, "Tokens").
//!
//! [`Auth::verify`] is the one way from a token to a [`Caller`]. A signature is checked once per token; what
//! may change afterwards (expiry, revocation, the member itself) is checked at every request. Identity that a
//! payload states is only ever compared with this one.

mod cache;
pub(crate) mod callback;
mod fetch;
mod foreign;
mod heads;
mod jobs;
mod jwks;
mod keys;
mod leased;
mod oidc;
mod signin;
pub(crate) mod signing_key;
mod stated;
mod token;
mod ttl;
mod turn;
mod vault;

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use cache::Cache;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Prefix, Timestamp, Uid};
pub(crate) use chorus_core::model::limits::TOKEN_SKEW_MS as SKEW_MS;
use chorus_core::model::member::Member;
use chorus_core::state::directory::Directory;
use chorus_store::membership::Lease;
use foreign::Foreign;
pub(crate) use heads::check_heads_signature;
pub(crate) use keys::{Keys, KeysError, Retired, Rotation, TurnKeyId, Unkept, write_private};
pub(crate) use oidc::{SENT_OUT_MS, SentOut, Way};
pub(crate) use signin::{LINK_LIFE_MS, Session, SignInLinks};
pub(crate) use stated::{Workspace, disagreement, without_identity};
pub(crate) use token::{Issued, Parent, Use};
pub(crate) use ttl::LONGEST_TTL_S;
pub(crate) use turn::{Stem, Turn};
pub(crate) use vault::Vault;

use crate::config::issuers::Issuer;

/// Longest token that is looked at, in bytes. Ours are about 500.
const TOKEN_BYTES: usize = 4096;

/// A verified caller.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub member: Arc<Member>,
    pub by: By,
    /// The token's id; a turn token has none.
    pub jti: Option<Arc<str>>,
    pub expires: Timestamp,
    /// The session the token is for, whether or not it has connected yet.
    pub session: Option<Uid>,
    /// What the call may be about, when it is made with a turn's token.
    pub turn: Option<Turn>,
    /// The key that the turn's token was made with: it ends with that.
    pub turn_key: Option<TurnKeyId>,
    /// What turns that are granted to it end with.
    pub stem: Stem,
    /// The tokens from which its own stems.
    pub parents: Arc<[Parent]>,
}

impl Caller {
    pub(crate) fn authority(&self) -> Authority {
        self.by.authority
    }

    /// The tokens with which whatever stems from its own ends: those from which that stems, and itself.
    pub(crate) fn lineage(&self) -> Arc<[Parent]> {
        let own = match (&self.jti, self.stem) {
            (Some(jti), Stem::Token { issued, .. }) => {
                Some(Parent { jti: jti.clone(), iat_ms: issued })
            }
            _ => None,
        };
        self.parents.iter().cloned().chain(own).collect()
    }

    /// Whether it may look at what is everybody's: who runs the room, and who audits it.
    pub(crate) fn sees_all(&self) -> bool {
        self.turn.is_none()
            && (self.by.authority >= Authority::Orchestrator
                || self.by.authority == Authority::Auditor)
    }

    /// Whose seats decide what is seen; an auditor sees all.
    pub(crate) fn viewer(&self) -> Option<MemberKey> {
        (self.by.authority != Authority::Auditor).then_some(self.by.member)
    }

    /// Only who runs the room may do this.
    pub(crate) fn must_govern(&self) -> Result<(), Refusal> {
        self.must_not_be_a_turn()?;
        if self.by.authority < Authority::Orchestrator {
            return Err(Refusal::new(
                Code::InsufficientAuthority,
                "this needs an operator's or orchestrator's token",
            ));
        }
        Ok(())
    }

    /// Only a person who runs the room may do this: what is copied holds everything everybody said.
    pub(crate) fn must_operate(&self) -> Result<(), Refusal> {
        self.must_not_be_a_turn()?;
        if self.by.authority < Authority::Operator {
            return Err(Refusal::new(
                Code::InsufficientAuthority,
                "this needs an operator's token",
            ));
        }
        Ok(())
    }

    /// A turn's token speaks and reads in its conversation, and does nothing else.
    pub(crate) fn must_not_be_a_turn(&self) -> Result<(), Refusal> {
        if self.turn.is_some() {
            return Err(Refusal::new(
                Code::Forbidden,
                "a turn's token is for messages of its conversation; use the member's own token",
            ));
        }
        Ok(())
    }
}

/// Verifies and issues tokens of one workspace.
pub(crate) struct Auth {
    workspace: Uid,
    workspace_id: String,
    /// Exchanged when the key that signs is rotated.
    keys: ArcSwap<Keys>,
    cache: Cache,
    foreign: Foreign,
    vault: Vault,
    /// While it holds, no other host owns the workspace.
    lease: Arc<Lease>,
}

impl Auth {
    pub(crate) fn new(workspace: Uid, keys: Keys) -> Self {
        let workspace_id = workspace.show(Prefix::Workspace);
        let vault = Vault::of(&keys.data, workspace);
        let (cache, foreign) = Default::default();
        let keys = ArcSwap::from_pointee(keys);
        let lease = Lease::unlimited();
        Self { workspace, workspace_id, keys, cache, foreign, vault, lease }
    }

    /// Where secrets of others are kept.
    pub(crate) fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Honours the tokens of these issuers too.
    pub(crate) fn trusting(self, issuers: &BTreeMap<String, Issuer>) -> Self {
        Self { foreign: Foreign::new(issuers), ..self }
    }

    /// Checks a token of another issuer, so that [`Auth::verify`] knows it. Does nothing with the host's own, and with
    /// one that was checked lately.
    pub(crate) async fn meet(&self, bearer: &str, now: Timestamp) -> Result<(), Refusal> {
        if bearer.len() > TOKEN_BYTES {
            return Ok(());
        }
        let Some(issuer) = self.foreign.of(bearer) else { return Ok(()) };
        let key = cache::key(bearer);
        let known = self.cache.get(&key).and_then(|claims| claims.verify_again);
        if known.is_some_and(|again| now < again) {
            return Ok(());
        }
        match issuer.verify(bearer, &self.workspace_id, now).await {
            Ok(claims) => {
                self.cache.put(key, Arc::new(claims));
                Ok(())
            }
            Err(refusal) => {
                self.cache.forget(&key);
                Err(refusal)
            }
        }
    }

    /// The caller behind a bearer token. One of another issuer must have been met.
    pub(crate) fn verify(
        &self,
        bearer: &str,
        directory: &Directory,
        now: Timestamp,
    ) -> Result<Caller, Refusal> {
        self.must_be_owner()?;
        // Before the turns: it begins like theirs, so that whoever looks for tokens finds both.
        if bearer.starts_with(callback::BEARER_PREFIX) {
            return self.verify_bearer(bearer, directory, now);
        }
        if bearer.starts_with(turn::PREFIX) {
            return self.verify_turn(bearer, directory, now);
        }
        self.verify_token(bearer, Use::Bearer, directory, now)
    }

    /// The member behind a token of this host that is good for exactly this. One that is good for something else would be
    /// exchanged for more than it is.
    pub(crate) fn verify_token(
        &self,
        bearer: &str,
        used: Use,
        directory: &Directory,
        now: Timestamp,
    ) -> Result<Caller, Refusal> {
        self.must_be_owner()?;
        if bearer.len() > TOKEN_BYTES {
            return Err(unauthorized("the token is too long"));
        }
        let key = cache::key(bearer);
        let claims = match self.cache.get(&key) {
            Some(claims) => claims,
            None => {
                let keys = self.keys.load();
                let claims = token::decode(bearer, &keys, &self.workspace_id, now)?;
                let claims = Arc::new(claims);
                self.cache.put(key, claims.clone());
                claims
            }
        };
        if claims.used != used {
            return Err(unauthorized(match (claims.used, used) {
                (_, Use::Invitation) => "this is a token and no invitation",
                (Use::Invitation, _) => "this is an invitation; accept it with: chorus login LINK",
                (Use::Browser, _) => {
                    "this is the session of a browser, and good for its pages only"
                }
                (Use::Bearer, _) => "this is a token and no session of a browser",
            }));
        }
        if claims.expires.plus(SKEW_MS) <= now {
            self.cache.forget(&key);
            return Err(unauthorized("the token has expired; ask the operator for a new one"));
        }
        let member = present(directory, &claims.agent);
        let of = member.as_ref().map_or(MemberKey::HOST, |member| member.key);
        if let Some(why) = directory.token_ended(of, &claims.jti, claims.issued, now) {
            self.cache.forget(&key);
            return Err(unauthorized(format!("the token {why}; ask the operator for a new one")));
        }
        if let Some(why) = ended(&claims.parents, of, directory, now) {
            self.cache.forget(&key);
            return Err(unauthorized(why));
        }
        let member = member?;
        // Who has taken an old key can sign with it, and has none of the tokens that were signed with it.
        let listed = || directory.issued(of, &claims.jti);
        if claims.retired.is_some_and(|proof| !listed().is_some_and(|t| claims.is(t, proof))) {
            return Err(unauthorized(
                "the token is signed with a key that signs no more, and was not handed out here",
            ));
        }
        let session = claims.session.and_then(|uid| directory.session_by_uid(uid));
        if session.is_some_and(|s| s.member != member.key) {
            return Err(Refusal::new(
                Code::ClaimMismatch,
                "the token's session is another member's",
            ));
        }
        let by = By {
            member: member.key,
            session: session.map(|s| s.key),
            authority: claims.authority,
            turn: None,
        };
        Ok(Caller {
            member,
            by,
            jti: Some(claims.jti.clone()),
            expires: claims.expires,
            session: claims.session,
            turn: None,
            turn_key: None,
            stem: Stem::of_token(&claims.jti, claims.issued),
            parents: claims.parents.clone(),
        })
    }

    /// Whether a caller that was verified before still is.
    pub(crate) fn still_valid(
        &self,
        caller: &Caller,
        directory: &Directory,
        now: Timestamp,
    ) -> bool {
        let member = caller.by.member;
        let ended = match (&caller.jti, caller.stem) {
            (Some(jti), Stem::Token { issued, .. }) => {
                directory.token_ended(member, jti, issued, now).is_some()
            }
            (_, stem) => stem.ended(member, directory, now).is_some(),
        };
        let ended = ended || self::ended(&caller.parents, member, directory, now).is_some();
        let rotated = caller.turn_key.is_some_and(|id| id != self.keys.load().turn_id);
        let present = directory.member(member).is_some_and(|m| !m.removed);
        present && !ended && !rotated && now < caller.expires.plus(SKEW_MS)
    }

    fn verify_turn(
        &self,
        bearer: &str,
        directory: &Directory,
        now: Timestamp,
    ) -> Result<Caller, Refusal> {
        let keys = self.keys.load();
        let turn = turn::read(bearer, &keys, self.workspace).map_err(unauthorized)?;
        if turn.expires <= now {
            return Err(unauthorized("the turn has ended"));
        }
        if let Some(why) = turn.stem.ended(turn.member, directory, now) {
            return Err(unauthorized(why));
        }
        let member = directory.member(turn.member).filter(|m| !m.removed);
        let member = member.cloned().ok_or_else(|| Refusal::not_found("member"))?;
        let session = directory.sessions.get(&turn.session);
        Ok(Caller {
            by: By {
                member: member.key,
                session: session.map(|s| s.key),
                authority: Authority::Worker,
                turn: Some(turn.fenced()),
            },
            member,
            jti: None,
            expires: turn.expires,
            session: session.map(|s| s.uid),
            turn: Some(turn),
            turn_key: Some(keys.turn_id),
            stem: turn.stem,
            parents: [].into(),
        })
    }

    /// The caller, acting in the turn that an argument of its call names.
    pub(crate) fn in_turn(
        &self,
        caller: &Caller,
        token: &str,
        directory: &Directory,
        now: Timestamp,
    ) -> Result<Caller, Refusal> {
        let turn = turn::read(token, &self.keys.load(), self.workspace).map_err(|why| {
            let code =
                if why == turn::NOT_OURS { Code::Unauthorized } else { Code::ValidationError };
            Refusal::new(code, format!("turn: {why}"))
        })?;
        if turn.member != caller.by.member {
            return Err(Refusal::new(Code::ClaimMismatch, "this turn is another member's"));
        }
        if turn.expires <= now {
            return Err(Refusal::new(Code::StaleTurn, "the turn has ended"));
        }
        if let Some(why) = turn.stem.ended(turn.member, directory, now) {
            return Err(Refusal::new(Code::StaleTurn, why));
        }
        let mut caller = caller.clone();
        caller.by.turn = Some(turn.fenced());
        if directory.sessions.contains_key(&turn.session) {
            caller.by.session = Some(turn.session);
        }
        Ok(caller)
    }

    /// Others whose tokens are honoured.
    pub(crate) fn issuers(&self) -> Vec<String> {
        self.foreign.names()
    }

    /// The keys that sign now.
    pub(crate) fn keys(&self) -> Arc<Keys> {
        self.keys.load_full()
    }

    /// The token with which a runtime speaks in one turn.
    pub(crate) fn grant(&self, turn: &Turn) -> String {
        turn::write(turn, &self.keys.load(), self.workspace)
    }

    /// A signed token. The caller has checked that whoever asks may issue it.
    pub(crate) fn issue(&self, issued: &Issued<'_>) -> Result<String, Refusal> {
        token::encode(issued, &self.keys.load(), &self.workspace_id)
    }

    /// What the key is called that signs tokens now.
    pub(crate) fn kid(&self) -> Arc<str> {
        self.keys.load().kid.clone()
    }

    /// Keys that sign no more and whose tokens are still looked at.
    pub(crate) fn retired(&self, now: Timestamp) -> Vec<Retired> {
        let keys = self.keys.load();
        keys.retired.iter().filter(|old| old.until() > now).cloned().collect()
    }

    /// Other keys for tokens and turns, which are not used yet. Tokens of the present ones end at `until` at the latest.
    pub(crate) fn rotation(&self, until: Timestamp, now: Timestamp) -> Result<Rotation, KeysError> {
        self.keys.load().rotated(until, now)
    }

    /// Uses them from here on, once they are on the disk. Turns that were granted before have ended.
    pub(crate) fn rotate(&self, rotation: Rotation) -> std::io::Result<()> {
        self.keys.store(Arc::new(rotation.keep()?));
        self.cache.clear();
        Ok(())
    }
}

/// Why a token is no more that stems from these.
pub(crate) fn ended(
    parents: &[Parent],
    member: MemberKey,
    directory: &Directory,
    now: Timestamp,
) -> Option<String> {
    let why = parents.iter().find_map(|p| directory.token_ended(member, &p.jti, p.iat_ms, now))?;
    Some(format!("the token that it stems from {why}"))
}

fn present(directory: &Directory, id: &str) -> Result<Arc<Member>, Refusal> {
    directory.by_id(id).cloned().ok_or_else(|| {
        Refusal::new(Code::NotFound, format!("'{id}' is no member of this workspace"))
    })
}

fn unauthorized(why: impl Into<String>) -> Refusal {
    Refusal::new(Code::Unauthorized, why)
}

#[cfg(test)]
mod tests;
