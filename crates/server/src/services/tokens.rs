//! Tokens: handed out to a member, which is made when it is new; listed; ended one by one or all of a member at once.
//! And the key that signs them, which can be exchanged for another.
//!
//! Invariant: a token is noted before anybody has it. Who may give whom which is core's ([`chorus_core::model::token`]).

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::{deliveries, directory};
use chorus_core::model::audit::Action;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::member::{Member, MemberFields, MemberKind};
use chorus_core::model::token::{Asked, Issued as Listed, may_issue};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::tokens::{
    ListTokens, NewToken, RetiredKey, RevokedTokens, RotatedKey, Token, TokenInfo, Tokens,
};
use sha2::{Digest, Sha256};

use super::audit::AuditService;
use super::clock::HostClock;
use super::commands::Commands;
use super::{IdGenerator, ids};
use crate::auth::{Auth, Caller, Issued, LONGEST_TTL_S, Parent, SKEW_MS, Use};
use crate::cluster::{Cluster, KeysOf};
use crate::dispatch::connections::Connections;
use crate::dispatch::feed::Feed;
use crate::view;
use crate::workspaces::Workspaces;

/// A day: long enough for a run, short enough to be lost.
const TTL_S: u64 = 24 * 3600;
/// What a token lasts that the host makes by itself, and the longest that nobody has to ask for.
pub(crate) const USUAL_TTL_S: u64 = 30 * 24 * 3600;

/// A token that is to be.
pub(super) struct New<'a> {
    pub authority: Authority,
    pub session: Option<Uid>,
    pub life_ms: i64,
    pub used: Use,
    /// What it ends with.
    pub parents: &'a [Parent],
}

/// Tokens and signing keys.
pub(crate) struct TokenService {
    pub(super) commands: Arc<Commands>,
    pub(super) audit: Arc<AuditService>,
    pub(super) auth: Arc<Auth>,
    pub(super) clock: Arc<HostClock>,
    pub(super) connections: Arc<Connections>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) id_generator: Arc<IdGenerator>,
    pub(super) feed: Arc<Feed>,
    pub(super) rotating: tokio::sync::RwLock<()>,
    pub(super) cluster: Arc<Cluster>,
    /// Those that go by the same keys, if hosts share a database.
    pub(super) workspaces: Option<Arc<Workspaces>>,
}

impl TokenService {
    /// `POST /v1/tokens`.
    pub(crate) async fn issue(&self, caller: &Caller, new: NewToken) -> Result<Token, Refusal> {
        self.audit.may_govern(caller, Action::IssueToken, &new.agent)?;
        let session = new.session.as_deref().map(ids::session).transpose()?;
        let known = self.directory.load().by_id(&new.agent).cloned();
        let kind = match (&known, new.role.0) {
            (Some(member), _) => member.kind,
            (None, Authority::Operator) => MemberKind::Human,
            (None, _) => MemberKind::Agent,
        };
        if known.as_ref().is_some_and(|member| self.directory.load().is_stand_in(member.key)) {
            let why = "this member speaks for others in an inbox, whose string is all it has";
            return Err(Refusal::new(Code::Conflict, why));
        }
        check_ttl(new.ttl_s)?;
        self.may_give(caller, kind, new.role.0, &new.agent)?;
        if let (Some(uid), Some(member)) = (session, &known) {
            let other =
                self.directory.load().session_by_uid(uid).is_some_and(|s| s.member != member.key);
            if other {
                return Err(Refusal::new(Code::ClaimMismatch, "this session is another member's"));
            }
        }
        let member = match known {
            Some(member) => member,
            None => {
                let fields = MemberFields::default();
                let command = directory::AddMember { id: new.agent, kind, fields };
                self.commands.change(caller.by, command).await?
            }
        };
        self.hand_out(caller.by, &member, new.role.0, session, new.ttl_s).await
    }

    /// `GET /v1/tokens`: all of them for who runs or audits the room, its own for everybody else.
    pub(crate) fn tokens(&self, caller: &Caller, query: ListTokens) -> Result<Tokens, Refusal> {
        caller.must_not_be_a_turn()?;
        let (directory, now) = (self.directory.load(), self.clock.now());
        let of = query.member.as_deref().map(|id| ids::member(&directory, id)).transpose()?;
        let of = of.map(|member| member.key);
        let own = Some(caller.by.member);
        let of = match caller.sees_all() {
            true => of,
            false if of.is_none() || of == own => own,
            false => {
                let why = "tokens of others are shown to operators, orchestrators and auditors";
                return Err(Refusal::new(Code::InsufficientAuthority, why));
            }
        };
        let listed: Vec<&Arc<Listed>> = match of {
            Some(member) => directory.issued_to(member).collect(),
            None => directory.issued.values().collect(),
        };
        let mut tokens: Vec<_> = listed
            .into_iter()
            .filter(|token| token.expires.plus(SKEW_MS) > now)
            .map(|token| TokenInfo {
                jti: token.jti.to_string(),
                member: view::id(&directory, token.member),
                role: token.authority.into(),
                session: token.session.map(|s| s.show(Prefix::Session)),
                issued_at: token.issued.into(),
                expires_at: token.expires.into(),
                kid: token.kid.to_string(),
                revoked: token.revoked
                    || directory.member(token.member).is_none_or(|member| member.removed),
            })
            .collect();
        tokens.sort_by(|a, b| (a.issued_at, &a.jti).cmp(&(b.issued_at, &b.jti)));
        Ok(Tokens { tokens })
    }

    /// Ends a token. One may always end one's own.
    pub(crate) async fn revoke(&self, caller: &Caller, jti: &str) -> Result<(), Refusal> {
        let own = caller.jti.as_deref() == Some(jti);
        if !own {
            self.audit.may_govern(caller, Action::RevokeToken, jti)?;
        }
        let plain = jti.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if jti.is_empty() || jti.len() > 64 || !plain {
            return Err(Refusal::not_found("token"));
        }
        // One that is in no list was another issuer's, or an older version's: it is remembered until any would have ended.
        let expires = self.clock.now().plus(LONGEST_TTL_S as i64 * 1000);
        let by = if own { By::host() } else { caller.by };
        self.commands.change(by, directory::RevokeToken { jti: jti.to_owned(), expires }).await?;
        self.look_at_tokens();
        Ok(())
    }

    /// `DELETE /v1/members/{id}/tokens`: every token that the member has ends, those of other issuers too. One may always
    /// end all of one's own.
    pub(crate) async fn revoke_all(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<RevokedTokens, Refusal> {
        caller.must_not_be_a_turn()?;
        let own = *caller.member.id == *id;
        if !own {
            self.audit.may_govern(caller, Action::RevokeToken, id)?;
        }
        let (member, live) = {
            let (directory, now) = (self.directory.load(), self.clock.now());
            let member = ids::member(&directory, id)?.key;
            let live = directory.issued_to(member).filter(|t| !t.revoked && t.expires > now);
            (member, live.count())
        };
        let by = if own { By::host() } else { caller.by };
        self.commands.change(by, directory::RevokeTokens { member }).await?;
        self.look_at_tokens();
        Ok(RevokedTokens { member: id.to_owned(), revoked: live as u64 })
    }

    /// `POST /v1/tokens/rotate`: tokens and turns have other keys from here on. Tokens of the key before are honoured until
    /// they end, if they are in the list; turns and callbacks of the one before have ended.
    pub(crate) async fn rotate_key(&self, caller: &Caller) -> Result<RotatedKey, Refusal> {
        self.audit.may_operate(caller, Action::RotateKey, "")?;
        if self.cluster.keys() == KeysOf::Hosts {
            let why = "this workspace goes by its host's keys, which an operator of the host's own workspace exchanges";
            return Err(Refusal::new(Code::Conflict, why));
        }
        let _nothing_is_signed = self.rotating.write().await;
        let (now, kid) = (self.clock.now(), self.auth.kid());
        let last = {
            let directory = self.directory.load();
            let signed = directory.issued.values().filter(|token| token.kid == kid);
            signed.map(|token| token.expires).max().unwrap_or(now)
        };
        // Other workspaces that go by these keys have tokens of their own.
        let shared = self.workspaces.as_ref().filter(|_| self.cluster.view().is_some());
        let last = match shared {
            Some(_) => last.max(now.plus(i64::try_from(LONGEST_TTL_S).unwrap_or(i64::MAX) * 1_000)),
            None => last,
        };
        let failed = |why: String| Refusal::new(Code::Unavailable, why);
        let rotation = self.auth.rotation(last.plus(SKEW_MS), now);
        let rotation = rotation.map_err(|e| failed(e.to_string()))?;
        let agreed = self.cluster.rekey(&rotation.fingerprint(), rotation.peer_secret()).await;
        if !agreed.map_err(|e| failed(e.to_string()))? {
            return Err(Refusal::new(
                Code::Conflict,
                "other hosts share the database, and would not know the new key; stop all but one, rotate, copy the \
                 keys folder to the others, and start them again",
            ));
        }
        let kept = self.auth.rotate(rotation);
        kept.map_err(|e| failed(format!("the new key could not be kept: {e}")))?;
        if let Some(workspaces) = shared {
            // They are opened again with the new keys.
            workspaces.close_all().await;
        }
        // Before anything that can break off: who works on something goes on with another token.
        let offered = self.commands.submit(By::host(), deliveries::OfferAgain);
        let kid = self.auth.kid();
        self.audit.note(caller.by, Action::RotateKey, &kid, None).await?;
        self.look_at_tokens();
        offered.await?;
        let retired = self.auth.retired(now).into_iter();
        let shown = |old: crate::auth::Retired| RetiredKey {
            honoured_until: old.until().into(),
            kid: old.kid,
        };
        Ok(RotatedKey { kid: kid.to_string(), retired: retired.map(shown).collect() })
    }

    /// Whether the caller may give such a token; a refusal is kept.
    pub(super) fn may_give(
        &self,
        caller: &Caller,
        kind: MemberKind,
        role: Authority,
        to: &str,
    ) -> Result<(), Refusal> {
        let may = may_issue(&caller.by, kind, role);
        self.audit.keep_refusal(caller, Action::IssueToken, to, may)
    }

    /// Notes a token and signs it.
    pub(crate) async fn hand_out(
        &self,
        by: By,
        member: &Member,
        authority: Authority,
        session: Option<Uid>,
        ttl_s: Option<u64>,
    ) -> Result<Token, Refusal> {
        check_ttl(ttl_s)?;
        let life_ms = ttl_s.unwrap_or(TTL_S) as i64 * 1000;
        self.sign(by, member, New { authority, session, life_ms, used: Use::Bearer, parents: &[] })
            .await
    }

    /// As [`TokenService::hand_out`], an invitation, which can only be accepted.
    pub(super) async fn invite(
        &self,
        by: By,
        member: &Member,
        life_ms: i64,
    ) -> Result<Token, Refusal> {
        let (authority, used) = (Authority::Worker, Use::Invitation);
        self.sign(by, member, New { authority, session: None, life_ms, used, parents: &[] }).await
    }

    /// Notes a token and signs it. Who may give whom which was checked.
    pub(super) async fn sign(
        &self,
        by: By,
        member: &Member,
        new: New<'_>,
    ) -> Result<Token, Refusal> {
        let New { authority, session, life_ms, used, parents } = new;
        let _one_key = self.rotating.read().await;
        let now = self.clock.now();
        let jti = format!("{:032x}", self.id_generator.uid(now)?.0);
        let expires = now.plus(life_ms);
        let token = self.auth.issue(&Issued {
            agent: &member.id,
            authority,
            session,
            owner: member.owner.as_deref(),
            jti: &jti,
            nonce: self.id_generator.uid(now)?,
            at: now,
            expires,
            used,
            parents,
        })?;
        let asked = Asked {
            jti: jti.clone(),
            member: member.key,
            authority,
            session,
            expires,
            kid: self.auth.kid().to_string(),
            proof: Sha256::digest(&token).into(),
        };
        // Nobody has it before it is in the list.
        self.commands.change(by, directory::IssueToken(asked)).await?;
        Ok(Token { token, jti, expires_at: expires.into() })
    }

    /// Forgets tokens that are over, and what agents were told so long ago that it counts no more.
    pub(crate) async fn sweep_expired(&self) {
        if let Err(refusal) = self.commands.submit(By::host(), directory::SweepExpired).await {
            tracing::warn!(%refusal, "what has expired could not be dropped");
        }
    }

    /// Whoever stays connected or follows is asked whether its token still holds.
    pub(super) fn look_at_tokens(&self) {
        for connection in self.connections.all() {
            connection.look_at_token();
        }
        // A follower that looks at the log is first asked whether it still may.
        self.feed.look_everywhere();
    }
}

fn check_ttl(ttl_s: Option<u64>) -> Result<(), Refusal> {
    if ttl_s.is_some_and(|ttl| ttl == 0 || ttl > LONGEST_TTL_S) {
        return Err(Refusal::invalid(format!("ttl_s is 1 to {LONGEST_TTL_S} seconds")));
    }
    Ok(())
}
