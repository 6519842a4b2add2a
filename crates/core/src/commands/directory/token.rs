//! Tokens: recorded before they are issued, and ended one by one or all of a member at once.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::{Action, Audit};
use crate::model::caller::Authority;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{MemberKey, Timestamp};
use crate::model::limits;
use crate::model::member::MemberKind;
use crate::model::token::{Asked, Issued, may_issue, may_revoke};

/// Issues a token.
#[derive(Clone)]
pub struct IssueToken(pub Asked);

impl Command for IssueToken {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        let Self(asked) = self;
        let name = format!("{}:{}", asked.authority.name(), asked.jti);
        Audit::firm(Action::IssueToken).member(asked.member).name(&*name)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.issue_token(self.0)
    }
}

/// Revokes a token. The revocation is kept until the token would have expired.
#[derive(Clone)]
pub struct RevokeToken {
    pub jti: String,
    pub expires: Timestamp,
}

impl Command for RevokeToken {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::RevokeToken).name(&*self.jti)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.revoke_token(self.jti, self.expires)
    }
}

/// Ends all tokens of a member.
#[derive(Clone)]
pub struct RevokeTokens {
    pub member: MemberKey,
}

impl Command for RevokeTokens {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::RevokeToken).member(self.member)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.revoke_tokens(self.member)
    }
}

/// Forgets expired tokens, and private reads without a session that no longer count. For the host's
/// own use.
#[derive(Clone)]
pub struct SweepExpired;

impl Command for SweepExpired {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.sweep_expired()
    }
}

impl Context<'_> {
    /// The token is issued when this command is answered.
    fn issue_token(&mut self, asked: Asked) -> Result<()> {
        let kind = self.kind_of(asked.member)?;
        may_issue(&self.by, kind, asked.authority)?;
        let (member, now) = (asked.member, self.now);
        let forgotten: Vec<_> =
            self.directory().issued_to(member).filter(|t| t.is_forgotten(now)).cloned().collect();
        for token in forgotten {
            self.directory_mut().issued.remove_mut(&(member, token.jti.clone()));
            self.ws.changes.issued.push((member, token.jti.clone(), None));
        }
        // Includes ended tokens: they are kept until they expire, so that they are refused.
        let kept = self.directory().issued_to(member).filter(|t| !t.is_over(now)).count();
        if kept >= limits::TOKENS_EACH && self.by.member != MemberKey::HOST {
            let most = limits::TOKENS_EACH;
            let why = format!(
                "the member already has {most} unexpired tokens; wait, or issue tokens with a shorter lifetime"
            );
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        self.put_token(Issued {
            jti: asked.jti.into(),
            member,
            authority: asked.authority,
            session: asked.session,
            issued: now,
            expires: asked.expires,
            kid: asked.kid.into(),
            revoked: false,
            proof: Some(asked.proof),
        });
        Ok(())
    }

    /// Ends one token. Its member is known if it is in the list.
    fn revoke_token(&mut self, jti: String, expires: Timestamp) -> Result<()> {
        self.must_govern()?;
        let jti: Arc<str> = jti.into();
        match self.directory().issued_by_id(&jti).cloned() {
            Some(token) => {
                let kind = self.directory().member(token.member).map(|m| m.kind);
                may_revoke(&self.by, kind.unwrap_or(MemberKind::Human))?;
                self.end_token(&token)?;
            }
            None if self.by.authority < Authority::Operator => {
                let why = "this token is not in the list; revoking it needs an operator's token";
                return Err(Refusal::new(Code::InsufficientAuthority, why).into());
            }
            // Nothing else is known of it, so that it is remembered beyond what a wrong clock may say.
            None => self.revoke(jti, expires.plus(limits::ENDED_TOKEN_MS)),
        }
        Ok(())
    }

    /// Ends all tokens of a member: the caller's own, or those of a member for whom the caller may
    /// issue tokens.
    fn revoke_tokens(&mut self, member: MemberKey) -> Result<()> {
        let kind = self.kind_of(member)?;
        if member != self.by.member {
            may_revoke(&self.by, kind)?;
        }
        self.end_tokens(member)?;
        Ok(())
    }

    pub(super) fn end_tokens(&mut self, member: MemberKey) -> Result<()> {
        let live: Vec<_> =
            self.directory().issued_to(member).filter(|t| !t.revoked).cloned().collect();
        for token in &live {
            self.end_token(token)?;
        }
        let now = self.now;
        self.directory_mut().cut_offs.insert_mut(member, now);
        self.ws.changes.cut_offs.push((member, now));
        Ok(())
    }

    /// Forgets what has expired: issued and ended tokens, and private reads without a session. The
    /// rows are deleted when the batch is written.
    pub(super) fn sweep_expired(&mut self) -> Result<()> {
        self.must_be_the_host()?;
        let now = self.now;
        let directory = self.directory();
        let issued: Vec<_> =
            directory.issued.values().filter(|t| t.is_forgotten(now)).cloned().collect();
        let revoked = directory.revoked.iter().filter(|(_, until)| **until <= now);
        let revoked: Vec<_> = revoked.map(|(jti, _)| jti.clone()).collect();
        if !issued.is_empty() || !revoked.is_empty() {
            let directory = self.directory_mut();
            for token in issued {
                directory.issued.remove_mut(&(token.member, token.jti.clone()));
            }
            for jti in revoked {
                directory.revoked.remove_mut(&jti);
            }
        }
        self.ws.private_reads.drop_expired(now);
        self.ws.changes.sweep_expired = Some(now);
        Ok(())
    }

    fn end_token(&mut self, token: &Arc<Issued>) -> Result<()> {
        self.put_token(Issued { revoked: true, ..Issued::clone(token) });
        self.revoke(token.jti.clone(), token.expires.plus(limits::CLOCK_SKEW_MS * 10));
        let session = token.session.and_then(|uid| self.directory().session_by_uid(uid)).cloned();
        let Some(session) = session.filter(|session| session.runner) else { return Ok(()) };
        let others = self.directory().issued_to(token.member);
        if !others.filter(|other| !other.revoked).any(|o| o.session == Some(session.uid)) {
            self.retire_runner(&session)?;
        }
        Ok(())
    }

    fn revoke(&mut self, jti: Arc<str>, expires: Timestamp) {
        self.directory_mut().revoked.insert_mut(jti.clone(), expires);
        self.ws.changes.revoked.push((jti, expires));
    }

    fn put_token(&mut self, token: Issued) {
        let token = Arc::new(token);
        self.directory_mut().put_issued(token.clone());
        self.ws.changes.issued.push((token.member, token.jti.clone(), Some(token)));
    }

    pub(super) fn kind_of(&self, member: MemberKey) -> Result<MemberKind> {
        let found = self.directory().member(member).filter(|m| !m.removed);
        Ok(found.ok_or_else(|| Refusal::not_found("member"))?.kind)
    }
}
