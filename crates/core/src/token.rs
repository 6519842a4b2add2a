//! Tokens that were handed out: who may give whom which, and which of them have ended. The tokens themselves are
//! made and checked at the edge; what is kept here gives none of them away.

use std::sync::Arc;

use crate::command::{Authority, By};
use crate::error::{Code, Refusal};
use crate::event::Hash;
use crate::ids::{MemberKey, Timestamp, Uid};
use crate::limits;
use crate::member::{Directory, MemberKind};

/// The member that the first start makes, and that the host itself hands the operator's token to. It is always there.
pub const OPERATOR: &str = "operator";

/// A token as it was handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    pub jti: Arc<str>,
    pub member: MemberKey,
    pub authority: Authority,
    /// The session it is bound to, if it is.
    pub session: Option<Uid>,
    pub issued: Timestamp,
    pub expires: Timestamp,
    /// Which key it was signed with.
    pub kid: Arc<str>,
    /// It was ended before its time.
    pub revoked: bool,
    /// The SHA-256 of the token itself; none for those of versions that kept none.
    pub proof: Option<Hash>,
}

impl Issued {
    /// Whether it is over for everybody, whatever their clocks say.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.expires.plus(limits::TOKEN_SKEW_MS) <= now
    }
}

/// A token that is to be handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub jti: String,
    pub member: MemberKey,
    pub authority: Authority,
    pub session: Option<Uid>,
    pub expires: Timestamp,
    pub kid: String,
    pub proof: Hash,
}

/// Whether `by` may give a member of this kind a token with this role. An orchestrator may be an agent: it gives agents
/// what they work with, and nobody more than that, or it would speak as the people it answers to.
pub fn may_issue(by: &By, kind: MemberKind, authority: Authority) -> Result<(), Refusal> {
    let refused = |why: &str| Err(Refusal::new(Code::InsufficientAuthority, why));
    match by.authority {
        Authority::Operator if authority == Authority::Operator && kind == MemberKind::Agent => {
            Err(Refusal::invalid("an operator is a person; give an agent 'orchestrator'"))
        }
        Authority::Operator => Ok(()),
        Authority::Orchestrator if kind == MemberKind::Human => {
            refused("an orchestrator gives tokens to agents only; this needs an operator's token")
        }
        Authority::Orchestrator if authority != Authority::Worker => refused(
            "an orchestrator gives agents the role 'worker' only; this needs an operator's token",
        ),
        Authority::Orchestrator => Ok(()),
        Authority::Auditor | Authority::Worker => {
            refused("this needs an operator's or orchestrator's token")
        }
    }
}

/// Whether `by` may end tokens of a member of this kind.
pub fn may_revoke(by: &By, kind: MemberKind) -> Result<(), Refusal> {
    may_issue(by, kind, Authority::Worker)
}

/// Whether `by` may say of a new member of this kind whose it is, and who it is elsewhere. The owner keeps the agent's
/// inboxes, and an identity is believed: for people that is an operator's to say.
pub fn may_vouch(by: &By, kind: MemberKind) -> Result<(), Refusal> {
    match (by.authority, kind) {
        (Authority::Operator, _) | (Authority::Orchestrator, MemberKind::Agent) => Ok(()),
        _ => {
            let why = "whose a person is, and who it is elsewhere, is said by an operator";
            Err(Refusal::new(Code::InsufficientAuthority, why))
        }
    }
}

impl Directory {
    /// The tokens of a member, as they were handed out.
    pub fn issued_to(&self, member: MemberKey) -> impl Iterator<Item = &Arc<Issued>> {
        let from = (member, Arc::from(""));
        self.issued.range(from..).take_while(move |((of, _), _)| *of == member).map(|(_, t)| t)
    }

    /// A token as it was handed out to its member.
    pub fn issued(&self, member: MemberKey, jti: &str) -> Option<&Arc<Issued>> {
        self.issued.get(&(member, Arc::from(jti)))
    }

    /// A token as it was handed out to whomever.
    pub fn issued_by_id(&self, jti: &str) -> Option<&Arc<Issued>> {
        self.issued.values().find(|token| *token.jti == *jti)
    }

    /// Why a token of the member is honoured no more before its time: it was ended, by itself or with all that the
    /// member had. One that is not in the list (of another issuer, or of a version that kept none) ends with them by
    /// when it was made, so it may not say that this is yet to come.
    pub fn token_ended(
        &self,
        member: MemberKey,
        jti: &str,
        issued: Timestamp,
        now: Timestamp,
    ) -> Option<&'static str> {
        let listed = self.issued(member, jti);
        let cut_off = || self.cut_offs.get(&member).is_some_and(|at| issued <= *at);
        let ended = self.revoked.contains_key(jti) || listed.map_or_else(cut_off, |t| t.revoked);
        if ended {
            return Some("was revoked");
        }
        let to_come = listed.is_none() && issued > now.plus(limits::TOKEN_SKEW_MS);
        to_come.then_some("says that it was made in the future")
    }

    pub fn put_issued(&mut self, token: Arc<Issued>) {
        self.issued.insert_mut((token.member, token.jti.clone()), token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(authority: Authority) -> By {
        By { authority, ..By::host() }
    }

    // covers: OPS-403
    #[test]
    fn orchestrators_give_agents_the_role_worker_and_nothing_else() {
        use Authority::{Auditor, Operator, Orchestrator, Worker};
        use MemberKind::{Agent, Human};
        for (giver, kind, role, may) in [
            (Operator, Human, Operator, true),
            (Operator, Agent, Operator, false),
            (Operator, Agent, Orchestrator, true),
            (Operator, Human, Auditor, true),
            (Orchestrator, Agent, Worker, true),
            (Orchestrator, Agent, Auditor, false),
            (Orchestrator, Agent, Orchestrator, false),
            (Orchestrator, Human, Worker, false),
            (Orchestrator, Human, Auditor, false),
            (Worker, Agent, Worker, false),
            (Auditor, Agent, Worker, false),
        ] {
            assert_eq!(
                may_issue(&by(giver), kind, role).is_ok(),
                may,
                "{giver:?} {kind:?} {role:?}"
            );
        }
    }

    // covers: OPS-411
    #[test]
    fn what_is_not_in_the_list_ends_by_when_it_was_made() {
        let mut directory = Directory::default();
        let (ann, at) = (MemberKey(1), Timestamp(100));
        directory.cut_offs.insert_mut(ann, at);
        let ended = |directory: &Directory, of, made: Timestamp| {
            directory.token_ended(of, "x", made, at.plus(10)).is_some()
        };
        assert!(ended(&directory, ann, at) && !ended(&directory, ann, at.plus(1)));
        assert!(!ended(&directory, MemberKey(2), at));
        // It would outlive everything that ends by a time.
        let to_come = at.plus(11 + limits::TOKEN_SKEW_MS);
        assert!(ended(&directory, ann, to_come) && !ended(&directory, ann, to_come.plus(-1)));
        directory.put_issued(Arc::new(Issued {
            jti: "x".into(),
            member: ann,
            authority: Authority::Worker,
            session: None,
            issued: at,
            expires: at.plus(10),
            kid: "k".into(),
            revoked: false,
            proof: None,
        }));
        assert!(!ended(&directory, ann, at), "it was made after the others had ended");
        assert_eq!(directory.issued_to(ann).count(), 1);
        assert_eq!(directory.issued_to(MemberKey(0)).count(), 0);
    }
}
