//! Tokens: issued for a member, which is made when it is new, and revoked by their id.

use chorus_core::command::{Authority, Command, Outcome};
use chorus_core::error::{Code, Refusal};
use chorus_core::ids::Uid;
use chorus_core::member::{Member, MemberFields, MemberKind};
use chorus_wire::rest::tokens::{NewToken, Token};

use super::{App, ids, unexpected};
use crate::auth::{Caller, Issued};

/// A day: long enough for a run, short enough to be lost.
const TTL_S: u64 = 24 * 3600;
/// A year, for what a person keeps in a file.
pub(crate) const LONGEST_TTL_S: u64 = 366 * 24 * 3600;

impl App {
    pub(crate) async fn issue(&self, caller: &Caller, new: NewToken) -> Result<Token, Refusal> {
        caller.must_govern()?;
        let session = new.session.as_deref().map(ids::session).transpose()?;
        let known = self.directory().by_id(&new.agent).cloned();
        let kind = match (&known, new.role) {
            (Some(member), _) => member.kind,
            (None, Authority::Operator) => MemberKind::Human,
            (None, _) => MemberKind::Agent,
        };
        if known.as_ref().is_some_and(|member| self.directory().is_stand_in(member.key)) {
            let why = "this member speaks for others in an inbox, whose string is all it has";
            return Err(Refusal::new(Code::Conflict, why));
        }
        self.may_issue(caller, kind, new.role)?;
        check_ttl(new.ttl_s)?;
        if let (Some(uid), Some(member)) = (session, &known) {
            let other =
                self.directory().session_by_uid(uid).is_some_and(|s| s.member != member.key);
            if other {
                return Err(Refusal::new(Code::ClaimMismatch, "this session is another member's"));
            }
        }
        let member = match known {
            Some(member) => member,
            None => {
                let fields = MemberFields::default();
                let command = Command::AddMember { id: new.agent, kind, fields };
                match self.change(caller.by, command).await? {
                    Outcome::Member(member) => member,
                    other => return Err(unexpected(&other)),
                }
            }
        };
        let token = self.sign(&member, new.role, session, new.ttl_s)?;
        self.note_token(caller, member.key, new.role, &token.jti).await?;
        Ok(token)
    }

    /// Ends a token. One may always end one's own.
    pub(crate) async fn revoke(&self, caller: &Caller, jti: &str) -> Result<(), Refusal> {
        let own = caller.jti.as_deref() == Some(jti);
        if !own {
            caller.must_govern()?;
        }
        let plain = jti.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if jti.is_empty() || jti.len() > 64 || !plain {
            return Err(Refusal::not_found("token"));
        }
        // Whether such a token was ever issued is not kept; it is remembered until any would have ended.
        let expires = self.now().plus(LONGEST_TTL_S as i64 * 1000);
        let by = if own { chorus_core::command::By::host() } else { caller.by };
        self.change(by, Command::RevokeToken { jti: jti.to_owned(), expires }).await?;
        for connection in self.connections.all() {
            connection.look_at_token();
        }
        // A follower that looks at the log is first asked whether it still may.
        self.feed.look_everywhere();
        Ok(())
    }

    /// Nobody hands out more than they have, and only a person runs the room.
    pub(super) fn may_issue(
        &self,
        caller: &Caller,
        kind: MemberKind,
        role: Authority,
    ) -> Result<(), Refusal> {
        if role > caller.authority() {
            return Err(Refusal::new(
                Code::InsufficientAuthority,
                "a token with a higher role than your own is not yours to give",
            ));
        }
        if role == Authority::Operator && kind == MemberKind::Agent {
            return Err(Refusal::invalid("an operator is a person; give an agent 'orchestrator'"));
        }
        Ok(())
    }

    pub(crate) fn sign(
        &self,
        member: &Member,
        authority: Authority,
        session: Option<Uid>,
        ttl_s: Option<u64>,
    ) -> Result<Token, Refusal> {
        check_ttl(ttl_s)?;
        let now = self.now();
        let jti = format!("{:032x}", self.draw.uid(now)?.0);
        let expires = now.plus(ttl_s.unwrap_or(TTL_S) as i64 * 1000);
        let token = self.auth.issue(&Issued {
            agent: &member.id,
            authority,
            session,
            owner: member.owner.as_deref(),
            jti: &jti,
            at: now,
            expires,
        })?;
        Ok(Token { token, jti, expires_at: expires })
    }
}

fn check_ttl(ttl_s: Option<u64>) -> Result<(), Refusal> {
    if ttl_s.is_some_and(|ttl| ttl == 0 || ttl > LONGEST_TTL_S) {
        return Err(Refusal::invalid(format!("ttl_s is 1 to {LONGEST_TTL_S} seconds")));
    }
    Ok(())
}
